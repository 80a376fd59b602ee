"""Clusters: cells of observations that recur nearby, at the width in use.

Observation x of class e is compared with each cluster k, which has the mean of its n visits:

    odds = π N(x; mean_k, σ² (1 + 1/n) I) / (ω background(x))    π = (hits + ½) / (moments + 1)

where hits and moments of class e are counted since the cluster was founded, and ω is the share of
class e that is in no cell. x joins the best cell with odds above 1, else the best cluster with odds
above 1, else it founds one. The evidence that a cluster is a cell, and no coincidence of the
background, is the Bayes factor

    Π_visits N(x) / density of all else · Π_e B(hits + ½, moments − hits + ½) / π / clusters so far

Two cells whose centres are too near to each other to tell their visits apart become one.
"""

import math

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.clock import expected
from preftd._src.preferences.learned.layout import (
    ATOMS,
    BORN,
    CLASSES,
    CLUSTERS,
    CLUSTERS_USED,
    FIT,
    HAND,
    HITS,
    IS_CELL,
    MIX,
    NAME,
    NAMES,
    PEAK,
    PLAIN,
    SCATTERED,
    SPREAD,
    START,
    STARTS,
    STEP,
    TOTALS,
    VARYING,
    VISITED,
    VISITS,
    Parts,
)
from preftd._src.preferences.learned.metric import squared
from preftd._src.preferences.learned.presumption import has_recurred
from preftd._src.preferences.learned.several import join_leaving
from preftd._src.preferences.learned.width import FEW

ENOUGH = 1.5
"""The logarithm of the Bayes factor that makes a cluster a cell; below 0 it is one no longer."""
FAR = 6.0
"""Visits farther than D + 2√(FAR D) + 2 FAR squared deviations, at most e^−FAR of all, are none."""
SOME = 10.0
"""Visits that the variance of all entries counts for in that of each."""
ALIKE = 16.0
"""Squared deviations between two centres, beyond their own noise, up to which cells are one: at
four deviations, one visit in 40 is nearer to the other centre."""
MANY, LOG_PI = math.log(CLUSTERS), math.log(math.pi)


@kernel
def tighten(p: Parts) -> None:
    """Find the variance of each entry within cells: of all visits, and of some as expected."""
    visits, mean, peak, product = p.head[SCATTERED], 0.0, 0.0, 1.0
    for i in range(p.tight.size):
        mean += p.scatter[i] * p.weight[i] / p.head[VARYING]
    spread = (mean + FEW * p.head[START]) / (visits + FEW)
    p.head[SPREAD] = spread
    for i in range(p.tight.size):
        if p.weight[i] > 0.0:
            variance = (p.scatter[i] + SOME * spread / p.weight[i]) / (visits + SOME)
            p.tight[i] = 1.0 / variance
            product *= p.tight[i] / p.weight[i]
            if not 1e-30 < product < 1e30:
                peak += math.log(product)
                product = 1.0
        else:
            p.tight[i] = 0.0
    p.head[PEAK] = 0.5 * (peak + math.log(product))


@kernel
def measure(p: Parts, x: Vector) -> None:
    """Find the distances of x to all clusters, in deviations of cells."""
    for k in range(int(p.head[CLUSTERS_USED])):
        p.distances[k] = squared(x, p.centres[ATOMS + k], p.tight)


@kernel
def nearest_cluster(
    p: Parts, e: int, dim: float, background: float, pooled: bool, context: float
) -> tuple[int, float, float]:
    """The best cluster by the distances found last, its fit, and the density of all else.

    Fit and density are logarithms. If the moment may yet turn out to be the last of its episode,
    classes are `pooled`; a `context` of the clock says what to expect (−1: nothing).
    """
    second = 2 if pooled else e
    totals = p.head[TOTALS + e] + (p.head[TOTALS + 2] if pooled else 0.0)
    plain = p.head[PLAIN + e] + (p.head[PLAIN + 2] if pooled else 0.0)
    known, often = expected(p, context, 0.0)
    rest = math.log((often + (plain + 1.0) / (totals + 1.0)) / (known + 1.0)) + background
    gate = dim + 2.0 * math.sqrt(FAR * dim) + 2.0 * FAR
    best, odds, fit, others = -1, rest, 0.0, 1.0
    chosen, taken = 0.0, False
    for k in range(int(p.head[CLUSTERS_USED])):
        if p.distances[k] > 2.0 * gate:  # most are: the rest of a cluster is not even read
            continue
        cell = p.cells[ATOMS + k]
        is_cell = cell[IS_CELL] > 0.0
        # A cluster that is no cell counts only if it is the best: no logarithm is needed to tell.
        if not is_cell and (taken or p.head[PEAK] - 0.25 * p.distances[k] <= odds):
            continue
        hits, moments = cell[HITS + e], p.head[TOTALS + e] - cell[STARTS + e]
        if second != e:
            hits += cell[HITS + second]
            moments += p.head[TOTALS + second] - cell[STARTS + second]
        spread = 1.0 + 1.0 / cell[VISITS]
        if p.distances[k] > gate * spread:
            continue
        density = p.head[PEAK] - 0.5 * dim * math.log(spread) - 0.5 * p.distances[k] / spread
        share = (hits + 0.5) / (moments + 1.0)
        if known > 0.0 and is_cell:
            share = (expected(p, context, cell[NAME])[1] + share) / (known + 1.0)
        weighed = math.log(share) + density
        part = math.exp(min(weighed - rest, 600.0)) if is_cell else 0.0
        if weighed > (odds if is_cell == taken else rest) and is_cell >= taken:
            part, chosen = chosen, part  # not by subtraction at the end: one may be e^600
            best, odds, fit, taken = k, weighed, density, is_cell
        others += part
    p.head[MIX] = rest + math.log(others + chosen)
    return best, fit, rest + math.log(others)


