"""Columns of numbers become rows of features: filled, scaled, and with the age of each reading."""

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel

LAST, MEAN, ZERO = range(3)
"""The fills, in the order of `FILLS`."""
VALUE, AGE = range(2)
"""What is carried of a column from one piece to the next: its last reading, and its age."""


@kernel(fastmath={"contract"})
def gather_whole(column: Vector, centre: float, factor: float, out: Dense, index: int) -> bool:
    """Write a column that has no gap; returns False if it has one, with `out` half written."""
    whole = True
    for t in range(column.size):
        x = column[t]
        whole &= abs(x) < np.inf
        out[t, index] = (x - centre) * factor
    return whole


@kernel(fastmath={"contract"})
def gather_four(
    a: Vector, b: Vector, c: Vector, d: Vector, centre: Vector, factor: Vector, out: Dense, i: int
) -> bool:
    """The same for four columns beside each other: memory is written in longer pieces."""
    whole = True
    for t in range(a.size):
        p, q, r, s = a[t], b[t], c[t], d[t]
        whole &= (abs(p) < np.inf) & (abs(q) < np.inf) & (abs(r) < np.inf) & (abs(s) < np.inf)
        out[t, i] = (p - centre[i]) * factor[i]
        out[t, i + 1] = (q - centre[i + 1]) * factor[i + 1]
        out[t, i + 2] = (r - centre[i + 2]) * factor[i + 2]
        out[t, i + 3] = (s - centre[i + 3]) * factor[i + 3]
    return whole


@kernel
def gather_gaps(
    column: Vector,
    begins: NDArray[np.bool_],
    numbers: tuple[float, float, float, int, bool],
    carried: Vector,
    out: Dense,
    index: int,
    age: Vector,
) -> tuple[int, int]:
    """Write a column with gaps; returns how many there are, and the first infinite row or −1.

    numbers  centre, factor, mean, fill, and whether the column counts for the age of rows
    carried  VALUE and AGE, updated
    age      that of the oldest feature of each row, updated
    """
    centre, factor, mean, fill, counts = numbers
    last, old, gaps = carried[VALUE], carried[AGE], 0
    for t in range(column.size):
        x = column[t]
        if begins[t]:
            last, old = np.nan, np.inf
        if np.isnan(x):
            gaps += 1
            old += 1.0
            x = last if fill == LAST and not np.isnan(last) else (0.0 if fill == ZERO else mean)
        elif np.isinf(x):
            return gaps, t
        else:
            last, old = x, 0.0
        out[t, index] = (x - centre) * factor
        if counts and old > age[t]:
            age[t] = old
    carried[VALUE], carried[AGE] = last, old
    return gaps, -1
