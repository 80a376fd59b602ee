"""The forward view of a network: weights stay fixed during an episode, then take one step.

    G_t = r_{t+1} + γ_{t+1} β_{t+1} v(x_{t+1}) + decay_{t+1} G_{t+1}      A_t = G_t − v(x_t)
    Δw  = α Σ_t gain_t A_t ∇v(x_t)

After the last step β is 1 and decay 0. An input is evaluated if its gain or the weight of its value
in a return is not 0; others are never read. The hidden layer works on many inputs at once.

With Adam, the step is along the mean update of an episode's steps. With their sum, long episodes
would count more than short ones in Adam's moments.
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
    like,
    score,
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
from preftd._src.tasks.scored import Scored
from preftd._src.uncounted import uncounted


class Work(NamedTuple):
    """Arrays for the evaluated inputs of an episode, a row each."""

    activation: Vector
    """a, and then α gain_t A_t ∂v/∂a."""
    value: Dense
    code: NDArray[np.int32]
    chosen: NDArray[np.int64]
    """The rows whose gain is not 0."""
    row: NDArray[np.int64]
    """The row of x_t, −1 if it is not evaluated; one more for the state after the last step."""
    target: Vector
    """G, for each lane."""
    step: Vector
    """α gain_t A_t, for each column."""
    out: Vector
    """The output layer's change."""
    four: NDArray[np.int64]
    """Four rows that are processed together."""


@compiled
def work_for(weights: Weights, steps: Steps) -> Work:
    """Arrays for the longest episode."""
    longest, begin, columns, lanes = 0, 0, weights.out.size, weights.bias.size
    for t in range(steps.code_t.size):
        if steps.is_last[t]:
            longest, begin = max(longest, t + 1 - begin), t + 1
    return Work(
        np.empty((longest + 1) * columns),
        np.empty((longest + 1, lanes)),
        np.empty(longest + 1, dtype=np.int32),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(lanes),
        np.zeros(columns),
        np.zeros(columns),
        np.empty(4, dtype=np.int64),
    )


@compiled
def learn_forward(lesson: Lesson, scored: Scored, errors: Dense) -> None:
    """Learn from whole episodes by one step along the gradient each; errors after each."""
    weights, units, _, steps, _ = lesson
    work, spare = work_for(weights, steps), np.empty(weights.out.size)
    begin, episode = 0, 0
    for t in range(steps.code_t.size):
        if steps.is_last[t]:
            span = (int(begin), t + 1)  # of the literal 0, numba would compile once more
            _follow_episode(lesson, span, work, weights)
            score(weights, units, scored, spare, errors[episode])
            begin, episode = t + 1, episode + 1


@inlined
def add_updates(lesson: Lesson, span: tuple[int, int], work: Work, to: Weights) -> None:
    """Add α Σ gain_t A_t ∇v(x_t) over a span of steps `to` weights, or to similar arrays."""
    lesson, work, to = uncounted((lesson, work, to))
    weights, units, step_sizes, steps, squares = lesson
    begin, end = span
    columns = weights.out.size
    count = _choose(steps, begin, end, work)
    activate_all(weights, steps, work.code[:count], work.activation, work.four)
    for s in range(count):
        for lane in range(step_sizes.size):
            work.value[s, lane] = value(weights, units, lane, work.activation, s * columns)
    # returns, from the end; rows of activations become changes of them
    gains = 0
    work.out[:] = 0.0
    for t in range(end - 1, begin - 1, -1):
        here, ahead, gain = work.row[t - begin], work.row[t + 1 - begin], steps.gain[t]
        decay = steps.decay[t + 1] if t + 1 < end else 0.0
        beta = steps.beta[t + 1] if t + 1 < end else 1.0
        bootstrap = steps.discount_tp1[t] - steps.discount_tp1[t] * (1.0 - beta)
        for lane in range(step_sizes.size):
            target = steps.reward[t]
            if bootstrap != 0:
                target += bootstrap * work.value[ahead, lane]
            if decay != 0:
                target += decay * work.target[lane]
            work.target[lane] = target
            if gain != 0:
                bound = (gain, step_sizes[lane], squares[t])
                own = entering_gain(weights, units, lane, work.activation, here * columns, bound)
                step = step_sizes[lane] * (own * (target - work.value[here, lane]))
                to.bias[lane] += step
                work.step[lane * units : (lane + 1) * units] = step
        if gain != 0:
            _to_changes(weights, work, here * columns, to)
            work.chosen[gains] = here
            gains += 1
    spread_all(work.activation, steps, work.code, work.chosen[:gains], to.hidden, work.four)
    for c in range(0, columns, WIDTH):
        store(to.out, c, multiply_add(eight(1.0), load(work.out, c), load(to.out, c)))


