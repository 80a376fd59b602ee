"""Claims about both corridor tasks: the four methods (figures 3 and A.2), and settings (to A.5).

Beyond the paper, true online and held forms, and limits by theory and by experiment. Step sizes are
those that the search chose, scores those of fresh seeds: mean squared errors of observable states,
averaged over all episodes. A claim has a case for each task and length.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl

from preftd._src.experiments.results import Results
from preftd._src.paper.claim import (
    Cases,
    Compared,
    Quantity,
    Runs,
    Sample,
    claimed,
    pairs,
    reported,
    rows,
    tried,
)
from preftd._src.paper.corridors.limits import limit_of
from preftd._src.paper.corridors.studies import (
    AT_TRUTH,
    BETWEEN,
    BY_LENGTH,
    CONSTANT_LAMBDA,
    CONSTANT_STEPS,
    ETD_LABELS,
    FOUR_METHODS,
    IN_VIEWS,
    LENGTHS,
    METHODS,
    PARTS,
    ROUND,
    TASKS,
    TO_THE_LIMIT,
    TRUE_ONLINE,
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
    failing_from,
    part,
    widths,
)
from preftd._src.paper.study import PaperStudy

OTHERS = tuple(rule for rule in METHODS if rule != "TD(λ)")
EXTREME = "β = 1, 0"
"""The setting of the paper's methods: β of observable states, β of hidden ones."""
VARIABLE, LESS, LEAK = "ETD-variable", "ETD, interest 0.25, 0", "ETD, interest 0.5, 0.05"
"""ETD with interest 0.5 on observable states and 0 on hidden ones; with less on observable states;
with some on hidden ones."""


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
    """A measure of all step sizes tried with a rule, given the error of predicting 0."""
    return each(
        lambda task, n: tried(FOUR_METHODS[task], task=at_length(n), rule=rule).by(
            lambda runs: measure(runs, error_of_zero_in(task, n))
        )
    )


def _changed(usual: str, others: Mapping[str, tuple[str, str]]) -> dict[str, Cases]:
    """Errors of other settings (rule and β) over those of the usual one."""
    lengths = (5, 15, 25)
    own = errors(BETWEEN, lengths, rule=usual, preference=EXTREME)
    return {
        setting: errors(BETWEEN, lengths, rule=rule, preference=beta) / own
        for setting, (rule, beta) in others.items()
    }


def _betas_of_ptd(*betas: str) -> dict[str, Cases]:
    return _changed("PTD", {beta: ("PTD", beta) for beta in betas})


NAMES = {"PTD": "ptd", "ETD-variable": "etd"}
"""Rules, and their names in names of claims."""


def _true_over_online(*rules: str) -> dict[str, Cases]:
    """Errors of true online learners over those of online ones, by rule."""
    return {
        rule: errors(TRUE_ONLINE, rule=rule, learner="true online")
        / errors(TRUE_ONLINE, rule=rule, learner="online")
        for rule in rules
    }


def held_over_others(
    prefix: str, of: Callable[[str, str], Cases], views: Mapping[str, str]
) -> dict[str, Compared]:
    """Ratios of errors of held learners to those in other views, by the name of a claim.

    Parameters
    ----------
    prefix
        How names begin.
    of
        Errors by rule and view.
    views
        The other view, by the end of a name.
    """
    return {
        f"{prefix}_{name}_{end}": of(rule, "held") / of(rule, view)
        for end, view in views.items()
        for rule, name in NAMES.items()
    }


def _view_errors(rule: str, view: str) -> Cases:
    return errors(IN_VIEWS, rule=rule, learner=view)


def _growth(form: str) -> Cases:
    """The growth of PTD's error with the length of the corridor, as a slope of logarithms.

    At one step size for all lengths: if chosen for each, it would differ by the luck of the search.
    """
    of_form = errors(BY_LENGTH, learner=form)
    return Cases(
        {
            title: Quantity.joined([of_form[f"{title} {n}"] for n in LENGTHS], _by_slope)
            for title in map(title_of, TASKS)
        }
    )


