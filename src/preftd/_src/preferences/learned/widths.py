"""The width of cells: how far an observation jitters, if it recurs at all.

Widths σ_j = 2^−j run side by side. At each of them, an observation is predicted from the last ones
of its class of moments (first, last or other of an episode):

    density = (1 − ε) background + ε mean_k N(x; recent_k, 2 σ_j² I)

The previous observation is a group of its own: where states change gradually, the next is near it.
ε is the share of those explained so far. The evidence of a width is the sum of the logarithms of
density over background, each taken before x is learned: a Bayes factor against "nothing recurs".
An observation is also recognised by these kernels where states change gradually, and until cells,
which need several visits, predict better than kernels do.
"""

import math

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.constants import MANY, ODDS, SEVERAL, TIMES
from preftd._src.preferences.learned.memory import BEFORE_IT, CLASSES, RECENT, WIDTHS, State
from preftd._src.preferences.learned.metric import squared

ROOM = math.log(MANY)
"""The logarithm of the number of cells for which the spread of all observations has room."""
LN2 = math.log(2.0)
LIKELIER = math.log(TIMES)
"""How much likelier a width must make the observations that it recognises, as a logarithm."""
FIRST = 1
"""The widest width: half a deviation."""
GRADUAL, TIED = 1.0 / SEVERAL, 0.5
"""Shares of what follows a cell that must be near it: where states change gradually, and where what
never repeats is of one kind with what does."""
ALL = SEVERAL * MANY
"""Widths learn from the first ALL observations, then from one in SEVERAL: most of the time is spent
here, and little is left to learn."""


@kernel
def is_scored(s: State) -> bool:
    """Whether widths learn from the next observation: from the first ALL, then from a part."""
    return bool(s.head.loose < ALL or s.head.loose % SEVERAL == 0.0)


@kernel
def score_widths(s: State, x: Vector, e: int, dim: float, background: float) -> None:
    """Add the evidence of x for each width, by a group: the class e, or BEFORE_IT."""
    kept = 1 if e == BEFORE_IT else int(s.head.kept[e])
    if kept == 0 or dim == 0.0:
        return
    density, top = np.zeros(WIDTHS), FIRST
    narrow, peak = 0.25 * 4.0**top, dim * LN2 * (top - 0.5) - background
    far = max(0.5 * dim, peak + 20.0)  # beyond, what it adds to the ratio is below e^−20
    for k in range(e * RECENT, e * RECENT + kept):
        exponent = squared(x, s.recent[k], s.weight) * narrow
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
    n, widths = s.head.scored[e], s.widths[e]
    s.head.scored[e] += 1.0
    least = 0.5 / (n + 1.0)
    missed = math.log(1.0 - least)  # where nothing is near and never was, as at most widths
    for j in range(top, WIDTHS):
        hits = widths.hits[j]
        if density[j] == 0.0 and hits == 0.0:
            widths.evidence[j] += missed
            continue
        share, ratio = hits / (n + 1.0) + least, 0.0
        if density[j] > 0.0:
            up = dim * LN2 * (j - 0.5) - background
            ratio = math.exp(min(up + math.log(density[j] / kept), 600.0))
        whole = 1.0 - share + share * ratio
        widths.evidence[j] += math.log(whole)
        widths.hits[j] += share * ratio / whole


@kernel
def widest(dim: float) -> int:
    """The widest width with room."""
    return int(ROOM / (dim * LN2)) + 1


@kernel
def widest_before(dim: float) -> int:
    """The widest width that tells what follows nearly from what does not."""
    return max(widest(dim + 0.5), 2)


@kernel
def best_width(s: State, dim: float) -> int:
    """The width with the most evidence, if that is enough; −1 if there never was one.

    One in use is replaced if another is better and more than an octave away from that of cells.
    """
    best, most, place = int(s.head.width), ODDS, np.inf
    if best >= 0:
        place = -0.5 * math.log2(s.head.spread)
        most += _evidence(s, min(max(int(place + 0.5), 0), WIDTHS - 1))
    for j in range(widest(dim), WIDTHS):
        found = _evidence(s, j)
        if found > most and abs(j - place) > 1.0:
            most, best = found, j
    return best


@kernel
def _evidence(s: State, j: int) -> float:
    """The logarithm of the Bayes factor, over all classes."""
    total = 0.0
    for e in range(CLASSES):
        total += s.widths[e].evidence[j]
    return total


