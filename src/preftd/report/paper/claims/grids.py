"""What claims about the grids have in common: places, scores, and how far seeds lie apart."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

import numpy as np

from preftd.arrays import Vector
from preftd.experiments.learning import task_of
from preftd.experiments.results import Results
from preftd.report.paper.claims.claim import Found
from preftd.report.paper.claims.measures import CEILING, error_of_zero, widths
from preftd.report.paper.claims.samples import Sample, rows
from preftd.report.paper.grids import SIZES, WIDTHS, grid, with_units
from preftd.report.paper.interests import with_best_interest

TASKS = {"cross_grid": "task 1", "random_grid": "task 2"}


def places(sizes: Sequence[int] = SIZES) -> Iterator[tuple[str, int, str]]:
    """Task, size, and what to call both."""
    for task, name in TASKS.items():
        for size in sizes:
            yield task, size, f"{name}, {size} × {size}"


def nets(
    sizes: Sequence[int] = SIZES, units: Sequence[int] = WIDTHS
) -> Iterator[tuple[str, int, int, str]]:
    """Task, size, width, and what to call them."""
    for task, size, place in places(sizes):
        for width in units:
            yield task, size, width, f"{place}, {with_units(width)}"


def semi_linear(*sizes: int) -> tuple[str, ...]:
    """Studies with trained features."""
    return tuple(f"{task} semi-linear, size {size}" for task in TASKS for size in sizes)


def networks(*views: str) -> tuple[str, ...]:
    """Studies of networks."""
    return tuple(f"{task} networks, {view}" for view in views for task in TASKS)


def linear_score(found: Found, task: str, size: int, rule: str, form: str = "") -> Sample:
    """Scores with trained features, on fresh seeds with the step size that was chosen."""
    results = with_best_interest(found[f"{task} semi-linear, size {size}"])
    return _reported(results, rule=rule, learner=form)


def net_score(found: Found, task: str, size: int, rule: str, view: str, units: int) -> Sample:
    """Scores of networks, likewise."""
    results = found[f"{task} networks, {view}"]
    return _reported(results, task=f"size {size}", rule=rule, learner=with_units(units))


def spread(sample: Sample, task: str, size: int) -> Sample:
    """How far each seed lies from the median, in parts of the error of predicting 0."""
    far = Sample(sample.seeds, np.abs(sample.values - np.median(sample.values)))
    return far.over(Sample(sample.seeds, zeros(task, size, sample.seeds)))


def tolerance(found: Found, study: str, task: str, size: int, labels: Mapping[str, str]) -> Sample:
    """Over how many decades of step sizes the error is more than halfway to its least."""
    runs = rows(found[study].tried, task=f"size {size}", **labels)
    return widths(runs, zeros(task, size, tuple(sorted(set(runs["seed"])))), "decades")


def score_at(
    step_size: float, found: Found, task: str, size: int, rule: str, view: str, units: int
) -> Sample:
    """Scores of networks with this step size, whether it was chosen or not."""
    tried = Sample.of(
        found[f"{task} networks, {view}"].tried,
        task=f"size {size}",
        rule=rule,
        learner=with_units(units),
        step_size=step_size,
    )
    return _capped(tried)


def _reported(results: Results, **labels: str) -> Sample:
    """Scores on fresh seeds; what diverged with every step size was not run on them."""
    runs = rows(results.reported, **labels)
    if runs.height:
        return _capped(Sample.of(runs))
    seeds = tuple(results.reported["seed"].unique().sort())
    return Sample(seeds, np.full(len(seeds), CEILING))


def _capped(sample: Sample) -> Sample:
    """Counted up to a ceiling, as runs that diverged have no score."""
    return Sample(sample.seeds, np.fmin(sample.values, CEILING))


@cache
def zeros(task: str, size: int, seeds: tuple[int, ...]) -> Vector:
    """The error of predicting 0, for each seed, which may have a task of its own."""
    source = grid(task, size)
    return np.array([error_of_zero(task_of(source, seed)) for seed in seeds])
