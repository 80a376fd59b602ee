"""Claims about the random walk (figures 2 and A.1): errors, and sensitivity to the step size.

The walk has no search: all step sizes run on the seeds that are reported. Where the best of several
settings is meant, each seed takes the one that the other seeds choose.

The width of a U-curve at half its depth can be measured along a linear axis of step sizes, as a
reader of the figure does, or in decades. A factor on the step size stretches the first and keeps
the second: in decades a width is a property of the method, on a linear axis also of its scale.
"""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import polars as pl

from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    LARGER,
    SAME,
    SMALLER,
    Claim,
    Quantity,
    Region,
    Runs,
    Sample,
    about,
    difference,
    ratio,
    rows,
    tried,
)
from preftd._src.paper.measures import Axis, best, error_of_zero, widths
from preftd._src.paper.walk.studies import (
    BY_BETA,
    BY_LAMBDA,
    ETD_LABELS,
    INTERESTS,
    STEP_SIZES,
    VALUES,
)
from preftd.tasks import make

NEAR_0 = tuple(v for v in VALUES if v <= 0.1)
NEAR_1 = tuple(v for v in VALUES if v >= 0.9)
BETWEEN = tuple(v for v in VALUES if 0.1 < v < 0.9)
"""What "close to 0", "close to 1" and "intermediate" mean."""
LOW, UP_TO_1, ABOVE_1 = (
    tuple(float(size) for size in STEP_SIZES if low < size <= high)
    for low, high in ((0, 0.1), (0, 1), (1, np.inf))
)
"""Step sizes."""

SAME_AS_TD = (
    "With constant β, PTD(β, α) is exactly TD(λ = 1 − β) with step size αβ: its curves are those "
    "of TD(λ), each shifted along the axis by the factor 1/β."
)
ONE_AXIS = (
    "With constant interest, ETD depends on α and the interest only through their product: another "
    "interest is the same curve, shifted along the axis of step sizes."
)


def td(*lambdas: float, **labels: Any) -> Runs:
    """Runs of TD(λ) with these λ, by default all."""
    return tried(BY_LAMBDA, rule="TD(λ)", preference=_labels("λ", lambdas), **labels)


def ptd(*betas: float, **labels: Any) -> Runs:
    """Runs of PTD with these β, by default all."""
    return tried(BY_BETA, rule="PTD", preference=_labels("β", betas), **labels)


def _etd(interest: float, **labels: Any) -> Runs:
    """Runs of ETD with this interest and any λ."""
    return tried(BY_LAMBDA, rule=ETD_LABELS[interest], **labels)


def _labels(parameter: str, values: tuple[float, ...]) -> list[str]:
    return [f"{parameter} = {value:g}" for value in values or VALUES]


@cache
def rmse_of_zero() -> float:
    """Root mean squared error of predicting 0, with which every curve begins at step size 0."""
    return float(np.sqrt(error_of_zero(make("random_walk"))))


def _over_zero(score: Sample) -> Sample:
    return score.over(rmse_of_zero())


def _intermediate(
    name: str, statement: str, runs: Callable[..., Runs], parameter: str, because: str = ""
) -> Claim:
    between = runs(*BETWEEN).by(best)
    cases = {
        f"against {parameter} up to {max(NEAR_0):g}": between / runs(*NEAR_0).by(best),
        f"against {parameter} from {min(NEAR_1):g}": between / runs(*NEAR_1).by(best),
    }
    effect = f"best RMSE, intermediate {parameter} over {parameter} near an end"
    return ratio(name, statement, effect, SMALLER, cases, because)


def _at_best_for_least(results: Results, interest: float) -> Sample:
    """The score of ETD at the λ and step size that are best for interest 0.01."""
    setting = ["preference", "step_size"]
    chosen = (
        rows(results.tried, rule=ETD_LABELS[0.01])
        .group_by(setting, maintain_order=True)
        .agg(pl.col("score").mean())
        .sort("score", maintain_order=True)
        .select(setting)
        .row(0, named=True)
    )
    return Sample.of(results.tried, rule=ETD_LABELS[interest], **chosen)


def _etd_at_best_for_least(interest: float) -> Quantity:
    return Quantity.of(BY_LAMBDA, partial(_at_best_for_least, interest=interest))


def _average_over_lambda(runs: pl.DataFrame) -> Sample:
    """The geometric mean of scores."""
    return Sample.of(runs.group_by("seed").agg(pl.col("score").log().mean().exp()))


