"""The backward view of a network: traces of gradients, updated at every step.

    δ_t = r_{t+1} + γ_{t+1} v(x_{t+1}) − v(x_t)
    z_t = decay_t z_{t−1} + gain_t ∇v(x_t)          w ← w + α δ_t z_t

A decay of 0 empties the trace and starts a segment. Short segments need no trace
(`backward_segment.py`); long ones are learned step by step, as follows.

The trace of the hidden layer is 0 but in the rows of inputs seen with a gain since the last decay
of 0: only these live rows are touched, each once per step. The same pass computes what the next
step needs: the change of a of x_{t+1} and, if all rows live, a of x_{t+2}.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.network.backward_segment import Segment, follow_segment, segment_for
from preftd._src.learners.network.layers import (
    Lesson,
    Weights,
    activate,
    compiled,
    entering_gain,
    inlined,
    like,
    score,
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
from preftd._src.tasks.scored import Scored
from preftd._src.uncounted import uncounted


class Rows(NamedTuple):
    """Arrays with the length of a row of the hidden layer."""

    here: Vector
    """a of x_t."""
    ahead: Vector
    """a of x_{t+1}."""
    gradient: Vector
    """gain_t ∂v/∂a."""
    step: Vector
    """α δ_t of the column's lane."""
    gain: Vector
    """gain_t, bounded or not, of the column's lane."""
    slope: Vector
    """The change of a of x_{t+1}, per step."""


class Live(NamedTuple):
    """The number of live rows, whose trace may not be 0: the first ones of `rows`."""

    rows: NDArray[np.uint32]
    here: NDArray[np.bool_]
    """Whether a row is live."""
    x: Vector
    """For an input of ones and zeros; zeros between steps."""
    nothing: Vector
    """An input of zeros."""


Memory: TypeAlias = tuple[Weights, Rows, Live]
"""The trace, and arrays to update it."""
SHORT = 8
"""Segments of up to this many steps per unit are short: in longer ones, the products of inputs
would cost more than they save. (Neither this number nor results may depend on the number of
lanes.)"""


@compiled
def learn_backward(lesson: Lesson, scored: Scored, errors: Dense, longest: int) -> None:
    """Learn from whole episodes; errors after each, for each lane.

    longest segments of more steps are learned step by step
    """
    weights, columns = lesson.weights, lesson.weights.out.size
    inputs = weights.hidden.size // columns
    trace, r = like(weights), np.zeros((6, columns))
    rows = Rows(r[0], r[1], r[2], r[3], r[4], r[5])
    live = Live(
        np.arange(inputs, dtype=np.uint32),
        np.zeros(inputs, dtype=np.bool_),
        np.zeros(inputs),
        np.zeros(inputs),
    )
    memory = (trace, rows, live), segment_for(weights, longest)
    _learn(lesson, (scored, errors), memory, longest)


@compiled
def _learn(
    lesson: Lesson,
    score_into: tuple[Scored, Dense],
    memory: tuple[Memory, Segment],
    longest: int,
) -> None:
    lesson, (scored, errors), (general, segment) = uncounted((lesson, score_into, memory))
    weights, units, _, steps, _ = lesson
    begin, episode = 0, 0
    for t in range(steps.code_t.size):
        if not steps.is_last[t] and steps.decay[t + 1] != 0:
            continue
        while begin <= t and steps.gain[begin] == 0:
            begin += 1  # there is nothing to learn before the first gain
        if begin <= t:
            span = (begin, t + 1)
            if t + 1 - begin <= longest:
                follow_segment(lesson, span, segment)
            else:
                _follow_steps(lesson, span, general)
        begin = t + 1
        if steps.is_last[t]:
            score(weights, units, scored, general[1].slope, errors[episode])
            episode += 1


@inlined
def _follow_steps(lesson: Lesson, span: tuple[int, int], memory: Memory) -> None:
    """Learn step by step from a span that starts with an empty trace."""
    weights, _, _, steps, _ = lesson
    trace, rows, live = memory
    count, here_known, ahead_known = 0, False, False
    _forget(trace, live)
    for t in range(*span):
        if not here_known:
            activate(weights, steps.code_t[t], steps.dense, steps.active, rows.here, 0)
        if steps.discount_tp1[t] != 0 and not ahead_known:
            activate(weights, steps.code_tp1[t], steps.dense, steps.active, rows.ahead, 0)
        _compare(lesson, trace, t, rows)
        _follow_out(weights, trace, rows, steps.decay[t])
        old, count = count, _wake(steps, t, live, count)
        here_known, ahead_known = _follow_rows(
            weights, trace.hidden_bias, trace.hidden, rows, live, (old, count), steps, t
        )


@inlined
def _forget(trace: Weights, live: Live) -> None:
    """Empty the trace."""
    live.here[:] = False
    trace.out[:], trace.hidden_bias[:], trace.bias[:] = 0.0, 0.0, 0.0


