"""Claims about settings in corridors: interest, step size, λ and β (figures 3, A.2 to A.5)."""

from collections.abc import Callable, Mapping
from functools import partial

import polars as pl

from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    Cases,
    Claim,
    Comparison,
    Quantity,
    difference,
    ratio,
    tried,
)
from preftd._src.paper.corridors.claims import each, errors
from preftd._src.paper.corridors.studies import (
    BETWEEN,
    CONSTANT_LAMBDA,
    ETD_LABELS,
    FOUR_METHODS,
    LENGTHS,
    TASKS,
    WITH_INTERESTS,
    at_length,
    title_of,
)
from preftd._src.paper.measures import capped, decades_to_failure, error_of_zero_in, widths
from preftd._src.paper.samples import LARGER, NOT_LARGER, SAME, SMALLER, Sample, rows
from preftd._src.paper.verdict import Region
from preftd._src.paper.walk.claims import ONE_AXIS

EXTREME = "β = 1, 0"
"""The setting of the paper's methods: β of observable states, β of hidden ones."""
VARIABLE, LESS, LEAK = "ETD-variable", "ETD, interest 0.25, 0", "ETD, interest 0.5, 0.05"
"""ETD with interest 0.5 on observable states and 0 on hidden ones; with less on observable states;
with some on hidden ones."""


def _with_interest(interest: float) -> Cases:
    return errors(WITH_INTERESTS, rule=ETD_LABELS[interest])


def _at_one_step_size(interest: float) -> Cases:
    """Errors at the step size best for interest 0.01, on the seeds of the search."""

    def error(results: Results, task: str) -> Sample:
        size = rows(results.chosen, task=task, rule=ETD_LABELS[0.01])["step_size"][0]
        runs = capped(results.tried)
        return Sample.of(runs, task=task, rule=ETD_LABELS[interest], step_size=size)

    return each(
        lambda task, n: Quantity.of(WITH_INTERESTS[task], partial(error, task=at_length(n)))
    )


def _mean_over_lengths(interest: float) -> Cases:
    found = _with_interest(interest)
    return Cases(
        {
            title: Quantity.joined([found[f"{title} {n}"] for n in LENGTHS])
            for title in map(title_of, TASKS)
        }
    )


def _all_step_sizes(measure: Callable[[pl.DataFrame, float], Sample], rule: str) -> Cases:
    """What a measure makes of all step sizes tried with a rule, given the error of predicting 0."""

    def given_zero(runs: pl.DataFrame, task: str, length: int) -> Sample:
        return measure(runs, error_of_zero_in(task, length))

    def of(task: str, length: int) -> Quantity:
        runs = tried(FOUR_METHODS[task], task=at_length(length), rule=rule)
        return runs.by(given_zero, task, length)

    return each(of)


def _changed(usual: str, others: Mapping[str, tuple[str, str]], region: Region) -> Comparison:
    """Errors of other settings (rule and β) over those of the usual one."""
    lengths = (5, 15, 25)
    own = errors(BETWEEN, lengths, rule=usual, preference=EXTREME)
    groups = {
        name: errors(BETWEEN, lengths, rule=rule, preference=beta) / own
        for name, (rule, beta) in others.items()
    }
    return ratio(f"error over {usual}'s own", region, groups)


CHOICE = (
    "Where it seems otherwise, it is the step size, which is chosen for the first 100 of 200 "
    "episodes and among few (none between 0.1 and 0.3): "
)
INTEREST_IS_STEP_SIZE = (
    "a factor on all interest is exactly one on the step size, so that interest 0.25 with 0.2 "
    "would be interest 0.5 with 0.1."
)
MOVED = (
    "Hidden states are updated then, and the exact limit is no longer 0: see the dashed lines of "
    "figure A.5."
)