ABOVE_0 = tuple(value for value in VALUES if value > 0)
"""With β = 0 nothing is learned, and there is no U-curve."""
WIDER, NARROWER = Region(low=0), Region(high=0)
UNITS: dict[Axis, str] = {"linear": "step sizes", "decades": "decades of step sizes"}


def _width(runs: Runs, axis: Axis) -> Quantity:
    return runs.by(lambda tried: widths(tried, rmse_of_zero(), axis))


def _mean_of_td(axis: Axis, lambdas: tuple[float, ...] = VALUES) -> Quantity:
    return Quantity.joined([_width(td(value), axis) for value in lambdas])


def _wide(axis: Axis, than: str) -> str:
    """What the number is."""
    return f"width of the U-curve at half its depth, in {UNITS[axis]}, {than}"


def _sharp_near_1(name: str, statement: str, axis: Axis, because: str = "") -> Claim:
    between = _mean_of_td(axis, BETWEEN)
    cases = {f"λ = {value:g}": _width(td(value), axis) - between for value in NEAR_1}
    effect = _wide(axis, "less that of intermediate λ")
    return difference(name, statement, effect, NARROWER, cases, because)


def _ptd_wider(name: str, statement: str, axis: Axis, because: str) -> Claim:
    of_ptd = Quantity.joined([_width(ptd(beta), axis) for beta in ABOVE_0])
    effect = f"mean {_wide(axis, 'PTD less TD(λ)')}"
    return difference(name, statement, effect, WIDER, {"": of_ptd - _mean_of_td(axis)}, because)


def _ptd_wide_for_all(name: str, statement: str, axis: Axis, because: str) -> Claim:
    cases = {f"β = {beta:g}": _width(ptd(beta), axis) - _mean_of_td(axis) for beta in ABOVE_0}
    effect = _wide(axis, "less the mean of TD(λ)'s")
    return difference(name, statement, effect, WIDER, cases, because)


CLAIMS = about(
    ("2",),
    _intermediate(
        "walk_td_intermediate_best",
        "For TD(λ), intermediate λ (0.2 to 0.8) trade bias for variance better than λ near 0 (up "
        "to 0.1) and near 1 (from 0.9).",
        td,
        "λ",
    ),
    _intermediate(
        "walk_ptd_intermediate_best",
        "PTD has a trade-off of the same kind: intermediate β (0.2 to 0.8) are better than β near "
        "0 (up to 0.1) and near 1 (from 0.9).",
        ptd,
        "β",
        SAME_AS_TD,
    ),
    ratio(
        "walk_ptd_beta_1_is_td0",
        "With β near 1, PTD updates as TD(0) does: with β = 1, errors are alike at all step sizes.",
        "RMSE, PTD with β = 1 over TD(0), same step size",
        SAME,
        {
            f"step size {size:g}": ptd(1.0, step_size=size).score / td(0.0, step_size=size).score
            for size in STEP_SIZES
        },
        SAME_AS_TD,
    ),
    ratio(
        "walk_ptd_beta_0_learns_nothing",
        "With β near 0, PTD hardly updates, where TD(λ) with λ = 1 takes whole returns: with β = 0 "
        "it keeps predicting 0, at every step size.",
        "RMSE, PTD with β = 0 over predicting 0",
        SAME,
        {
            f"step size {size:g}": ptd(0.0, step_size=size).score.then(_over_zero)
            for size in STEP_SIZES
        },
        SAME_AS_TD + " With β = 0, that step size is 0.",
    ),
    ratio(
        "walk_ptd_better_than_td",
        "PTD's trade-off is better than TD(λ)'s: the best over all step sizes and β is below the "
        "best over all step sizes and λ.",
        "best RMSE over step size and β or λ, PTD over TD(λ)",
        SMALLER,
        {"": ptd().by(best) / td().by(best)},
        SAME_AS_TD + " Over all λ and α they have the same best; over these grids they differ as "
        "the grids do (β = 0.4 is λ = 0.6, which TD(λ) was not given).",
    ),
    ratio(
        "walk_td_high_error_near_1",
        "For λ near 1 (from 0.9), TD(λ)'s error is high even at low step sizes: the best of those "
        "up to 0.1 is above the best of intermediate λ.",
        "best RMSE of step sizes up to 0.1 over the best of intermediate λ",
        LARGER,
        {
            f"λ = {value:g}": td(value, step_size=LOW).by(best) / td(*BETWEEN).by(best)
            for value in NEAR_1
        },
    ),
    ratio(
        "walk_ptd_best_above_1",
        "PTD is best with a step size above 1, for some β.",
        "best RMSE, step sizes above 1 over others",
        SMALLER,
        {"": ptd(step_size=ABOVE_1).by(best) / ptd(step_size=UP_TO_1).by(best)},
        SAME_AS_TD
        + " A step size of 1.3 with β = 0.4 is TD(0.6) with 0.52: what is above 1 is the "
        "number on the axis, not the size of the update.",
    ),
    ratio(
        "walk_etd_worse_than_both",
        "ETD (interest 0.01) is slightly worse than TD(λ) and than PTD, each at its best.",
        "best RMSE, ETD with interest 0.01 over the other",
        LARGER,
        {
            "against TD(λ)": _etd(0.01).by(best) / td().by(best),
            "against PTD": _etd(0.01).by(best) / ptd().by(best),
        },
    ),
)
CLAIMS += about(
    ("2", "A.1"),
    ratio(
        "walk_etd_sensitive_to_interest",
        "ETD is very sensitive to its interest: at a given λ and step size (those best for 0.01), "
        "a little more interest costs much.",
        "RMSE over that with interest 0.01, at the λ and step size best for 0.01",
        LARGER,
        {
            f"interest {more:g}": _etd_at_best_for_least(more) / _etd_at_best_for_least(0.01)
            for more in INTERESTS[1:]
        },
        ONE_AXIS + " So this is its sensitivity to the step size.",
    ),
)
CLAIMS += about(
    ("A.1",),
    ratio(
        "walk_etd_low_interest_better",
        "ETD with low interest (0.01) has lower errors than with higher interest (0.05, 0.1, "
        "0.25), each with the λ and step size best for it.",
        "best RMSE over step size and λ, interest 0.01 over others",
        SMALLER,
        {
            f"against interest {more:g}": _etd(0.01).by(best) / _etd(more).by(best)
            for more in INTERESTS[1:]
        },
        ONE_AXIS + " The interest that looks best is the one whose products with the step sizes "
        "tried come nearest to the best product.",
    ),
)
CLAIMS += about(
    ("2", "A.1"),
    ratio(
        "walk_etd_high_interest_low_step_size",
        "With high interest (0.25), ETD does poorly even at a low step size (0.1): worse than "
        "predicting 0, on average over λ.",
        "RMSE at step size 0.1 with interest 0.25, geometric mean over λ, over predicting 0",
        LARGER,
        {"": _etd(0.25, step_size=0.1).by(_average_over_lambda).then(_over_zero)},
        ONE_AXIS + " Interest 0.25 at step size 0.1 is interest 0.01 at 2.5, which is not low.",
    ),
)


