"""The views of linear learning, written to be read: v(x) = w·x, one whole episode.

`step_size` is a number, or an array that broadcasts to shape (T, size): one for each step, for each
feature, or both. The compiled kernels are compared with these.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import Dense, Vector
from preftd.learners.custom import Episode


def backward(w: Vector, episode: Episode, step_size: ArrayLike) -> Dense:
    """The weights after each step, shape (T, size): e ← decay e + gain x, w ← w + α δ e."""
    x, x_next, reward, _, discount, _, decay, gain = episode
    alpha, weights, e = np.broadcast_to(step_size, x.shape), np.empty(x.shape), np.zeros(w.size)
    for t in range(len(x)):
        delta = reward[t] + discount[t] * (w @ x_next[t]) - w @ x[t]
        e = decay[t] * e + gain[t] * x[t]
        w = w + alpha[t] * delta * e
        weights[t] = w
    return weights


def forward(w: Vector, episode: Episode, step_size: ArrayLike) -> Vector:
    """The weights after the episode, shape (size,): w ← w + Σ_t α gain_t A_t x_t."""
    x, x_next, reward, _, discount, _, decay, gain = episode
    alpha, total, advantage = np.broadcast_to(step_size, x.shape), np.zeros(w.size), 0.0
    for t in reversed(range(len(x))):
        delta = reward[t] + discount[t] * (w @ x_next[t]) - w @ x[t]
        advantage = delta + (decay[t + 1] * advantage if t + 1 < len(x) else 0.0)
        total += alpha[t] * gain[t] * advantage * x[t]
    return w + total


def true_online(w: Vector, episode: Episode, step_size: ArrayLike) -> Dense:
    """The weights after each step, shape (T, size); docs/learners.md derives the update.

    e ← decay e + α gain (1 − decay e·x) x          w ← w + δ e + α gain (v − w·x) x
    δ = r + γ' w·x' − v,  v = x·(weights before the last update), w·x at the first step
    """
    x, x_next, reward, _, discount, _, decay, gain = episode
    alpha, weights, e = np.broadcast_to(step_size, x.shape), np.empty(x.shape), np.zeros(w.size)
    before = w @ x[0]
    for t in range(len(x)):
        value, value_next = w @ x[t], w @ x_next[t]
        delta = reward[t] + discount[t] * value_next - before
        e = decay[t] * e + gain[t] * (1 - decay[t] * (e @ x[t])) * alpha[t] * x[t]
        w = w + delta * e + gain[t] * (before - value) * alpha[t] * x[t]
        weights[t], before = w, value_next
    return weights