def _by_slope(samples: Sequence[Sample]) -> Sample:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log([one.values for one in samples])
    per_state = np.polynomial.polynomial.polyfit(LENGTHS, logs, 1)[1]
    return Sample(samples[0].seeds, np.exp(per_state * (LENGTHS[-1] - LENGTHS[0])))


def exact_limit(task: str, length: int, rule: str) -> float:
    """The error of one of the four methods at its fixed point."""
    return limit_of(FOUR_METHODS[task], task=at_length(length), rule=rule)


def _less_limit(error: Quantity, task: str, length: int, rule: str) -> Quantity:
    return error.then(lambda one: one.minus(exact_limit(task, length, rule)))


def _off(study: Callable[[str, str], Runs], begin: float, rule: str) -> Cases:
    """Errors after a part of the episodes less the limit, over those of predicting 0."""

    def of(task: str) -> Quantity:
        above = _less_limit(study(task, rule).by(part, begin, 1.0), task, 5, rule)
        return above.then(lambda one: one.over(error_of_zero_in(task, 5)))

    return Cases({title_of(task): of(task) for task in TASKS})


def _power(errors: Callable[[str], Quantity], factor: float) -> Cases:
    """The power p of errors that change by factor^p."""

    def logarithm(one: Sample) -> Sample:
        return Sample(one.seeds, np.log(one.values) / np.log(factor))

    return Cases({title_of(task): errors(task).then(logarithm) for task in TASKS})


def _long(task: str, rule: str) -> Runs:
    return reported(TO_THE_LIMIT[task], rule=rule)


def _constant(task: str, rule: str, divisor: int = PARTS[-1]) -> Runs:
    return tried(CONSTANT_STEPS[task], rule=rule, step_size=ROUND[rule] / divisor)


def _falls(rule: str) -> Cases:
    """The power of the error in the number of episodes, which grows by a factor of 8."""
    return _power(
        lambda task: _long(task, rule).by(part, 1 / 16, 1 / 8) / _long(task, rule).by(part, 0.5, 1),
        8,
    )


def _remains(rule: str) -> Cases:
    """The power of the error in the step size."""
    least, most = PARTS[0], PARTS[-1]
    return _power(
        lambda task: (
            _constant(task, rule, least).by(part, 0.5, 1)
            / _constant(task, rule, most).by(part, 0.5, 1)
        ),
        most / least,
    )


def _above_limit(rule: str) -> Cases:
    last = quarter(4, rule)
    return each(lambda task, n: _less_limit(last[f"{title_of(task)} {n}"], task, n, rule))


def _fails(rule: str, view: str) -> Cases:
    """The least step sizes with which seeds of the search diverge."""
    labels = {"rule": rule, "learner": view}
    return each(lambda task, n: tried(IN_VIEWS[task], task=at_length(n), **labels).by(failing_from))