@kernel
def strongest_width(s: State, dim: float, before: bool) -> int:
    """The width with the most evidence, of all classes or of the previous one; −1 if not enough."""
    best, most = -1, ODDS
    for j in range(widest_before(dim) if before else widest(dim), WIDTHS):
        found = s.widths[BEFORE_IT].evidence[j] if before else _evidence(s, j)
        if found > most:
            best, most = j, found
    return best


@kernel
def choose_widths(s: State, dim: float) -> None:
    """Find the widths that predict best, and whether what they recognise stands apart."""
    head, most = s.head, ODDS
    head.near = strongest_width(s, dim, False)
    head.along = strongest_width(s, dim, True)
    head.apart = 0.0
    for j in range(FIRST, WIDTHS):
        hits = 0.0
        for e in range(CLASSES):
            hits += s.widths[e].hits[j]
        found = _evidence(s, j)
        if found > most:
            most, head.apart = found, j >= widest(dim) and found > LIKELIER * hits
        found, hits = s.widths[BEFORE_IT].evidence[j], s.widths[BEFORE_IT].hits[j]
        if found > most:
            most, head.apart = found, j >= widest_before(dim) and found > LIKELIER * hits


@kernel
def compare_with_cells(s: State, kernels: float, cells: float) -> None:
    """Add to the lead of kernels: logarithms of what both predicted, over the background."""
    s.head.lead = min(max(s.head.lead + kernels - cells, -ODDS), ODDS)


@kernel
def is_tied(s: State, least: float) -> bool:
    """Whether at least this share of what follows a cell is near it."""
    return bool(s.head.close + 0.5 >= least * (s.head.met + 1.0))


@kernel
def is_gradual(s: State) -> bool:
    """Whether states change gradually: then cells are tiles of something continuous."""
    return s.head.along >= 0.0 and is_tied(s, GRADUAL)


@kernel
def follows_nearly(s: State, x: Vector, dim: float, background: float) -> bool:
    """Whether x is near the previous observation."""
    along = int(s.head.along)
    if along < 0 or s.head.follows == 0.0:
        return False
    share, ratio = _explained(s, x, BEFORE_IT, along, dim * LN2 * (along - 0.5) - background)
    return bool(share * ratio > 1.0 - share)


@kernel
def compare_strange(s: State) -> None:
    """Learn whether observations that are like none before tell the next one of them."""
    if s.head.strange > 0.0 and s.head.before_strange > 0.0:
        before, product = s.recent[BEFORE_IT * RECENT], 0.0
        for i in range(s.x.size):
            product += s.weight[i] * (s.x[i] - s.mean[i]) * (before[i] - s.mean[i])
        s.head.along_rest += product
        s.head.squared_rest += product * product


@kernel
def have_memory(s: State) -> bool:
    """Whether they do, which noise does not: then there are no grounds to distrust them."""
    return bool(s.head.along_rest > math.sqrt(2.0 * ODDS * s.head.squared_rest))


@kernel
def keep_recent(s: State, x: Vector, e: int) -> None:
    """Put x in the place of the oldest of its class."""
    at = e * RECENT + int(s.head.heads[e])
    s.recent[at] = x
    s.stamps[at] = s.head.step
    s.head.heads[e] = (s.head.heads[e] + 1) % RECENT
    s.head.kept[e] = min(s.head.kept[e] + 1, RECENT)


@kernel
def is_near(s: State, x: Vector, is_first: bool, dim: float, background: float) -> bool:
    """Whether x is near recent observations, or the previous one, if that counts."""
    gradual, width = is_gradual(s), int(s.head.near)
    if not gradual and s.head.lead < 0.0:
        return False
    if width >= 0:
        near, far = 0.0, 1.0
        for e in range(CLASSES):
            if (e == 0) == is_first:
                share, ratio = _explained(s, x, e, width, dim * LN2 * (width - 0.5) - background)
                near += s.head.totals[e] * share * ratio
                far += s.head.totals[e] * (1.0 - share)
        if near > far:
            return True
    return gradual and not is_first and follows_nearly(s, x, dim, background)


@kernel
def _explained(s: State, x: Vector, e: int, j: int, peak: float) -> tuple[float, float]:
    """The share of a group that is explained at a width, and density over background at x."""
    kept = 1 if e == BEFORE_IT else int(s.head.kept[e])
    share = (s.widths[e].hits[j] + 0.5) / (s.head.scored[e] + 1.0)
    total, narrow = 0.0, 0.25 * 4.0**j
    for k in range(e * RECENT, e * RECENT + kept):
        height = peak - narrow * squared(x, s.recent[k], s.weight)
        if height > -20.0:
            total += math.exp(min(height, 600.0))
    return share, total / max(kept, 1)
