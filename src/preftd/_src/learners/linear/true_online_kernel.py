"""True online learning with several step sizes at once: each lane has a trace of its own.

    e ← decay e + α gain (1 − decay e·x) x          w ← w + δ e + α gain (v − w·x) x
    δ = r + γ' w·x' − v,  v = x·(weights before the last update), w·x where an episode begins

Lanes are filled up to a multiple of eight; what fills them has step size 0.
"""

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.linear.batch_kernel import add_features, compiled, score
from preftd._src.learners.steps import Steps
from preftd._src.learners.vectors import WIDTH, eight, load, multiply_add, store, times
from preftd._src.tasks.scored import Scored


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
    rewards, discounts, intos = steps.reward, steps.discount_tp1, steps.discount_t
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
            before = value if intos[t] == 0.0 else load(old, c)
            store(old, c, value_next)
            delta = multiply_add(minus, before, eight(rewards[t]))
            delta = multiply_add(eight(discounts[t]), value_next, delta)
            step = times(eight(gains[t]), load(alphas, now + c))
            seen = times(step, multiply_add(times(minus, decay), overlap, one))
            correction = times(step, multiply_add(minus, value, before))
            for i in range(features):
                k, x_i = i * columns + c, eight(x[i])
                e = multiply_add(decay, load(trace, k), times(seen, x_i))
                store(trace, k, e)
                w = multiply_add(delta, e, load(weights, k))
                store(weights, k, multiply_add(correction, x_i, w))
        if ends[t]:
            score(weights, columns, scored, errors, episode)
            episode += 1
