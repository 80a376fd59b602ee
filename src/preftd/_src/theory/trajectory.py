"""Expected updates over time: trajectories of weights, and key matrices from a given start.

w_{t+1} = w_t + α_t (b − A w_t)                                     mean trajectory

d_{t+1} = Pᵀ d_t,   E_t = (I − B) Pγᵀ E_{t−1} + diag(d_t ∘ ḡ_t) Φ    from a given start
E[A_t] = E_tᵀ (I − Pγ) Φ + Σ_s d_t(s) ḡ_t(s) Σ_s,   E[b_t] = E_tᵀ r
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import (
    Dense,
    InputError,
    MatrixLike,
    Vector,
    as_array,
    as_count,
    instance,
    number,
    short,
    vector_of,
)
from preftd._src.rules.rule import as_rule, bootstrapped
from preftd._src.theory.bootstrapping import as_process, expected_gain
from preftd._src.theory.expected_update import KeyMatrix
from preftd.rules import Rule, as_beta
from preftd.tasks import Features, MarkovRewardProcess

MOST_NUMBERS = 10**9
"""The most numbers of a trajectory: 8 GB."""


def mean_trajectory(
    key: KeyMatrix,
    step_size: float | Sequence[float] | Callable[[int], float],
    steps: int,
    start: ArrayLike | None = None,
) -> Dense:
    """Return the weights w_0 … w_steps under expected updates.

    Parameters
    ----------
    key : KeyMatrix
    step_size : float, array of shape (steps,), or function of t = 0, 1, …
    steps : int
    start : array of shape (features,), optional
        w_0 (default: 0).

    Returns
    -------
    array of shape (steps + 1, features)
        Row t is w_t; infinite from where diverging weights overflow.

    Examples
    --------
    >>> mean_trajectory(KeyMatrix(np.eye(1), np.ones(1)), 0.5, steps=3).ravel()
    array([0.   , 0.5  , 0.75 , 0.875])

    """
    A, b = _as_key(key)
    size = b.size
    steps = as_count("steps", steps, 0, MOST_NUMBERS // size)
    trajectory = np.empty((steps + 1, size))
    trajectory[0] = 0.0 if start is None else vector_of("start", start, size)
    with np.errstate(over="ignore", invalid="ignore"):
        for t, alpha in zip(range(steps), _schedule(step_size, steps), strict=False):
            trajectory[t + 1] = trajectory[t] + alpha * (b - A @ trajectory[t])
    trajectory[np.isnan(trajectory)] = np.inf  # a difference of infinite numbers
    return trajectory


def _as_key(given: Any) -> KeyMatrix:
    """A and b, checked to fit together."""
    instance("key", given, KeyMatrix, "the result of key_matrix")
    key = KeyMatrix(as_array("key.A", given.A), as_array("key.b", given.b))
    if key.b.ndim != 1 or not key.b.size or key.A.shape != (key.b.size, key.b.size):
        raise InputError(
            f"key.A has shape {key.A.shape} and key.b {key.b.shape}: give a square matrix, and a "
            "vector of its size."
        )
    return key


def _schedule(
    step_size: float | Sequence[float] | Callable[[int], float], steps: int
) -> Iterator[float]:
    """The step size of each step."""
    if isinstance(step_size, type):
        raise InputError(f"step_size is {short(step_size)}: give a number, or a function of t.")
    if callable(step_size):
        return (number(f"step_size({t})", step_size(t)) for t in range(steps))
    given: Any = step_size
    sizes = as_array("step_size", given)
    if sizes.ndim == 0:
        return repeat(float(sizes), steps)
    if sizes.shape != (steps,):
        raise InputError(f"step_size has shape {sizes.shape}: give one number, or {steps}.")
    return iter(sizes.tolist())


def key_matrices_over_time(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rule: Rule,
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> Iterator[KeyMatrix]:
    """Yield E[A_t], E[b_t] for t = 0, 1, …, from the start and an empty trace.

    They converge to `key_matrix` if the chain is aperiodic, with a finite sum of distances
    (Lemma 5).

    Parameters
    ----------
    process, features, rule, beta, lambda_
        As for `key_matrix`.

    """
    as_rule(rule)
    if as_process(process).off_policy:
        raise InputError(
            "the process is visited by another policy, whose chain is not known here: use "
            "key_matrix, which needs only the visits."
        )
    features = Features.of(features, process.states)
    preference = as_beta(beta, lambda_, (process.states,))
    share = bootstrapped(rule, preference)
    kept, mean = process.discounted_transition, features.columns(slice(None))
    one_step = mean - kept @ mean
    visits = process.start
    trace = np.zeros_like(mean)
    past = np.zeros(process.states)
    while True:

        def accumulate(now: Vector, before: Vector = past) -> Vector:
            nonlocal past
            past = np.asarray(kept.T @ before + now)
            return past

        weights = visits * expected_gain(rule, preference, visits, accumulate)
        trace = (1 - share)[:, None] * (kept.T @ trace) + weights[:, None] * mean
        noise = features.mean_covariance(weights)
        yield KeyMatrix(trace.T @ one_step + noise, trace.T @ process.reward)
        visits = np.asarray(process.transition.T @ visits)
