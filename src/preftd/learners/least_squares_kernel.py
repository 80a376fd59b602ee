"""Traces along a stream, and an inverse kept up to date, compiled."""

import numpy as np
from numba import float64, int64, njit, types

from preftd.arrays import Dense, Vector

# Said outright, so that arrays that may not be written to need no copy and no other compilation.
_NUMBERS = types.Array(float64, 1, "C", readonly=True)
_ROWS = types.Array(float64, 2, "C", readonly=True)
_MATRIX = types.Array(float64, 2, "C")
_KEPT = types.Array(float64, 1, "C")

SMALLEST_DENOMINATOR = 1e-9
"""1 + dᵀ P e loses this much of its digits to cancellation, and P with it."""


@njit(_MATRIX(_NUMBERS, _NUMBERS, _ROWS, _NUMBERS), cache=True, nogil=True, fastmath={"contract"})
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


# Sums may be reordered, which is what lets them be vectorised; NaN and infinity stay what they are.
@njit(
    int64(_ROWS, _ROWS, _NUMBERS, _MATRIX, _KEPT),
    cache=True,
    nogil=True,
    fastmath={"contract", "reassoc"},
)
def sherman_morrison(
    trace: Dense, difference: Dense, reward: Vector, inverse: Dense, weights: Vector
) -> int:
    """P ← (P⁻¹ + e dᵀ)⁻¹ and w ← w + P e (r − dᵀw), step by step.

    The number of steps done: fewer than there are if the denominator of the next vanishes.
    """
    steps, size = trace.shape
    left, right = np.empty(size), np.empty(size)
    for t in range(steps):
        right[:] = 0.0
        for i in range(size):
            total, d = 0.0, difference[t, i]
            for j in range(size):
                total += inverse[i, j] * trace[t, j]
                right[j] += d * inverse[i, j]
            left[i] = total
        denominator, error = 1.0, reward[t]
        for i in range(size):
            denominator += difference[t, i] * left[i]
            error -= difference[t, i] * weights[i]
        if not SMALLEST_DENOMINATOR < abs(denominator) < np.inf:
            return t
        for i in range(size):
            share = left[i] / denominator
            weights[i] += share * error
            for j in range(size):
                inverse[i, j] -= share * right[j]
    return len(trace)
