"""Readable reference of the views of linear learning: v(x) = w·x, one whole episode.

`step_size` is a number, or an array that broadcasts to shape (T, size): one for each step, for each
feature, or both. The compiled kernels are compared with these. Bounded steps are any of these views
of the `bounded` episode.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.custom import Episode


def bounded(episode: Episode, step_size: ArrayLike) -> Episode:
    """The episode with the gains of bounded steps: min(gain, 1 / Σ_i α_i x_i²)."""
    reach = (np.broadcast_to(step_size, episode.features.shape) * episode.features**2).sum(axis=1)
    binds = episode.gain * reach > 1
    return episode._replace(gain=np.where(binds, 1 / np.where(binds, reach, 1), episode.gain))


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
    """The weights after the episode, shape (size,): w ← w + Σ_t α gain_t (G_t − w·x_t) x_t.

    G = r + γ (β v' + (1 − β) ρ G') with β and ρ of the next state; after the last step G = r + γ v'
    """
    x, x_next, reward, _, discount, beta, decay, gain = episode
    alpha, total = np.broadcast_to(step_size, x.shape), np.zeros(w.size)
    share, carried = 1.0, 0.0  # β of the next state, and its decay times G'
    for t in reversed(range(len(x))):
        ahead = share * discount[t] * (w @ x_next[t]) if share * discount[t] != 0 else 0.0
        target = reward[t] + ahead + carried
        if gain[t] != 0:
            total += alpha[t] * gain[t] * (target - w @ x[t]) * x[t]
        share, carried = beta[t], decay[t] * target
    return w + total


def true_online(w: Vector, episode: Episode, step_size: ArrayLike) -> Dense:
    """The weights after each step, shape (T, size); docs/research/true_online.md derives it.

    e ← decay e + α gain (1 − decay e·x) x          w ← w + δ e + α gain (v − w·x) x
    δ = r + γ' w·x' − v,  v = x·(weights before the last update), w·x at the first step
    """
    x, x_next, reward, _, discount, _, decay, gain = episode
    alpha, weights, e = np.broadcast_to(step_size, x.shape), np.empty(x.shape), np.zeros(w.size)
    old_value = w @ x[0]
    for t in range(len(x)):
        value, value_next = w @ x[t], w @ x_next[t]
        delta = reward[t] + discount[t] * value_next - old_value
        e = decay[t] * e + gain[t] * (1 - decay[t] * (e @ x[t])) * alpha[t] * x[t]
        w = w + delta * e + gain[t] * (old_value - value) * alpha[t] * x[t]
        weights[t], old_value = w, value_next
    return weights


def held(w: Vector, episode: Episode, step_size: ArrayLike) -> Dense:
    """The weights after each step, shape (T, size); an update is applied as its target completes.

    On arriving in x: w ← w + α β (p + γ v e), where v = w·x and p is the pending update without γ v
    e. Then p ← (1 − β) p + decay (v − v') e − gain v' x, with the value v' after the update. Where
    β and gain are 0, features are ignored. At the end all is applied.
    """
    x, x_next, reward, discount_t, discount, beta, decay, gain = episode
    alpha, weights = np.broadcast_to(step_size, x.shape), np.empty(x.shape)
    e, p = np.zeros(w.size), np.zeros(w.size)
    for t in range(len(x)):
        e_before, e = e, decay[t] * e
        if beta[t] != 0 or gain[t] != 0:
            before = w @ x[t]
            w = w + alpha[t] * beta[t] * (p + discount_t[t] * before * e_before)
            p = (1 - beta[t]) * p + (before - w @ x[t]) * e - gain[t] * (w @ x[t]) * x[t]
            e = e + gain[t] * x[t]
        p = p + reward[t] * e
        if t == len(x) - 1 or discount[t] == 0:
            ahead = discount[t] * (w @ x_next[t]) if discount[t] != 0 else 0.0
            w, p, e = w + alpha[t] * (p + ahead * e), 0 * p, 0 * e
        weights[t] = w
    return weights
