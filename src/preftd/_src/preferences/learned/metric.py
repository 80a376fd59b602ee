"""Nearness without units, for observations that do not repeat exactly.

    r²(x, y) = Σ_i (x_i − y_i)² / s_i²

s_i is the standard deviation of entry i so far; entries that never vary or copy others are left
out, and D are left. In this metric the background of all observations is a standard normal
distribution in D dimensions, whatever the units.

    background(x) = n/(n+1) N(x; mean, I) + 1/(n+1) · density ∝ r^−D over scales e^±RANGE

The second part lets an outlier cost nats, not thousands.
"""

import math

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.columns import tell_columns_apart
from preftd._src.preferences.learned.layout import LOOSE, Parts

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
def log_background(p: Parts, x: Vector, dim: float) -> float:
    """The logarithm of the background's density at x, times (2π)^(D/2)."""
    n, r2 = p.head[LOOSE], max(squared(x, p.mean, p.weight), 1e-12)
    normal = math.log(n / (n + 1.0)) - 0.5 * r2
    outlier = math.lgamma(0.5 * dim) + 0.5 * dim * math.log(2.0 / r2)
    outlier -= math.log(2.0 * RANGE) + math.log(n + 1.0)
    return max(normal, outlier) + math.log1p(math.exp(-abs(normal - outlier)))


@kernel
def widen_metric(p: Parts, x: Vector) -> None:
    """Learn means and deviations from x."""
    tell_columns_apart(p, x)
    p.head[LOOSE] += 1.0
    n = p.head[LOOSE]
    for i in range(x.size):
        change = x[i] - p.mean[i]
        p.mean[i] += change / n
        p.squares[i] += change * (x[i] - p.mean[i])
        p.weight[i] = n / p.squares[i] if p.leader[i] == i and p.squares[i] > 0.0 else 0.0
