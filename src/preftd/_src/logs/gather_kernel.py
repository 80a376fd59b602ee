"""Columns of numbers become rows of features: filled, scaled, and with the age of each reading."""

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel

LAST, MEAN, ZERO = range(3)
"""The fills, in the order of `FILLS`."""
VALUE, AGE, TRUSTED = range(3)
"""What is carried of a column from one piece to the next: the last reading of the episode, its age,
and the last reading in a row with β > 0."""


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
def add_ages(column: Vector, begins: NDArray[np.bool_], old: float, age: Vector) -> float:
    """Let `age` be at least that of the column's last reading; returns that of the last row.

    old  that of the row before
    """
    for t in range(column.size):
        if begins[t]:
            old = np.inf
        old = old + 1.0 if np.isnan(column[t]) else 0.0
        age[t] = max(age[t], old)
    return old


@kernel
def gather_gaps(
    column: Vector,
    begins: NDArray[np.bool_],
    beta: Vector,
    numbers: tuple[float, float, float, int],
    carried: Vector,
    out: Dense,
    index: int,
) -> tuple[int, int]:
    """Write a column with gaps; returns how many there are, and the first infinite row or −1.

    What a row with β = 0 shows fills no gap of a row with β > 0.

    numbers  centre, factor, mean and fill
    carried  VALUE and TRUSTED are updated
    """
    centre, factor, mean, fill = numbers
    last, trusted, gaps = carried[VALUE], carried[TRUSTED], 0
    for t in range(column.size):
        x = column[t]
        if begins[t]:
            last = trusted = np.nan
        if np.isnan(x):
            gaps += 1
            known = trusted if beta[t] > 0.0 else last
            x = known if fill == LAST and not np.isnan(known) else (0.0 if fill == ZERO else mean)
        elif np.isinf(x):
            return gaps, t
        else:
            last = x
            trusted = x if beta[t] > 0.0 else trusted
        out[t, index] = (x - centre) * factor
    carried[VALUE], carried[TRUSTED] = last, trusted
    return gaps, -1