OF_PAPER: dict[str, Compared] = {
    "td_poor": pairs(_four_errors, *(("TD(λ)", other) for other in OTHERS)),
    "td_grows_with_length": {
        f"{title_of(task)} {n} over {n - 5}": _four(task, n, "TD(λ)").score
        / _four(task, n - 5, "TD(λ)").score
        for task in TASKS
        for n in LENGTHS[1:]
    },
    "td_stops_improving": quarter(4, "TD(λ)") / quarter(2, "TD(λ)"),
    "small_interest_matters": pairs(_four_errors, ("ETD-fixed", "PTD")),
    "etd_variable_best": pairs(
        _four_errors, *((VARIABLE, rule) for rule in METHODS if rule != VARIABLE)
    ),
    "two_methods_low": {rule: quarter(4, rule) / quarter(4, "TD(λ)") for rule in (VARIABLE, "PTD")},
    "etd_variable_faster": _episodes_to_half(VARIABLE) / _episodes_to_half("PTD"),
    "lengths_10_and_20": pairs(
        partial(_four_errors, lengths=(10, 20)),
        *((VARIABLE, "PTD"), ("PTD", "ETD-fixed"), ("ETD-fixed", "TD(λ)")),
    ),
    "interest_costs_at_its_best": {
        f"{more:g} over {less:g}": _with_interest(more) / _with_interest(less)
        for less, more in ((0.01, 0.05), (0.05, 0.1))
    },
    "interest_costs_at_a_step_size": _at_one_step_size(0.05) / _at_one_step_size(0.01),
    "interest_0.01_best": {
        f"against {more:g}": _mean_over_lengths(0.01) / _mean_over_lengths(more)
        for more in (0.05, 0.1)
    },
    "etd_fixed_sensitive_to_step_size": (
        _all_step_sizes(widths, "ETD-fixed") - _all_step_sizes(widths, "PTD")
    ),
    "etd_fixed_near_divergence": (
        _all_step_sizes(decades_to_failure, "ETD-fixed")
        - _all_step_sizes(decades_to_failure, "PTD")
    ),
    "constant_lambda_poor": {
        f"{constant} over {rule}": errors(CONSTANT_LAMBDA, preference=constant)
        / errors(FOUR_METHODS, rule=rule)
        for constant in ("λ = 0.1", "λ = 0.5", "λ = 0.9")
        for rule in (VARIABLE, "PTD")
    },
    "ptd_lower_observable_beta": _betas_of_ptd("β = 0.75, 0", "β = 0.5, 0"),
    "etd_lower_observable_interest": _changed(
        VARIABLE,
        {
            "interest 0.25": (LESS, EXTREME),
            "λ = 0.25": (VARIABLE, "β = 0.75, 0"),
            "λ = 0.5": (VARIABLE, "β = 0.5, 0"),
        },
    ),
    "ptd_hidden_beta_hurts": _betas_of_ptd("β = 1, 0.05", "β = 1, 0.2"),
    "etd_hidden_interest_hurts": _changed(
        VARIABLE,
        {
            "interest 0.05": (LEAK, EXTREME),
            "λ = 0.95": (VARIABLE, "β = 1, 0.05"),
            "λ = 0.8": (VARIABLE, "β = 1, 0.2"),
        },
    ),
    "etd_variable_any_interest": _changed(VARIABLE, {"interest 0.25": (LESS, EXTREME)}),
}
"""Comparisons of the paper's claims."""
BEYOND: dict[str, Compared] = {
    "true_online_td_lower": _true_over_online("TD(λ)"),
    "true_online_etd_variable_lower": _true_over_online("ETD-variable"),
    "true_online_ptd_lower": _true_over_online("PTD"),
    "true_online_halves_the_error": _true_over_online("ETD-variable", "PTD"),
    "true_online_ptd_independent_of_length": _growth("true online"),
    "online_ptd_grows_with_length": _growth("online"),
    "limit_reached": {rule: _off(_long, 0.95, rule) for rule in METHODS},
    "limit_of_0_goes_on_falling": {rule: _falls(rule) for rule in AT_TRUTH},
    "limit_missed_at_constant_step_size": {rule: _above_limit(rule) for rule in METHODS},
    "limit_nears_with_small_steps": {rule: _off(_constant, 0.5, rule) for rule in METHODS},
    "constant_steps_leave_noise": {rule: _remains(rule) for rule in AT_TRUTH},
    **held_over_others(
        "held", _view_errors, {"is_true_online": "true online", "below_online": "online"}
    ),
    "held_diverges_later": {rule: _fails(rule, "held") / _fails(rule, "online") for rule in NAMES},
}
"""Comparisons of other claims."""
CLAIMS = claimed("corridors", {f"corridor_{name}": one for name, one in OF_PAPER.items()} | BEYOND)
