"""Nearness without units, for observations that do not repeat exactly.

    r²(x, y) = D/d Σ_i (x_i − y_i)² / s_i²        D = E |z|²|z'|² / E (z·z')²     z_i = (x_i − mean_i) / s_i

s_i is the standard deviation of entry i so far, d the number of entries that vary. z and z' are two
observations far apart in time, so that D is the number of directions in which the stream really
varies: d if entries are uncorrelated, 1 if all are copies of one. In this metric the background
of all observations is a standard normal distribution in D dimensions, whatever the units.

    background(x) = n/(n+1) N(x; mean, I) + 1/(n+1) · density ∝ r^−D over e^±RANGE

The second part lets an outlier cost nats, not thousands.
"""

import math

from preftd.arrays import Vector
from preftd.kernels import kernel
from preftd.preferences.learned.layout import KEPT, LOOSE, NORMS, OVERLAP, RECENT, Parts

RANGE = 10.0
"""Scales that outliers may have: e^−RANGE to e^RANGE."""
fast = kernel(fastmath={"contract", "reassoc"})


@fast
def squared(x: Vector, y: Vector, weight: Vector) -> float:
    """r² between two observations, shape (dim,)."""
    total = 0.0
    for i in range(x.size):
        total += weight[i] * (x[i] - y[i]) * (x[i] - y[i])
    return total


@kernel
def dimension(p: Parts) -> float:
    """D."""
    varying = 0.0
    for i in range(p.squares.size):
        varying += 1.0 if p.squares[i] > 0.0 else 0.0
    if varying == 0.0:
        return 0.0
    found = (p.head[NORMS] + varying * varying) / (p.head[OVERLAP] + varying)
    return min(max(found, 1.0), varying)


@kernel
def log_background(p: Parts, x: Vector, dim: float) -> float:
    """The logarithm of the background's density at x, times (2π)^(D/2)."""
    n, r2 = p.head[LOOSE], max(squared(x, p.mean, p.weight), 1e-12)
    normal = math.log(n / (n + 1.0)) - 0.5 * r2
    outlier = math.lgamma(0.5 * dim) + 0.5 * dim * math.log(2.0 / r2)
    outlier -= math.log(2.0 * RANGE) + math.log(n + 1.0)
    return max(normal, outlier) + math.log1p(math.exp(-abs(normal - outlier)))


@fast
def widen_metric(p: Parts, x: Vector) -> float:
    """Learn means, deviations and overlaps from x; returns D."""
    p.head[LOOSE] += 1.0
    n = p.head[LOOSE]
    varying = 0.0
    for i in range(x.size):
        change = x[i] - p.mean[i]
        p.mean[i] += change / n
        p.squares[i] += change * (x[i] - p.mean[i])
        varying += 1.0 if p.squares[i] > 0.0 else 0.0
    if varying == 0.0:
        return 0.0
    kept = p.head[KEPT + 1]
    if kept > 0.0:  # any of the middle moments, chosen so that no rhythm of the stream matters
        overlap, norm, other = 0.0, 0.0, 0.0
        y = p.recent[RECENT + int(n * 40503.0 % 65536.0 * kept / 65536.0)]
        for i in range(x.size):
            if p.squares[i] > 0.0:
                here, there, scale = x[i] - p.mean[i], y[i] - p.mean[i], n / p.squares[i]
                overlap += here * there * scale
                norm += here * here * scale
                other += there * there * scale
        p.head[OVERLAP] += overlap * overlap
        p.head[NORMS] += norm * other
    dim = dimension(p)
    for i in range(x.size):
        p.weight[i] = dim / varying * n / p.squares[i] if p.squares[i] > 0.0 else 0.0
    return dim