@inlined
def _compare(lesson: Lesson, trace: Weights, t: int, rows: Rows) -> None:
    """α δ_t and gain_t of each column, before the update; trace and weight of the bias."""
    weights, units, step_sizes, steps, squares = lesson
    for lane in range(step_sizes.size):
        delta = steps.reward[t] - value(weights, units, lane, rows.here, 0)
        if steps.discount_tp1[t] != 0:
            delta += steps.discount_tp1[t] * value(weights, units, lane, rows.ahead, 0)
        step = step_sizes[lane] * delta
        bound = (steps.gain[t], step_sizes[lane], squares[t])
        gain = entering_gain(weights, units, lane, rows.here, 0, bound)
        trace.bias[lane] = steps.decay[t] * trace.bias[lane] + gain
        weights.bias[lane] += step * trace.bias[lane]
        rows.step[lane * units : (lane + 1) * units] = step
        rows.gain[lane * units : (lane + 1) * units] = gain


@inlined
def _wake(steps: Steps, t: int, live: Live, count: int) -> int:
    """Make the rows of x_t live.

    Returns the number of live rows. Leaves x_t in x, if it consists of ones.
    """
    if steps.gain[t] == 0:
        return count
    if steps.code_t[t] < 0:
        if count < live.here.size:
            for i in range(live.here.size):
                if not live.here[i]:
                    live.rows[count], live.here[i] = i, True
                    count += 1
        return count
    for i in steps.active[steps.code_t[t]]:
        live.x[i] += 1.0
        if not live.here[i]:
            live.rows[count], live.here[i] = i, True
            count += 1
    return count


@inlined
def _follow_rows(
    weights: Weights,
    bias_trace: Vector,
    trace: Vector,
    rows: Rows,
    live: Live,
    counts: tuple[int, int],
    steps: Steps,
    t: int,
) -> tuple[bool, bool]:
    """Update traces and weights of the live rows.

    Returns whether a of x_{t+1} and of x_{t+2} are known.
    """
    old, count = counts
    soon = not steps.is_last[t] and steps.code_tp1[t] < 0 and steps.discount_tp1[t] != 0
    later = not steps.is_last[t] and count == live.here.size and steps.code_tp1[t + 1] < 0
    later = later and steps.discount_tp1[t + 1] != 0
    x = steps.dense[-1 - steps.code_t[t]] if steps.code_t[t] < 0 and steps.gain[t] != 0 else live.x
    x_1 = steps.dense[-1 - steps.code_tp1[t]] if soon else live.nothing
    x_2 = steps.dense[-1 - steps.code_tp1[t + 1]] if later else live.nothing
    # a of x_{t+1} is to be corrected, a of x_{t+2} begun
    rows.slope[:] = bias_trace
    rows.here[:] = rows.ahead
    rows.ahead[:] = weights.hidden_bias
    looks = (x, x_1, x_2)
    _sweep(weights.hidden, trace, rows, live.rows[:old], looks, steps.decay[t])
    _sweep(weights.hidden, trace, rows, live.rows[old:count], looks, 0.0)
    for c in range(0, rows.here.size, WIDTH):
        moved = multiply_add(load(rows.step, c), load(rows.slope, c), load(rows.here, c))
        store(rows.here, c, moved)
    if steps.code_t[t] >= 0:
        for i in steps.active[steps.code_t[t]]:
            live.x[i] = 0.0
    return soon, later


@inlined
def _follow_out(weights: Weights, trace: Weights, rows: Rows, decay: float) -> None:
    """Update traces and weights of the output and of the hidden biases.

    Write the gradient for the rows.
    """
    fade = eight(decay)
    for c in range(0, weights.out.size, WIDTH):
        a, out, step = load(rows.here, c), load(weights.out, c), load(rows.step, c)
        strength = load(rows.gain, c)
        gradient = times(strength, where_active(a, out))
        store(rows.gradient, c, gradient)
        z = multiply_add(fade, load(trace.out, c), times(strength, where_active(a, a)))
        store(trace.out, c, z)
        store(weights.out, c, multiply_add(step, z, out))
        z = multiply_add(fade, load(trace.hidden_bias, c), gradient)
        store(trace.hidden_bias, c, z)
        store(weights.hidden_bias, c, multiply_add(step, z, load(weights.hidden_bias, c)))


@inlined
def _sweep(
    hidden: Vector,
    trace: Vector,
    rows: Rows,
    live: NDArray[np.uint32],
    looks: tuple[Vector, Vector, Vector],
    decay: float,
) -> None:
    """Update live rows; a decay of 0 means that their traces were empty."""
    x, x_1, x_2 = looks
    columns, fade = rows.step.size, eight(decay)
    for c in range(0, columns, WIDTH):
        gradient, step = load(rows.gradient, c), load(rows.step, c)
        slope, ahead = load(rows.slope, c), load(rows.ahead, c)
        for i in live:
            k = i * columns + c
            z = times(eight(x[i]), gradient)
            if decay != 0:
                z = multiply_add(fade, load(trace, k), z)
            w = multiply_add(step, z, load(hidden, k))
            store(trace, k, z)
            store(hidden, k, w)
            slope = multiply_add(eight(x_1[i]), z, slope)
            ahead = multiply_add(eight(x_2[i]), w, ahead)
        store(rows.slope, c, slope)
        store(rows.ahead, c, ahead)
