"""Claims beyond the paper: true online and held forms, and limits by theory and by experiment."""

from collections.abc import Callable, Sequence

import numpy as np

from preftd._src.paper.claim import (
    ALIKE,
    LARGER,
    SAME,
    SMALLER,
    Cases,
    Claim,
    Quantity,
    Region,
    Runs,
    Sample,
    difference,
    ratio,
    reported,
    tried,
)
from preftd._src.paper.corridors.claims import each, error_of_zero_in, errors, quarter
from preftd._src.paper.corridors.limits import limit_of
from preftd._src.paper.corridors.studies import (
    AT_TRUTH,
    BY_LENGTH,
    CONSTANT_STEPS,
    FOUR_METHODS,
    IN_VIEWS,
    LENGTHS,
    METHODS,
    PARTS,
    ROUND,
    TASKS,
    TO_THE_LIMIT,
    TRUE_ONLINE,
    at_length,
    title_of,
)
from preftd._src.paper.measures import failing_from, part

EXACT = (
    "A true online method takes back exactly what it added on the way: with gain 0 and λ = 1 on "
    "hidden states, its weights after an episode depend on which observable states were seen, not "
    "on how many hidden ones lay between them or what these looked like."
)
NAMES = {"PTD": "ptd", "ETD-variable": "etd"}
"""Rules, and how names of claims call them."""
ORTHOGONAL = (
    "True online learning takes back exactly what it added on the way. What may be left of that is "
    "in the value of the next observable state, from which the target is made; here that does not "
    "depend on it, as observable states share no features."
)


def _true_over_online(
    name: str, statement: str, region: Region, rules: Sequence[str], because: str
) -> Claim:
    groups = {
        rule: errors(TRUE_ONLINE, rule=rule, learner="true online")
        / errors(TRUE_ONLINE, rule=rule, learner="online")
        for rule in rules
    }
    effect = "error, true online over online, each at its best"
    return ratio(name, statement, effect, region, groups, because)


def held_over_others(
    prefix: str, of: Callable[[str, str], Cases], *rows: tuple[str, str, str, Region, str]
) -> tuple[Claim, ...]:
    """Claims about errors of held learners over those in another view, one for each row and rule.

    Parameters
    ----------
    prefix
        How names begin.
    of
        Errors by rule and view.
    rows
        The end of a name, a statement about a {rule}, the other view, a region, an explanation.
    """
    return tuple(
        ratio(
            f"{prefix}_{name}_{end}",
            statement.format(rule=rule),
            f"{rule}'s error, held over {view}, each at its best",
            region,
            of(rule, "held") / of(rule, view),
            because,
        )
        for end, statement, view, region, because in rows
        for rule, name in NAMES.items()
    )


def _view_errors(rule: str, view: str) -> Cases:
    return errors(IN_VIEWS, rule=rule, learner=view)


def _growth(name: str, statement: str, region: Region, form: str, because: str) -> Claim:
    """How much PTD's error grows from the shortest to the longest corridor, by the slope of logs.

    At one step size for all lengths: if chosen for each, it would differ by the luck of the search.
    """
    of_form = errors(BY_LENGTH, learner=form)
    cases = {
        title: Quantity.joined([of_form[f"{title} {n}"] for n in LENGTHS], _by_slope)
        for title in map(title_of, TASKS)
    }
    effect = "PTD's error, length 25 over 5, at one step size"
    return ratio(name, statement, effect, region, cases, because)


def _by_slope(samples: Sequence[Sample]) -> Sample:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log([one.values for one in samples])
    per_state = np.polynomial.polynomial.polyfit(LENGTHS, logs, 1)[1]
    return Sample(samples[0].seeds, np.exp(per_state * (LENGTHS[-1] - LENGTHS[0])))


AT_LIMIT = Region(-0.02, 0.02)
"""How near an error must come to its limit, as a share of that of predicting 0."""
SHARE = "over the error of predicting 0"


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


