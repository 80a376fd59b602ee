"""A and b, or an inverse, kept up to date from step to step, compiled.

What a step is multiplied with: d = x − γ' x', and e ← decay e + gain x. Steps are checked before
anything is written, so that one which is refused leaves no trace.
"""

import numpy as np
from numba import njit

from preftd.arrays import Dense, Vector

LARGEST = 1e300
"""Products at least this large are refused; sums of fewer than 1e8 others do not overflow."""

SMALLEST_DENOMINATOR = 1e-9
"""1 + dᵀ P e loses this much of its digits to cancellation, and P with it."""


TRACE, DIFFERENCE, LEFT, RIGHT = range(4)
"""Rows of `rows`, an array of shape (4, size): e and d of a step, P e and dᵀ P."""


@njit(cache=True, nogil=True, fastmath={"contract"})
def traces(decay: Vector, gain: Vector, features: Dense, before: Vector) -> Dense:
    """e_t = decay_t e_{t−1} + gain_t x_t, a row for each step; `before` is the trace so far."""
    steps, size = features.shape
    out = np.empty((steps, size))
    for t in range(steps):
        if t == 0:
            for i in range(size):
                out[t, i] = decay[t] * before[i] + gain[t] * features[t, i]
        else:
            for i in range(size):
                out[t, i] = decay[t] * out[t - 1, i] + gain[t] * features[t, i]
    return out


@njit(cache=True, nogil=True, fastmath={"contract"})
def prepare(
    x: Vector, y: Vector, numbers: tuple[float, float, float, float], trace: Vector, rows: Dense
) -> bool:
    """Write e and d of a step into their rows; returns whether they can be multiplied.

    numbers  reward, discount, decay, gain
    """
    reward, discount, decay, gain = numbers
    largest, other, finite = 0.0, max(abs(reward), 1.0), np.isfinite(reward)
    for i in range(x.size):
        e, d = decay * trace[i] + gain * x[i], x[i] - discount * y[i]
        rows[TRACE, i], rows[DIFFERENCE, i] = e, d
        finite &= np.isfinite(e) & np.isfinite(d)
        largest, other = max(largest, abs(e)), max(other, abs(d))
    return finite and largest * other < LARGEST


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_sums(
    x: Vector,
    y: Vector,
    numbers: tuple[float, float, float, float],
    trace: Vector,
    rows: Dense,
    A: Dense,
    b: Vector,
) -> bool:
    """One step of A ← A + e dᵀ, b ← b + e r; returns False, with nothing changed, if it cannot."""
    if not prepare(x, y, numbers, trace, rows):
        return False
    reward = numbers[0]
    for i in range(x.size):
        e = rows[TRACE, i]
        trace[i] = e
        b[i] += e * reward
        for j in range(x.size):
            A[i, j] += e * rows[DIFFERENCE, j]
    return True


@njit(cache=True, nogil=True, fastmath={"contract"})
def add_inverse(
    x: Vector,
    y: Vector,
    numbers: tuple[float, float, float, float],
    trace: Vector,
    rows: Dense,
    inverse: Dense,
    weights: Vector,
) -> int:
    """One step of the inverse: 1 if it is done, 0 if it cannot be, −1 if that is singular."""
    if not prepare(x, y, numbers, trace, rows):
        return 0
    if not sherman_morrison(rows[TRACE], rows[DIFFERENCE], numbers[0], rows, inverse, weights):
        return -1
    for i in range(x.size):
        trace[i] = rows[TRACE, i]
    return 1


# Sums may be reordered, which is what lets them be vectorised; NaN and infinity stay what they are.
@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def sherman_morrison(
    e: Vector, d: Vector, reward: float, rows: Dense, inverse: Dense, weights: Vector
) -> bool:
    """P ← (P⁻¹ + e dᵀ)⁻¹ and w ← w + P e (r − dᵀw); False if the denominator vanishes."""
    left, right = rows[LEFT], rows[RIGHT]
    size = e.size
    for i in range(size):
        right[i] = 0.0
    for i in range(size):
        total, d_i = 0.0, d[i]
        for j in range(size):
            total += inverse[i, j] * e[j]
            right[j] += d_i * inverse[i, j]
        left[i] = total
    denominator, error = 1.0, reward
    for i in range(size):
        denominator += d[i] * left[i]
        error -= d[i] * weights[i]
    if not SMALLEST_DENOMINATOR < abs(denominator) < np.inf:
        return False
    for i in range(size):
        share = left[i] / denominator
        weights[i] += share * error
        for j in range(size):
            inverse[i, j] -= share * right[j]
    return True


@njit(cache=True, nogil=True)
def add_rows(
    trace: Dense, difference: Dense, reward: Vector, rows: Dense, inverse: Dense, weights: Vector
) -> int:
    """Steps of the inverse in a row; how many were done before one that is singular."""
    for t in range(len(trace)):
        if not sherman_morrison(trace[t], difference[t], reward[t], rows, inverse, weights):
            return t
    return len(trace)
