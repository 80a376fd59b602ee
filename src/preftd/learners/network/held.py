"""The held view of a network: an update is applied as its target completes.

    e_t = decay_t e_{t−1} + gain_t ∇v(x_t)          P ← P + δ_t e_t
    on arriving in x_{t+1}:                         w ← w + α β_{t+1} P,   P ← (1 − β_{t+1}) P
    at the end of an episode:                       w ← w + α P,           P ← 0

β = 1 empties both P and e. If β is 0 at all states between two such, the weights rest there, and
the whole is one step on multi-step targets: the forward view of that segment, without P or e.
"""

from typing import TypeAlias

import numpy as np

from preftd.arrays import Dense, Vector
from preftd.learners.network.forward import Work, add_updates, work_for
from preftd.learners.network.layers import Weights, activate, compiled, like, score, value
from preftd.learners.network.refcount import uncounted
from preftd.learners.steps import Steps
from preftd.tasks.scored import Scored

Memory: TypeAlias = tuple[Weights, Weights]
"""e and P."""
Spare: TypeAlias = tuple[Vector, Vector, Vector]
"""For a of x_t, a of x_{t+1}, and x_t."""


@compiled
def learn_held(
    weights: Weights,
    units: int,
    step_sizes: Vector,
    steps: Steps,
    scored: Scored,
    errors: Dense,
    always: bool,
) -> None:
    """Learn from whole episodes; errors after each. `always` takes the general way everywhere."""
    columns = weights.out.size
    work, rows = work_for(weights, steps), np.empty((2, columns))
    trace, pending, x = like(weights), like(weights), np.zeros(weights.hidden.size // columns)
    memory, spare = (trace, pending), (rows[0], rows[1], x)
    _learn(weights, units, step_sizes, steps, (scored, errors), work, (memory, spare), always)


@compiled
def _learn(
    weights: Weights,
    units: int,
    step_sizes: Vector,
    steps: Steps,
    score_into: tuple[Scored, Dense],
    work: Work,
    general: tuple[Memory, Spare],
    always: bool,
) -> None:
    weights, step_sizes, steps = uncounted((weights, step_sizes, steps))
    (scored, errors), work, (memory, spare) = uncounted((score_into, work, general))
    begin, between, episode = 0, always, 0
    for t in range(steps.code_t.size):
        arrives = steps.is_last[t] or steps.beta[t + 1] == 1
        if not arrives:
            between = between or steps.beta[t + 1] != 0
            continue
        span = (begin, t + 1)
        if between:
            add_pending(weights, units, step_sizes, steps, span, memory, spare)
        else:
            add_updates(weights, units, step_sizes, steps, span, work, weights)
        begin, between = t + 1, always
        if steps.is_last[t]:
            score(weights, units, scored, spare[0], errors[episode])
            episode += 1


@compiled
def add_pending(
    weights: Weights,
    units: int,
    step_sizes: Vector,
    steps: Steps,
    span: tuple[int, int],
    memory: Memory,
    work: Spare,
) -> None:
    """The same for any β, a step at a time; e and P begin and end empty."""
    weights, step_sizes, steps = uncounted((weights, step_sizes, steps))
    (trace, pending), (here, ahead, x) = uncounted((memory, work))
    columns, ones = weights.out.size, np.ones(1)
    trace.hidden[:], trace.hidden_bias[:], trace.out[:], trace.bias[:] = 0.0, 0.0, 0.0, 0.0
    pending.hidden[:], pending.hidden_bias[:] = 0.0, 0.0
    pending.out[:], pending.bias[:] = 0.0, 0.0
    for t in range(span[0], span[1]):
        decay, gain, discount = steps.decay[t], steps.gain[t], steps.discount_tp1[t]
        share = 1.0 if t + 1 == span[1] else steps.beta[t + 1]
        activate(weights, steps.code_t[t], steps.dense, steps.active, here, 0)
        if discount != 0:
            activate(weights, steps.code_tp1[t], steps.dense, steps.active, ahead, 0)
        _write_input(steps, t, x)
        for lane in range(step_sizes.size):
            delta = steps.reward[t] - value(weights, units, lane, here, 0)
            if discount != 0:
                delta += discount * value(weights, units, lane, ahead, 0)
            now = (decay, delta, step_sizes[lane] * share, 1 - share)
            own = slice(lane * units, (lane + 1) * units)
            # gain ∂v/∂out and gain ∂v/∂a replace the activations
            for u in range(lane * units, (lane + 1) * units):
                a = here[u]
                here[u] = gain * (0.0 if a <= 0 else a)
                ahead[u] = gain * (0.0 if a <= 0 else weights.out[u])
            for i in range(x.size):
                row = slice(i * columns + lane * units, i * columns + (lane + 1) * units)
                _advance(
                    weights.hidden[row],
                    trace.hidden[row],
                    pending.hidden[row],
                    ahead[own],
                    x[i],
                    now,
                )
            _advance(
                weights.hidden_bias[own],
                trace.hidden_bias[own],
                pending.hidden_bias[own],
                ahead[own],
                1.0,
                now,
            )
            _advance(weights.out[own], trace.out[own], pending.out[own], here[own], 1.0, now)
            one = slice(lane, lane + 1)
            _advance(weights.bias[one], trace.bias[one], pending.bias[one], ones, gain, now)


@compiled
def _write_input(steps: Steps, t: int, x: Vector) -> None:
    """x_t in full."""
    if steps.code_t[t] < 0:
        x[:] = steps.dense[-1 - steps.code_t[t]]
        return
    x[:] = 0.0
    for i in steps.active[steps.code_t[t]]:
        x[i] += 1.0


@compiled
def _advance(
    weights: Vector,
    trace: Vector,
    pending: Vector,
    gradient: Vector,
    factor: float,
    now: tuple[float, float, float, float],
) -> None:
    """e, P and w of some weights, with (decay, δ, α β, 1 − β) of the step."""
    decay, delta, step, keep = now
    for k in range(weights.size):
        trace[k] = decay * trace[k] + factor * gradient[k]
        total = pending[k] + delta * trace[k]
        weights[k] += step * total
        pending[k] = keep * total