CLAIMS = (
    Claim(
        "corridor_interest_costs_at_its_best",
        "ETD-fixed's error grows with a small increase of its interest (0.01, 0.05, 0.1), each "
        "with the step size that the search found for it.",
        ("3", "A.2"),
        ratio(
            "error, an interest over the next smaller, each at its best",
            LARGER,
            {
                f"{more:g} over {less:g}": _with_interest(more) / _with_interest(less)
                for less, more in ((0.01, 0.05), (0.05, 0.1))
            },
        ),
        ONE_AXIS + " Where the grid of step sizes holds the same product for two interests, both "
        "are the same run, digit by digit.",
    ),
    Claim(
        "corridor_interest_costs_at_a_step_size",
        "ETD-fixed's error grows with a small increase of its interest, from 0.01 to 0.05, at one "
        "and the same step size (that found for 0.01; errors above 10 count as 10).",
        ("3", "A.2"),
        ratio(
            "error, interest 0.05 over 0.01, at the step size best for 0.01",
            LARGER,
            _at_one_step_size(0.05) / _at_one_step_size(0.01),
        ),
        ONE_AXIS + " At the best step size, five times the interest is five times the step size.",
    ),
    Claim(
        "corridor_interest_0.01_best",
        "Of the interests 0.01, 0.05 and 0.1, the search finds 0.01 best for ETD-fixed.",
        ("3", "A.2"),
        ratio(
            "error averaged over lengths, interest 0.01 over a larger one, each at its best",
            SMALLER,
            {
                f"against {more:g}": _mean_over_lengths(0.01) / _mean_over_lengths(more)
                for more in (0.05, 0.1)
            },
        ),
        ONE_AXIS + " Which interest is best says which grid of products is the better one.",
    ),
    Claim(
        "corridor_etd_fixed_sensitive_to_step_size",
        "ETD-fixed is highly sensitive to its step size: at half their depth its U-curves are "
        "narrower than PTD's, in decades.",
        ("A.3",),
        difference(
            "width of the U-curve at half its depth, in decades of step sizes, ETD-fixed less PTD",
            Region(high=0),
            _all_step_sizes(widths, "ETD-fixed") - _all_step_sizes(widths, "PTD"),
        ),
        "Its step sizes are large because its interest is small; in decades that makes no "
        "difference.",
    ),
    Claim(
        "corridor_etd_fixed_near_divergence",
        "ETD-fixed is highly sensitive to its step size in another sense: a step size too large by "
        "a smaller factor than for PTD makes it worse than predicting 0 (inconclusive where none "
        "of the step sizes tried does).",
        ("A.3",),
        difference(
            "decades from a seed's best step size up to one that is worse than predicting 0, "
            "ETD-fixed less PTD",
            Region(high=0),
            _all_step_sizes(decades_to_failure, "ETD-fixed")
            - _all_step_sizes(decades_to_failure, "PTD"),
        ),
    ),
    Claim(
        "corridor_constant_lambda_poor",
        "ETD with interest 1 and one λ for all states (0.1, 0.5, 0.9) does poorly: its error is "
        "above PTD's and ETD-variable's.",
        ("A.4",),
        ratio(
            "error, ETD with interest 1 and constant λ over the other",
            LARGER,
            {
                f"{constant} over {rule}": errors(CONSTANT_LAMBDA, preference=constant)
                / errors(FOUR_METHODS, rule=rule)
                for constant in ("λ = 0.1", "λ = 0.5", "λ = 0.9")
                for rule in (VARIABLE, "PTD")
            },
        ),
        "With constant interest, ETD depends on α and the interest only through their product: "
        "interest 1 is no more than 0.01 with smaller step sizes, and what differs from ETD-fixed "
        "is the constant λ.",
    ),
    Claim(
        "corridor_ptd_lower_observable_beta",
        "PTD does not suffer from a β below 1 (0.75, 0.5) on observable states: its error is not "
        "more than 10 % larger.",
        ("A.5",),
        _changed(
            "PTD", {beta: ("PTD", beta) for beta in ("β = 0.75, 0", "β = 0.5, 0")}, NOT_LARGER
        ),
        CHOICE
        + "in the second task at length 5, β = 0.5 gets 0.3, but with 0.15 its error is 10 % "
        "below that of β = 1.",
    ),
    Claim(
        "corridor_etd_lower_observable_interest",
        "ETD-variable does not suffer from a lower interest (0.25), nor from λ above 0 (0.25, "
        "0.5), on observable states: its error is not more than 10 % larger.",
        ("A.5",),
        _changed(
            VARIABLE,
            {
                "interest 0.25": (LESS, EXTREME),
                "λ = 0.25": (VARIABLE, "β = 0.75, 0"),
                "λ = 0.5": (VARIABLE, "β = 0.5, 0"),
            },
            NOT_LARGER,
        ),
        CHOICE + INTEREST_IS_STEP_SIZE,
    ),
    Claim(
        "corridor_ptd_hidden_beta_hurts",
        "PTD suffers from a β above 0 (0.05, 0.2) on hidden states: its error grows.",
        ("A.5",),
        _changed("PTD", {beta: ("PTD", beta) for beta in ("β = 1, 0.05", "β = 1, 0.2")}, LARGER),
        MOVED,
    ),
    Claim(
        "corridor_etd_hidden_interest_hurts",
        "ETD-variable suffers from interest (0.05) in hidden states, and from λ below 1 (0.95, "
        "0.8) there: its error grows.",
        ("A.5",),
        _changed(
            VARIABLE,
            {
                "interest 0.05": (LEAK, EXTREME),
                "λ = 0.95": (VARIABLE, "β = 1, 0.05"),
                "λ = 0.8": (VARIABLE, "β = 1, 0.2"),
            },
            LARGER,
        ),
        MOVED,
    ),
    Claim(
        "corridor_etd_variable_any_interest",
        "ETD-variable does about as well with another interest on observable states (0.25 for 0.5) "
        "and another step size: errors differ by less than 10 %.",
        ("3", "A.2"),
        _changed(VARIABLE, {"interest 0.25": (LESS, EXTREME)}, SAME),
        CHOICE + INTEREST_IS_STEP_SIZE,
    ),
)