@kernel
def evidence_of_cluster(p: Parts, k: int, fit: float, e: int) -> float:
    """The logarithm of the Bayes factor, with one more visit of class e (−1: without)."""
    cell = p.cells[ATOMS + k]
    total = cell[FIT] + fit - math.log(p.head[CLUSTERS_USED])
    for z in range(CLASSES):
        one = 1.0 if z == e else 0.0
        hits, moments = cell[HITS + z] + one, p.head[TOTALS + z] - cell[STARTS + z] + one
        if moments > 0.0:
            total += math.lgamma(hits + 0.5) + math.lgamma(moments - hits + 0.5)
            total -= math.lgamma(moments + 1.0) + LOG_PI
    return float(total)


@kernel
def place(p: Parts, x: Vector, e: int, dim: float, background: float) -> int:
    """Let x join a cluster or found one; returns the cluster, or −1 if there is no room."""
    k, fit, rest = nearest_cluster(p, e, dim, background, False, -1.0)
    was = False
    if k >= 0:
        cell = p.cells[ATOMS + k]
        was = cell[IS_CELL] > 0.0
        found = evidence_of_cluster(p, k, fit - rest, e)
        cell[FIT] += fit - rest
        cell[HITS + e] += 1.0
        now = found > (0.0 if was else ENOUGH)
        if now != was:
            for z in range(CLASSES):
                p.head[PLAIN + z] -= cell[HITS + z] if now else -cell[HITS + z]
        elif now:
            p.head[PLAIN + e] -= 1.0
        if now:
            _add_scatter(p, x, k)
            has_recurred(p, 1, cell[NAME])
        cell[IS_CELL] = 1.0 if now else 0.0
    p.head[TOTALS + e] += 1.0
    p.head[PLAIN + e] += 1.0
    if k < 0:
        k = _free_cluster(p)
        if k < 0:
            return k
        cell = p.cells[ATOMS + k]
        _found(p, k)
    cell[VISITS] += 1.0
    cell[VISITED] = p.head[STEP]
    centre = p.centres[ATOMS + k]
    for i in range(x.size):
        centre[i] = x[i] if cell[VISITS] == 1.0 else centre[i] + (x[i] - centre[i]) / cell[VISITS]
    if cell[IS_CELL] > 0.0:
        _absorb(p, k, dim)
    return k


@kernel
def _absorb(p: Parts, k: int, dim: float) -> None:
    """Make one cell of two that cannot be told apart."""
    cell, centre = p.cells[ATOMS + k], p.centres[ATOMS + k]
    for one in range(int(p.head[CLUSTERS_USED])):
        if one == k or p.distances[one] > 2.0 * (ALIKE + 2.0 * dim + p.distances[k]):
            continue
        other = p.cells[ATOMS + one]
        if other[IS_CELL] == 0.0 or other[VISITS] > cell[VISITS]:
            continue
        noise = dim * (1.0 / cell[VISITS] + 1.0 / other[VISITS])
        if squared(centre, p.centres[ATOMS + one], p.tight) > ALIKE + noise:
            continue
        cell[VISITS] += other[VISITS]
        join_leaving(p, k, one)
        for i in range(centre.size):
            centre[i] += (p.centres[ATOMS + one, i] - centre[i]) * other[VISITS] / cell[VISITS]
        cell[FIT] += other[FIT]
        for z in range(CLASSES):
            cell[HITS + z] += other[HITS + z]
            cell[STARTS + z] = min(cell[STARTS + z], other[STARTS + z])
        _found(p, one)  # what is left of it is one observation
        other[VISITS] = 1.0


@kernel
def _found(p: Parts, k: int) -> None:
    cell = p.cells[ATOMS + k]
    cell[:] = 0.0
    p.head[NAMES] += 1.0
    cell[NAME], cell[BORN] = p.head[NAMES], p.head[STEP]
    for z in range(CLASSES):
        cell[STARTS + z] = p.head[TOTALS + z]


@kernel
def _add_scatter(p: Parts, x: Vector, k: int) -> None:
    n, centre = p.cells[ATOMS + k, VISITS], p.centres[ATOMS + k]
    p.head[SCATTERED] += 1.0
    for i in range(x.size):
        p.scatter[i] += (x[i] - centre[i]) ** 2 * n / (n + 1.0)


@kernel
def _free_cluster(p: Parts) -> int:
    """A place for a new cluster: the next that is no cell and was not visited twice of late."""
    used = int(p.head[CLUSTERS_USED])
    if used < CLUSTERS:
        p.head[CLUSTERS_USED] += 1.0
        return used
    for _ in range(CLUSTERS):
        k = int(p.head[HAND])
        p.head[HAND] = (k + 1) % CLUSTERS
        cell = p.cells[ATOMS + k]
        if cell[IS_CELL] == 0.0 and (
            cell[VISITS] < 2.0 or evidence_of_cluster(p, k, 0.0, -1) < -MANY
        ):
            return k
    return -1


@kernel
def share_of(p: Parts, k: int) -> float:
    """The share of moments after the first at which a cell is seen (−1: none)."""
    hits = p.head[PLAIN + 1] + p.head[PLAIN + 2] + 1.0
    moments = p.head[TOTALS + 1] + p.head[TOTALS + 2] + 1.0
    if k >= 0:
        cell = p.cells[ATOMS + k]
        hits = cell[HITS + 1] + cell[HITS + 2] + 0.5
        moments -= cell[STARTS + 1] + cell[STARTS + 2]
    return float(hits / moments)
