"""The Markov test of cells: the past must not predict the successor.

Experts that know the past predict what follows a cell (a cell, or the end of the episode), each
against a prediction that knows the cell alone:

    0  what follows, by the cell before
    1  stay or leave, by the octave of the steps spent here
    2  back to the cell before or not, by that octave
    3  stay or leave, by the steps spent here
    4  what follows, by the cell before and the steps spent here

The other prediction is the share of earlier tests that had the same outcome. An expert starts as
the other prediction, with the weight of one visit. Its evidence is the sum of the logarithms of its
prediction over the other, each made before the successor is counted. A new successor is no
evidence, and is only counted.

Counts restart with each term of TERM tests, and evidence is not below 0 then, so that a long
past delays nothing. A cell that is distrusted stays so until a term ends without any evidence.
"""

import math

from preftd._src.kernels import kernel
from preftd._src.preferences.learned.cells import (
    LONGEST,
    evidence_of_cluster,
    is_several,
    leave,
)
from preftd._src.preferences.learned.constants import FEW, ODDS, SEVERAL, TERM
from preftd._src.preferences.learned.memory import (
    ATOMS,
    BEFORE_IT,
    COUNTS,
    EXPERTS,
    MARKS,
    RECENT,
    State,
    count_of,
    key_of,
    slot_of,
)

END, BEGIN = 1.0, 2.0
"""Names other than cells: the end of an episode, and the time before its start."""


@kernel
def follow(s: State, row: int, known: bool, is_last: bool) -> None:
    """Test the previous cell with its successor, and advance."""
    head = s.head
    name = s.cells[row].name if row >= 0 else 0.0
    if head.is_first > 0.0:
        head.here, head.before, head.before_known, head.dwell = -1.0, BEGIN, 1.0, 0.0
    if head.here > 0.0 and head.here_known > 0.0 and known and name > 0.0:
        _test(s, name)
    if head.here > 0.0 and name != head.here:
        leave(s, int(head.here_row), head.here, s.recent[BEFORE_IT * RECENT])
    if name > 0.0 and name == head.here:
        head.dwell += 1.0
    else:
        if head.here >= 0.0:
            head.before, head.before_known = head.here, head.here_known
        head.here, head.here_row, head.dwell = name, row, 1.0
    head.here_known = known and name > 0.0
    if is_last:
        if row >= 0:
            leave(s, row, name, s.x)
        if head.here_known > 0.0:
            _test(s, END)
        head.here = -1.0


@kernel
def _test(s: State, then: float) -> None:
    """Test the cell that was seen last, and decide whether it is distrusted."""
    head = s.head
    row = int(head.here_row)
    cell = s.cells[row]
    if cell.name != head.here:  # its place was taken
        return
    before = head.before if head.before_known > 0.0 else 0.0
    _add_evidence(s, row, before, head.dwell, then)
    cell.tests += 1.0
    ends = cell.tests % TERM == 0.0
    if markov_evidence(s, row) > ODDS and not is_several(s, row):
        if cell.distrusted_at == 0.0:
            cell.distrusted_at = head.step
    elif cell.distrusted_at >= cell.renewed or (ends and markov_evidence(s, row) <= 0.0):
        cell.distrusted_at = 0.0
    if ends:
        head.names += 1.0
        cell.term, cell.renewed = head.names, head.step + 1.0
        for expert in range(EXPERTS):
            kept = 0.0 if cell.distrusted_at > 0.0 else cell.evidence[expert]
            cell.evidence[expert] = max(kept, 0.0)


@kernel
def _add_evidence(s: State, row: int, before: float, dwell: float, then: float) -> None:
    """Add to the evidence of a cell: `then` followed, after `before` and `dwell` steps.

    `before` is 0 if it is not known.
    """
    counts, evidence, here = s.counts, s.cells[row].evidence, s.cells[row].name
    term = max(s.cells[row].term, here)
    if s.head.counted > (COUNTS * 3) // 4:
        counts.keys[:] = 0.0
        counts.values[:] = 0.0
        s.head.counted = 0.0
    visits = _slot(s, term, 0, 0, 0)
    n, ys = counts.values[visits], _slot(s, term, 1, then, 0)
    seen = counts.values[ys]
    stays = count_of(counts, key_of(term, 1, here, 0))
    octave = math.floor(math.log2(dwell))
    for expert in range(EXPERTS):
        by_past, binary = expert in (0, 2, 4), expert in (1, 2, 3)
        if (by_past and before == 0.0) or (expert == 2 and then == here):
            continue
        context, outcome, often = before, then, seen
        if expert == 4:
            context = before * (LONGEST + 1.0) + min(dwell, LONGEST)
        if binary:
            other = before if expert == 2 else here
            context = dwell if expert == 3 else octave
            outcome = 1.0 if then == other else 0.0
            often = count_of(counts, key_of(term, 1, other, 0))
            if outcome == 0.0:
                often = n - often - (stays if expert == 2 else 0.0)
        met = _slot(s, term, 2 + 2 * expert, context, 0)
        hit = _slot(s, term, 3 + 2 * expert, context, outcome)
        if seen > 0.0:
            plain = often / (n - (stays if expert == 2 else 0.0))
            informed = (counts.values[hit] + plain) / (counts.values[met] + 1.0)
            evidence[expert] += math.log(informed / plain)
        counts.values[met] += 1.0
        counts.values[hit] += 1.0
    counts.values[visits] += 1.0
    counts.values[ys] += 1.0


@kernel
def _slot(s: State, term: float, kind: float, context: float, outcome: float) -> int:
    """The slot of a count, which is created if it is new."""
    key = key_of(term, kind, context, outcome)
    at = slot_of(s.counts.keys, key)
    if s.counts.keys[at] == 0.0:
        s.counts.keys[at] = key
        s.head.counted += 1.0
    return at


@kernel
def markov_evidence(s: State, row: int) -> float:
    """The logarithm of the experts' mean Bayes factor."""
    evidence = s.cells[row].evidence
    most = evidence.max()
    total = 0.0
    for one in evidence:
        total += math.exp(one - most)
    return float(most + math.log(total / EXPERTS))


@kernel
def ask_if_void(s: State) -> None:
    """Find out whether most cells fail."""
    tested, failing = 0, 0
    for group in range(2):
        used = s.head.atoms_used if group == 0 else s.head.clusters_used
        for k in range(int(used)):
            cell = s.cells[group * ATOMS + k]
            if cell.is_cell > 0.0 and cell.visits >= SEVERAL:
                tested += 1
                failing += cell.distrusted_at > 0.0
    s.head.void = failing >= FEW and 2 * failing > tested


@kernel
def judge(s: State, row: int) -> None:
    """Note since when a cell is one, and at visits 1, 2, 4, … how its evidence has grown."""
    cell = s.cells[row]
    if cell.is_cell > 0.0:
        if cell.trusted_at == 0.0:
            cell.trusted_at = s.head.step
    else:
        cell.trusted_at = 0.0
    mark = int(math.log2(cell.visits) + 0.5)
    if 2.0**mark == cell.visits and mark < MARKS:
        cell.growth[mark, 0] = s.head.step
        cell.growth[mark, 1] = markov_evidence(s, row)
        cell.growth[mark, 2] = evidence_of_cluster(s, row - ATOMS, 0.0, -1) if row >= ATOMS else 0.0
