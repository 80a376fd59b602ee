"""Claims about limits: where methods end, by theory and by experiment."""

from typing import Any

import numpy as np
import polars as pl

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.corridors import FOUR, places
from preftd.report.paper.claims.measures import error_of_zero_in, part
from preftd.report.paper.claims.samples import ALIKE, SAME, Sample, means
from preftd.report.paper.corridors import METHODS, PARTS, ROUND, TASKS
from preftd.report.paper.limits import limits_of

LONG, CONSTANT = (
    tuple(f"{task} {name}" for task in TASKS) for name in ("to the limit", "constant steps")
)
AT_TRUTH = ("ETD-variable", "PTD")
"""Methods whose limit has no error."""
AT_LIMIT = Region(-0.02, 0.02)
"""How near an error must come to its limit, as a share of that of predicting 0."""
SHARE = "over the error of predicting 0"
LAST = 0.95
"""Of long runs, the episodes from this share of them on."""


def limit_of(task: str, length: int, rule: str) -> float:
    """The error of a method of the paper at its fixed point."""
    known = limits_of(f"{task} four methods").filter(task=f"length {length}", rule=rule)
    return float(known["limit"].item())


def _off(runs: pl.DataFrame, task: str, begin: float, **labels: Any) -> Sample:
    """The error of the last part of the episodes less the limit; that of predicting 0 is 1."""
    last = part(runs, begin, 1.0, **labels).minus(limit_of(task, 5, labels["rule"]))
    return Sample(last.seeds, last.values / error_of_zero_in(task, 5))


def _reached(found: Found) -> Finding:
    cases = {
        f"{rule}, {task.replace('_', ' ')}": _off(
            found[f"{task} to the limit"].reported, task, LAST, rule=rule
        )
        for task in TASKS
        for rule in METHODS
    }
    effect = f"error of the last 1,000 of 20,000 episodes less the exact limit, {SHARE}"
    return means(effect, AT_LIMIT, cases)


def _small_steps(found: Found) -> Finding:
    cases = {
        f"{rule}, {task.replace('_', ' ')}": _off(
            found[f"{task} constant steps"].scored,
            task,
            0.5,
            rule=rule,
            step_size=ROUND[rule] / PARTS[-1],
        )
        for task in TASKS
        for rule in METHODS
    }
    effect = f"error of the last 1,000 of 2,000 episodes less the exact limit, {SHARE}"
    return means(effect, AT_LIMIT, cases)


def _like_noise(found: Found) -> Finding:
    cases = {}
    for task in TASKS:
        runs = found[f"{task} constant steps"].scored
        for rule in AT_TRUTH:
            usual, small = (
                part(runs, 0.5, 1.0, rule=rule, step_size=ROUND[rule] / by)
                for by in (PARTS[0], PARTS[-1])
            )
            power = np.log(usual.over(small).values) / np.log(PARTS[-1] / PARTS[0])
            cases[f"{rule}, {task.replace('_', ' ')}"] = Sample(usual.seeds, power)
    effect = "power p, error that remains like α^p, from a step size to a quarter of it"
    return means(effect, SAME, cases)


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
        "With a decreasing step size, each of the four methods reaches the exact limit of its "
        "error (at length 5, within 2 % of the error of predicting 0): TD(λ) and ETD-fixed one "
        "that is not 0, so that it is the fixed point that is off, not the noise.",
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
    Claim(
        "limit_nears_with_small_steps",
        "What remains at a constant step size is that step size's own: with a quarter of round "
        "ones near those of the search, all methods come to their exact limit, within 2 % of the "
        "error of predicting 0.",
        (),
        CONSTANT,
        _small_steps,
    ),
    Claim(
        "constant_steps_leave_noise",
        "What ETD-variable and PTD, whose limit is 0, keep at a constant step size is noise and "
        "nothing else: it falls in proportion to the step size, with a power of 1 but for 10 %.",
        (),
        CONSTANT,
        _like_noise,
        "The variance of predictions falls like α, the square of a displacement of their mean like "
        "α²: a power of 1 is noise alone, 2 is displacement alone. The mean is displaced because, "
        "online, a hidden state is valued as next and as current state with weights that changed "
        "in between: each takes α² times the value v of the observable state behind it from that "
        "value, on average, so that n of them leave about v / (1 + αn). In the second task values "
        "are larger, and this is most of what remains.",
    ),
)
