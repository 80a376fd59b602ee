"""Claims about trained features (figures 4, A.7, A.8) and networks (5, 6, A.9 to A.12).

Networks have the forward view (figures 5, A.9, A.10) or the backward one (6, A.11, A.12). Beyond
the paper, also about true online and held learners. Views are compared seed by seed: all of them
learn from the same episodes.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from preftd._src.arrays import Vector
from preftd._src.experiments.learning import task_of
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    Cases,
    Compared,
    Quantity,
    Runs,
    Sample,
    averaged,
    claimed,
    pairs,
    reported,
    rows,
    tried,
)
from preftd._src.paper.corridors.claims import NAMES, held_over_others
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids.studies import (
    FEATURE_NET,
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
from preftd._src.paper.measures import (
    CEILING,
    error_of_zero,
    failing_from,
    from_median,
    part,
    widths,
)

OTHERS = ("TD(λ)", "ETD-fixed", "ETD-variable")
VIEWS = ("online", "true online")
"""With which the held one is compared."""


def each(quantity: Callable[[str, int], Quantity], sizes: Sequence[int] = SIZES) -> Cases:
    """A quantity for each task and size, by the name of both."""
    return Cases(
        {
            f"{title}, {size} × {size}": quantity(task, size)
            for task, title in TASKS.items()
            for size in sizes
        }
    )


def linear_errors(rule: str, sizes: Sequence[int] = SIZES, form: str = "") -> Cases:
    """Scores with trained features, on fresh seeds with the step size that was chosen."""

    def measure(results: Results) -> Sample:
        return reported_scores(with_best_interest(results), rule=rule, learner=form)

    return each(lambda *at: Quantity.of(SEMI_LINEAR[at], measure), sizes)


def linear_tolerance(rule: str) -> Cases:
    """The decades of step sizes over which the error is more than halfway to its minimum."""
    return each(lambda *at: tried(SEMI_LINEAR[at], rule=rule, learner="").by(decades, *at))


def view_errors(rule: str, view: str) -> Cases:
    """Scores of a view of linear learners with trained features, as those of `linear_errors`."""

    def measure(results: Results) -> Sample:
        return reported_scores(results, rule=rule, learner=view)

    return each(lambda *at: Quantity.of(SEMI_LINEAR_VIEWS[at], measure))


def view_fails(rule: str, view: str, *, as_zero: bool) -> Cases:
    """The least step sizes above their best with which seeds of the search fail.

    They diverge, or if `as_zero` do worse than predicting 0.
    """

    def measure(runs: pl.DataFrame, *at: Any) -> Sample:
        seeds = tuple(sorted(set(runs["seed"])))
        return failing_from(runs, zeros(*at, seeds)) if as_zero else failing_from(runs)

    return each(lambda *at: tried(SEMI_LINEAR_VIEWS[at], rule=rule, learner=view).by(measure, *at))


def _falls_behind(task: str) -> Quantity:
    """The growth of ETD-fixed's error over PTD's from size 8 to 16."""
    over = linear_errors("ETD-fixed") / linear_errors("PTD")
    return over[f"{task}, 16 × 16"] / over[f"{task}, 8 × 8"]


def _left_by_etd_fixed(size: int) -> Quantity:
    """The error of ETD-fixed relative to predicting 0, on task 1."""
    error = linear_errors("ETD-fixed")[f"task 1, {size} × {size}"]
    return error.then(over_zero("cross_grid", size))


def _later(*, as_zero: bool) -> dict[str, Cases]:
    """Step sizes with which held learners fail over those of the other views."""
    return {
        f"{rule} over {view}": view_fails(rule, "held", as_zero=as_zero)
        / view_fails(rule, view, as_zero=as_zero)
        for rule in NAMES
        for view in VIEWS
    }


def over_zero(task: str, size: int) -> Callable[[Sample], Sample]:
    """A function that divides errors by those of predicting 0."""
    return lambda error: error.over(Sample(error.seeds, zeros(task, size, error.seeds)))


def decades(runs: pl.DataFrame, task: str, size: int) -> Sample:
    return widths(runs, zeros(task, size, tuple(sorted(set(runs["seed"])))))


def reported_scores(results: Results, **labels: str) -> Sample:
    """Scores on fresh seeds; what diverged with every step size was not run on them."""
    runs = rows(results.reported, **labels)
    if runs.height:
        return capped(Sample.of(runs))
    seeds = tuple(results.reported["seed"].unique().sort())
    return Sample(seeds, np.full(len(seeds), CEILING))


def capped(sample: Sample) -> Sample:
    """Counted up to a ceiling, as runs that diverged have no score."""
    return Sample(sample.seeds, np.fmin(sample.values, CEILING))


@cache
def zeros(task: str, size: int, seeds: tuple[int, ...]) -> Vector:
    """The error of predicting 0 for each seed, as each may have its own task: shape (seeds,)."""
    source = grid(task, size)
    return np.array([error_of_zero(task_of(source, seed)) for seed in seeds])


NARROW = (1, 2, 4)
"""Units of networks that are called narrow."""
GOOD = ("ETD-variable", "PTD")
LARGEST, LARGEST_OF_BOTH = 0.1, 0.05
"""Step sizes: the largest of the backward view, and of those that the forward view has as well."""


class Net(NamedTuple):
    """Networks of a width on a task of a size."""

    task: str
    size: int
    units: int

    @property
    def labels(self) -> dict[str, str]:
        """Those of its runs."""
        return {"task": at_size(self.size), "learner": with_units(self.units)}

    def over_zero(self, error: Sample) -> Sample:
        """An error over that of predicting 0."""
        return over_zero(self.task, self.size)(error)

    def error(self, rule: str, view: str) -> Quantity:
        """The score on fresh seeds with the step size that was chosen."""
        return Quantity.of(
            NETWORKS[self.task, view],
            lambda results: reported_scores(results, rule=rule, **self.labels),
        )

    def tried(self, rule: str, view: str, **labels: float) -> Runs:
        """Runs of the search."""
        return tried(NETWORKS[self.task, view], rule=rule, **self.labels, **labels)

    def error_at(self, step_size: float, rule: str, view: str) -> Quantity:
        """The score with this step size, on the seeds of the search."""
        return self.tried(rule, view, step_size=step_size).score.then(capped)


def each_net(
    quantity: Callable[[Net], Quantity],
    sizes: Sequence[int] = SIZES,
    widths: Sequence[int] = WIDTHS,
) -> Cases:
    """A quantity for each task, size and width of the network, by the name of all three."""
    return Cases(
        {
            f"{title}, {size} × {size}, {with_units(units)}": quantity(Net(task, size, units))
            for task, title in TASKS.items()
            for size in sizes
            for units in widths
        }
    )


def net_errors(
    rule: str, view: str, sizes: Sequence[int] = SIZES, widths: Sequence[int] = WIDTHS
) -> Cases:
    """Scores on fresh seeds of many networks."""
    return each_net(lambda net: net.error(rule, view), sizes, widths)


def net_spread(rule: str, view: str, widths: Sequence[int] = WIDTHS) -> Cases:
    """The distance of each seed's error from the median, as a share of that of predicting 0."""
    return each_net(
        lambda net: net.error(rule, view).then(from_median).then(net.over_zero), widths=widths
    )


