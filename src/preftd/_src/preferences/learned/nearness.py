"""Nearness: an observation is recognised because one like it was seen lately, or just before.

Cells need several visits. Until they predict observations better than kernels around the last ones
do, those kernels decide too; and they always do where observations follow each other gradually,
because there cells are tiles with gaps between them. With the density of a width (see width.py),

    Σ_e totals_e ε_e mean_k N(x; recent_k, 2 σ² I) > Σ_e totals_e (1 − ε_e) background(x)

over the classes e that the moment may turn out to be of: a later one may be the last.
"""

import math

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import (
    BEFORE_IT,
    CLASSES,
    FOLLOWS,
    KEPT,
    LEAD,
    RECENT,
    SCORED,
    TOTALS,
    WIDTHS,
    Parts,
)
from preftd._src.preferences.learned.metric import squared
from preftd._src.preferences.learned.width import LN2, ODDS, strongest_width


@kernel
def is_near(p: Parts, x: Vector, is_first: bool, dim: float, background: float) -> bool:
    """Whether x is rather near what was seen lately than not, if kernels may decide."""
    along = strongest_width(p, dim, True, ODDS)
    if along < 0 and p.head[LEAD] < 0.0:
        return False
    width = strongest_width(p, dim, False, ODDS)
    if width >= 0:
        near, far = 0.0, 1.0
        for e in range(CLASSES):
            if (e == 0) == is_first:
                share, ratio = _explained(p, x, e, width, dim * LN2 * (width - 0.5) - background)
                near += p.head[TOTALS + e] * share * ratio
                far += p.head[TOTALS + e] * (1.0 - share)
        if near > far:
            return True
    if is_first or along < 0 or p.head[FOLLOWS] == 0.0:
        return False
    share, ratio = _explained(p, x, BEFORE_IT, along, dim * LN2 * (along - 0.5) - background)
    return share * ratio > 1.0 - share


@kernel
def _explained(p: Parts, x: Vector, e: int, j: int, peak: float) -> tuple[float, float]:
    """The share of a group that is explained at a width, and density over background at x."""
    kept = 1 if e == BEFORE_IT else int(p.head[KEPT + e])
    share = (p.widths[e, WIDTHS + j] + 0.5) / (p.head[SCORED + e] + 1.0)
    total, narrow = 0.0, 0.25 * 4.0**j
    for k in range(e * RECENT, e * RECENT + kept):
        height = peak - narrow * squared(x, p.recent[k], p.weight)
        if height > -20.0:
            total += math.exp(min(height, 600.0))
    return share, total / max(kept, 1)


@kernel
def compare_with_cells(p: Parts, kernels: float, cells: float) -> None:
    """Add to the lead of kernels over cells: logarithms of both densities at what was observed."""
    p.head[LEAD] = min(max(p.head[LEAD] + kernels - cells, -ODDS), ODDS)
