"""Limits of weights with small step sizes: the error in the limit, and the noise around it.

With decreasing step sizes, a method that converges reaches the error at the fixed point of the
expected update. A constant step size α adds noise. Where the weights give the true values, TD
errors have mean 0 given the past. The covariance of updates is then that of single updates, and
determines S, the covariance of weights per unit of step size:

    G = E[δ_t² e_t e_tᵀ] = Σ_s E[δ² | s] E[e eᵀ; s]            covariance of updates
    A S + S Aᵀ = G,        Cov(w) ≈ α S
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from scipy.linalg import solve_continuous_lyapunov

from preftd._src.arrays import Dense, InputError, Vector, as_dense, check_unit_interval
from preftd._src.preferences.signal import as_task
from preftd._src.rules.rule import as_rule, bootstrapped
from preftd._src.theory.bootstrapping import Bootstrapping
from preftd._src.theory.diagnose import Diagnosis, diagnoses
from preftd._src.theory.expected_update import ExpectedUpdate, expected_updates
from preftd._src.theory.moments import check_overflow
from preftd.preferences import as_preference
from preftd.rules import Rule
from preftd.tasks import Task


def limit(task: Task, rule: Rule, preference: Any) -> float:
    """Return the mean squared error over observable states at the fixed point.

    Parameters
    ----------
    task : Task
    rule : Rule
    preference : float, array of shape (states,), or Signal
        A preference that depends on the state alone.

    Returns
    -------
    float
        Infinite if the expected update diverges from the fixed point.

    Examples
    --------
    >>> from preftd import ETD, PTD, TD, tasks
    >>> from preftd.preferences import Observability
    >>> corridor = tasks.make("corridor", length=5)
    >>> [round(limit(corridor, rule, Observability()), 4) for rule in (TD(), ETD(0.01), PTD())]
    [1.3984, 0.6182, 0.0]

    """
    return limits(task, [rule], preference)[0]


def limits(task: Task, rules: Sequence[Rule], preference: Any) -> list[float]:
    """Return the limits of several rules; shared results are computed once.

    Parameters
    ----------
    task, preference
        As for `limit`.
    rules : sequence of Rule

    Returns
    -------
    list of float
        One for each rule.

    """
    beta = as_preference(preference).per_state(as_task(task))
    check_unit_interval("beta", beta)
    found = diagnoses(Bootstrapping(task.process, beta, task), task.features, rules)
    return [_error(task, one) for one in found]


def _error(task: Task, found: Diagnosis) -> float:
    """The error at the fixed point, infinite if the rule does not converge to it."""
    if found.fixed_point is None or not found.stable:
        return inf
    errors = (task.features.predict(found.fixed_point) - task.values)[task.observable]
    return float(np.mean(errors**2))


_ROUNDING = 1e-9
"""Values that differ by less, relative to the largest, count as equal."""


def weight_noise(task: Task, rule: Rule, preference: Any) -> Dense:
    """Return S: at a small constant step size α, weights vary with covariance α S in the long run.

    Parameters
    ----------
    task : Task
        An on-policy task with fixed features that can represent its values.
    rule : Rule
        A rule without interest, whose gain depends on the state alone.
    preference : float, array of shape (states,), or Signal
        A preference that depends on the state alone.

    Returns
    -------
    array of shape (features, features)
        0 along directions in which the weights are never changed.

    Examples
    --------
    >>> from preftd import TD
    >>> coin = Task("coin", [(0, 0, 0.5, -1, 1), (0, 0, 0.5, -1, -1)], [[1]], 1.0, start=[1])
    >>> weight_noise(coin, TD(), 1.0)
    array([[0.5]])

    """
    _check(as_task(task), as_rule(rule))
    beta = np.broadcast_to(as_preference(preference).per_state(task), (task.states,))
    check_unit_interval("beta", beta)
    bootstrapping = Bootstrapping(task.process, beta, task)
    update = expected_updates(bootstrapping, task.features, [rule])[0]
    _check_represented(task, update)
    shown = update.determined
    with np.errstate(over="ignore", invalid="ignore"):
        noise = (
            shown.T @ update_noise(task, bootstrapping.gain(rule), bootstrapped(rule, beta)) @ shown
        )
    check_overflow(noise)
    return np.asarray(shown @ solve_continuous_lyapunov(update.reduced, noise) @ shown.T)


def update_noise(task: Task, gain: Vector, share: Vector) -> Dense:
    """Return E[δ² e eᵀ] at the true values, shape (features, features).

    Traces are e_t = c_t γ_t e_{t−1} + g_t φ_t with c = 1 − share, so with m(s) = E[e; s],
    earlier(s) = E[γ_t e_{t−1}; s_t = s] and u(s) the sum of all later E[δ²] weighted by a trace
    that is 1 at s,

        m = c earlier + d g φ,        u(s) = E[δ² | s] + Σ_s' P(s, s') (γ c(s'))² u(s')
        E[δ² e eᵀ] = Σ_s u(s) (d g² φ φᵀ + g c (earlier φᵀ + φ earlierᵀ))(s)

    """
    kept, visits = as_dense(task.process.discounted_transition), task.process.visits
    features, carried = task.features.columns(slice(None)), 1 - share
    identity = np.eye(task.states)
    trace = np.linalg.solve(
        identity - carried[:, None] * kept.T, (visits * gain)[:, None] * features
    )
    earlier = kept.T @ trace
    later = np.linalg.solve(identity - task.discount * kept * carried**2, _td_error_variance(task))
    cross = ((later * gain * carried)[:, None] * earlier).T @ features
    alone = features.T @ ((later * visits * gain**2)[:, None] * features)
    return np.asarray(alone + cross + cross.T)


def _td_error_variance(task: Task) -> Vector:
    """E[δ² | s] at the true values, shape (states,)."""
    rows, values = task.outcomes, task.values
    following = np.where(rows.ends, 0.0, task.discount * values[rows.next_state])
    squared = (rows.reward + following - values[rows.state]) ** 2 + rows.spread**2
    variance = np.zeros(task.states)
    chance = rows.probability * task.policy[rows.state, rows.action]
    np.add.at(variance, rows.state, chance * squared)
    return variance


def _check(task: Task, rule: Rule) -> None:
    if task.off_policy:
        raise InputError(f"{task.name} is off-policy: give a task whose own policy acts.")
    if task.features.codes()[2].any():
        raise InputError(f"{task.name} has random features: give a task with fixed ones.")
    if rule.interest is not None:
        raise InputError(f"{rule.name} has a gain that depends on the past: use TD or PTD.")


def _check_represented(task: Task, update: ExpectedUpdate) -> None:
    """Refuse features with which updated states do not reach their true values."""
    missed = np.abs(task.features.predict(update.fixed_point) - task.values)[update.weights > 0]
    if missed.max(initial=0.0) > _ROUNDING * max(1.0, np.abs(task.values).max()):
        raise InputError(
            f"the features of {task.name} cannot represent its values: add features, such as one "
            "for each state."
        )
