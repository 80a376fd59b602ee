"""The held view of a network: an update is applied as its target completes.

    e_t = decay_t e_{t−1} + gain_t ∇v(x_t)          P ← P + δ_t e_t
    on arriving in x_{t+1}:                         w ← w + α β_{t+1} P,   P ← (1 − β_{t+1}) P
    at the end of an episode:                       w ← w + α P,           P ← 0

P without the last γ v e is stored as p. Arriving in x, with v before the update and v' after it:

    w ← w + α β (p + γ v e)
    p ← (1 − β) p + decay (v − v') e − gain v' ∇v'(x)
    e ← decay e + gain ∇v'(x)                       p ← p + r e

If ρ = 1 this is the definition above. If not, it leaves out γ (1 − β) (1 − ρ) v e, which is 0 on
average. If β and gain are 0, x is ignored, and two numbers change: e is stored as fade e and p as p
+ paid e.

β = 1 and a discount of 0 empty both P and e. If β is 0 at all states between two such, the weights
do not move there, and the segment is one step on multi-step targets: its forward view, without P or
e.
"""

from typing import TypeAlias

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.network.forward import Work, add_updates, work_for
from preftd._src.learners.network.layers import (
    Lesson,
    Weights,
    activate,
    compiled,
    entering_gain,
    like,
    score,
    value,
)
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored
from preftd._src.uncounted import uncounted

Memory: TypeAlias = tuple[Weights, Weights]
"""e and P."""
Spare: TypeAlias = tuple[Vector, Vector, Vector]
"""For a of x_t, a of x_{t+1}, and x_t."""


