"""Exact limits: the error of methods at the fixed point of the expected update.

With decreasing step sizes, a method that converges reaches this error. With a constant step size,
the noise of single steps adds to it.
"""

from functools import cache

import polars as pl

from preftd import theory
from preftd.experiments.results import ALGORITHM
from preftd.experiments.study import Study
from preftd.paper.study import PaperStudy
from preftd.tasks import Task


def limits(study: Study) -> pl.DataFrame:
    """The limit of every algorithm of a study, by its labels; learners share it."""
    axes = study.axes
    names, rules = zip(*axes.rules, strict=True)
    rows = [
        (task_label, rule_label, preference_label, learner, found)
        for task_label, task in axes.tasks
        if isinstance(task, Task)  # a task drawn for each seed has a limit for each seed
        for preference_label, preference in axes.preferences
        for rule_label, found in zip(names, theory.limits(task, rules, preference), strict=True)
        for learner, _ in axes.learners
    ]
    return pl.DataFrame(rows, schema=[*ALGORITHM, "limit"], orient="row")


@cache
def limits_of(study: PaperStudy) -> pl.DataFrame:
    """The same, for a study of the paper; several figures show the same limits."""
    return limits(study.study())


def limit_of(study: PaperStudy, **labels: str) -> float:
    """The limit of the only algorithm of a study that has these labels."""
    return float(limits_of(study).filter(**labels)["limit"].item())
