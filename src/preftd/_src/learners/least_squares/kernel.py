"""A and b, or an inverse, kept up to date from row to row, compiled.

What a row is made of: d = x − Γ x', and e. Rows are checked before anything is written, so that one
which is refused leaves no trace.
"""

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel

LARGEST = 1e300
"""Products at least this large are refused; sums of fewer than 1e8 others do not overflow."""

SMALLEST_DENOMINATOR = 1e-9
"""1 + dᵀ P e loses this much of its digits to cancellation, and P with it."""


TRACE, DIFFERENCE, LEFT, RIGHT = range(4)
"""Rows of `rows`, an array of shape (4, size): e and d of a row, P e and dᵀ P."""


@kernel(fastmath={"contract"})
def traces(decay: Vector, gain: Vector, features: Dense, before: Vector) -> Dense:
    """e_k = decay e + gain x_k, with e of the row before; `before` is the trace so far."""
    rows, size = features.shape
    out = np.empty((rows, size))
    for t in range(rows):
        if t == 0:
            for i in range(size):
                out[t, i] = decay[t] * before[i] + gain[t] * features[t, i]
        else:
            for i in range(size):
                out[t, i] = decay[t] * out[t - 1, i] + gain[t] * features[t, i]
    return out


@kernel(fastmath={"contract"})
def trace_of(decay: float, gain: float, x: Vector, before: Vector, out: Vector) -> bool:
    """Write e = decay e + gain x; returns whether rows can be made of e and x."""
    largest, finite = 0.0, True
    for i in range(x.size):
        out[i] = decay * before[i] + gain * x[i]
        finite &= np.isfinite(out[i]) & np.isfinite(x[i])
        largest = max(largest, abs(out[i]) * max(abs(x[i]), 1.0))
    return finite and largest < LARGEST


@kernel(fastmath={"contract"})
def prepare(
    e: Vector, x: Vector, x_next: Vector, numbers: tuple[float, float, float], rows: Dense
) -> bool:
    """Write e and d of a row; returns whether they can be multiplied.

    numbers  Γ, R, and a factor of the whole row
    """
    discount, reward, share = numbers
    largest, other, finite = 0.0, max(abs(reward), 1.0), np.isfinite(reward)
    for i in range(x.size):
        d = x[i] - discount * x_next[i] if discount != 0.0 else x[i]
        rows[TRACE, i], rows[DIFFERENCE, i] = share * e[i], d
        finite &= np.isfinite(e[i]) & np.isfinite(d)
        largest, other = max(largest, abs(e[i])), max(other, abs(d))
    return finite and largest * other < LARGEST


@kernel(fastmath={"contract"})
def add_sums(reward: float, rows: Dense, A: Dense, b: Vector) -> None:
    """A ← A + e dᵀ, b ← b + e R, with a row as `prepare` wrote it."""
    for i in range(b.size):
        e = rows[TRACE, i]
        b[i] += e * reward
        for j in range(b.size):
            A[i, j] += e * rows[DIFFERENCE, j]


# Sums may be reordered, which is what lets them be vectorised; NaN and infinity stay what they are.
@kernel(fastmath={"contract", "reassoc"})
def sherman_morrison(
    e: Vector, d: Vector, reward: float, rows: Dense, inverse: Dense, weights: Vector
) -> bool:
    """P ← (P⁻¹ + e dᵀ)⁻¹ and w ← w + P e (r − dᵀw).

    Returns False, with nothing changed, if the denominator vanishes or a number could overflow.
    """
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
    of_left, of_right, of_weights = 0.0, 0.0, 0.0
    for i in range(size):
        of_left += abs(left[i]) / abs(denominator)
        of_right += abs(right[i])
        of_weights += abs(weights[i])
    if not (of_left * of_right < LARGEST and of_weights + of_left * abs(error) < np.inf):
        return False
    for i in range(size):
        share = left[i] / denominator
        weights[i] += share * error
        for j in range(size):
            inverse[i, j] -= share * right[j]
    return True


@kernel
def add_rows(
    trace: Dense, difference: Dense, reward: Vector, rows: Dense, inverse: Dense, weights: Vector
) -> int:
    """Rows of the inverse, one after the other; how many were done before one that is singular."""
    for t in range(len(difference)):
        if not sherman_morrison(trace[t], difference[t], reward[t], rows, inverse, weights):
            return t
    return len(difference)
