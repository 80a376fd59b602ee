"""The actor: its policy at one observation, and its update after an episode, compiled.

Rows of 2-D arrays are given by their number: taking a row would cost as much as what is done to it.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from preftd.arrays import Dense, Vector
from preftd.learners.actor_critic.parameters import Parameters

FIRST, SECOND, TINY = 0.9, 0.999, 1e-8
"""Adam's default moments, and what keeps it from dividing by 0."""


class Optimiser(NamedTuple):
    """How weights follow a change, and what is remembered of past ones."""

    adam: bool
    mean: Vector
    """Adam's mean of changes, and of their squares, shape (weights,)."""
    square: Vector
    taken: Vector
    """The number of steps, shape (1,)."""


@njit(cache=True, nogil=True, inline="always")
def policy(weights: Parameters, tanh: bool, x: Dense, t: int, hidden: Dense, chance: Dense) -> None:
    """Write the hidden layer and the policy at observation x[t] into row t of the last two."""
    units, actions = weights.out.shape
    for u in range(units):
        hidden[t, u] = weights.hidden_bias[u]
    for i in range(weights.hidden.shape[0]):
        if x[t, i] != 0.0:
            for u in range(units):
                hidden[t, u] += x[t, i] * weights.hidden[i, u]
    for u in range(units):
        a = hidden[t, u]
        hidden[t, u] = math.tanh(a) if tanh else (0.0 if a <= 0 else a)
    largest = -np.inf
    for a in range(actions):
        logit = weights.out_bias[a]
        for u in range(units):
            logit += hidden[t, u] * weights.out[u, a]
        chance[t, a] = logit
        largest = max(largest, logit)
    total = 0.0
    for a in range(actions):
        chance[t, a] = math.exp(chance[t, a] - largest)
        total += chance[t, a]
    for a in range(actions):
        chance[t, a] /= total


@njit(cache=True, nogil=True, inline="always")
def choose(chance: Dense, t: int, u: float) -> int:
    """The action that a uniform random number chooses."""
    for a in range(chance.shape[1] - 1):
        u -= chance[t, a]
        if u < 0:
            return a
    return chance.shape[1] - 1


@njit(cache=True, nogil=True, inline="always")
def add_gradient(
    weights: Parameters,
    tanh: bool,
    x: Dense,
    t: int,
    hidden: Dense,
    chance: Dense,
    action: int,
    factor: float,
    bias: bool,
    change: Parameters,
) -> None:
    """Add factor · ∇log π(action | x[t]) to the change."""
    units, actions = weights.out.shape
    for a in range(actions):
        chance[t, a] = factor * ((1.0 if a == action else 0.0) - chance[t, a])
        if bias:
            change.out_bias[a] += chance[t, a]
    for u in range(units):
        h, to_h = hidden[t, u], 0.0
        for a in range(actions):
            change.out[u, a] += h * chance[t, a]
            to_h += weights.out[u, a] * chance[t, a]
        # From here on, row t of `hidden` has the gradient with respect to a.
        hidden[t, u] = to_h * (1 - h * h) if tanh else (to_h if h > 0 else 0.0)
        if bias:
            change.hidden_bias[u] += hidden[t, u]
    for i in range(weights.hidden.shape[0]):
        if x[t, i] != 0.0:
            for u in range(units):
                change.hidden[i, u] += x[t, i] * hidden[t, u]


@njit(cache=True, nogil=True, inline="always")
def optimise(flat: Vector, change: Vector, optimiser: Optimiser, step_size: float) -> bool:
    """Move the weights along a change; returns whether they are still finite.

    SGD: w ← w + α Δ.  Adam: m ← 0.9 m + 0.1 Δ, v ← 0.999 v + 0.001 Δ², w ← w + α m̂ / (√v̂ + 1e-8).
    """
    finite = True
    mean, square = optimiser.mean, optimiser.square
    if optimiser.adam:
        optimiser.taken[0] += 1
        of_mean = step_size / (1 - FIRST ** optimiser.taken[0])
        of_square = math.sqrt(1 - SECOND ** optimiser.taken[0])
    for k in range(flat.size):
        if optimiser.adam:
            mean[k] = FIRST * mean[k] + (1 - FIRST) * change[k]
            square[k] = SECOND * square[k] + (1 - SECOND) * (change[k] * change[k])
            flat[k] += of_mean * (mean[k] / (math.sqrt(square[k]) / of_square + TINY))
        else:
            flat[k] += step_size * change[k]
        finite = finite and math.isfinite(flat[k]) and math.isfinite(change[k])
    return finite
