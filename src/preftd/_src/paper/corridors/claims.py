"""Claims about both corridor tasks: the four methods (figures 3 and A.2), and settings (to A.5).

Step sizes are those that the search chose, scores those of fresh seeds: mean squared errors of
observable states, averaged over all episodes. A claim has a case for each task and length.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import polars as pl

from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    ALIKE,
    LARGER,
    NOT_LARGER,
    SAME,
    SMALLER,
    Cases,
    Claim,
    Quantity,
    Region,
    Runs,
    Sample,
    about,
    difference,
    methods,
    ratio,
    reported,
    rows,
    tried,
)
from preftd._src.paper.corridors.studies import (
    BETWEEN,
    CONSTANT_LAMBDA,
    ETD_LABELS,
    FOUR_METHODS,
    LENGTHS,
    METHODS,
    TASKS,
    WITH_INTERESTS,
    at_length,
    made,
    title_of,
)
from preftd._src.paper.measures import (
    capped,
    decades_to_failure,
    episodes_until,
    error_of_zero,
    part,
    widths,
)
from preftd._src.paper.study import PaperStudy
from preftd._src.paper.walk.claims import ONE_AXIS

BOTH = ("3", "A.2")
LOW = 0.1
"""An error is called low if it is below a tenth of TD(λ)'s."""
OTHERS = tuple(rule for rule in METHODS if rule != "TD(λ)")
COUNTS = (
    "With β in {0, 1} and interest iβ, the gain of ETD is i times the number of observable states "
    "seen so far in the episode, that of PTD is 1: ETD-variable is PTD with a step size that grows "
    "along the episode."
)
EXTREME = "β = 1, 0"
"""The setting of the paper's methods: β of observable states, β of hidden ones."""
VARIABLE, LESS, LEAK = "ETD-variable", "ETD, interest 0.25, 0", "ETD, interest 0.5, 0.05"
"""ETD with interest 0.5 on observable states and 0 on hidden ones; with less on observable states;
with some on hidden ones."""
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


def error_of_zero_in(task: str, length: int) -> float:
    """Mean squared error of predicting 0 in a corridor."""
    return error_of_zero(made(task, length))


def each(quantity: Callable[[str, int], Quantity], lengths: Sequence[int] = LENGTHS) -> Cases:
    """A quantity for each task and length, by the name of both."""
    return Cases({f"{title_of(task)} {n}": quantity(task, n) for task in TASKS for n in lengths})


def errors(
    studies: Mapping[str, PaperStudy], lengths: Sequence[int] = LENGTHS, **labels: str
) -> Cases:
    """Scores on fresh seeds, with the step sizes that were chosen."""
    return each(lambda task, n: reported(studies[task], task=at_length(n), **labels).score, lengths)


def quarter(number: int, rule: str) -> Cases:
    """Mean errors of one of the four methods over a quarter of the episodes, the first is 1."""
    begin, end = (number - 1) / 4, number / 4
    return each(lambda task, n: _four(task, n, rule).by(part, begin, end))


def _four(task: str, length: int, rule: str) -> Runs:
    return reported(FOUR_METHODS[task], task=at_length(length), rule=rule)


def _four_errors(rule: str, lengths: Sequence[int] = LENGTHS) -> Cases:
    return errors(FOUR_METHODS, lengths, rule=rule)


def _episodes_to_half(rule: str) -> Cases:
    """Episodes until the error is half that of predicting 0."""
    return each(
        lambda task, n: _four(task, n, rule).by(
            lambda runs: episodes_until(runs, error_of_zero_in(task, n) / 2)
        )
    )


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
    return each(
        lambda task, n: tried(FOUR_METHODS[task], task=at_length(n), rule=rule).by(
            lambda runs: measure(runs, error_of_zero_in(task, n))
        )
    )


def _changed(
    name: str,
    statement: str,
    usual: str,
    others: Mapping[str, tuple[str, str]],
    region: Region,
    because: str,
) -> Claim:
    """Errors of other settings (rule and β) over those of the usual one."""
    lengths = (5, 15, 25)
    own = errors(BETWEEN, lengths, rule=usual, preference=EXTREME)
    groups = {
        setting: errors(BETWEEN, lengths, rule=rule, preference=beta) / own
        for setting, (rule, beta) in others.items()
    }
    return ratio(name, statement, f"error over {usual}'s own", region, groups, because)


