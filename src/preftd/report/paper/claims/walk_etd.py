"""Claims about ETD on the random walk (figures 2 and A.1)."""

import polars as pl

from preftd.report.paper.claims.claim import Claim, Finding, Found
from preftd.report.paper.claims.measures import best
from preftd.report.paper.claims.samples import LARGER, SMALLER, Sample, ratios
from preftd.report.paper.claims.walk_runs import (
    BY_BETA,
    BY_LAMBDA,
    LOW,
    ONE_AXIS,
    etd,
    ptd,
    rmse_of_zero,
    td,
)
from preftd.report.paper.walk import INTERESTS


def _etd_worse(found: Found) -> Finding:
    of_etd = best(etd(found, 0.01))
    cases = {
        "against TD(λ)": of_etd.over(best(td(found))),
        "against PTD": of_etd.over(best(ptd(found))),
    }
    return ratios("best RMSE, ETD with interest 0.01 over the other", LARGER, cases)


def _more_interest(found: Found) -> Finding:
    """At the λ and step size that suit interest 0.01 best."""
    runs = etd(found, 0.01)
    chosen = (
        runs.group_by("preference", "step_size", maintain_order=True)
        .agg(pl.col("score").mean())
        .sort("score", maintain_order=True)
        .row(0, named=True)
    )
    at = {"preference": chosen["preference"], "step_size": chosen["step_size"]}
    usual = Sample.of(runs, **at)
    cases = {
        f"interest {more:g}": Sample.of(etd(found, more), **at).over(usual)
        for more in INTERESTS[1:]
    }
    effect = "RMSE over that with interest 0.01, at the λ and step size best for 0.01"
    return ratios(effect, LARGER, cases)


def _least_interest_best(found: Found) -> Finding:
    least = best(etd(found, 0.01))
    cases = {
        f"against interest {more:g}": least.over(best(etd(found, more))) for more in INTERESTS[1:]
    }
    return ratios("best RMSE over step size and λ, interest 0.01 over others", SMALLER, cases)


def _high_interest_low_step(found: Found) -> Finding:
    high = etd(found, max(INTERESTS)).filter(pl.col("step_size") == max(LOW))
    by_seed = high.group_by("seed").agg(pl.col("score").log().mean().exp())
    score = Sample.of(by_seed)
    ratio = Sample(score.seeds, score.values / rmse_of_zero())
    effect = "RMSE at step size 0.1 with interest 0.25, geometric mean over λ, over predicting 0"
    return ratios(effect, LARGER, {"": ratio})


CLAIMS = (
    Claim(
        "walk_etd_worse_than_both",
        "ETD (interest 0.01) is slightly worse than TD(λ) and than PTD, each at its best.",
        ("2",),
        (BY_LAMBDA, BY_BETA),
        _etd_worse,
    ),
    Claim(
        "walk_etd_sensitive_to_interest",
        "ETD is very sensitive to its interest: at a given λ and step size (those best for 0.01), "
        "a little more interest costs much.",
        ("2", "A.1"),
        (BY_LAMBDA,),
        _more_interest,
        ONE_AXIS + " So this is its sensitivity to the step size.",
    ),
    Claim(
        "walk_etd_low_interest_better",
        "ETD with low interest (0.01) has lower errors than with higher interest (0.05, 0.1, "
        "0.25), each with the λ and step size best for it.",
        ("A.1",),
        (BY_LAMBDA,),
        _least_interest_best,
        ONE_AXIS + " Whichever interest looks best is the one whose products with the step sizes "
        "tried come nearest to the best product.",
    ),
    Claim(
        "walk_etd_high_interest_low_step_size",
        "With high interest (0.25), ETD does poorly even at a low step size (0.1): worse than "
        "predicting 0, on average over λ.",
        ("2", "A.1"),
        (BY_LAMBDA,),
        _high_interest_low_step,
        ONE_AXIS + " Interest 0.25 at step size 0.1 is interest 0.01 at 2.5, which is not low.",
    ),
)
