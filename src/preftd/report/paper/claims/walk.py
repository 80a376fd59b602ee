"""Claims about TD(λ) and PTD on the random walk (figure 2).

The walk has no search: all step sizes run on the seeds that are reported. Where the best of several
settings is meant, each seed takes the one that the other seeds choose.
"""

from collections.abc import Callable

import polars as pl

from preftd.report.paper.claims.claim import Claim, Finding, Found
from preftd.report.paper.claims.measures import best
from preftd.report.paper.claims.samples import LARGER, SAME, SMALLER, Sample, ratios
from preftd.report.paper.claims.walk_runs import (
    BETWEEN,
    BY_BETA,
    BY_LAMBDA,
    LOW,
    NEAR_0,
    NEAR_1,
    SAME_AS_TD,
    ptd,
    rmse_of_zero,
    td,
)
from preftd.report.paper.walk import STEP_SIZES

ABOVE_1 = tuple(float(size) for size in STEP_SIZES if size > 1)
UP_TO_1 = tuple(float(size) for size in STEP_SIZES if size <= 1)


def _intermediate(runs: Callable[..., pl.DataFrame], name: str) -> Callable[[Found], Finding]:
    def test(found: Found) -> Finding:
        between = best(runs(found, *BETWEEN))
        cases = {
            f"against {name} up to {max(NEAR_0):g}": between.over(best(runs(found, *NEAR_0))),
            f"against {name} from {min(NEAR_1):g}": between.over(best(runs(found, *NEAR_1))),
        }
        return ratios(f"best RMSE, intermediate {name} over {name} near an end", SMALLER, cases)

    return test


def _ptd_at_1(found: Found) -> Finding:
    cases = {
        f"step size {size:g}": Sample.of(ptd(found, 1.0), step_size=size).over(
            Sample.of(td(found, 0.0), step_size=size)
        )
        for size in STEP_SIZES
    }
    return ratios("RMSE, PTD with β = 1 over TD(0), same step size", SAME, cases)


def _ptd_at_0(found: Found) -> Finding:
    cases = {}
    for size in STEP_SIZES:
        score = Sample.of(ptd(found, 0.0), step_size=size)
        cases[f"step size {size:g}"] = Sample(score.seeds, score.values / rmse_of_zero())
    return ratios("RMSE, PTD with β = 0 over predicting 0", SAME, cases)


def _ptd_against_td(found: Found) -> Finding:
    ratio = best(ptd(found)).over(best(td(found)))
    return ratios("best RMSE over step size and β or λ, PTD over TD(λ)", SMALLER, {"": ratio})


def _high_even_at_low(found: Found) -> Finding:
    least = best(td(found, *BETWEEN))
    cases = {
        f"λ = {value:g}": best(td(found, value), step_size=LOW).over(least) for value in NEAR_1
    }
    return ratios(
        "best RMSE of step sizes up to 0.1 over the best of intermediate λ", LARGER, cases
    )


def _above_1(found: Found) -> Finding:
    above, below = (best(ptd(found), step_size=sizes) for sizes in (ABOVE_1, UP_TO_1))
    return ratios("best RMSE, step sizes above 1 over others", SMALLER, {"": above.over(below)})


CLAIMS = (
    Claim(
        "walk_td_intermediate_best",
        "For TD(λ), intermediate λ (0.2 to 0.8) trade bias for variance better than λ near 0 (up "
        "to 0.1) and near 1 (from 0.9).",
        ("2",),
        (BY_LAMBDA,),
        _intermediate(td, "λ"),
    ),
    Claim(
        "walk_ptd_intermediate_best",
        "PTD has a trade-off of the same kind: intermediate β (0.2 to 0.8) are better than β near "
        "0 (up to 0.1) and near 1 (from 0.9).",
        ("2",),
        (BY_BETA,),
        _intermediate(ptd, "β"),
        SAME_AS_TD,
    ),
    Claim(
        "walk_ptd_beta_1_is_td0",
        "With β near 1, PTD updates as TD(0) does: with β = 1, errors are alike at all step sizes.",
        ("2",),
        (BY_LAMBDA, BY_BETA),
        _ptd_at_1,
        SAME_AS_TD,
    ),
    Claim(
        "walk_ptd_beta_0_learns_nothing",
        "With β near 0, PTD hardly updates, where TD(λ) with λ = 1 takes whole returns: with β = 0 "
        "it keeps on predicting 0, at every step size.",
        ("2",),
        (BY_BETA,),
        _ptd_at_0,
        SAME_AS_TD + " With β = 0, that step size is 0.",
    ),
    Claim(
        "walk_ptd_better_than_td",
        "PTD's trade-off is better than TD(λ)'s: the best over all step sizes and β is below the "
        "best over all step sizes and λ.",
        ("2",),
        (BY_LAMBDA, BY_BETA),
        _ptd_against_td,
        SAME_AS_TD + " Over all λ and α they have the same best; over these grids they differ as "
        "the grids do (β = 0.4 is λ = 0.6, which TD(λ) was not given).",
    ),
    Claim(
        "walk_td_high_error_near_1",
        "For λ near 1 (from 0.9), TD(λ)'s error is high even at low step sizes: the best of those "
        "up to 0.1 is above the best of intermediate λ.",
        ("2",),
        (BY_LAMBDA,),
        _high_even_at_low,
    ),
    Claim(
        "walk_ptd_best_above_1",
        "PTD is best with a step size above 1, for some β.",
        ("2",),
        (BY_BETA,),
        _above_1,
        SAME_AS_TD
        + " A step size of 1.3 with β = 0.4 is TD(0.6) with 0.52: what is above 1 is the "
        "number on the axis, not the size of the update.",
    ),
)
