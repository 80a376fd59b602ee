"""The width of cells: how far an observation jitters, if it recurs at all.

Widths σ_j = 2^−j run side by side. At each of them, an observation is predicted from the last ones
of its class of moments (first, last or other of an episode):

    density = (1 − ε) background + ε mean_k N(x; recent_k, 2 σ_j² I)

ε is the share of those explained so far. The evidence of a width is the sum of the logarithms of
density over background, each taken before x is learned: a Bayes factor against "nothing recurs".
"""

import math

import numpy as np

from preftd.arrays import Vector
from preftd.kernels import kernel
from preftd.preferences.learned.layout import (
    CLASSES,
    HEADS,
    KEPT,
    RECENT,
    SCORED,
    SPREAD,
    STEP,
    WIDTH,
    WIDTHS,
    Parts,
)
from preftd.preferences.learned.metric import squared

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
LEAST = 4
"""Observations from which means and deviations are usable."""


@kernel
def score_widths(p: Parts, x: Vector, e: int, dim: float, background: float) -> None:
    """Add the evidence of x, of class e, for each width."""
    kept = int(p.head[KEPT + e])
    if kept == 0 or dim == 0.0:
        return
    density, top = np.zeros(WIDTHS), _widest(dim)
    narrow, peak = 0.25 * 4.0**top, dim * LN2 * (top - 0.5) - background
    far = max(0.5 * dim, peak + 12.0)  # beyond, what it adds to the ratio is below e^−12
    for k in range(e * RECENT, e * RECENT + kept):
        exponent = squared(x, p.recent[k], p.weight) * narrow
        if exponent > far:
            continue
        near = math.exp(-exponent)
        for j in range(top, WIDTHS):
            density[j] += near
            near *= near
            near *= near
            if near < 1e-250:
                break
    n = p.head[SCORED + e]
    p.head[SCORED + e] += 1.0
    for j in range(top, WIDTHS):
        share = (p.widths[e, WIDTHS + j] + 0.5) / (n + 1.0)
        up = dim * LN2 * (j - 0.5) - background
        ratio = 0.0
        if density[j] > 0.0:
            ratio = math.exp(min(up + math.log(density[j] / kept), 600.0))
        whole = 1.0 - share + share * ratio
        p.widths[e, j] += math.log(whole)
        p.widths[e, WIDTHS + j] += share * ratio / whole


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
def keep_recent(p: Parts, x: Vector, e: int) -> None:
    """Put x in the place of the oldest of its class."""
    at = e * RECENT + int(p.head[HEADS + e])
    p.recent[at] = x
    p.stamps[at] = p.head[STEP]
    p.head[HEADS + e] = (p.head[HEADS + e] + 1) % RECENT
    p.head[KEPT + e] = min(p.head[KEPT + e] + 1, RECENT)
