"""Claims about the interest and the step size of ETD-fixed in corridors (figures 3 and A.3)."""

import numpy as np
import polars as pl

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.corridors import FOUR, places, score
from preftd.report.paper.claims.measures import CEILING, error_of_zero_in, room_above, widths
from preftd.report.paper.claims.samples import LARGER, SMALLER, Sample, means, ratios, rows
from preftd.report.paper.claims.walk_runs import ONE_AXIS
from preftd.report.paper.corridors import LENGTHS, TASKS

INTERESTS = tuple(f"{task} interests" for task in TASKS)
ETD = {value: f"ETD, interest {value:g}" for value in (0.01, 0.05, 0.1)}


def _own_step_size(found: Found) -> Finding:
    cases = {
        f"{more:g} over {less:g}, {place}": score(
            found, f"{task} interests", length, rule=ETD[more]
        ).over(score(found, f"{task} interests", length, rule=ETD[less]))
        for less, more in ((0.01, 0.05), (0.05, 0.1))
        for task, length, place in places()
    }
    return ratios("error, an interest over the next smaller, each at its best", LARGER, cases)


def _same_step_size(found: Found) -> Finding:
    """On the seeds of the search, which ran every step size."""
    cases = {}
    for task, length, place in places():
        results, at = found[f"{task} interests"], f"length {length}"
        tried = results.tried.with_columns(
            pl.col("score").fill_nan(CEILING).clip(upper_bound=CEILING)
        )
        size = rows(results.chosen, task=at, rule=ETD[0.01])["step_size"][0]
        less, more = (
            Sample.of(tried, task=at, rule=ETD[interest], step_size=size)
            for interest in (0.01, 0.05)
        )
        cases[place] = more.over(less)
    effect = "error, interest 0.05 over 0.01, at the step size best for 0.01"
    return ratios(effect, LARGER, cases)


def _least_best(found: Found) -> Finding:
    cases = {}
    for task in TASKS:
        for more in (0.05, 0.1):
            least, other = (_over_lengths(found, task, interest) for interest in (0.01, more))
            cases[f"against {more:g}, {task.replace('_', ' ')}"] = least.over(other)
    effect = "error averaged over lengths, interest 0.01 over a larger one, each at its best"
    return ratios(effect, SMALLER, cases)


def _over_lengths(found: Found, task: str, interest: float) -> Sample:
    of = [score(found, f"{task} interests", length, rule=ETD[interest]) for length in LENGTHS]
    return Sample(of[0].seeds, np.mean([one.values for one in of], axis=0))


def _near_divergence(found: Found) -> Finding:
    cases = {}
    for task, length, place in places():
        runs, zero = found[f"{task} four methods"].tried, error_of_zero_in(task, length)
        one, other = (
            room_above(runs, zero, task=f"length {length}", rule=rule)
            for rule in ("ETD-fixed", "PTD")
        )
        cases[place] = one.minus(other)
    effect = (
        "decades from a seed's best step size up to one that is worse than predicting 0, ETD-fixed "
        "less PTD"
    )
    return means(effect, Region(high=0), cases)


def _narrow(found: Found) -> Finding:
    cases = {}
    for task, length, place in places():
        runs, zero = found[f"{task} four methods"].tried, error_of_zero_in(task, length)
        one, other = (
            widths(runs, zero, "decades", task=f"length {length}", rule=rule)
            for rule in ("ETD-fixed", "PTD")
        )
        cases[place] = one.minus(other)
    effect = "width of the U-curve at half its depth, in decades of step sizes, ETD-fixed less PTD"
    return means(effect, Region(high=0), cases)


CLAIMS = (
    Claim(
        "corridor_interest_costs_at_its_best",
        "ETD-fixed's error grows with a small increase of its interest (0.01, 0.05, 0.1), each "
        "with the step size that the search found for it.",
        ("3", "A.2"),
        INTERESTS,
        _own_step_size,
        ONE_AXIS + " Where the grid of step sizes holds the same product for two interests, both "
        "are the same run, digit by digit.",
    ),
    Claim(
        "corridor_interest_costs_at_a_step_size",
        "ETD-fixed's error grows with a small increase of its interest, from 0.01 to 0.05, at one "
        "and the same step size (that found for 0.01; errors above 10 count as 10).",
        ("3", "A.2"),
        INTERESTS,
        _same_step_size,
        ONE_AXIS + " At the best step size, five times the interest is five times the step size.",
    ),
    Claim(
        "corridor_interest_0.01_best",
        "Of the interests 0.01, 0.05 and 0.1, the search finds 0.01 best for ETD-fixed.",
        ("3", "A.2"),
        INTERESTS,
        _least_best,
        ONE_AXIS + " Which interest is best says which grid of products is the better one.",
    ),
    Claim(
        "corridor_etd_fixed_sensitive_to_step_size",
        "ETD-fixed is highly sensitive to its step size: at half their depth its U-curves are "
        "narrower than PTD's, in decades.",
        ("A.3",),
        FOUR,
        _narrow,
        "Its step sizes are large because its interest is small; in decades that makes no "
        "difference.",
    ),
    Claim(
        "corridor_etd_fixed_near_divergence",
        "ETD-fixed is highly sensitive to its step size in another sense: a step size too large by "
        "a smaller factor than for PTD makes it worse than predicting 0 (undecided where none of "
        "the step sizes tried does).",
        ("A.3",),
        FOUR,
        _near_divergence,
    ),
)
