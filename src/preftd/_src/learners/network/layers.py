"""What the views of a network share: its weights, its values, its score.

    a_u  = hidden_bias_u + Σ_i x_i hidden_{i,u}          v(x) = bias + Σ_u out_u max(a_u, 0)

Networks of several step sizes (lanes) lie side by side, so that rows are long whatever the width:
unit u of lane l is column l · units + u. Columns are filled up to a multiple of eight; what fills
them has weights of 0, which never change.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.learners.vectors import WIDTH, eight, load, multiply_add, store, where_active
from preftd._src.tasks.scored import Scored


class Weights(NamedTuple):
    """The weights of all lanes, or anything of their shape."""

    hidden: Vector
    """Row i is input i: entry i · columns + column."""
    hidden_bias: Vector
    out: Vector
    bias: Vector
    """One for each lane."""


compiled = kernel(fastmath={"contract"}, error_model="numpy")
"""Rounding may be saved (contract), but what is not a number must stay visible."""

inlined = kernel(fastmath={"contract"}, error_model="numpy", inline="always")
"""The same for parts of a step: handing over that many arrays would cost as much as the work."""


@compiled
def like(weights: Weights) -> Weights:
    """Zeros of the same shape."""
    return Weights(
        np.zeros(weights.hidden.size),
        np.zeros(weights.hidden_bias.size),
        np.zeros(weights.out.size),
        np.zeros(weights.bias.size),
    )


@inlined
def activate(
    weights: Weights,
    code: int,
    dense: Dense,
    active: NDArray[np.int32],
    into: Vector,
    first: int,
) -> None:
    """Write a of one input, in the codes of experience, from `first` on."""
    columns = weights.out.size
    if code < 0:
        add_dense(weights.hidden_bias, weights.hidden, dense[-1 - code], into, first)
        return
    for c in range(0, columns, WIDTH):
        total = load(weights.hidden_bias, c)
        for k in range(active.shape[1]):
            total = multiply_add(
                eight(1.0), load(weights.hidden, active[code, k] * columns + c), total
            )
        store(into, first + c, total)


@compiled
def add_dense(start: Vector, matrix: Vector, x: Vector, into: Vector, first: int) -> None:
    """Write start + x · matrix; four sums at a time, since each waits for itself."""
    columns, rows = start.size, x.size
    fours = rows - rows % 4
    one = eight(1.0)
    for c in range(0, columns, WIDTH):
        s0, s1, s2, s3 = load(start, c), eight(0.0), eight(0.0), eight(0.0)
        for i in range(0, fours, 4):
            k = i * columns + c
            s0 = multiply_add(eight(x[i]), load(matrix, k), s0)
            s1 = multiply_add(eight(x[i + 1]), load(matrix, k + columns), s1)
            s2 = multiply_add(eight(x[i + 2]), load(matrix, k + 2 * columns), s2)
            s3 = multiply_add(eight(x[i + 3]), load(matrix, k + 3 * columns), s3)
        for i in range(fours, rows):
            s0 = multiply_add(eight(x[i]), load(matrix, i * columns + c), s0)
        store(
            into, first + c, multiply_add(one, multiply_add(one, s0, s1), multiply_add(one, s2, s3))
        )


@compiled
def rectify(weights: Weights, dense: Dense, into: Dense) -> None:
    """Write max(a, 0) of inputs in rows; what is not a number stays visible."""
    for s in range(len(dense)):
        add_dense(weights.hidden_bias, weights.hidden, dense[s], into[s], 0)
        for c in range(0, weights.out.size, WIDTH):
            a = load(into[s], c)
            store(into[s], c, where_active(a, a))


@inlined
def value(weights: Weights, units: int, lane: int, activation: Vector, first: int) -> float:
    """The value v of one lane; what is not a number stays visible."""
    total, other = float(weights.bias[lane]), 0.0
    begin = lane * units
    for u in range(begin, begin + units - 1, 2):
        a, b = activation[first + u], activation[first + u + 1]
        total += weights.out[u] * (0.0 if a <= 0 else a)
        other += weights.out[u + 1] * (0.0 if b <= 0 else b)
    if units % 2:
        a = activation[first + begin + units - 1]
        total += weights.out[begin + units - 1] * (0.0 if a <= 0 else a)
    return total + other


@inlined
def entering_gain(
    weights: Weights,
    units: int,
    lane: int,
    activation: Vector,
    first: int,
    bound: tuple[float, float, float],
) -> float:
    """The gain with which ∇v(x) of one lane enters its trace; `bound` has gain, α and 1 + |x|².

    1 + |x|² is 0 where steps are not bounded. If they are,

        |∇v|² = 1 + Σ_u max(a_u, 0)² + (1 + |x|²) Σ_u out_u²,  the last over units with a_u > 0
    """
    gain, step_size, square = bound
    if square == 0.0 or gain == 0.0:
        return gain
    total, slopes = 1.0, 0.0
    for u in range(lane * units, (lane + 1) * units):
        a, slope = activation[first + u], weights.out[u]
        total += 0.0 if a <= 0 else a * a
        slopes += 0.0 if a <= 0 else slope * slope
    return compiled_bounded_gain(gain, step_size * (total + square * slopes))


@compiled
def score(weights: Weights, units: int, scored: Scored, row: Vector, errors: Vector) -> None:
    """Write the mean squared error over the scored states, for each lane; `row` is for a."""
    indices = np.arange(weights.hidden.size // weights.out.size).astype(np.int32).reshape(-1, 1)
    errors[:] = 0.0
    for s in range(scored.codes.size):
        activate(weights, scored.codes[s], scored.dense, indices, row, 0)
        for lane in range(errors.size):
            miss = value(weights, units, lane, row, 0) - scored.values[s]
            errors[lane] += miss * miss
    errors /= scored.codes.size
