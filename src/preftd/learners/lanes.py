"""Linear learning with several step sizes at once: one trace serves all, step sizes are the lanes.

    δ_t = r_{t+1} + a_tᵀ W_t            a_t = γ_{t+1} x_{t+1} − x_t, W_t feature × lane
    W_{t+1} = W_t + e_t (α δ_t)ᵀ        e_t = decay_t e_{t−1} + gain_t x_t

The update of a step waits for the next, so that one pass over the weights makes it and takes the
next product with a.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.learners.steps import Steps
from preftd.tasks.scored import Scored


@njit(cache=True, nogil=True, fastmath={"contract"}, inline="always")
def add_features(
    code: int, dense: Dense, active: NDArray[np.int32], factor: float, out: Vector
) -> None:
    """Let out ← out + factor · x, for what a code stands for."""
    if code < 0:
        for i in range(out.size):
            out[i] += factor * dense[-1 - code, i]
    else:
        for k in range(active.shape[1]):
            out[active[code, k]] += factor


@njit(cache=True, nogil=True, fastmath={"contract"}, inline="always")
def move_and_multiply(
    trace: Vector, update: Vector, a: Vector, weights: Dense, out: Vector
) -> None:
    """W ← W + e uᵀ, and with these weights out ← out + aᵀ W."""
    if out.size == 1:
        u, total = update[0], out[0]
        for i in range(a.size):
            w = weights[i, 0] + trace[i] * u
            weights[i, 0] = w
            total += a[i] * w
        out[0] = total
        return
    for i in range(a.size):
        e_i, a_i = trace[i], a[i]
        if e_i == 0.0 and a_i == 0.0:
            continue
        for lane in range(out.size):
            w = weights[i, lane] + e_i * update[lane]
            weights[i, lane] = w
            out[lane] += a_i * w


@njit(cache=True, nogil=True, fastmath={"contract"})
def score(weights: Dense, scored: Scored, errors: Dense, episode: int) -> None:
    """The mean squared error over the scored states, lane by lane."""
    features, lanes = weights.shape
    value = np.empty(lanes)
    for lane in range(lanes):
        errors[episode, lane] = 0.0
    for s in range(scored.codes.size):
        code, truth = scored.codes[s], scored.values[s]
        for lane in range(lanes):
            value[lane] = -truth
        if code < 0:
            for i in range(features):
                x_i = scored.dense[-1 - code, i]
                for lane in range(lanes):
                    value[lane] += x_i * weights[i, lane]
        else:
            for lane in range(lanes):
                value[lane] += weights[code, lane]
        for lane in range(lanes):
            errors[episode, lane] += value[lane] * value[lane]
    for lane in range(lanes):
        errors[episode, lane] /= scored.codes.size


@njit(cache=True, nogil=True, fastmath={"contract"})
def learn_lanes(
    steps: Steps, scored: Scored, step_sizes: Dense, trace: Vector, weights: Dense, errors: Dense
) -> None:
    """Learn from whole episodes and score each; `step_sizes` has a row per step, or one for all."""
    features, lanes = weights.shape
    a, nothing = np.zeros(features), np.zeros(features)
    delta, update = np.zeros(lanes), np.zeros(lanes)
    dense, active = steps.dense, steps.active  # handing on all of `steps` would cost more than work
    episode = 0
    for t in range(steps.at.size):
        at, following, discount = steps.at[t], steps.following[t], steps.discount[t]
        if at < 0 and following < 0:
            for i in range(features):
                a[i] = discount * dense[-1 - following, i] - dense[-1 - at, i]
        else:
            for i in range(features):
                a[i] = 0.0
            add_features(following, dense, active, discount, a)
            add_features(at, dense, active, -1.0, a)
        reward = steps.reward[t]
        for lane in range(lanes):
            delta[lane] = reward
        move_and_multiply(trace, update, a, weights, delta)
        decay = steps.decay[t]
        for i in range(features):
            trace[i] *= decay
        add_features(at, dense, active, steps.gain[t], trace)
        now = min(t, step_sizes.shape[0] - 1)
        for lane in range(lanes):
            update[lane] = step_sizes[now, lane] * delta[lane]
        if steps.ends[t]:
            move_and_multiply(trace, update, nothing, weights, delta)
            for lane in range(lanes):
                update[lane] = 0.0
            score(weights, scored, errors, episode)
            episode += 1