CLAIMS = (
    *(
        _true_over_online(
            f"true_online_{name}_lower",
            f"The true online form of {rule} has a lower error than the paper's online form, on "
            "both tasks at all lengths, each with its own step size.",
            SMALLER,
            [rule],
            EXACT if rule != "TD(λ)" else "",
        )
        for name, rule in (("td", "TD(λ)"), ("etd_variable", "ETD-variable"), ("ptd", "PTD"))
    ),
    _true_over_online(
        "true_online_halves_the_error",
        "True online, the error of ETD-variable and PTD is lower by a factor: at most half as "
        "large, on both tasks at all lengths.",
        Region(high=0.5),
        ["ETD-variable", "PTD"],
        EXACT
        + " What both forms share, the random choice of ways and the first episodes, stays: in "
        "the first task that is most of the error.",
    ),
    _growth(
        "true_online_ptd_independent_of_length",
        "The error of true online PTD does not depend on the length of the corridor: from 5 to 25 "
        f"it changes by less than 10 %, at a step size of {ROUND['PTD']:g}.",
        SAME,
        "true online",
        EXACT,
    ),
    _growth(
        "online_ptd_grows_with_length",
        "The error of the paper's online PTD does: at the same step size it is larger at length 25 "
        "than at 5.",
        LARGER,
        "online",
        "Online, what was added on the way into a hidden state is taken back with other weights; "
        "a part of its noise stays, the more the longer the way.",
    ),
    difference(
        "limit_reached",
        "With a decreasing step size, each of the four methods reaches the exact limit of its "
        "error (at length 5, within 2 % of the error of predicting 0): TD(λ) and ETD-fixed one "
        "that is not 0, so that it is the fixed point that is off, not the noise.",
        f"error of the last 1,000 of 20,000 episodes less the exact limit, {SHARE}",
        AT_LIMIT,
        {rule: _off(_long, 0.95, rule) for rule in METHODS},
        "A method tends to the w with A w = b, and both are known exactly, random features "
        "included.",
    ),
    difference(
        "limit_of_0_goes_on_falling",
        "With a decreasing step size, ETD-variable and PTD, whose limit is 0, go on falling at "
        "least like 1/k in the number k of episodes: the power is not more than 10 % below 1.",
        "power p, error like 1/k^p from episodes 1,250–2,500 to 10,000–20,000",
        Region(low=1 / ALIKE),
        {rule: _falls(rule) for rule in AT_TRUTH},
        "At a fixed point without error, what is left comes from the step size, which decreases "
        "like 1/k: the variance of weights in proportion to it, the square of their mean "
        "displacement in proportion to its square.",
    ),
    difference(
        "limit_missed_at_constant_step_size",
        "At the constant step size that the search found, all methods stay above their exact "
        "limit: the noise of that step size adds to the error.",
        "error of the last quarter of the episodes less the exact limit",
        Region(low=0),
        {rule: _above_limit(rule) for rule in METHODS},
        "A constant step size also moves the mean of the weights away from the fixed point, in "
        "proportion to itself; where the fixed point is off, that may be for the better.",
    ),
    difference(
        "limit_nears_with_small_steps",
        "What remains at a constant step size is due to that step size: with a quarter of round "
        "ones near those of the search, all methods come to their exact limit, within 2 % of the "
        "error of predicting 0.",
        f"error of the last 1,000 of 2,000 episodes less the exact limit, {SHARE}",
        AT_LIMIT,
        {rule: _off(_constant, 0.5, rule) for rule in METHODS},
    ),
    difference(
        "constant_steps_leave_noise",
        "What ETD-variable and PTD, whose limit is 0, keep at a constant step size is noise and "
        "nothing else: it falls in proportion to the step size, with a power of 1 but for 10 %.",
        "power p, error that remains like α^p, from a step size to a quarter of it",
        SAME,
        {rule: _remains(rule) for rule in AT_TRUTH},
        "The variance of predictions falls like α, the square of a displacement of their mean like "
        "α²: a power of 1 is noise alone, 2 is displacement alone. The mean is displaced because, "
        "online, a hidden state is valued as next and as current state with weights that changed "
        "in between: each takes α² times the value v of the observable state behind it from that "
        "value, on average, so that n of them leave about v / (1 + αn). In the second task values "
        "are larger, and this is most of what remains.",
    ),
    *held_over_others(
        "held",
        _view_errors,
        (
            "is_true_online",
            "Held {rule} has the same error as true online {rule}, on both tasks at all lengths: "
            "they differ by less than 10 %.",
            "true online",
            SAME,
            ORTHOGONAL,
        ),
        (
            "below_online",
            "Held {rule} has a lower error than the paper's online form, on both tasks at all "
            "lengths, each with its own step size.",
            "online",
            SMALLER,
            "Weights rest while hidden states are crossed, so that what these show has no effect.",
        ),
    ),
    ratio(
        "held_diverges_later",
        "Held PTD and ETD-variable diverge only with larger step sizes than the paper's online "
        "form, on both tasks at all lengths.",
        "least step size that diverges, held over online",
        LARGER,
        {rule: _fails(rule, "held") / _fails(rule, "online") for rule in NAMES},
    ),
)