@compiled
def learn_held(lesson: Lesson, scored: Scored, errors: Dense, always: bool) -> None:
    """Learn from whole episodes; errors after each. `always` uses the general method everywhere."""
    weights, steps, columns = lesson.weights, lesson.steps, lesson.weights.out.size
    work, rows = work_for(weights, steps), np.empty((2, columns))
    trace, pending, x = like(weights), like(weights), np.zeros(weights.hidden.size // columns)
    memory, spare = (trace, pending), (rows[0], rows[1], x)
    ways = (work, memory, spare)
    _learn(lesson, (scored, errors), ways, always)


@compiled
def _learn(
    lesson: Lesson,
    score_into: tuple[Scored, Dense],
    ways: tuple[Work, Memory, Spare],
    always: bool,
) -> None:
    lesson, (scored, errors), (work, memory, spare) = uncounted((lesson, score_into, ways))
    weights, units, _, steps, _ = lesson
    begin, between, episode = 0, always, 0
    for t in range(steps.code_t.size):
        arrives = steps.is_last[t] or steps.discount_tp1[t] == 0 or steps.beta[t + 1] == 1
        if not arrives:
            between = between or steps.beta[t + 1] != 0
            continue
        span = (int(begin), t + 1)  # of the literal 0, numba would compile everything once more
        if between or (steps.is_last[t] and steps.final_beta[t] != 1):
            add_pending(lesson, span, memory, spare)
        else:
            add_updates(lesson, span, work, weights)
        begin, between = t + 1, always
        if steps.is_last[t]:
            score(weights, units, scored, spare[0], errors[episode])
            episode += 1


@compiled
def add_pending(lesson: Lesson, span: tuple[int, int], memory: Memory, work: Spare) -> None:
    """The general method for any β, step by step; e and P are empty at start and end."""
    lesson, memory, (here, to_a, x) = uncounted((lesson, memory, work))
    weights, units, step_sizes, steps, squares = lesson
    trace, pending = memory
    trace.hidden[:], trace.hidden_bias[:], trace.out[:], trace.bias[:] = 0.0, 0.0, 0.0, 0.0
    pending.hidden[:], pending.hidden_bias[:] = 0.0, 0.0
    pending.out[:], pending.bias[:] = 0.0, 0.0
    fade, paid, before = 0.0, 0.0, np.zeros(step_sizes.size)
    for t in range(span[0], span[1]):
        decay, gain, beta, reward = steps.decay[t], steps.gain[t], steps.beta[t], steps.reward[t]
        discount = steps.discount_t[t]
        if beta == 0 and gain == 0:
            fade *= decay
            paid += fade * reward
            continue
        activate(weights, steps.code_t[t], steps.dense, steps.active, here, 0)
        for lane in range(step_sizes.size):
            before[lane] = value(weights, units, lane, here, 0)
            along = paid + fade * discount * before[lane]
            _arrive(weights, units, lane, memory, step_sizes[lane] * beta, along)
        if beta != 0:
            activate(weights, steps.code_t[t], steps.dense, steps.active, here, 0)
        _write_input(steps, t, x)
        for lane in range(step_sizes.size):
            after, keep = value(weights, units, lane, here, 0), 1 - beta
            along = keep * paid + decay * fade * (before[lane] - after)
            bound = (gain, step_sizes[lane], squares[t])
            own = entering_gain(weights, units, lane, here, 0, bound)
            # ∂v/∂out and ∂v/∂a replace the activations
            for u in range(lane * units, (lane + 1) * units):
                a = here[u]
                here[u] = 0.0 if a <= 0 else a
                to_a[u] = 0.0 if a <= 0 else weights.out[u]
            now = (decay * fade, own, keep, along, -own * after)
            _advance(units, lane, memory, (here, to_a, x), now)
        fade, paid = 1.0, reward
    end = span[1] - 1
    share, discount = steps.final_beta[end], steps.discount_tp1[end]
    if share * discount != 0:
        activate(weights, steps.code_tp1[end], steps.dense, steps.active, here, 0)
    for lane in range(step_sizes.size):
        along = paid
        if share * discount != 0:
            along += fade * discount * value(weights, units, lane, here, 0)
        _arrive(weights, units, lane, memory, share * step_sizes[lane], along)


@compiled
def _arrive(
    weights: Weights, units: int, lane: int, memory: Memory, step: float, along: float
) -> None:
    """Apply w ← w + step (p + along e) to the weights of a lane."""
    (trace, pending), columns = memory, weights.out.size
    if step == 0:
        return
    for i in range(weights.hidden.size // columns):
        for k in range(i * columns + lane * units, i * columns + (lane + 1) * units):
            weights.hidden[k] += step * (pending.hidden[k] + along * trace.hidden[k])
    for k in range(lane * units, (lane + 1) * units):
        weights.hidden_bias[k] += step * (pending.hidden_bias[k] + along * trace.hidden_bias[k])
        weights.out[k] += step * (pending.out[k] + along * trace.out[k])
    weights.bias[lane] += step * (pending.bias[lane] + along * trace.bias[lane])


@compiled
def _advance(
    units: int,
    lane: int,
    memory: Memory,
    gradient: Spare,
    now: tuple[float, float, float, float, float],
) -> None:
    """P ← keep p + along e + new ∇v and e ← decay e + gain ∇v, of a lane."""
    (trace, pending), (to_out, to_a, x) = memory, gradient
    decay, gain, keep, along, new = now
    columns, first = to_out.size, lane * units
    for i in range(x.size):
        for u in range(first, first + units):
            k = i * columns + u
            e, slope = trace.hidden[k], x[i] * to_a[u]
            pending.hidden[k] = keep * pending.hidden[k] + along * e + new * slope
            trace.hidden[k] = decay * e + gain * slope
    for u in range(first, first + units):
        e = trace.hidden_bias[u]
        pending.hidden_bias[u] = keep * pending.hidden_bias[u] + along * e + new * to_a[u]
        trace.hidden_bias[u] = decay * e + gain * to_a[u]
        e = trace.out[u]
        pending.out[u] = keep * pending.out[u] + along * e + new * to_out[u]
        trace.out[u] = decay * e + gain * to_out[u]
    e = trace.bias[lane]
    pending.bias[lane] = keep * pending.bias[lane] + along * e + new
    trace.bias[lane] = decay * e + gain


@compiled
def _write_input(steps: Steps, t: int, x: Vector) -> None:
    """x_t in full."""
    if steps.code_t[t] < 0:
        x[:] = steps.dense[-1 - steps.code_t[t]]
        return
    x[:] = 0.0
    for i in steps.active[steps.code_t[t]]:
        x[i] += 1.0
