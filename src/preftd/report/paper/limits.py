"""Where methods end: their error at the fixed point of the expected update, computed exactly.

With step sizes that decrease, a method that converges reaches this error. With a constant step size
it is what would be left without the noise of single steps, which adds an error of its own.
"""

from functools import cache

import polars as pl

from preftd import theory
from preftd.experiments.results import ALGORITHM
from preftd.experiments.study import Study
from preftd.report.paper.studies import STUDIES
from preftd.tasks import Task


def limits(study: Study) -> pl.DataFrame:
    """The limit of every algorithm of a study, by its labels; learners share it."""
    axes = study.axes
    names, rules = zip(*axes.rules, strict=True)
    rows = [
        (task_label, rule_label, preference_label, learner, found)
        for task_label, task in axes.tasks
        if isinstance(task, Task)  # one of each seed's own has a limit for each seed
        for preference_label, preference in axes.preferences
        for rule_label, found in zip(names, theory.limits(task, rules, preference), strict=True)
        for learner, _ in axes.learners
    ]
    return pl.DataFrame(rows, schema=[*ALGORITHM, "limit"], orient="row")


@cache
def limits_of(name: str) -> pl.DataFrame:
    """The same, for a study of the paper by its name; several figures show the same limits."""
    return limits(STUDIES[name]())
