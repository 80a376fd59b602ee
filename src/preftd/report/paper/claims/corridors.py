"""Claims about the four methods on both corridor tasks (figures 3 and A.2).

Step sizes are those that the search chose, scores those of fresh seeds: mean squared errors of
observable states, averaged over all episodes. A claim has a case for each task and length.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.measures import episodes_until, error_of_zero_in, part
from preftd.report.paper.claims.samples import ALIKE, LARGER, SMALLER, Sample, ratios
from preftd.report.paper.corridors import LENGTHS, METHODS, TASKS

FOUR = tuple(f"{task} four methods" for task in TASKS)
BOTH = ("3", "A.2")
LOW = 0.1
"""An error is called low if it is below a tenth of TD(λ)'s."""

COUNTS = (
    "With β in {0, 1} and interest iβ, the gain of ETD is i times the number of observable states "
    "seen so far in the episode, that of PTD is 1: ETD-variable is PTD with a step size that grows "
    "along the episode."
)


def places(lengths: Sequence[int] = LENGTHS) -> Iterator[tuple[str, int, str]]:
    """Task, length, and what to call both."""
    for task in TASKS:
        for length in lengths:
            yield task, length, f"{task.replace('_', ' ')} {length}"


def score(found: Found, study: str, length: int, **labels: str) -> Sample:
    """Scores on fresh seeds, with the step size that was chosen."""
    return Sample.of(found[study].reported, task=f"length {length}", **labels)


def _of(found: Found, task: str, length: int, rule: str) -> Sample:
    return score(found, f"{task} four methods", length, rule=rule)


def _compared(
    pairs: Sequence[tuple[str, str]], region: Region, lengths: Sequence[int] = LENGTHS
) -> Callable[[Found], Finding]:
    """A test of errors of one method over those of another, for all tasks and lengths."""

    def test(found: Found) -> Finding:
        cases = {
            f"{one} over {other}, {place}": _of(found, task, length, one).over(
                _of(found, task, length, other)
            )
            for one, other in pairs
            for task, length, place in places(lengths)
        }
        return ratios("error, one method over another", region, cases)

    return test


def _grows(found: Found) -> Finding:
    cases = {
        f"{place} over {length - 5}": _of(found, task, length, "TD(λ)").over(
            _of(found, task, length - 5, "TD(λ)")
        )
        for task, length, place in places(LENGTHS[1:])
    }
    return ratios("TD(λ)'s error, a length over the next shorter one", LARGER, cases)


def _stops(found: Found) -> Finding:
    cases: Mapping[str, Sample] = {
        place: part(runs, 0.75, 1.0, **labels).over(part(runs, 0.25, 0.5, **labels))
        for task, length, place in places()
        for runs in [found[f"{task} four methods"].reported]
        for labels in [{"task": f"length {length}", "rule": "TD(λ)"}]
    }
    effect = "TD(λ)'s error, last quarter of the episodes over the second"
    return ratios(effect, Region(low=1 / ALIKE), cases)


def _low(found: Found) -> Finding:
    cases = {}
    for task, length, place in places():
        runs, at = found[f"{task} four methods"].reported, f"length {length}"
        usual = part(runs, 0.75, 1.0, task=at, rule="TD(λ)")
        for rule in ("ETD-variable", "PTD"):
            cases[f"{rule}, {place}"] = part(runs, 0.75, 1.0, task=at, rule=rule).over(usual)
    return ratios("error over TD(λ)'s, last quarter of the episodes", Region(high=LOW), cases)


def _faster(found: Found) -> Finding:
    cases = {}
    for task, length, place in places():
        runs, at = found[f"{task} four methods"].reported, f"length {length}"
        half = error_of_zero_in(task, length) / 2
        one, other = (
            episodes_until(runs, half, task=at, rule=rule) for rule in ("ETD-variable", "PTD")
        )
        cases[place] = one.over(other)
    effect = "episodes until the error is half that of predicting 0, ETD-variable over PTD"
    return ratios(effect, SMALLER, cases)


OTHERS = tuple(rule for rule in METHODS if rule != "TD(λ)")

CLAIMS = (
    Claim(
        "corridor_td_poor",
        "TD(λ) does poorly: its error is above that of each other method, on both tasks at all "
        "lengths.",
        BOTH,
        FOUR,
        _compared([("TD(λ)", other) for other in OTHERS], LARGER),
        "Its fixed point itself is off: TD(λ) also updates hidden states, whose features overlap "
        "with those of observable ones; see the claims about limits.",
    ),
    Claim(
        "corridor_td_grows_with_length",
        "TD(λ)'s error grows with the length of the corridor, on both tasks from each length to "
        "the next.",
        BOTH,
        FOUR,
        _grows,
        "Its exact limit grows with the length, and by as little: from 1.398 (length 5) to 1.683 "
        "(25) in the first task, from 4.330 to 4.399 in the second.",
    ),
    Claim(
        "corridor_td_stops_improving",
        "TD(λ) stops improving while episodes go on: in the last quarter of them its error is not "
        "more than 10 % below that of the second quarter.",
        BOTH,
        FOUR,
        _stops,
        "What it has reached is its exact limit, which is not 0; see the claims about limits.",
    ),
    Claim(
        "corridor_small_interest_matters",
        "ETD-fixed updates hidden states very little (interest 0.01), yet enough to spoil the "
        "predictions of observable ones: its error is above PTD's.",
        BOTH,
        FOUR,
        _compared([("ETD-fixed", "PTD")], LARGER),
        "With constant interest, ETD depends on α and the interest only through their product: an "
        "interest of 0.01 makes steps small, and leaves the fixed point where interest 1 has it.",
    ),
    Claim(
        "corridor_etd_variable_best",
        "ETD-variable has the least error of the four methods, on both tasks at all lengths.",
        BOTH,
        FOUR,
        _compared([("ETD-variable", rule) for rule in METHODS if rule != "ETD-variable"], SMALLER),
        COUNTS,
    ),
    Claim(
        "corridor_two_methods_low",
        "ETD-variable and PTD both reach a low error: in the last quarter of the episodes less "
        "than a tenth of TD(λ)'s.",
        BOTH,
        FOUR,
        _low,
        "Their exact limit is 0; what is left is the constant step size's own, and it is more in "
        "the second task, as the claims about limits say.",
    ),
    Claim(
        "corridor_etd_variable_faster",
        "ETD-variable converges slightly faster than PTD: after fewer episodes its error is half "
        "of what it is at first.",
        BOTH,
        FOUR,
        _faster,
        COUNTS,
    ),
    Claim(
        "corridor_lengths_10_and_20",
        "What is observed at lengths 5, 15 and 25 holds at 10 and 20: ETD-variable below PTD below "
        "ETD-fixed below TD(λ).",
        ("A.2",),
        FOUR,
        _compared(
            [("ETD-variable", "PTD"), ("PTD", "ETD-fixed"), ("ETD-fixed", "TD(λ)")],
            SMALLER,
            (10, 20),
        ),
    ),
)
