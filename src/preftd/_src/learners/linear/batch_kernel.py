"""Linear learning with several step sizes at once: step sizes are the lanes.

Backward and forward views: all lanes share one trace.

    δ_t = r_{t+1} + a_tᵀ W_t            a_t = γ_{t+1} x_{t+1} − x_t, W_t feature × lane
    W_{t+1} = W_t + e_t (α δ_t)ᵀ        e_t = decay_t e_{t−1} + gain_t x_t

The update of a step waits for the next step, so that one pass over the weights applies it and
computes the next product with a.

True online: each lane has its own trace.

    e ← decay e + α gain (1 − decay e·x) x          w ← w + δ e + α gain (v − w·x) x
    δ = r + γ' w·x' − v,  v = x·(weights before the last update), w·x where an episode begins

Lanes are padded to a multiple of eight; padding has step size 0.
"""

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.steps import Steps, compiled_discount_into
from preftd._src.learners.vectors import WIDTH, eight, load, multiply_add, store, times
from preftd._src.tasks.scored import Scored

compiled = kernel(fastmath={"contract"})


@compiled
def add_features(
    code: int, dense: Dense, active: NDArray[np.int32], factor: float, out: Vector
) -> None:
    """Compute out ← out + factor · x, for the x of a code."""
    if code < 0:
        for i in range(out.size):
            out[i] += factor * dense[-1 - code, i]
    else:
        for k in range(active.shape[1]):
            out[active[code, k]] += factor


@compiled
def difference(
    at: int, following: int, discount: float, dense: Dense, active: NDArray[np.int32], out: Vector
) -> None:
    """Write a_t."""
    if at < 0 and following < 0:
        for i in range(out.size):
            out[i] = discount * dense[-1 - following, i] - dense[-1 - at, i]
        return
    for i in range(out.size):
        out[i] = 0.0
    add_features(following, dense, active, discount, out)
    add_features(at, dense, active, -1.0, out)


@compiled
def move_and_multiply(
    trace: Vector, update: Vector, a: Vector, weights: Vector, out: Vector
) -> None:
    """Compute W ← W + e uᵀ, then out ← out + aᵀ W."""
    columns = update.size
    for c in range(0, columns, WIDTH):
        u, total = load(update, c), load(out, c)
        for i in range(a.size):
            k = i * columns + c
            w = multiply_add(eight(trace[i]), u, load(weights, k))
            store(weights, k, w)
            total = multiply_add(eight(a[i]), w, total)
        store(out, c, total)


@compiled
def score(weights: Vector, columns: int, scored: Scored, errors: Dense, episode: int) -> None:
    """Write the mean squared error over the scored states, lane by lane."""
    features = weights.size // columns
    for lane in range(errors.shape[1]):
        total = 0.0
        for s in range(scored.codes.size):
            code, miss = scored.codes[s], -scored.values[s]
            if code >= 0:
                miss += weights[code * columns + lane]
            else:
                for i in range(features):
                    miss += scored.dense[-1 - code, i] * weights[i * columns + lane]
            total += miss * miss
        errors[episode, lane] = total / scored.codes.size


@compiled
def learn_lanes(  # noqa: C901, PLR0912  (with few features a call takes longer than the work)
    steps: Steps, scored: Scored, step_sizes: Dense, weights: Vector, errors: Dense
) -> None:
    """Learn from whole episodes and score each; `step_sizes` has a row per step, or one for all."""
    columns = step_sizes.shape[1]
    features = weights.size // columns
    trace, a, nothing = np.zeros(features), np.zeros(features), np.zeros(features)
    update, spare = np.zeros(columns), np.zeros(columns)
    alphas, episode = step_sizes.reshape(-1), 0
    at, following, dense, active = steps.code_t, steps.code_tp1, steps.dense, steps.active
    rewards, discounts, decays, gains = steps.reward, steps.discount_tp1, steps.decay, steps.gain
    twos, ends = features - features % 2, steps.is_last
    for t in range(at.size):
        here, ahead, discount, decay, gain = at[t], following[t], discounts[t], decays[t], gains[t]
        if here < 0 and ahead < 0:
            for i in range(features):
                a[i] = discount * dense[-1 - ahead, i] - dense[-1 - here, i]
        else:
            difference(here, ahead, discount, dense, active, a)
        now = min(t, step_sizes.shape[0] - 1) * columns
        for c in range(0, columns, WIDTH):
            u, delta, other = load(update, c), eight(rewards[t]), eight(0.0)
            for i in range(0, twos, 2):
                k = i * columns + c
                w = multiply_add(eight(trace[i]), u, load(weights, k))
                store(weights, k, w)
                delta = multiply_add(eight(a[i]), w, delta)
                w = multiply_add(eight(trace[i + 1]), u, load(weights, k + columns))
                store(weights, k + columns, w)
                other = multiply_add(eight(a[i + 1]), w, other)
            for i in range(twos, features):
                k = i * columns + c
                w = multiply_add(eight(trace[i]), u, load(weights, k))
                store(weights, k, w)
                delta = multiply_add(eight(a[i]), w, delta)
            alpha = load(alphas, now + c)
            store(update, c, times(alpha, multiply_add(eight(1.0), other, delta)))
        if here < 0:
            for i in range(features):
                trace[i] = decay * trace[i] + gain * dense[-1 - here, i]
        else:
            for i in range(features):
                trace[i] *= decay
            for k in range(active.shape[1]):
                trace[active[here, k]] += gain
        if ends[t]:
            move_and_multiply(trace, update, nothing, weights, spare)
            update[:] = 0.0
            score(weights, columns, scored, errors, episode)
            episode += 1


