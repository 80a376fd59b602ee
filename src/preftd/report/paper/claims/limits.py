"""Claims about limits: where methods end, by theory and by experiment."""

from functools import cache

import numpy as np

from preftd.preferences import Observability
from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.corridors import FOUR, places
from preftd.report.paper.claims.measures import part
from preftd.report.paper.claims.samples import ALIKE, Sample, means, ratios
from preftd.report.paper.corridors import METHODS, TASKS
from preftd.report.paper.limits import limit
from preftd.tasks import make

LONG = tuple(f"{task} to the limit" for task in TASKS)
ELSEWHERE, AT_TRUTH = ("TD(λ)", "ETD-fixed"), ("ETD-variable", "PTD")
"""Methods by whether their limit has an error."""
WITHIN = 0.02
"""How near an error must come to its limit, as a share of it."""
LAST = 0.95
"""Of long runs, the episodes from this share of them on."""


@cache
def limit_of(task: str, length: int, rule: str) -> float:
    """The error of a method of the paper at its fixed point."""
    return limit(make(task, length=length), METHODS[rule], Observability())


def _reached(found: Found) -> Finding:
    cases = {}
    for task in TASKS:
        for rule in ELSEWHERE:
            last = part(found[f"{task} to the limit"].reported, LAST, 1.0, rule=rule)
            ratio = last.values / limit_of(task, 5, rule)
            cases[f"{rule}, {task.replace('_', ' ')}"] = Sample(last.seeds, ratio)
    effect = "error of the last 1,000 of 20,000 episodes over the exact limit"
    return ratios(effect, Region(1 - WITHIN, 1 + WITHIN), cases)


def _goes_on_falling(found: Found) -> Finding:
    cases = {}
    for task in TASKS:
        runs = found[f"{task} to the limit"].reported
        for rule in AT_TRUTH:
            early, late = (part(runs, end / 2, end, rule=rule) for end in (1 / 8, 1.0))
            power = np.log(early.over(late).values) / np.log(8)
            cases[f"{rule}, {task.replace('_', ' ')}"] = Sample(early.seeds, power)
    effect = "power p, error like 1/k^p from episodes 1,250–2,500 to 10,000–20,000"
    return means(effect, Region(low=1 / ALIKE), cases)


def _above(found: Found) -> Finding:
    cases = {}
    for task, length, place in places():
        runs = found[f"{task} four methods"].reported
        for rule in METHODS:
            last = part(runs, 0.75, 1.0, task=f"length {length}", rule=rule)
            cases[f"{rule}, {place}"] = last.minus(limit_of(task, length, rule))
    effect = "error of the last quarter of the episodes less the exact limit"
    return means(effect, Region(low=0), cases)


CLAIMS = (
    Claim(
        "limit_reached",
        "With a decreasing step size, TD(λ) and ETD-fixed reach the exact limit of their error (at "
        "length 5, within 2 %): it is the fixed point that is off, not the noise.",
        (),
        LONG,
        _reached,
        "A method tends to the w with A w = b, and both are known exactly, random features "
        "included.",
    ),
    Claim(
        "limit_of_0_goes_on_falling",
        "With a decreasing step size, ETD-variable and PTD, whose limit is 0, go on falling at "
        "least like 1/k in the number k of episodes: the power is not more than 10 % below 1.",
        (),
        LONG,
        _goes_on_falling,
        "At a fixed point without error, what is left comes from the step size, which decreases "
        "like 1/k: the variance of weights in proportion to it, the square of their mean "
        "displacement in proportion to its square.",
    ),
    Claim(
        "limit_missed_at_constant_step_size",
        "At the constant step size that the search found, all methods stay above their exact "
        "limit: the noise of that step size adds to the error.",
        (),
        FOUR,
        _above,
        "A constant step size also moves the mean of the weights away from the fixed point, in "
        "proportion to itself; where the fixed point is off, that may be for the better.",
    ),
)
