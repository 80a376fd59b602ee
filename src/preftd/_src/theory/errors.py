"""Errors of weights: value error, projection, projected Bellman error.

    ‖x‖²_D = Σ_s d(s) x(s)²             Π v = Φ w with the w that minimises E ‖φᵀw − v‖²_D
    value error             E ‖φᵀw − v‖²_D, v the true values
    projected Bellman error ‖Π (T Φw − Φw)‖²_D = (b − A w)ᵀ (Φᵀ D Φ)⁺ (b − A w)

With random features, E is also over the features of a visit.
"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import (
    Dense,
    InputError,
    MatrixLike,
    Vector,
    check_not_negative,
    per_state,
    vector_of,
)
from preftd._src.theory.bootstrapping import as_process
from preftd._src.theory.expected_update import expected_update
from preftd.rules import Rule
from preftd.tasks import Features, MarkovRewardProcess


def value_error(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    weights: ArrayLike,
    *,
    over: ArrayLike | None = None,
) -> float:
    """Return the mean squared error of the values.

    Parameters
    ----------
    process : MarkovRewardProcess
    features : Features, or array or sparse matrix of shape (states, features)
    weights : array of shape (features,)
    over : array of shape (states,), optional
        The weight of each state (default: its visits).

    Examples
    --------
    >>> chain = MarkovRewardProcess([[0, 1], [1, 0]], reward=1, discount=0.5)
    >>> value_error(chain, [[1], [1]], [1.5])
    0.25

    """
    features = Features.of(features, as_process(process).states)
    w = vector_of("weights", weights, features.size)
    states = process.visits if over is None else _state_weights(over, process)
    with np.errstate(over="ignore", invalid="ignore"):
        bias = features.predict(w) - process.values
        return _error(states @ bias**2 + w @ features.mean_covariance(states) @ w)


def project(
    process: MarkovRewardProcess, features: Features | MatrixLike, values: ArrayLike
) -> Vector:
    """Return Π v, the nearest values that the features can represent, weighted by visits.

    Parameters
    ----------
    process : MarkovRewardProcess
    features : Features, or array or sparse matrix of shape (states, features)
    values : float or array of shape (states,)

    Returns
    -------
    array of shape (states,)

    Examples
    --------
    >>> chain = MarkovRewardProcess([[0, 1], [1, 0]], reward=1, discount=0.5)
    >>> project(chain, [[1], [1]], [0, 1])
    array([0.5, 0.5])

    """
    features = Features.of(features, as_process(process).states)
    visits = process.visits
    target = features.transposed_times(visits * per_state("values", values, process.states))
    return features.predict(_solve_gram(_gram(features, visits), target))


def projected_bellman_error(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rule: Rule,
    weights: ArrayLike,
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> float:
    """Return ‖Π (T Φw − Φw)‖²_D, which is 0 at the rule's fixed point (Theorem 3).

    Parameters
    ----------
    process : MarkovRewardProcess
    features : Features, or array or sparse matrix of shape (states, features)
    rule : Rule
    weights : array of shape (features,)
    beta : float or array of shape (states,)
        The preference; or give `lambda_`, which is 1 − β.
    lambda_ : float or array of shape (states,)

    """
    features = Features.of(features, as_process(process).states)
    key = expected_update(process, features, rule, beta, lambda_).key
    w = vector_of("weights", weights, features.size)
    with np.errstate(over="ignore", invalid="ignore"):
        step = key.b - key.A @ w
        if not np.isfinite(step).all():
            return inf
        return _error(step @ _solve_gram(_gram(features, process.visits), step))


def _error(found: Any) -> float:
    """The error, infinite where weights are so large that it overflows."""
    return inf if np.isnan(found) else float(found)


def _gram(features: Features, visits: Vector) -> Dense:
    """Φᵀ D Φ + Σ_s d(s) Σ_s."""
    return features.weighted_square(visits) + features.mean_covariance(visits)


def _solve_gram(gram: Dense, target: Vector) -> Vector:
    """The smallest solution; it is 0 in directions that no visited state shows."""
    scale = np.sqrt(np.diag(gram))
    scale[scale == 0] = 1
    scaled = gram / np.outer(scale, scale)
    return np.asarray(np.linalg.lstsq(scaled, target / scale, rcond=None)[0] / scale)


def _state_weights(over: ArrayLike, process: MarkovRewardProcess) -> Vector:
    """The weight of each state, scaled to sum to 1."""
    states = per_state("over", over, process.states)
    check_not_negative("over", states)
    total = float(states.sum())
    if total == 0:
        raise InputError("over is 0 everywhere: give some states a weight above 0.")
    return states / total