CLAIMS = about(
    BOTH,
    methods(
        "corridor_td_poor",
        "TD(λ) does poorly: its error is above that of each other method, on both tasks at all "
        "lengths.",
        _four_errors,
        [("TD(λ)", other) for other in OTHERS],
        LARGER,
        "Its fixed point itself is off: TD(λ) also updates hidden states, whose features overlap "
        "with those of observable ones; see the claims about limits.",
    ),
    ratio(
        "corridor_td_grows_with_length",
        "TD(λ)'s error grows with the length of the corridor, on both tasks from each length to "
        "the next.",
        "TD(λ)'s error, a length over the next shorter one",
        LARGER,
        {
            f"{title_of(task)} {n} over {n - 5}": _four(task, n, "TD(λ)").score
            / _four(task, n - 5, "TD(λ)").score
            for task in TASKS
            for n in LENGTHS[1:]
        },
        "Its exact limit grows with the length, and by as little: from 1.398 (length 5) to 1.683 "
        "(25) in the first task, from 4.330 to 4.399 in the second.",
    ),
    ratio(
        "corridor_td_stops_improving",
        "TD(λ) stops improving before the episodes end: in the last quarter of them its error is "
        "not more than 10 % below that of the second quarter.",
        "TD(λ)'s error, last quarter of the episodes over the second",
        Region(low=1 / ALIKE),
        quarter(4, "TD(λ)") / quarter(2, "TD(λ)"),
        "It has reached its exact limit, which is not 0; see the claims about limits.",
    ),
    methods(
        "corridor_small_interest_matters",
        "ETD-fixed updates hidden states very little (interest 0.01), yet enough to spoil the "
        "predictions of observable ones: its error is above PTD's.",
        _four_errors,
        [("ETD-fixed", "PTD")],
        LARGER,
        "With constant interest, ETD depends on α and the interest only through their product: an "
        "interest of 0.01 makes steps small, and keeps the fixed point of interest 1.",
    ),
    methods(
        "corridor_etd_variable_best",
        "ETD-variable has the least error of the four methods, on both tasks at all lengths.",
        _four_errors,
        [("ETD-variable", rule) for rule in METHODS if rule != "ETD-variable"],
        SMALLER,
        COUNTS,
    ),
    ratio(
        "corridor_two_methods_low",
        "ETD-variable and PTD both reach a low error: in the last quarter of the episodes less "
        "than a tenth of TD(λ)'s.",
        "error over TD(λ)'s, last quarter of the episodes",
        Region(high=LOW),
        {rule: quarter(4, rule) / quarter(4, "TD(λ)") for rule in ("ETD-variable", "PTD")},
        "Their exact limit is 0; what is left is due to the constant step size, and it is more in "
        "the second task, as the claims about limits say.",
    ),
    ratio(
        "corridor_etd_variable_faster",
        "ETD-variable converges slightly faster than PTD: after fewer episodes its error is half "
        "of what it is at first.",
        "episodes until the error is half that of predicting 0, ETD-variable over PTD",
        SMALLER,
        _episodes_to_half("ETD-variable") / _episodes_to_half("PTD"),
        COUNTS,
    ),
)
CLAIMS += about(
    ("A.2",),
    methods(
        "corridor_lengths_10_and_20",
        "What is observed at lengths 5, 15 and 25 holds at 10 and 20: ETD-variable below PTD below "
        "ETD-fixed below TD(λ).",
        partial(_four_errors, lengths=(10, 20)),
        [("ETD-variable", "PTD"), ("PTD", "ETD-fixed"), ("ETD-fixed", "TD(λ)")],
        SMALLER,
    ),
)


