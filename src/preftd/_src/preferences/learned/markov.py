"""The Markov test of cells: what came before must not tell what follows.

Five experts that know the past predict what follows a cell (a cell, or the end of the episode),
each against a prediction that knows the cell alone:

    0  what follows, by the cell before
    1  stay or leave, by the steps spent here
    2  stay or leave, by their octave
    3  what follows, by the cell before and the steps spent here
    4  back to the cell before or not, by the octave of the steps spent here

The other prediction is (count + ½) / (n + ½ K) for each of the K successors seen so far. An expert
starts as the other prediction, with the weight of one visit. The evidence of an expert is the sum
of the logarithms of its prediction over the other, each made before what follows is counted. A
successor that the cell never had before tells nothing, and is counted only: so both predictions
are of the same K outcomes, and if the cell is Markov their ratio has mean 1 at each step.
"""

import math

from preftd._src.kernels import kernel
from preftd._src.preferences.learned.hashing import key_of, slot_of
from preftd._src.preferences.learned.layout import (
    COUNTED,
    COUNTS,
    EVIDENCE,
    EXPERTS,
    Parts,
)

END, BEGIN = 1.0, 2.0
"""Names of what is no cell: the end of an episode, and what is before its start."""
PRIOR, LONG = 0.5, 63.0
"""Visits that a successor counts in advance; steps in a cell that expert 3 tells apart."""
KINDS = 20.0
"""The kind of key under which the number of successors is counted."""


@kernel
def test_markov(p: Parts, row: int, here: float, before: float, dwell: float, then: float) -> None:
    """Add to the evidence of a cell: `then` followed `here`, after `before` and `dwell` steps.

    `before` is 0 if it is not known.
    """
    if p.head[COUNTED] > (COUNTS * 3) // 4:
        p.counts[:] = 0.0
        p.head[COUNTED] = 0.0
    evidence = p.cells[row, EVIDENCE : EVIDENCE + EXPERTS]
    visits = _slot(p, here, 0, 0, 0)
    n, ys = p.counts[1, visits], _slot(p, here, 1, then, 0)
    seen, kinds = p.counts[1, ys], _slot(p, here, KINDS, 0, 0)
    whole = n + PRIOR * p.counts[1, kinds]
    octave = math.floor(math.log2(dwell))
    for expert in range(EXPERTS):
        by_past = expert in (0, 3, 4)
        if by_past and before == 0.0:
            continue
        context, outcome, often, binary = before, then, seen, False
        if expert == 3:
            context = before * (LONG + 1.0) + min(dwell, LONG)
        elif expert != 0:
            other = before if expert == 4 else here
            context, binary = (dwell if expert == 1 else octave), True
            often = _count(p, here, 1, other)
            outcome = 1.0 if then == other else 0.0
        plain = (often + PRIOR) / whole if often > 0.0 else 0.0
        if binary and outcome == 0.0:
            plain = 1.0 - plain
        met = _slot(p, here, 2 + 2 * expert, context, 0)
        hit = _slot(p, here, 3 + 2 * expert, context, outcome)
        if seen > 0.0:
            informed = (p.counts[1, hit] + plain) / (p.counts[1, met] + 1.0)
            evidence[expert] += math.log(informed / plain)
        p.counts[1, met] += 1.0
        p.counts[1, hit] += 1.0
    p.counts[1, visits] += 1.0
    p.counts[1, ys] += 1.0
    if seen == 0.0:
        p.counts[1, kinds] += 1.0


@kernel
def markov_evidence(p: Parts, row: int) -> float:
    """The logarithm of the experts' mean Bayes factor."""
    evidence = p.cells[row, EVIDENCE : EVIDENCE + EXPERTS]
    most = evidence.max()
    total = 0.0
    for one in evidence:
        total += math.exp(one - most)
    return float(most + math.log(total / EXPERTS))


@kernel
def _slot(p: Parts, here: float, kind: float, context: float, outcome: float) -> int:
    key = key_of(here, kind, context, outcome)
    at = slot_of(p.counts[0], key)
    if p.counts[0, at] == 0.0:
        p.counts[0, at] = key
        p.head[COUNTED] += 1.0
    return at


@kernel
def _count(p: Parts, here: float, kind: float, context: float) -> float:
    key = key_of(here, kind, context, 0)
    at = slot_of(p.counts[0], key)
    return float(p.counts[1, at]) if p.counts[0, at] == key else 0.0
