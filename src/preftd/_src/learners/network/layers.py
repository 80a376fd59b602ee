"""Shared by the views of a network: weights and their initialisation, values, scores.

    a_u  = hidden_bias_u + Σ_i x_i hidden_{i,u}          v(x) = bias + Σ_u out_u max(a_u, 0)

`Parameters` are the weights of one network. In kernels, networks of several step sizes (lanes) are
adjacent, so rows are long whatever the width: unit u of lane l is column l · units + u. Columns are
padded to a multiple of eight with weights of 0, which never change.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd._src.learners.steps import Steps
from preftd._src.learners.vectors import (
    WIDTH,
    eight,
    load,
    multiply_add,
    store,
    where_active,
)
from preftd._src.randomness import generator
from preftd._src.tasks.scored import Scored


class Parameters(NamedTuple):
    """The weights of one network, or arrays of their shapes."""

    hidden: Dense
    """Shape (inputs, units)."""
    hidden_bias: Vector
    """Shape (units,)."""
    out: Vector
    """Shape (units,)."""
    bias: float

    def flat(self) -> Vector:
        """A copy of all parts in one vector."""
        return np.concatenate([np.ravel(part) for part in self])

    @classmethod
    def of_flat(cls, flat: Vector, size: int, units: int) -> Parameters:
        """The parts of such a vector, in the same memory."""
        end = size * units
        hidden, hidden_bias = flat[:end].reshape(size, units), flat[end : end + units]
        return cls(hidden, hidden_bias, flat[end + units : -1], float(flat[-1]))

    def values(self, x: Dense) -> Vector:
        """v(x) of inputs in rows, shape (n,)."""
        return np.asarray(self.bias + np.maximum(x @ self.hidden + self.hidden_bias, 0) @ self.out)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Copies of the parts, for a learner's state."""
        return {prefix + name: np.array(part) for name, part in self._asdict().items()}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Parameters:
        """The result of `arrays`."""
        hidden, hidden_bias, out, bias = (arrays[prefix + name] for name in cls._fields)
        return cls(hidden, hidden_bias, out, float(bias))


def _xavier(inputs: int, units: int, seed: SupportsIndex) -> Parameters:
    """Weights uniform in ±√(6 / (inputs + outputs)), biases 1."""
    draw = generator("network, xavier", inputs, units, seed)
    near, far = np.sqrt(6 / (inputs + units)), np.sqrt(6 / (units + 1))
    return Parameters(
        draw.uniform(-near, near, (inputs, units)),
        np.ones(units),
        draw.uniform(-far, far, units),
        1.0,
    )


def _uniform(inputs: int, units: int, seed: SupportsIndex) -> Parameters:
    """Weights and biases uniform in ±1/√inputs."""
    draw = generator("network", inputs, units, seed)
    near, far = 1 / np.sqrt(inputs), 1 / np.sqrt(units)
    return Parameters(
        draw.uniform(-near, near, (inputs, units)),
        draw.uniform(-near, near, units),
        draw.uniform(-far, far, units),
        float(draw.uniform(-far, far)),
    )


INITS = {"uniform": _uniform, "xavier": _xavier}


class Weights(NamedTuple):
    """The weights of all lanes, or arrays of their shapes."""

    hidden: Vector
    """Row i is input i: entry i · columns + column."""
    hidden_bias: Vector
    out: Vector
    bias: Vector
    """One for each lane."""


class Lesson(NamedTuple):
    """Adjacent networks, and the steps that they learn from."""

    weights: Weights
    units: int
    step_sizes: Vector
    """One for each lane."""
    steps: Steps
    squares: Vector
    """1 + |x_t|² where steps are bounded, 0 where not."""


compiled = kernel(fastmath={"contract"}, error_model="numpy")
"""Contraction is allowed, but NaN must stay visible."""

inlined = kernel(fastmath={"contract"}, error_model="numpy", inline="always")
"""Options for parts of a step or segment, which are inlined: passing that many arrays would cost as
much as the work. Their callers pass uncounted arrays."""


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
    """Write a of one input, given by its code, from `first` on."""
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
    """Write start + x · matrix, with four independent sums at a time."""
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
    """Write max(a, 0) of inputs in rows; NaN stays visible."""
    for s in range(len(dense)):
        add_dense(weights.hidden_bias, weights.hidden, dense[s], into[s], 0)
        for c in range(0, weights.out.size, WIDTH):
            a = load(into[s], c)
            store(into[s], c, where_active(a, a))


