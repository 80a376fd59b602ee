"""The backward view of a network over a segment: from an empty trace to the next decay of 0.

With d_{j,t} the product of the decays after step j up to t, g_j = gain_j ∂v/∂a at x_j, and a the
activations of the hidden layer, trace and weights of that layer before step t are

    z_t = Σ_{j≤t} d_{j,t} x_j g_jᵀ          W_t = W_0 + Σ_{j<t} x_j (e_j ∘ g_j)ᵀ
    e_j = Σ_{j≤s<t} α δ_s d_{j,s}, a number for each lane

so the segment needs neither: a of x_m is W_0ᵀx_m + Σ_j (1 + x_j·x_m) e_j ∘ g_j, in
which the 1 is for the bias. The hidden layer is read and written once per segment, which saves more
than the products of inputs cost if segments are short.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.network.layers import (
    Lesson,
    Weights,
    activate_all,
    compiled,
    entering_gain,
    inlined,
    spread_all,
    value,
)
from preftd._src.learners.steps import Steps
from preftd._src.learners.vectors import (
    WIDTH,
    eight,
    load,
    multiply_add,
    store,
    times,
    where_active,
)


class Segment(NamedTuple):
    """Working arrays of a segment."""

    code: NDArray[np.int32]
    """Of the inputs x_m."""
    activation: Vector
    """Their activations, a row each: first with W_0, then with current weights."""
    source: NDArray[np.int32]
    """Codes of the inputs x_j, those with a gain."""
    gradient: Vector
    """g_j, a row each."""
    moved: Vector
    """e_j for each column, one row each."""
    share: Vector
    """d_{j,t}."""
    before: Vector
    """d_{j,t−1}."""
    alike: Vector
    """1 + x_j·x_{t+1}."""
    out: Vector
    """The output layer's trace."""
    bias: Vector
    """The output bias's trace, for each lane."""
    step: Vector
    """α δ_t, for each column."""
    gain: Vector
    """gain_t, bounded or not, for each column."""
    slope: Vector
    """The change of a of x_{t+1}, per step."""
    every: NDArray[np.int64]
    """0, 1, 2, …"""
    four: NDArray[np.int64]
    sums: Vector


@compiled
def segment_for(weights: Weights, longest: int) -> Segment:
    """Arrays for segments of up to `steps` steps."""
    columns = weights.out.size
    return Segment(
        np.empty(longest + 1, dtype=np.int32),
        np.empty((longest + 1) * columns),
        np.empty(longest, dtype=np.int32),
        np.empty(longest * columns),
        np.empty(longest * columns),
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
        np.zeros(columns),
        np.zeros(weights.bias.size),
        np.zeros(columns),
        np.zeros(columns),
        np.zeros(columns),
        np.arange(longest),
        np.empty(4, dtype=np.int64),
        np.empty(4 * WIDTH),
    )


@inlined
def follow_segment(lesson: Lesson, span: tuple[int, int], work: Segment) -> None:
    """Learn from a span of steps that starts with an empty trace; the final trace is dropped."""
    weights, units, step_sizes, steps, squares = lesson
    begin, end = span
    columns, kept = weights.out.size, 0
    work.out[:], work.step[:], work.bias[:] = 0.0, 0.0, 0.0
    _look(weights, steps, begin, end, work)
    for t in range(begin, end):
        first, decay, gain = (t - begin) * columns, steps.decay[t], steps.gain[t]
        for j in range(kept):
            work.before[j] = work.share[j]
            work.share[j] *= decay
        for lane in range(step_sizes.size):
            bound = (gain, step_sizes[lane], squares[t])
            own = entering_gain(weights, units, lane, work.activation, first, bound)
            work.bias[lane] = decay * work.bias[lane] + own
            work.gain[lane * units : (lane + 1) * units] = own
        if gain != 0:
            _keep(weights, work, kept, first)
            work.source[kept] = steps.code_t[t]
            kept += 1
        goes_on = t + 1 < end or steps.discount_tp1[t] != 0
        if goes_on:
            _compare_inputs(steps, work, kept, work.code[t + 1 - begin])
            _meet(work, kept, first + columns, columns)
        else:
            _settle(work, kept, columns)
        for lane in range(step_sizes.size):
            delta = steps.reward[t] - value(weights, units, lane, work.activation, first)
            if steps.discount_tp1[t] != 0:
                ahead = value(weights, units, lane, work.activation, first + columns)
                delta += steps.discount_tp1[t] * ahead
            step = step_sizes[lane] * delta
            weights.bias[lane] += step * work.bias[lane]
            work.step[lane * units : (lane + 1) * units] = step
        _move(weights, work, first, decay, goes_on)
    _apply(weights, work, kept)
    spread_all(work.gradient, steps, work.source, work.every[:kept], weights.hidden, work.four)


@inlined
def _look(weights: Weights, steps: Steps, begin: int, end: int, work: Segment) -> None:
    """Write a of all inputs of the segment, with its initial weights."""
    count = end - begin
    work.code[:count] = steps.code_t[begin:end]
    if steps.discount_tp1[end - 1] != 0:
        work.code[count] = steps.code_tp1[end - 1]
        count += 1
    activate_all(weights, steps, work.code[:count], work.activation, work.four)