CLAIMS += about(
    ("2",),
    _sharp_near_1(
        "walk_td_sharp_near_1",
        "For λ near 1 (from 0.9), TD(λ)'s U-curves are sharp: at half their depth, on a linear "
        "axis, they are narrower than those of intermediate λ are on average.",
        "linear",
    ),
    _sharp_near_1(
        "walk_td_sharp_in_decades",
        "The same in decades, which do not depend on how large the step sizes are that suit a λ.",
        "decades",
        "A factor on the step size shifts a curve but keeps its width in decades: for λ near 1 the "
        "step sizes that work are small, and on a linear axis a curve around small numbers is "
        "narrow.",
    ),
    _ptd_wider(
        "walk_ptd_less_sensitive",
        "PTD depends less on the step size than TD(λ): on a linear axis its U-curves are wider at "
        "half their depth, on average over β above 0 and over λ.",
        "linear",
        SAME_AS_TD + " On a linear axis they are drawn 1/β times as wide.",
    ),
    _ptd_wider(
        "walk_ptd_less_sensitive_in_decades",
        "The same in decades, in which a factor on the step size counts for nothing.",
        "decades",
        SAME_AS_TD
        + " In decades, β and λ = 1 − β have curves of the same width, but for where the "
        "grid of step sizes ends; what is left is that the two grids hold other λ.",
    ),
    _ptd_wide_for_all(
        "walk_ptd_stable_for_all_beta",
        "PTD is stable over a wide range of step sizes for all β above 0: on a linear axis, each "
        "of its U-curves is wider at half its depth than TD(λ)'s are on average.",
        "linear",
        SAME_AS_TD + " On a linear axis they are drawn 1/β times as wide.",
    ),
    _ptd_wide_for_all(
        "walk_ptd_stable_in_decades",
        "The same in decades, in which a factor on the step size counts for nothing.",
        "decades",
        SAME_AS_TD + " In decades, β and λ = 1 − β have curves of the same width.",
    ),
)