@compiled
def weighted_difference(steps: Steps, t: int, ends: bool, out: Vector) -> bool:
    """Write a_t without values of weight 0, which cancel.

    Returns whether any value has a weight.
    """
    here, ahead = steps.code_t[t], steps.code_tp1[t]
    discount, dense, active = steps.discount_tp1[t], steps.dense, steps.active
    used = steps.gain[t] != 0.0 or (steps.beta[t] != 0.0 and steps.discount_t[t] != 0.0)
    looks = discount != 0.0
    if not ends:
        discount = compiled_discount_into(discount, steps.beta[t + 1], steps.decay[t + 1])
        looks = looks and (steps.gain[t + 1] != 0.0 or steps.beta[t + 1] != 0.0)
    if used and looks:
        difference(here, ahead, discount, dense, active, out)
        return True
    for i in range(out.size):
        out[i] = 0.0
    if used:
        add_features(here, dense, active, -1.0, out)
    elif looks:
        add_features(ahead, dense, active, discount, out)
    return bool(used or looks)


@compiled
def learn_lanes_forward(
    steps: Steps, scored: Scored, step_sizes: Dense, weights: Vector, errors: Dense
) -> None:
    """The forward view: weights stay fixed during an episode, then make all its updates.

    A_t = δ_t + decay_{t+1} A_{t+1}          W ← W + Σ_t gain_t x_t (α A_t)ᵀ
    """
    columns = step_sizes.shape[1]
    features = weights.size // columns
    x, a, nothing = np.zeros(features), np.zeros(features), np.zeros(features)
    rest, ignored = np.zeros(columns), np.zeros(columns)
    first, episode = 0, 0
    for last in range(steps.code_t.size):
        if not steps.is_last[last]:
            continue
        advantage = np.empty((last + 1 - first, columns))
        for t in range(first, last + 1):
            advantage[t - first, :] = steps.reward[t]
            if weighted_difference(steps, t, t == last, a):
                move_and_multiply(nothing, rest, a, weights, advantage[t - first])
        for t in range(last - 1, first - 1, -1):
            decay = steps.decay[t + 1]
            for lane in range(columns):
                advantage[t - first, lane] += decay * advantage[t + 1 - first, lane]
        for t in range(first, last + 1):
            if steps.gain[t] == 0.0:
                continue
            x[:] = 0.0
            add_features(steps.code_t[t], steps.dense, steps.active, steps.gain[t], x)
            now = min(t, step_sizes.shape[0] - 1)
            for lane in range(columns):
                advantage[t - first, lane] *= step_sizes[now, lane]
            move_and_multiply(x, advantage[t - first], nothing, weights, ignored)
        first = last + 1
        score(weights, columns, scored, errors, episode)
        episode += 1


@compiled
def learn_true_online(
    steps: Steps, scored: Scored, step_sizes: Dense, weights: Vector, errors: Dense
) -> None:
    """Learn from whole episodes and score each; `step_sizes` has a row per step, or one for all."""
    columns = step_sizes.shape[1]
    features = weights.size // columns
    x, x_next = np.zeros(features), np.zeros(features)
    trace, old, alphas = np.zeros(weights.size), np.zeros(columns), step_sizes.reshape(-1)
    at, following, dense, active = steps.code_t, steps.code_tp1, steps.dense, steps.active
    rewards, discounts_t, discounts_tp1 = steps.reward, steps.discount_t, steps.discount_tp1
    decays, gains, ends = steps.decay, steps.gain, steps.is_last
    one, minus, episode = eight(1.0), eight(-1.0), 0
    for t in range(at.size):
        for i in range(features):
            x[i] = x_next[i] = 0.0
        add_features(at[t], dense, active, 1.0, x)
        add_features(following[t], dense, active, 1.0, x_next)
        decay, now = eight(decays[t]), min(t, step_sizes.shape[0] - 1) * columns
        for c in range(0, columns, WIDTH):
            value, value_next, overlap = eight(0.0), eight(0.0), eight(0.0)
            for i in range(features):
                k, x_i = i * columns + c, eight(x[i])
                w = load(weights, k)
                value = multiply_add(x_i, w, value)
                value_next = multiply_add(eight(x_next[i]), w, value_next)
                overlap = multiply_add(x_i, load(trace, k), overlap)
            old_value = value if discounts_t[t] == 0.0 else load(old, c)
            store(old, c, value_next)
            delta = multiply_add(minus, old_value, eight(rewards[t]))
            delta = multiply_add(eight(discounts_tp1[t]), value_next, delta)
            step = times(eight(gains[t]), load(alphas, now + c))
            seen = times(step, multiply_add(times(minus, decay), overlap, one))
            correction = times(step, multiply_add(minus, value, old_value))
            for i in range(features):
                k, x_i = i * columns + c, eight(x[i])
                e = multiply_add(decay, load(trace, k), times(seen, x_i))
                store(trace, k, e)
                w = multiply_add(delta, e, load(weights, k))
                store(weights, k, multiply_add(correction, x_i, w))
        if ends[t]:
            score(weights, columns, scored, errors, episode)
            episode += 1
