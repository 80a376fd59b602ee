"""Where methods end: their error at the fixed point of the expected update, computed exactly.

With step sizes that decrease, a method that converges reaches this error. With a constant step size
it is what would be left without the noise of single steps, which adds an error of its own.
"""

from collections.abc import Sequence
from functools import cache
from math import inf
from typing import final

import numpy as np
import polars as pl

from preftd.arrays import InputError, Vector
from preftd.experiments.results import ALGORITHM
from preftd.experiments.study import Study
from preftd.preferences import Constant, Observability, PerState, Preference
from preftd.report.paper.studies import STUDIES
from preftd.rules import Rule
from preftd.rules.rule import Number
from preftd.tasks import Task
from preftd.theory import Diagnosis, compare


def limit(task: Task, rule: Rule, preference: Preference) -> float:
    """Mean squared error over observable states at the fixed point of the expected update.

    Infinite if the expected update leads away from it.

    >>> from preftd import ETD, PTD, TD, tasks
    >>> corridor = tasks.make("corridor", length=5)
    >>> [round(limit(corridor, rule, Observability()), 4) for rule in (TD(), ETD(0.01), PTD())]
    [1.3984, 0.6182, 0.0]
    """
    return _of_rules(task, [rule], preference)[0]


def limits(study: Study) -> pl.DataFrame:
    """The limit of every algorithm of a study, by its labels; learners share it."""
    axes = study.axes
    names, rules = zip(*axes.rules, strict=True)
    rows = [
        (task_label, rule_label, preference_label, learner, found)
        for task_label, task in axes.tasks
        if isinstance(task, Task)  # one of each seed's own has a limit for each seed
        for preference_label, preference in axes.preferences
        for rule_label, found in zip(names, _of_rules(task, rules, preference), strict=True)
        for learner, _ in axes.learners
    ]
    return pl.DataFrame(rows, schema=[*ALGORITHM, "limit"], orient="row")


@cache
def limits_of(name: str) -> pl.DataFrame:
    """The same, for a study of the paper by its name; several figures show the same limits."""
    return limits(STUDIES[name]())


def _of_rules(task: Task, rules: Sequence[Rule], preference: Preference) -> list[float]:
    """Together, as all rules share what depends on the task and the preference."""
    by_state = [_ByState(rule, task) for rule in rules]
    found = compare(task.process, task.features, by_state, _by_state(preference, task))
    return [_error(task, one) for one in found]


def _error(task: Task, found: Diagnosis) -> float:
    if found.fixed_point is None or not found.stable:
        return inf
    errors = (task.features.predict(found.fixed_point) - task.values)[task.observable]
    return float(np.mean(errors**2))


@final
class _ByState(Rule):
    """A rule, its interest as a number for each state of a task, as the theory wants it."""

    name = "of a state"

    def __init__(self, rule: Rule, task: Task) -> None:
        self._rule = rule
        given = rule.interest
        self._interest = _by_state(given, task) if isinstance(given, Preference) else given

    @property
    def interest(self) -> float | Vector | None:
        """Per state."""
        return self._interest

    def gain(self, beta: Number, interest: Number, follow_on: Number) -> Number:
        """That of the rule."""
        return self._rule.gain(beta, interest, follow_on)


def _by_state(preference: Preference, task: Task) -> Vector:
    """What a preference says of each state, if that is all it depends on."""
    match preference:
        case Constant():
            return np.full(task.states, preference.beta)
        case Observability():
            return np.where(task.observable, preference.observable, preference.hidden)
        case PerState():
            return preference.beta
    raise InputError(
        f"{preference} depends on more than the state, so there is no exact limit: "
        "use one that does not, such as Observability()."
    )
