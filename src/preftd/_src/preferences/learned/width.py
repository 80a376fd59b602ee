"""The width of cells: how far an observation jitters, if it recurs at all.

Widths σ_j = 2^−j run side by side. At each of them, an observation is predicted from the last ones
of its class of moments (first, last or other of an episode):

    density = (1 − ε) background + ε mean_k N(x; recent_k, 2 σ_j² I)

The observation before is a group of its own: where states change gradually, the next is near it.

ε is the share of those explained so far. The evidence of a width is the sum of the logarithms of
density over background, each taken before x is learned: a Bayes factor against "nothing recurs".
"""

import math

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import (
    BEFORE_IT,
    CLASSES,
    HEADS,
    KEPT,
    LOOSE,
    RECENT,
    SCORED,
    SPREAD,
    STEP,
    WIDTH,
    WIDTHS,
    Parts,
)
from preftd._src.preferences.learned.metric import squared

ROOM = math.log(64.0)
"""A width must leave room for 64 cells in the spread of all observations."""
ODDS = math.log(1000.0)
"""A Bayes factor of 1000 decides."""
SWITCH = math.log(20.0)
"""A width elsewhere is put to use if its Bayes factor against the one in use exceeds 20."""
LN2 = math.log(2.0)
FEW = 2.0
"""Visits that the width in use counts for in the variance within cells."""
NEAR, NARROWER = 0.5, 3.0
"""Octaves between the width within cells and that of the best kernels: NEAR to either side, and
NARROWER / √(D + 4) to the narrow side, as kernels around many observations are narrower."""
ALL, PART = 4096.0, 8.0
"""Widths learn from the first ALL observations, then from one in PART: most of the time is spent
here, and little is left to learn."""
LEAST = 4
"""Observations from which means and deviations are usable."""


@kernel
def is_scored(p: Parts) -> bool:
    """Whether widths learn from the next observation: from the first ALL, then from a part."""
    return bool(p.head[LOOSE] < ALL or p.head[LOOSE] % PART == 0.0)


@kernel
def score_widths(p: Parts, x: Vector, e: int, dim: float, background: float) -> float:
    """Add the evidence of x for each width, by a group: the class e, or BEFORE_IT.

    Returns the logarithm of the density over the background at the width with the most evidence.
    """
    kept = 1 if e == BEFORE_IT else int(p.head[KEPT + e])
    if kept == 0 or dim == 0.0:
        return 0.0
    used, gained = strongest_width(p, dim, e == BEFORE_IT, -np.inf), 0.0
    density, top = np.zeros(WIDTHS), _widest(dim)
    narrow, peak = 0.25 * 4.0**top, dim * LN2 * (top - 0.5) - background
    far = max(0.5 * dim, peak + 20.0)  # beyond, what it adds to the ratio is below e^−20
    for k in range(e * RECENT, e * RECENT + kept):
        exponent = squared(x, p.recent[k], p.weight) * narrow
        if exponent > far:
            continue
        near = math.exp(-exponent)
        for j in range(top, WIDTHS):
            density[j] += near
            exponent *= 4.0
            if exponent > far + dim * LN2 * (j + 1 - top):
                break
            near *= near
            near *= near
    n = p.head[SCORED + e]
    p.head[SCORED + e] += 1.0
    least = 0.5 / (n + 1.0)
    missed = math.log(1.0 - least)  # where nothing is near and never was, as at most widths
    for j in range(top, WIDTHS):
        hits = p.widths[e, WIDTHS + j]
        if density[j] == 0.0 and hits == 0.0:
            p.widths[e, j] += missed
            gained = missed if j == used else gained
            continue
        share, ratio = hits / (n + 1.0) + least, 0.0
        if density[j] > 0.0:
            up = dim * LN2 * (j - 0.5) - background
            ratio = math.exp(min(up + math.log(density[j] / kept), 600.0))
        whole = 1.0 - share + share * ratio
        found = math.log(whole)
        gained = found if j == used else gained
        p.widths[e, j] += found
        p.widths[e, WIDTHS + j] += share * ratio / whole
    return gained


@kernel
def _widest(dim: float) -> int:
    """The widest width with room."""
    return int(ROOM / (dim * LN2)) + 1


@kernel
def start_spread(p: Parts, j: int, dim: float) -> float:
    """σ² where the evidence is highest, from that of width j and its neighbours.

    Evidence is about a + b j − c 4^j: the height of a density falls with its width, the distances
    of visits count less.
    """
    if j <= _widest(dim) or j + 1 >= WIDTHS:
        return 4.0**-j
    here = evidence_of_width(p, j)
    up, down = evidence_of_width(p, j + 1) - here, here - evidence_of_width(p, j - 1)
    c = (down - up) / 2.25
    return 4.0**-j * c * 2.0 * LN2 / (up + 3.0 * c) if c > 0.0 and up + 3.0 * c > 0.0 else 4.0**-j


@kernel
def best_width(p: Parts, dim: float) -> int:
    """The width with the most evidence; the one in use if near that; −1 if none has enough."""
    if dim == 0.0:
        return -1
    now, best, most = int(p.head[WIDTH]), -1, ODDS
    low, high = 0.0, -1.0
    if now >= 0:
        place = -0.5 * math.log2(p.head[SPREAD])
        low, high = place - NEAR, place + NEAR + NARROWER / math.sqrt(dim + 4.0)
        near = min(max(int(0.5 * (low + high) + 0.5), 0), WIDTHS - 1)
        best, most = now, SWITCH + evidence_of_width(p, near)
    for j in range(_widest(dim), WIDTHS):
        found = evidence_of_width(p, j)
        if found > most and not low <= j <= high:
            most, best = found, j
    return best


@kernel
def evidence_of_width(p: Parts, j: int) -> float:
    """The logarithm of the Bayes factor, over all classes."""
    total = 0.0
    for e in range(CLASSES):
        total += p.widths[e, j]
    return total


@kernel
def strongest_width(p: Parts, dim: float, before: bool, least: float) -> int:
    """The width with the most evidence, of all classes or of the one before; −1 if below least."""
    best, most = -1, least
    for j in range(_widest(dim), WIDTHS):
        found = p.widths[BEFORE_IT, j] if before else evidence_of_width(p, j)
        if found > most:
            best, most = j, found
    return best


@kernel
def keep_recent(p: Parts, x: Vector, e: int) -> None:
    """Put x in the place of the oldest of its class."""
    at = e * RECENT + int(p.head[HEADS + e])
    p.recent[at] = x
    p.stamps[at] = p.head[STEP]
    p.head[HEADS + e] = (p.head[HEADS + e] + 1) % RECENT
    p.head[KEPT + e] = min(p.head[KEPT + e] + 1, RECENT)
