"""Weights at a constant step size in the long run: exact mean, covariance and error.

With β ∈ {0, 1} and no gain where β = 0, each step of learning is a random linear map of (1, w),
which depends on the past through the state and the previous preferred state. So the moments of the
weights solve a linear system: see `moments`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, number
from preftd._src.names import nearest
from preftd._src.preferences.signal import as_task
from preftd._src.rules.rule import as_rule, bootstrapped
from preftd._src.theory.crossing import VIEWS, CrossingView
from preftd._src.theory.moments import (
    MOST_FEATURES,
    Learning,
    PreferredChain,
    check_count,
    check_digits,
    check_overflow,
    held_maps,
    long_run,
    online_maps,
    preferred_chain,
)
from preftd.preferences import as_preference
from preftd.rules import Rule
from preftd.tasks import Task

LARGEST = 1e50
"""The largest step size: squares of larger ones overflow."""
SMALL = 1e-5
"""Moments at step sizes below this, over the largest squared norm of features, are extrapolated."""


class SteadyState(NamedTuple):
    """Weights after an episode, in the long run, at a constant step size.

    Where the variance grows without bound, as it does if the step size is too large, the error is
    infinite and the others are NaN.
    """

    mean: Vector
    """Shape (features,)."""
    covariance: Dense
    """Shape (features, features)."""
    error: float
    """The mean squared error over observable states, as studies measure it after each episode."""


def steady_state(
    task: Task, rule: Rule, preference: Any, step_size: float, view: CrossingView = "held"
) -> SteadyState:
    """Return the exact long-run weights of a linear learner at a constant step size.

    Parameters
    ----------
    task : Task
        On-policy, with episodes that end; the features of preferred states are not random.
    rule : Rule
        PTD, or TD if all states are preferred. The gain depends on the state alone, and is 0 at
        hidden states.
    preference : float, array of shape (states,), or Signal
        One that depends on the state alone, and is 0 or 1.
    step_size : float
    view : "held", "backward" or "true_online"
        The view of the learner; the paper's Algorithm 1 is backward. Views that learn in hidden
        states need a discount of 1, and at most 7 features.

    Returns
    -------
    SteadyState
        Mean, covariance and error after an episode.

    Examples
    --------
    A step size of α leaves 2.25 α / (2 − α) of variance at the decision of the corridor, and none
    at its goals, however long it is:

    >>> from preftd import PTD, tasks
    >>> from preftd.preferences import Observability
    >>> found = steady_state(tasks.make("corridor", length=25), PTD(), Observability(), 0.1)
    >>> found.mean.round(12)
    array([ 0.5,  2. , -1. ])
    >>> round(found.error, 12) == round(2.25 * 0.1 / 1.9 / 3, 12)
    True

    """
    nearest("view", view, VIEWS)
    alpha = number("step_size", step_size)
    if not 0 < alpha <= LARGEST:
        raise InputError(f"step_size is {alpha:g}: give a number above 0, at most {LARGEST:g}.")
    beta, gain = _checked(task, rule, preference)
    alpha *= gain
    chain = preferred_chain(task, beta == 1)
    rows = task.features.rows(chain.states)
    moving = np.asarray(rows.any(axis=0))
    phi = rows[:, moving]
    _check_features(task, chain, phi)
    centre = _fixed_point(chain, phi)
    largest = (phi**2).sum(axis=1).max()
    if view != "held":
        _check_online(task, beta == 0, phi)
        largest = _mean_squares(task).max()

    def moments(alpha: float) -> Dense | None:
        if view == "held":
            maps = held_maps(chain, phi, alpha, centre)
        else:
            maps = online_maps(task, chain, Learning(view, alpha, moving, centre))
        return long_run(maps)

    with np.errstate(all="ignore"):  # what is not finite is refused
        small = SMALL / largest
        after = moments(alpha) if alpha >= small else _extrapolated(moments, alpha, small)
        if after is None:
            check_digits(alpha >= small and moments(small) is not None)  # small steps converge
    size = task.features.size
    if after is None:
        return SteadyState(np.full(size, np.nan), np.full((size, size), np.nan), np.inf)
    after = after[: 1 + centre.size, : 1 + centre.size]
    shown = np.flatnonzero(task.observable)
    seen = task.features.rows(shown)[:, moving]
    off = np.column_stack([seen @ centre - task.values[shown], seen])
    mean, covariance = np.zeros(size), np.zeros((size, size))
    with np.errstate(over="ignore", invalid="ignore"):
        error = float(np.einsum("si,ij,sj->", off, after, off) / shown.size)
        mean[moving] = centre + after[0, 1:]
        covariance[np.ix_(moving, moving)] = after[1:, 1:] - np.outer(after[0, 1:], after[0, 1:])
    check_overflow(mean, covariance, error)
    return SteadyState(mean, covariance, error)


def _extrapolated(
    moments: Callable[[float], Dense | None], alpha: float, small: float
) -> Dense | None:
    """Moments at a step size whose own system is singular to rounding.

    Around the fixed point they are α (s_0 + s_1 α), up to a relative error of α², so two small step
    sizes determine them.
    """
    near, far = moments(small), moments(2 * small)
    if near is None or far is None:
        return None
    share = alpha / small
    after = share * ((2 - share) * near + (share - 1) / 2 * far)
    after[0, 0] = 1.0
    return np.asarray(after)


def _mean_squares(task: Task) -> Vector:
    """E ‖φ‖² in each state, shape (states,)."""
    mean = task.features.rows(np.arange(task.states))
    noise = [np.trace(task.features.mean_covariance(state)) for state in np.eye(task.states)]
    return np.asarray((mean**2).sum(axis=1) + noise)


def _fixed_point(chain: PreferredChain, phi: Dense) -> Vector:
    """The weights at which the expected step is 0; near them, differences lose no digits."""
    lost = phi - chain.discount[:, :-1] @ phi
    weighted = chain.visits[:, None] * phi
    return np.asarray(np.linalg.solve(weighted.T @ lost, weighted.T @ chain.reward.sum(axis=1)))


def _checked(task: Task, rule: Rule, preference: Any) -> tuple[Vector, float]:
    """β of each state, and the gain of preferred ones.

    Refuses a task or rule without such a steady state.
    """
    as_rule(rule)
    if as_task(task).off_policy or not task.episodic:
        raise InputError("the task is off-policy or has no end: give one that is neither.")
    beta = as_preference(preference).per_state(task)
    between = (beta != 0) & (beta != 1)
    if between.any():
        state = int(np.argmax(between))
        raise InputError(f"β of state {state} is {beta[state]:g}: give 0 or 1 for each state.")
    if not beta.any():
        raise InputError("preference is 0 everywhere: give 1 for some states.")
    if rule.interest is not None:
        raise InputError(f"the gain of {rule.name} depends on the past: use PTD.")
    if not np.array_equal(bootstrapped(rule, beta), beta):
        raise InputError(f"{rule.name} does not bootstrap by β: use PTD.")
    gain = rule.gain(beta, np.zeros_like(beta), np.zeros_like(beta))
    if gain[beta == 0].any():
        raise InputError(f"{rule.name} has a gain at hidden states: use PTD.")
    return beta, float(gain[beta == 1][0])


def _check_online(task: Task, hidden: NDArray[np.bool_], phi: Dense) -> None:
    """Refuse a discount where there are hidden states, and too many features."""
    if task.discount != 1 and hidden.any():
        raise InputError(
            f"the discount is {task.discount:g}, so that the trace can take infinitely many values "
            'in hidden states: use view="held".'
        )
    if phi.shape[1] > MOST_FEATURES:
        raise InputError(f'{phi.shape[1]} features exceed {MOST_FEATURES}: use view="held".')


def _check_features(task: Task, chain: PreferredChain, phi: Dense) -> None:
    """Refuse random features of preferred states, weights that never move, and too many moments."""
    _, _, fresh = task.features.codes()
    if fresh[chain.states].any():
        state = int(chain.states[np.argmax(fresh[chain.states])])
        raise InputError(
            f"the features of state {state} are random, but its β is 1: give it a β of 0."
        )
    size = phi.shape[1]
    if np.linalg.matrix_rank(phi) < size:
        raise InputError(
            f"the {len(phi)} preferred states that are visited do not determine the weights of "
            f"their {size} features: use fewer features, or prefer more states."
        )
    check_count(len(phi), size + 1)
