"""Quantities of the grids that claims compare: errors, their spread over seeds, tolerance."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from preftd._src.arrays import Vector
from preftd._src.experiments.learning import task_of
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import Cases, Quantity, Runs, tried
from preftd._src.paper.grids.studies import (
    NETWORKS,
    SEMI_LINEAR,
    SEMI_LINEAR_VIEWS,
    SIZES,
    TASKS,
    WIDTHS,
    at_size,
    grid,
    with_best_interest,
    with_units,
)
from preftd._src.paper.measures import CEILING, error_of_zero, failing_from, widths
from preftd._src.paper.samples import Sample, rows


def each(quantity: Callable[[str, int], Quantity], sizes: Sequence[int] = SIZES) -> Cases:
    """A quantity for each task and size, by the name of both."""
    return Cases(
        {
            f"{title}, {size} × {size}": quantity(task, size)
            for task, title in TASKS.items()
            for size in sizes
        }
    )


def each_net(
    quantity: Callable[[str, int, int], Quantity],
    sizes: Sequence[int] = SIZES,
    widths: Sequence[int] = WIDTHS,
) -> Cases:
    """A quantity for each task, size and width of the network, by the name of all three."""
    return Cases(
        {
            f"{title}, {size} × {size}, {with_units(units)}": quantity(task, size, units)
            for task, title in TASKS.items()
            for size in sizes
            for units in widths
        }
    )


def linear_errors(rule: str, sizes: Sequence[int] = SIZES, form: str = "") -> Cases:
    """Scores with trained features, on fresh seeds with the step size that was chosen."""

    def measure(results: Results) -> Sample:
        return _reported(with_best_interest(results), rule=rule, learner=form)

    return each(lambda *at: Quantity.of(SEMI_LINEAR[at], measure), sizes)


def linear_tolerance(rule: str) -> Cases:
    """Over how many decades of step sizes the error is more than halfway to its least."""
    return each(lambda *at: tried(SEMI_LINEAR[at], rule=rule, learner="").by(_decades, *at))


def view_errors(rule: str, view: str) -> Cases:
    """Scores of a view of linear learners with trained features, as those of `linear_errors`."""

    def measure(results: Results) -> Sample:
        return _reported(results, rule=rule, learner=view)

    return each(lambda *at: Quantity.of(SEMI_LINEAR_VIEWS[at], measure))


def view_fails(rule: str, view: str, *, as_zero: bool) -> Cases:
    """The least step sizes above their best with which seeds of the search fail.

    They diverge, or if `as_zero` do worse than predicting 0.
    """

    def measure(runs: pl.DataFrame, *at: Any) -> Sample:
        seeds = tuple(sorted(set(runs["seed"])))
        return failing_from(runs, zeros(*at, seeds)) if as_zero else failing_from(runs)

    return each(lambda *at: tried(SEMI_LINEAR_VIEWS[at], rule=rule, learner=view).by(measure, *at))


def net_error(task: str, size: int, units: int, rule: str, view: str) -> Quantity:
    """The score of networks, on fresh seeds with the step size that was chosen."""

    def measure(results: Results) -> Sample:
        return _reported(results, task=at_size(size), rule=rule, learner=with_units(units))

    return Quantity.of(NETWORKS[task, view], measure)


def net_errors(
    rule: str, view: str, sizes: Sequence[int] = SIZES, widths: Sequence[int] = WIDTHS
) -> Cases:
    """The same for many networks."""
    return each_net(
        lambda task, size, units: net_error(task, size, units, rule, view), sizes, widths
    )


def net_spread(rule: str, view: str, widths: Sequence[int] = WIDTHS) -> Cases:
    """How far each seed's error lies from the median, as a share of that of predicting 0."""

    def from_median(error: Sample) -> Sample:
        return Sample(error.seeds, np.abs(error.values - np.median(error.values)))

    def of(task: str, size: int, units: int) -> Quantity:
        return (
            net_error(task, size, units, rule, view).then(from_median).then(over_zero(task, size))
        )

    return each_net(of, widths=widths)


def net_tolerance(rule: str, view: str) -> Cases:
    """Over how many decades of step sizes the error of networks is more than halfway down."""
    return each_net(
        lambda task, size, units: _tried(task, size, units, rule, view).by(_decades, task, size)
    )


def net_error_at(
    step_size: float, task: str, size: int, units: int, rule: str, view: str
) -> Quantity:
    """The score of networks with this step size, on the seeds of the search."""
    return _tried(task, size, units, rule, view, step_size=step_size).score.then(_capped)


def over_zero(task: str, size: int) -> Callable[[Sample], Sample]:
    """A function that divides errors by those of predicting 0."""
    return lambda error: error.over(Sample(error.seeds, zeros(task, size, error.seeds)))


def _tried(task: str, size: int, units: int, rule: str, view: str, **labels: float) -> Runs:
    labels_of_net = {"task": at_size(size), "rule": rule, "learner": with_units(units)}
    return tried(NETWORKS[task, view], **labels_of_net, **labels)


def _decades(runs: pl.DataFrame, task: str, size: int) -> Sample:
    return widths(runs, zeros(task, size, tuple(sorted(set(runs["seed"])))))


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
    """The error of predicting 0 for each seed, as each may have its own task: shape (seeds,)."""
    source = grid(task, size)
    return np.array([error_of_zero(task_of(source, seed)) for seed in seeds])