def net_tolerance(rule: str, view: str) -> Cases:
    """The decades of step sizes over which the error of networks is more than halfway down."""
    return each_net(lambda net: net.tried(rule, view).by(decades, net.task, net.size))


def _less_tolerant(view: str) -> Cases:
    """The decades of step sizes that work for ETD-variable, less those for PTD."""
    return net_tolerance("ETD-variable", view) - net_tolerance("PTD", view)


def _views(
    one: str, other: str, rules: Sequence[str], widths: Sequence[int] = WIDTHS
) -> dict[str, Cases]:
    """Errors in one view over those in another."""
    return {
        rule: net_errors(rule, one, widths=widths) / net_errors(rule, other, widths=widths)
        for rule in rules
    }


def _lost_if_narrow(net: Net) -> Quantity:
    """PTD's error with few units over that with 16 units, at size 16 over this size."""
    large, small = (
        one.error("PTD", "forward") / one._replace(units=16).error("PTD", "forward")
        for one in (net._replace(size=16), net)
    )
    return large / small


def _largest_over_zero(rule: str) -> Cases:
    """Errors of the backward view with the largest step size over those of predicting 0."""
    return each_net(lambda net: net.error_at(LARGEST, rule, "backward").then(net.over_zero))


def _backward_over_forward(rule: str) -> Cases:
    """Errors with the largest step size that both views have."""
    return each_net(
        lambda net: (
            net.error_at(LARGEST_OF_BOTH, rule, "backward")
            / net.error_at(LARGEST_OF_BOTH, rule, "forward")
        )
    )