@inlined
def _keep(weights: Weights, work: Segment, kept: int, first: int) -> None:
    """Write g of the input whose activations start at `first`, and set its e to 0."""
    work.share[kept], work.before[kept] = 1.0, 0.0
    zero = eight(0.0)
    for c in range(0, weights.out.size, WIDTH):
        a, k = load(work.activation, first + c), kept * weights.out.size + c
        strength = load(work.gain, c)
        store(work.gradient, k, times(strength, where_active(a, load(weights.out, c))))
        store(work.moved, k, zero)


@inlined
def _meet(work: Segment, kept: int, first: int, columns: int) -> None:
    """Update e_j; then write a of x_{t+1} before step t, and its change in the step."""
    for c in range(0, columns, WIDTH):
        step, ahead, slope = load(work.step, c), load(work.activation, first + c), eight(0.0)
        for j in range(kept):
            k = j * columns + c
            e = multiply_add(step, eight(work.before[j]), load(work.moved, k))
            store(work.moved, k, e)
            pull = times(eight(work.alike[j]), load(work.gradient, k))
            ahead = multiply_add(pull, e, ahead)
            slope = multiply_add(pull, eight(work.share[j]), slope)
        store(work.activation, first + c, ahead)
        store(work.slope, c, slope)


@inlined
def _settle(work: Segment, kept: int, columns: int) -> None:
    """Update e_j where no input follows."""
    for c in range(0, columns, WIDTH):
        step = load(work.step, c)
        for j in range(kept):
            k = j * columns + c
            store(work.moved, k, multiply_add(step, eight(work.before[j]), load(work.moved, k)))


@inlined
def _move(weights: Weights, work: Segment, first: int, decay: float, goes_on: bool) -> None:
    """Update trace and weights of the output layer; write a of x_{t+1} after the step."""
    columns, fade = weights.out.size, eight(decay)
    for c in range(0, columns, WIDTH):
        a, step, strength = load(work.activation, first + c), load(work.step, c), load(work.gain, c)
        z = multiply_add(fade, load(work.out, c), times(strength, where_active(a, a)))
        store(work.out, c, z)
        store(weights.out, c, multiply_add(step, z, load(weights.out, c)))
        if goes_on:
            k = first + columns + c
            moved = multiply_add(step, load(work.slope, c), load(work.activation, k))
            store(work.activation, k, moved)


@inlined
def _apply(weights: Weights, work: Segment, kept: int) -> None:
    """Replace g_j by e_j ∘ g_j, and add it to the hidden biases."""
    columns = weights.out.size
    for c in range(0, columns, WIDTH):
        step, total = load(work.step, c), load(weights.hidden_bias, c)
        for j in range(kept):
            k = j * columns + c
            e = multiply_add(step, eight(work.share[j]), load(work.moved, k))
            change = times(e, load(work.gradient, k))
            store(work.gradient, k, change)
            total = multiply_add(eight(1.0), change, total)
        store(weights.hidden_bias, c, total)


@inlined
def _compare_inputs(steps: Steps, work: Segment, kept: int, code: int) -> None:
    """Write 1 + x_j·x for the input x of a code; four dense x_j at a time."""
    held = 0
    for j in range(kept):
        source = work.source[j]
        if source >= 0 or code >= 0:
            work.alike[j] = 1.0 + _sparse_product(steps, source, code)
            continue
        work.four[held], held = j, held + 1
        if held == 4:
            _four_products(steps.dense, work, code)
            held = 0
    if held:
        for h in range(held, 4):  # the first once more, to be four
            work.four[h] = work.four[0]
        _four_products(steps.dense, work, code)


@inlined
def _sparse_product(steps: Steps, one: int, other: int) -> float:
    """The product of two inputs, at least one of which consists of ones."""
    sparse, against = (one, other) if one >= 0 else (other, one)
    total = 0.0
    for h in range(steps.active.shape[1]):
        i = steps.active[sparse, h]
        if against < 0:
            total += steps.dense[-1 - against, i]
        else:
            for k in range(steps.active.shape[1]):
                total += 1.0 if i == steps.active[against, k] else 0.0
    return total


@inlined
def _four_products(dense: Dense, work: Segment, code: int) -> None:
    """Write 1 + x_j·x for four dense x_j."""
    size, flat = dense.shape[1], dense.reshape(-1)
    whole, y = size - size % WIDTH, (-1 - code) * size
    r0, r1 = (-1 - work.source[work.four[0]]) * size, (-1 - work.source[work.four[1]]) * size
    r2, r3 = (-1 - work.source[work.four[2]]) * size, (-1 - work.source[work.four[3]]) * size
    s0 = s1 = s2 = s3 = eight(0.0)
    for i in range(0, whole, WIDTH):
        x = load(flat, y + i)
        s0 = multiply_add(load(flat, r0 + i), x, s0)
        s1 = multiply_add(load(flat, r1 + i), x, s1)
        s2 = multiply_add(load(flat, r2 + i), x, s2)
        s3 = multiply_add(load(flat, r3 + i), x, s3)
    store(work.sums, 0, s0)
    store(work.sums, WIDTH, s1)
    store(work.sums, 2 * WIDTH, s2)
    store(work.sums, 3 * WIDTH, s3)
    for h in range(4):
        total, k = 1.0, h * WIDTH
        for i in range(whole, size):
            total += flat[(-1 - work.source[work.four[h]]) * size + i] * flat[y + i]
        total += (work.sums[k] + work.sums[k + 1]) + (work.sums[k + 2] + work.sums[k + 3])
        total += (work.sums[k + 4] + work.sums[k + 5]) + (work.sums[k + 6] + work.sums[k + 7])
        work.alike[work.four[h]] = total
