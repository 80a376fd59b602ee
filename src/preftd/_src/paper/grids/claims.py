"""Claims about linear learners on trained features (figures 4, A.7, A.8), and the features.

Beyond the paper, also about true online and held learners.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

from preftd._src.arrays import Vector
from preftd._src.experiments.learning import task_of
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    ALIKE,
    LARGER,
    NOT_LARGER,
    SAME,
    SMALLER,
    Cases,
    Quantity,
    Region,
    Sample,
    about,
    averaged,
    difference,
    methods,
    ratio,
    reported,
    rows,
    tried,
)
from preftd._src.paper.corridors.beyond_claims import NAMES, held_over_others
from preftd._src.paper.grids.studies import (
    FEATURE_NET,
    SEMI_LINEAR,
    SEMI_LINEAR_VIEWS,
    SIZES,
    TASKS,
    at_size,
    grid,
    with_best_interest,
)
from preftd._src.paper.measures import CEILING, error_of_zero, failing_from, part, widths

CURVES = ("4", "A.8")
OTHERS = ("TD(λ)", "ETD-fixed", "ETD-variable")
SEVERAL = (
    "On a grid the follow-on trace counts, with discount, the observable cells seen so far: ETD's "
    "gain depends on the way that led to a state, PTD's is 1 at every observable one."
)
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
    """Over how many decades of step sizes the error is more than halfway to its least."""
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
    """How ETD-fixed's error over PTD's grows from size 8 to 16."""
    over = linear_errors("ETD-fixed") / linear_errors("PTD")
    return over[f"{task}, 16 × 16"] / over[f"{task}, 8 × 8"]


def _left_by_etd_fixed(size: int) -> Quantity:
    """What ETD-fixed leaves of the error of predicting 0, on task 1."""
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


FEATURES_LEARN = ratio(
    "feature_net_learns",
    "The networks whose hidden layers give the features have learned something: at the end "
    "their error is less than half of that of predicting 0, at all sizes.",
    "error of feature nets in the last 5 episodes, over that of predicting 0",
    Region(high=0.5),
    {
        f"{size} × {size}": reported(FEATURE_NET, task=at_size(size))
        .by(part, 0.9, 1.0)
        .then(over_zero("open_grid", size))
        for size in SIZES
    },
)
CLAIMS = about(
    CURVES,
    methods(
        "semi_linear_td_worst",
        "TD(λ) has the largest error, on both tasks at all sizes.",
        linear_errors,
        [("TD(λ)", other) for other in (*OTHERS[1:], "PTD")],
        LARGER,
    ),
    ratio(
        "semi_linear_etd_fixed_falls_off",
        "ETD-fixed falls off significantly as the grid of task 1 grows: its error over PTD's is at "
        "least a tenth larger at size 16 than at size 8.",
        "ETD-fixed's error over PTD's, size 16 over size 8",
        Region(low=ALIKE),
        {"task 1": _falls_behind("task 1")},
    ),
    ratio(
        "semi_linear_etd_fixed_learns_less",
        "The same without PTD beside it: what it leaves of the error of predicting 0 is at least a "
        "tenth larger at size 16 than at size 8.",
        "what ETD-fixed leaves of the error of predicting 0, size 16 over size 8",
        Region(low=ALIKE),
        {"task 1": _left_by_etd_fixed(16) / _left_by_etd_fixed(8)},
        "At size 16 curves have half as many episodes, and four times as many cells to learn.",
    ),
    ratio(
        "semi_linear_etd_fixed_task_2",
        "On task 2 it falls off only marginally: by less than on task 1.",
        "what ETD-fixed loses on PTD from size 8 to 16",
        SMALLER,
        {"task 2 over task 1": _falls_behind("task 2") / _falls_behind("task 1")},
    ),
    methods(
        "semi_linear_etd_variable_above_fixed",
        "ETD-variable does better than ETD-fixed, on both tasks at all sizes.",
        linear_errors,
        [("ETD-variable", "ETD-fixed")],
        SMALLER,
    ),
    methods(
        "semi_linear_ptd_best",
        "PTD has the least error, on both tasks at all sizes.",
        linear_errors,
        [("PTD", other) for other in OTHERS],
        SMALLER,
    ),
    methods(
        "semi_linear_etd_variable_equal",
        "At sizes 8 and 12 ETD-variable and PTD do the same: their errors differ by less than "
        "10 %, on both tasks.",
        partial(linear_errors, sizes=(8, 12)),
        [("ETD-variable", "PTD")],
        SAME,
    ),
    methods(
        "semi_linear_etd_variable_worse_at_16",
        "At size 16 ETD-variable is worse than PTD, on both tasks.",
        partial(linear_errors, sizes=(16,)),
        [("ETD-variable", "PTD")],
        LARGER,
        SEVERAL,
    ),
)
CLAIMS += about(
    ("A.7",),
    difference(
        "semi_linear_etd_variable_sensitive",
        "ETD-variable is more sensitive to the step size than PTD: fewer decades of step sizes "
        "bring its error at least halfway down to its least.",
        "decades of step sizes that work, ETD-variable less PTD",
        Region(high=0),
        linear_tolerance("ETD-variable") - linear_tolerance("PTD"),
        SEVERAL,
    ),
)
CLAIMS += (
    ratio(
        "semi_linear_true_online_ptd_lower",
        "True online PTD has a lower error than the paper's online form with trained features too, "
        "on both tasks at all sizes, each with its own step size.",
        "PTD's error, true online over online, each at its best",
        SMALLER,
        linear_errors("PTD", form="true online") / linear_errors("PTD"),
    ),
)

CLAIMS += (
    *held_over_others(
        "semi_linear_held",
        view_errors,
        (
            "below_true_online",
            "Held {rule} has a lower error than true online {rule} with trained features, on both "
            "tasks at all sizes, each with its own step size.",
            "true online",
            SMALLER,
            "Trained features of observable cells overlap: what a true online learner adds while "
            "hidden cells are crossed enters the value of the next observable cell, from which the "
            "target is made.",
        ),
        (
            "below_online",
            "Held {rule} also has a lower error than the paper's online form with trained "
            "features, on both tasks at all sizes, each with its own step size.",
            "online",
            SMALLER,
            "",
        ),
        (
            "meets_online",
            "If not lower, held {rule}'s error with trained features is at most a tenth above that "
            "of the paper's online form, on both tasks at all sizes.",
            "online",
            NOT_LARGER,
            "",
        ),
    ),
    ratio(
        "semi_linear_held_diverges_later",
        "Held PTD and ETD-variable diverge only with larger step sizes than online and true online "
        "ones, with trained features on both tasks at all sizes.",
        "least step size that diverges, held over another view",
        LARGER,
        _later(as_zero=False),
    ),
    ratio(
        "semi_linear_held_useful_longer",
        "Held PTD and ETD-variable do better than predicting 0 up to larger step sizes than online "
        "and true online ones, with trained features on both tasks at all sizes.",
        "least step size that is worse than predicting 0, held over another view",
        LARGER,
        _later(as_zero=True),
        "A run that does not diverge may still be worse than no prediction at all.",
    ),
)
CLAIMS = (FEATURES_LEARN, *averaged(*CLAIMS))
"""Cases of most are many, so that averages over them are judged as well."""
