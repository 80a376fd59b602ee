"""The forward view, written to be read: what kernels of returns are compared with."""

import numpy as np

from preftd._src.learners.returns import Array


def returns_by_recursion(
    reward: Array,
    value_tp1: Array,
    beta_tp1: Array,
    discount: Array,
    terminated: Array,
    truncated: Array,
) -> Array:
    """G_t of streams, all arrays of one shape (steps, ...).

    G_t = r_{t+1} + γ_{t+1} (β_{t+1} v(x_{t+1}) + (1 − β_{t+1}) G_{t+1})
    """
    G = np.zeros_like(reward)
    for t in reversed(range(len(G))):
        if t + 1 == len(G):
            aim = value_tp1[t]
        else:
            onwards = beta_tp1[t] * value_tp1[t] + (1 - beta_tp1[t]) * G[t + 1]
            aim = np.where(truncated[t], value_tp1[t], onwards)
        G[t] = reward[t] + np.where(terminated[t], 0, discount[t] * aim)
    return G
