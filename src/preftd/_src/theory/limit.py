"""The error of a method in the limit: at the fixed point of the expected update, exactly.

With decreasing step sizes, a method that converges reaches this error. A constant step size adds
the noise of single steps.
"""

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from preftd._src.arrays import check_unit_interval
from preftd._src.preferences.signal import as_task
from preftd._src.theory.bootstrapping import Bootstrapping
from preftd._src.theory.diagnose import Diagnosis, diagnoses
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
        One that depends on the state alone.

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
    """Return the limits of several rules; what they share is computed once.

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