CLAIMS += about(
    ("3", "A.2"),
    ratio(
        "corridor_interest_costs_at_its_best",
        "ETD-fixed's error grows with a small increase of its interest (0.01, 0.05, 0.1), each "
        "with the step size that the search found for it.",
        "error, an interest over the next smaller, each at its best",
        LARGER,
        {
            f"{more:g} over {less:g}": _with_interest(more) / _with_interest(less)
            for less, more in ((0.01, 0.05), (0.05, 0.1))
        },
        ONE_AXIS + " Where the grid of step sizes holds the same product for two interests, both "
        "are the same run, digit by digit.",
    ),
    ratio(
        "corridor_interest_costs_at_a_step_size",
        "ETD-fixed's error grows with a small increase of its interest, from 0.01 to 0.05, at one "
        "and the same step size (that found for 0.01; errors above 10 count as 10).",
        "error, interest 0.05 over 0.01, at the step size best for 0.01",
        LARGER,
        _at_one_step_size(0.05) / _at_one_step_size(0.01),
        ONE_AXIS + " At the best step size, five times the interest is five times the step size.",
    ),
    ratio(
        "corridor_interest_0.01_best",
        "Of the interests 0.01, 0.05 and 0.1, the search finds 0.01 best for ETD-fixed.",
        "error averaged over lengths, interest 0.01 over a larger one, each at its best",
        SMALLER,
        {
            f"against {more:g}": _mean_over_lengths(0.01) / _mean_over_lengths(more)
            for more in (0.05, 0.1)
        },
        ONE_AXIS + " Which interest is best says which grid of products is the better one.",
    ),
)
CLAIMS += about(
    ("A.3",),
    difference(
        "corridor_etd_fixed_sensitive_to_step_size",
        "ETD-fixed is highly sensitive to its step size: at half their depth its U-curves are "
        "narrower than PTD's, in decades.",
        "width of the U-curve at half its depth, in decades of step sizes, ETD-fixed less PTD",
        Region(high=0),
        _all_step_sizes(widths, "ETD-fixed") - _all_step_sizes(widths, "PTD"),
        "Its step sizes are large because its interest is small; in decades that makes no "
        "difference.",
    ),
    difference(
        "corridor_etd_fixed_near_divergence",
        "ETD-fixed is highly sensitive to its step size in another sense: a step size too large by "
        "a smaller factor than for PTD makes it worse than predicting 0 (inconclusive where none "
        "of the step sizes tried does).",
        "decades from a seed's best step size up to one that is worse than predicting 0, "
        "ETD-fixed less PTD",
        Region(high=0),
        _all_step_sizes(decades_to_failure, "ETD-fixed")
        - _all_step_sizes(decades_to_failure, "PTD"),
    ),
)
CLAIMS += about(
    ("A.4",),
    ratio(
        "corridor_constant_lambda_poor",
        "ETD with interest 1 and one λ for all states (0.1, 0.5, 0.9) does poorly: its error is "
        "above PTD's and ETD-variable's.",
        "error, ETD with interest 1 and constant λ over the other",
        LARGER,
        {
            f"{constant} over {rule}": errors(CONSTANT_LAMBDA, preference=constant)
            / errors(FOUR_METHODS, rule=rule)
            for constant in ("λ = 0.1", "λ = 0.5", "λ = 0.9")
            for rule in (VARIABLE, "PTD")
        },
        "With constant interest, ETD depends on α and the interest only through their product: "
        "interest 1 is no more than 0.01 with smaller step sizes, and what differs from ETD-fixed "
        "is the constant λ.",
    ),
)
CLAIMS += about(
    ("A.5",),
    _changed(
        "corridor_ptd_lower_observable_beta",
        "PTD does not suffer from a β below 1 (0.75, 0.5) on observable states: its error is not "
        "more than 10 % larger.",
        "PTD",
        {beta: ("PTD", beta) for beta in ("β = 0.75, 0", "β = 0.5, 0")},
        NOT_LARGER,
        CHOICE
        + "in the second task at length 5, β = 0.5 gets 0.3, but with 0.15 its error is 10 % "
        "below that of β = 1.",
    ),
    _changed(
        "corridor_etd_lower_observable_interest",
        "ETD-variable does not suffer from a lower interest (0.25), nor from λ above 0 (0.25, "
        "0.5), on observable states: its error is not more than 10 % larger.",
        VARIABLE,
        {
            "interest 0.25": (LESS, EXTREME),
            "λ = 0.25": (VARIABLE, "β = 0.75, 0"),
            "λ = 0.5": (VARIABLE, "β = 0.5, 0"),
        },
        NOT_LARGER,
        CHOICE + INTEREST_IS_STEP_SIZE,
    ),
    _changed(
        "corridor_ptd_hidden_beta_hurts",
        "PTD suffers from a β above 0 (0.05, 0.2) on hidden states: its error grows.",
        "PTD",
        {beta: ("PTD", beta) for beta in ("β = 1, 0.05", "β = 1, 0.2")},
        LARGER,
        MOVED,
    ),
    _changed(
        "corridor_etd_hidden_interest_hurts",
        "ETD-variable suffers from interest (0.05) in hidden states, and from λ below 1 (0.95, "
        "0.8) there: its error grows.",
        VARIABLE,
        {
            "interest 0.05": (LEAK, EXTREME),
            "λ = 0.95": (VARIABLE, "β = 1, 0.05"),
            "λ = 0.8": (VARIABLE, "β = 1, 0.2"),
        },
        LARGER,
        MOVED,
    ),
)
CLAIMS += about(
    ("3", "A.2"),
    _changed(
        "corridor_etd_variable_any_interest",
        "ETD-variable does about as well with another interest on observable states (0.25 for 0.5) "
        "and another step size: errors differ by less than 10 %.",
        VARIABLE,
        {"interest 0.25": (LESS, EXTREME)},
        SAME,
        CHOICE + INTEREST_IS_STEP_SIZE,
    ),
)