@compiled
def _follow_episode(lesson: Lesson, span: tuple[int, int], work: Work, to: Weights) -> None:
    """The same, compiled once for both optimisers: episodes are long compared with a call."""
    add_updates(lesson, span, work, to)


@inlined
def _choose(steps: Steps, begin: int, end: int, work: Work) -> int:
    """Assign a row to each input that must be evaluated; returns their number."""
    count = 0
    for t in range(begin, end):
        needed = steps.gain[t] != 0
        needed = needed or (t > begin and steps.beta[t] != 0 and steps.discount_t[t] != 0)
        work.row[t - begin] = -1
        if needed:
            work.row[t - begin], work.code[count] = count, steps.code_t[t]
            count += 1
    work.row[end - begin] = -1
    if steps.discount_tp1[end - 1] != 0:
        work.row[end - begin], work.code[count] = count, steps.code_tp1[end - 1]
        count += 1
    return count


@inlined
def _to_changes(weights: Weights, work: Work, first: int, to: Weights) -> None:
    """Compute α gain A ∂v/∂a from a in a row; add the parts of the output layer and the biases."""
    for c in range(0, weights.out.size, WIDTH):
        a, step = load(work.activation, first + c), load(work.step, c)
        store(work.out, c, multiply_add(step, where_active(a, a), load(work.out, c)))
        change = times(step, where_active(a, load(weights.out, c)))
        store(work.activation, first + c, change)
        store(to.hidden_bias, c, multiply_add(eight(1.0), change, load(to.hidden_bias, c)))


FIRST, SECOND, TINY = 0.9, 0.999, 1e-8


@compiled
def learn_adam(
    lesson: Lesson,
    moments: tuple[Weights, Weights, Vector],
    scored: Scored,
    errors: Dense,
) -> None:
    """Learn from whole episodes; moments are m, v and the number of steps, which are updated."""
    weights, units, step_sizes, steps, squares = lesson
    work, spare = work_for(weights, steps), np.empty(weights.out.size)
    mean, square, taken = moments
    change, share = like(weights), np.empty(step_sizes.size)
    by_column = np.zeros(weights.out.size)
    for lane in range(step_sizes.size):
        by_column[lane * units : (lane + 1) * units] = step_sizes[lane]
    begin, episode = 0, 0
    for t in range(steps.code_t.size):
        if steps.is_last[t]:
            for part in range(4):
                change[part][:] = 0.0
            share[:] = 1 / (t + 1 - begin)
            mean_update = Lesson(weights, units, share, steps, squares)
            span = (int(begin), t + 1)  # of the literal 0, numba would compile once more
            _follow_episode(mean_update, span, work, change)
            taken[0] += 1
            for part in range(4):
                sizes = step_sizes if part == 3 else by_column  # biases have no columns
                _step(weights[part], change[part], mean[part], square[part], sizes, taken[0])
            score(weights, units, scored, spare, errors[episode])
            begin, episode = t + 1, episode + 1


@compiled
def _step(
    weights: Vector,
    change: Vector,
    mean: Vector,
    square: Vector,
    step_sizes: Vector,
    taken: float,
) -> None:
    """Let m ← 0.9 m + 0.1 Δ,  v ← 0.999 v + 0.001 Δ²,  w ← w + α m̂ / (√v̂ + 1e-8)."""
    sizes = step_sizes.size
    for k in range(weights.size):
        mean[k] = FIRST * mean[k] + (1 - FIRST) * change[k]
        square[k] = SECOND * square[k] + (1 - SECOND) * (change[k] * change[k])
        scale = np.sqrt(square[k]) / np.sqrt(1 - SECOND**taken) + TINY
        weights[k] += step_sizes[k % sizes] / (1 - FIRST**taken) * (mean[k] / scale)