@inlined
def value(weights: Weights, units: int, lane: int, activation: Vector, first: int) -> float:
    """The value v of one lane; NaN stays visible."""
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


@inlined
def activate_all(
    weights: Weights,
    steps: Steps,
    codes: NDArray[np.int32],
    into: Vector,
    four: NDArray[np.int64],
) -> None:
    """Write a of these inputs, a row each; `four` has the same size."""
    columns, held = weights.out.size, 0
    for s in range(codes.size):
        if codes[s] >= 0:
            activate(weights, codes[s], steps.dense, steps.active, into, s * columns)
            continue
        four[held], held = s, held + 1
        if held == 4:
            _activate_four(weights, steps.dense, codes, four, into)
            held = 0
    for s in four[:held]:
        activate(weights, codes[s], steps.dense, steps.active, into, s * columns)


@compiled
def _activate_four(
    weights: Weights,
    dense: Dense,
    codes: NDArray[np.int32],
    four: NDArray[np.int64],
    into: Vector,
) -> None:
    columns, hidden = weights.out.size, weights.hidden
    r0, r1, r2, r3 = four
    x0, x1, x2, x3 = (
        dense[-1 - codes[r0]],
        dense[-1 - codes[r1]],
        dense[-1 - codes[r2]],
        dense[-1 - codes[r3]],
    )
    for c in range(0, columns, WIDTH):
        s0 = s1 = s2 = s3 = load(weights.hidden_bias, c)
        for i in range(dense.shape[1]):
            w = load(hidden, i * columns + c)
            s0 = multiply_add(eight(x0[i]), w, s0)
            s1 = multiply_add(eight(x1[i]), w, s1)
            s2 = multiply_add(eight(x2[i]), w, s2)
            s3 = multiply_add(eight(x3[i]), w, s3)
        store(into, r0 * columns + c, s0)
        store(into, r1 * columns + c, s1)
        store(into, r2 * columns + c, s2)
        store(into, r3 * columns + c, s3)


@inlined
def spread_all(
    change: Vector,
    steps: Steps,
    codes: NDArray[np.int32],
    chosen: NDArray[np.int64],
    hidden: Vector,
    four: NDArray[np.int64],
) -> None:
    """Add Σ_s x_s change_s to the hidden layer, over the chosen rows s."""
    columns, held, one = hidden.size // steps.dense.shape[1], 0, eight(1.0)
    for s in chosen:
        if codes[s] >= 0:
            for i in steps.active[codes[s]]:
                for c in range(0, columns, WIDTH):
                    k = i * columns + c
                    store(
                        hidden, k, multiply_add(one, load(change, s * columns + c), load(hidden, k))
                    )
            continue
        four[held], held = s, held + 1
        if held == 4:
            _spread_four(change, steps.dense, codes, four, hidden, columns)
            held = 0
    for s in four[:held]:
        x = steps.dense[-1 - codes[s]]
        for c in range(0, columns, WIDTH):
            d = load(change, s * columns + c)
            for i in range(x.size):
                k = i * columns + c
                store(hidden, k, multiply_add(eight(x[i]), d, load(hidden, k)))


@compiled
def _spread_four(
    change: Vector,
    dense: Dense,
    codes: NDArray[np.int32],
    four: NDArray[np.int64],
    hidden: Vector,
    columns: int,
) -> None:
    r0, r1, r2, r3 = four
    x0, x1, x2, x3 = (
        dense[-1 - codes[r0]],
        dense[-1 - codes[r1]],
        dense[-1 - codes[r2]],
        dense[-1 - codes[r3]],
    )
    for c in range(0, columns, WIDTH):
        d0, d1 = load(change, r0 * columns + c), load(change, r1 * columns + c)
        d2, d3 = load(change, r2 * columns + c), load(change, r3 * columns + c)
        for i in range(dense.shape[1]):
            k = i * columns + c
            w = multiply_add(eight(x0[i]), d0, load(hidden, k))
            w = multiply_add(eight(x1[i]), d1, w)
            w = multiply_add(eight(x2[i]), d2, w)
            store(hidden, k, multiply_add(eight(x3[i]), d3, w))