_forward, _backward = (partial(net_errors, view=view) for view in ("forward", "backward"))
LEARNED: dict[str, Compared] = {
    "feature_net_learns": {
        f"{size} × {size}": reported(FEATURE_NET, task=at_size(size))
        .by(part, 0.9, 1.0)
        .then(over_zero("open_grid", size))
        for size in SIZES
    }
}
LINEAR: dict[str, Compared] = {
    "td_worst": pairs(linear_errors, *(("TD(λ)", other) for other in (*OTHERS[1:], "PTD"))),
    "etd_fixed_falls_off": {"task 1": _falls_behind("task 1")},
    "etd_fixed_learns_less": {"task 1": _left_by_etd_fixed(16) / _left_by_etd_fixed(8)},
    "etd_fixed_task_2": {"task 2 over task 1": _falls_behind("task 2") / _falls_behind("task 1")},
    "etd_variable_above_fixed": pairs(linear_errors, ("ETD-variable", "ETD-fixed")),
    "ptd_best": pairs(linear_errors, *(("PTD", other) for other in OTHERS)),
    "etd_variable_equal": pairs(partial(linear_errors, sizes=(8, 12)), ("ETD-variable", "PTD")),
    "etd_variable_worse_at_16": pairs(partial(linear_errors, sizes=(16,)), ("ETD-variable", "PTD")),
    "etd_variable_sensitive": linear_tolerance("ETD-variable") - linear_tolerance("PTD"),
    "true_online_ptd_lower": linear_errors("PTD", form="true online") / linear_errors("PTD"),
    **held_over_others(
        "held",
        view_errors,
        {
            "below_true_online": "true online",
            "below_online": "online",
            "meets_online": "online",
        },
    ),
    "held_diverges_later": _later(as_zero=False),
    "held_useful_longer": _later(as_zero=True),
}
OF_NETWORKS: dict[str, Compared] = {
    "forward_td_poor": pairs(_forward, *(("TD(λ)", other) for other in GOOD)),
    "forward_etd_fixed_above_td": pairs(_forward, ("ETD-fixed", "TD(λ)")),
    "forward_etd_fixed_high": pairs(_forward, *(("ETD-fixed", other) for other in GOOD)),
    "forward_ptd_best": pairs(
        _forward, *(("PTD", other) for other in ("TD(λ)", "ETD-fixed", "ETD-variable"))
    ),
    "forward_ptd_high_if_narrow": {
        f"16 × 16 over {setting}": quantity
        for setting, quantity in each_net(_lost_if_narrow, (8, 12), NARROW).items()
    },
    "forward_etd_variable_similar": pairs(_forward, ("ETD-variable", "PTD")),
    "forward_etd_variable_more_variance": (
        net_spread("ETD-variable", "forward") - net_spread("PTD", "forward")
    ),
    "forward_etd_variable_sensitive": _less_tolerant("forward"),
    "backward_above_forward": _views("backward", "forward", tuple(METHODS)),
    "backward_above_forward_if_narrow": _views("backward", "forward", GOOD, NARROW),
    "backward_more_variance_if_narrow": {
        rule: net_spread(rule, "backward", NARROW) - net_spread(rule, "forward", NARROW)
        for rule in GOOD
    },
    "backward_meets_forward": _views("backward", "forward", GOOD, (16,)),
    "backward_unstable": {rule: _largest_over_zero(rule) for rule in GOOD},
    "backward_unstable_beside_forward": {rule: _backward_over_forward(rule) for rule in GOOD},
    "backward_td_and_etd_fixed_poor": pairs(
        _backward, *((one, other) for one in ("TD(λ)", "ETD-fixed") for other in GOOD)
    ),
    "backward_ptd_ahead_at_16": pairs(partial(_backward, sizes=(16,)), ("ETD-variable", "PTD")),
    "backward_etd_variable_sensitive": _less_tolerant("backward"),
    "held_below_backward": _views("held", "backward", ("PTD",)),
    "held_meets_forward": _views("held", "forward", ("PTD",)),
}
CLAIMS = (
    *claimed("grids", LEARNED),
    *averaged(*claimed("grids", {f"semi_linear_{name}": one for name, one in LINEAR.items()})),
    *averaged(*claimed("grids", OF_NETWORKS)),
)
"""Cases of most are many, so that averages over them are judged as well."""
