"""Claims about the four methods on both corridor tasks (figures 3 and A.2).

Step sizes are those that the search chose, scores those of fresh seeds: mean squared errors of
observable states, averaged over all episodes. A claim has a case for each task and length.
"""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from preftd._src.paper.claim import Cases, Claim, Comparison, Quantity, Runs, ratio, reported
from preftd._src.paper.corridors.studies import (
    FOUR_METHODS,
    LENGTHS,
    METHODS,
    TASKS,
    at_length,
    title_of,
)
from preftd._src.paper.measures import episodes_until, error_of_zero_in, part
from preftd._src.paper.samples import ALIKE, LARGER, SMALLER, Sample
from preftd._src.paper.study import PaperStudy
from preftd._src.paper.verdict import Region

BOTH = ("3", "A.2")
LOW = 0.1
"""An error is called low if it is below a tenth of TD(λ)'s."""
OTHERS = tuple(rule for rule in METHODS if rule != "TD(λ)")
COUNTS = (
    "With β in {0, 1} and interest iβ, the gain of ETD is i times the number of observable states "
    "seen so far in the episode, that of PTD is 1: ETD-variable is PTD with a step size that grows "
    "along the episode."
)


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


def _compared(
    pairs: Sequence[tuple[str, str]], region: Region, lengths: Sequence[int] = LENGTHS
) -> Comparison:
    """Errors of one method over those of another, for all tasks and lengths."""
    groups = {
        f"{one} over {other}": errors(FOUR_METHODS, lengths, rule=one)
        / errors(FOUR_METHODS, lengths, rule=other)
        for one, other in pairs
    }
    return ratio("error, one method over another", region, groups)


def _episodes_to_half(rule: str) -> Cases:
    """Episodes until the error is half that of predicting 0."""

    def until(runs: pl.DataFrame, task: str, length: int) -> Sample:
        return episodes_until(runs, error_of_zero_in(task, length) / 2)

    return each(lambda task, n: _four(task, n, rule).by(until, task, n))


CLAIMS = (
    Claim(
        "corridor_td_poor",
        "TD(λ) does poorly: its error is above that of each other method, on both tasks at all "
        "lengths.",
        BOTH,
        _compared([("TD(λ)", other) for other in OTHERS], LARGER),
        "Its fixed point itself is off: TD(λ) also updates hidden states, whose features overlap "
        "with those of observable ones; see the claims about limits.",
    ),
    Claim(
        "corridor_td_grows_with_length",
        "TD(λ)'s error grows with the length of the corridor, on both tasks from each length to "
        "the next.",
        BOTH,
        ratio(
            "TD(λ)'s error, a length over the next shorter one",
            LARGER,
            {
                f"{title_of(task)} {n} over {n - 5}": _four(task, n, "TD(λ)").score
                / _four(task, n - 5, "TD(λ)").score
                for task in TASKS
                for n in LENGTHS[1:]
            },
        ),
        "Its exact limit grows with the length, and by as little: from 1.398 (length 5) to 1.683 "
        "(25) in the first task, from 4.330 to 4.399 in the second.",
    ),
    Claim(
        "corridor_td_stops_improving",
        "TD(λ) stops improving before the episodes end: in the last quarter of them its error is "
        "not more than 10 % below that of the second quarter.",
        BOTH,
        ratio(
            "TD(λ)'s error, last quarter of the episodes over the second",
            Region(low=1 / ALIKE),
            quarter(4, "TD(λ)") / quarter(2, "TD(λ)"),
        ),
        "It has reached its exact limit, which is not 0; see the claims about limits.",
    ),
    Claim(
        "corridor_small_interest_matters",
        "ETD-fixed updates hidden states very little (interest 0.01), yet enough to spoil the "
        "predictions of observable ones: its error is above PTD's.",
        BOTH,
        _compared([("ETD-fixed", "PTD")], LARGER),
        "With constant interest, ETD depends on α and the interest only through their product: an "
        "interest of 0.01 makes steps small, and keeps the fixed point of interest 1.",
    ),
    Claim(
        "corridor_etd_variable_best",
        "ETD-variable has the least error of the four methods, on both tasks at all lengths.",
        BOTH,
        _compared([("ETD-variable", rule) for rule in METHODS if rule != "ETD-variable"], SMALLER),
        COUNTS,
    ),
    Claim(
        "corridor_two_methods_low",
        "ETD-variable and PTD both reach a low error: in the last quarter of the episodes less "
        "than a tenth of TD(λ)'s.",
        BOTH,
        ratio(
            "error over TD(λ)'s, last quarter of the episodes",
            Region(high=LOW),
            {rule: quarter(4, rule) / quarter(4, "TD(λ)") for rule in ("ETD-variable", "PTD")},
        ),
        "Their exact limit is 0; what is left is due to the constant step size, and it is more in "
        "the second task, as the claims about limits say.",
    ),
    Claim(
        "corridor_etd_variable_faster",
        "ETD-variable converges slightly faster than PTD: after fewer episodes its error is half "
        "of what it is at first.",
        BOTH,
        ratio(
            "episodes until the error is half that of predicting 0, ETD-variable over PTD",
            SMALLER,
            _episodes_to_half("ETD-variable") / _episodes_to_half("PTD"),
        ),
        COUNTS,
    ),
    Claim(
        "corridor_lengths_10_and_20",
        "What is observed at lengths 5, 15 and 25 holds at 10 and 20: ETD-variable below PTD below "
        "ETD-fixed below TD(λ).",
        ("A.2",),
        _compared(
            [("ETD-variable", "PTD"), ("PTD", "ETD-fixed"), ("ETD-fixed", "TD(λ)")],
            SMALLER,
            (10, 20),
        ),
    ),
)
