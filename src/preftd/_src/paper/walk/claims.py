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
from preftd._src.paper.claim import Quantity, Runs, Sample, claimed, rows, tried
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


def _intermediate(runs: Callable[..., Runs], parameter: str) -> dict[str, Quantity]:
    """The best score between the ends over that near each end."""
    between = runs(*BETWEEN).by(best)
    return {
        f"against {parameter} up to {max(NEAR_0):g}": between / runs(*NEAR_0).by(best),
        f"against {parameter} from {min(NEAR_1):g}": between / runs(*NEAR_1).by(best),
    }


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


def _width(runs: Runs, axis: Axis) -> Quantity:
    return runs.by(lambda tried: widths(tried, rmse_of_zero(), axis))


def _mean_of_td(axis: Axis, lambdas: tuple[float, ...] = VALUES) -> Quantity:
    return Quantity.joined([_width(td(value), axis) for value in lambdas])


def _sharp_near_1(axis: Axis) -> dict[str, Quantity]:
    between = _mean_of_td(axis, BETWEEN)
    return {f"λ = {value:g}": _width(td(value), axis) - between for value in NEAR_1}


def _ptd_wider(axis: Axis) -> dict[str, Quantity]:
    of_ptd = Quantity.joined([_width(ptd(beta), axis) for beta in ABOVE_0])
    return {"": of_ptd - _mean_of_td(axis)}


def _ptd_wide_for_all(axis: Axis) -> dict[str, Quantity]:
    return {f"β = {beta:g}": _width(ptd(beta), axis) - _mean_of_td(axis) for beta in ABOVE_0}


COMPARED: dict[str, dict[str, Quantity]] = {
    "td_intermediate_best": _intermediate(td, "λ"),
    "ptd_intermediate_best": _intermediate(ptd, "β"),
    "ptd_beta_1_is_td0": {
        f"step size {size:g}": ptd(1.0, step_size=size).score / td(0.0, step_size=size).score
        for size in STEP_SIZES
    },
    "ptd_beta_0_learns_nothing": {
        f"step size {size:g}": ptd(0.0, step_size=size).score.then(_over_zero)
        for size in STEP_SIZES
    },
    "ptd_better_than_td": {"": ptd().by(best) / td().by(best)},
    "td_high_error_near_1": {
        f"λ = {value:g}": td(value, step_size=LOW).by(best) / td(*BETWEEN).by(best)
        for value in NEAR_1
    },
    "ptd_best_above_1": {"": ptd(step_size=ABOVE_1).by(best) / ptd(step_size=UP_TO_1).by(best)},
    "etd_worse_than_both": {
        "ETD over TD(λ)": _etd(0.01).by(best) / td().by(best),
        "ETD over PTD": _etd(0.01).by(best) / ptd().by(best),
    },
    "etd_sensitive_to_interest": {
        f"interest {more:g}": _etd_at_best_for_least(more) / _etd_at_best_for_least(0.01)
        for more in INTERESTS[1:]
    },
    "etd_low_interest_better": {
        f"against interest {more:g}": _etd(0.01).by(best) / _etd(more).by(best)
        for more in INTERESTS[1:]
    },
    "etd_high_interest_low_step_size": {
        "": _etd(0.25, step_size=0.1).by(_average_over_lambda).then(_over_zero)
    },
    "td_sharp_near_1": _sharp_near_1("linear"),
    "td_sharp_in_decades": _sharp_near_1("decades"),
    "ptd_less_sensitive": _ptd_wider("linear"),
    "ptd_less_sensitive_in_decades": _ptd_wider("decades"),
    "ptd_stable_for_all_beta": _ptd_wide_for_all("linear"),
    "ptd_stable_in_decades": _ptd_wide_for_all("decades"),
}
CLAIMS = claimed("walk", {f"walk_{name}": one for name, one in COMPARED.items()})
