"""Errors of linear learners with bounded steps and β of 0 or 1, for several step sizes at once.

A step is bounded where α |x|² would exceed 1: it then moves the prediction onto its target.
"""

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel

STEP_SIZES = np.array(
    [1.0, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005, 0.002, 0.001, 3e-4, 1e-4]
)


@kernel
def held_errors(
    x: Dense,
    steps: tuple[Vector, Vector, NDArray[np.bool_], Vector],
    step_sizes: Vector,
    scored: Dense,
    values: Vector,
    largest: float,
) -> Dense:
    """Mean squared error after each episode, shape (step sizes, episodes), of PTD in the held view.

    `steps` are rewards, discounts, ends and β, each of shape (steps,); `largest` bounds α |x|².
    """
    reward, discount, is_last, beta = steps
    errors, weights = (
        np.empty((len(step_sizes), is_last.sum())),
        np.zeros((len(step_sizes), x.shape[1])),
    )
    episode, start, paid, along = 0, -1, 0.0, 1.0
    for t in range(len(x)):
        if beta[t] > 0.0:
            if start >= 0:
                _update(weights, x, start, t, paid, along, step_sizes, largest)
            start, paid, along = t, 0.0, 1.0
        if start >= 0:
            paid += along * reward[t]
            along *= discount[t]
        if is_last[t]:
            if start >= 0:
                _update(weights, x, start, -1, paid, 0.0, step_sizes, largest)
            start = -1
            for a in range(len(step_sizes)):
                errors[a, episode] = ((scored @ weights[a] - values) ** 2).mean()
            episode += 1
    return errors


@kernel
def _update(
    weights: Dense,
    x: Dense,
    start: int,
    end: int,
    paid: float,
    along: float,
    step_sizes: Vector,
    largest: float,
) -> None:
    norm = x[start] @ x[start]
    for a in range(len(step_sizes)):
        target = paid + (along * (weights[a] @ x[end]) if end >= 0 else 0.0)
        alpha = min(step_sizes[a], largest / norm) if norm > 0.0 else 0.0
        weights[a] += alpha * (target - weights[a] @ x[start]) * x[start]


@kernel
def td_errors(
    x: Dense,
    steps: tuple[Vector, Vector, NDArray[np.bool_], Vector],
    step_sizes: Vector,
    scored: Dense,
    values: Vector,
    largest: float,
) -> Dense:
    """The same of true online TD(λ), λ = 1 − β."""
    reward, discount, is_last, beta = steps
    errors = np.empty((len(step_sizes), is_last.sum()))
    for a in range(len(step_sizes)):
        w, trace, episode = np.zeros(x.shape[1]), np.zeros(x.shape[1]), 0
        decay, before = 0.0, 0.0
        for t in range(len(x)):
            decay = decay * (1.0 - beta[t])
            value, norm = w @ x[t], x[t] @ x[t]
            if t == 0 or is_last[t - 1]:
                before, decay = value, 0.0
            alpha = min(step_sizes[a], largest / norm) if norm > 0.0 else 0.0
            following = w @ x[t + 1] if not is_last[t] else 0.0
            delta = reward[t] + discount[t] * following - before
            trace = decay * trace + alpha * (1.0 - decay * (trace @ x[t])) * x[t]
            w = w + delta * trace + alpha * (before - value) * x[t]
            before, decay = following, discount[t]
            if is_last[t]:
                errors[a, episode] = ((scored @ w - values) ** 2).mean()
                episode += 1
    return errors
