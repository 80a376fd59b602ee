"""Exact limits: the error of methods at the fixed point of the expected update.

With decreasing step sizes, a method that converges reaches this error. With a constant step size,
the noise of single steps adds to it.
"""

from functools import cache

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from preftd import theory
from preftd._src.experiments.results import ALGORITHM
from preftd._src.experiments.study import Study
from preftd._src.paper.study import PaperStudy
from preftd._src.report.figures.lines import Line, attach
from preftd.tasks import Task

HAIR = 0.6
"""The width of lines of limits, in points; those of curves are at least twice as wide."""
ZERO = 1e-9
"""A limit below this is 0 but for rounding."""


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


def with_limits(found: pl.DataFrame, limits: pl.DataFrame) -> pl.DataFrame:
    """What was found for algorithms, with a column for their limits."""
    return found.join(limits, on=ALGORITHM, how="left", maintain_order="left")


def limit_of_line(line: Line) -> float:
    """The limit of a line; NaN if it is not known."""
    known = line.rows["limit"][0]
    return np.nan if known is None else float(known)


def draw_limit(axes: Axes, line: Line) -> None:
    """A hairline, unless the limit is 0, or there is none."""
    limit = limit_of_line(line)
    if ZERO < limit < np.inf:
        hair = axes.axhline(limit, color=line.look.colour, linewidth=HAIR, zorder=1.5)
        attach([hair], line.label)
