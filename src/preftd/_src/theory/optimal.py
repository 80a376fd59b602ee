"""Optimal control of a task, exactly: its best values, and a policy that has them."""

from __future__ import annotations

import numpy as np

from preftd._src.arrays import Dense, Vector, instance, unit, vector_of
from preftd._src.tasks.task import as_task, changed
from preftd.tasks import Outcomes, Task

_ROUNDING = 1e-12
"""An action is better only if the gain exceeds this share of the largest value."""


def optimal(task: Task) -> Task:
    """Return the same task with an optimal policy, found by policy iteration.

    The policy knows the state, also where it is hidden. So its values are an upper bound for any
    learner, which is tight if actions in hidden states do not matter.

    Parameters
    ----------
    task : Task
        The iteration starts from its own policy.

    Returns
    -------
    Task
        The same task, whose `policy` has one action per state, and whose `values` are the best
        ones.

    Examples
    --------
    >>> from preftd import tasks
    >>> best = optimal(tasks.make("double_corridor", length=5))
    >>> float(best.start @ best.values)
    3.0

    """
    chosen, best = None, as_task(task)
    while True:
        value = action_values(best.outcomes, best.discount, best.values)
        better = value.argmax(axis=1)
        if chosen is not None:
            kept = value[np.arange(task.states), chosen]
            gain = value.max(axis=1) - kept
            better = np.where(gain > _ROUNDING * max(1.0, np.abs(value).max()), better, chosen)
            if (better == chosen).all():
                return best
        chosen = better
        best = changed(task, start=task.start, policy=chosen, behaviour=None)


def action_values(outcomes: Outcomes, discount: float, values: Vector) -> Dense:
    """Return the expected reward of each action plus the discounted value of the next state.

    Parameters
    ----------
    outcomes : Outcomes
    discount : float
    values : array of shape (states,)

    Returns
    -------
    array of shape (states, actions)

    """
    instance("outcomes", outcomes, Outcomes, "the outcomes of a task, task.outcomes")
    discount = unit("discount", discount)
    given = vector_of("values", values, outcomes.states)
    following = np.where(outcomes.ends, 0.0, given[outcomes.next_state])
    found = np.zeros((outcomes.states, outcomes.actions))
    expected = outcomes.probability * (outcomes.reward + discount * following)
    np.add.at(found, (outcomes.state, outcomes.action), expected)
    return found
