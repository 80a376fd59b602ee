"""Centres over seeds and intervals around them, of plain arrays with seeds along the first axis."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats has it too, and takes a second to load

from preftd._src.arrays import Dense, InputError, number
from preftd._src.randomness import generator

RESAMPLES = 2000
"""How often the bootstrap draws: the ends of a 95 % interval are then the 50th from either side."""
AT_A_TIME = 4_000_000
"""How many drawn numbers are held at the same time."""


class Interval(NamedTuple):
    """A mean over seeds, and how far Student's interval reaches from it to either side."""

    mean: Dense
    half_width: Dense


def as_level(given: float) -> float:
    """Return a level, or refuse what is none."""
    level = number("level", given)
    if not 0 < level < 1:
        raise InputError(f"level is {level:g}: give a number between 0 and 1, such as 0.95.")
    return level


def student(errors: Dense, level: float) -> Interval:
    """Mean over seeds (the first axis) with Student's interval; infinite where it has none."""
    level = as_level(level)
    with np.errstate(over="ignore", invalid="ignore"):  # too large to be added up is infinite
        seeds, mean = len(errors), errors.mean(axis=0)
        if seeds < 2:
            return Interval(mean, np.full(mean.shape, np.inf))
        spread = errors.std(axis=0, ddof=1) / np.sqrt(seeds)
        width = stdtrit(seeds - 1, (1 + level) / 2) * spread
    return Interval(mean, np.where(np.isfinite(width), width, np.inf))


def mean(values: Dense) -> Dense:
    """Mean over seeds (the first axis); infinite where it is too large."""
    with np.errstate(over="ignore"):
        return np.asarray(values.mean(axis=0))


def interquartile_mean(values: Dense) -> Dense:
    """Mean of the middle half of the seeds (the first axis).

    A quarter of the seeds is left out at either end. Where that is not a whole number, the seed at
    the edge counts for the part of it that lies inside: of 10 seeds, the third and the eighth count
    half.

    >>> float(interquartile_mean(np.array([1.0, 2, 3, 4, 5, 6, 7, 900])))
    4.5
    """
    ordered, seeds = np.sort(values, axis=0), len(values)
    ends = np.arange(seeds + 1.0)
    inside = np.diff(np.clip(ends, seeds / 4, 3 * seeds / 4))
    middle = inside > 0  # a seed that does not count may be infinite
    with np.errstate(over="ignore"):
        return np.asarray(np.tensordot(inside[middle], ordered[middle], axes=1) / (seeds / 2))


CENTRES = {"mean": mean, "iqm": interquartile_mean}


def bootstrap(values: Dense, centre: str, level: float) -> tuple[Dense, Dense]:
    """Where the middle `level` of centres of resampled seeds begins and ends; seeds × groups.

    Every group is resampled alike, and the same at every call: an interval does not change when it
    is computed again, or together with others.
    """
    level = as_level(level)
    seeds, groups = values.shape
    if seeds < 2:
        return np.full(groups, -np.inf), np.full(groups, np.inf)
    drawn = generator("bootstrap", seeds).integers(seeds, size=(seeds, RESAMPLES))
    together = max(1, AT_A_TIME // drawn.size)
    parts = [
        _ends(values[:, first : first + together], drawn, centre, level)
        for first in range(0, groups, together)
    ]
    low, high = np.concatenate(parts, axis=1)
    return low, high


def _ends(values: Dense, drawn: NDArray[np.int64], centre: str, level: float) -> Dense:
    centres = CENTRES[centre](values[drawn])
    # One of the centres, none between two of them: they may be infinite.
    tails = [(1 - level) / 2, (1 + level) / 2]
    return np.asarray(np.quantile(centres, tails, axis=0, method="inverted_cdf"))
