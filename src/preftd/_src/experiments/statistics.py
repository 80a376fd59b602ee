"""Centres over seeds and intervals around them, of plain arrays and by the names of columns.

Averages are always over the first axis of an array, or the column `seed` of a frame. A frame with
the same seed twice in a group is refused.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit  # scipy.stats has it too, and takes a second to load

from preftd._src.arrays import Dense, InputError, instance, number, short
from preftd._src.names import nearest
from preftd._src.randomness import generator

RESAMPLES = 2000
"""The number of bootstrap samples: the ends of a 95 % interval are then the 50th from either
side."""
AT_A_TIME = 4_000_000
"""The most bootstrap numbers in memory at a time."""


class Interval(NamedTuple):
    """A mean over seeds, and half the width of Student's interval."""

    mean: Dense
    half_width: Dense


def as_level(given: float) -> float:
    """Return a level, checked to be between 0 and 1."""
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

    A quarter of the seeds is omitted at either end. If that is not a whole number, the seed at the
    edge counts in part: of 10 seeds, the third and the eighth count half.

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
    """The interval that contains the middle `level` of centres of resampled seeds; seeds × groups.

    Every group is resampled in the same way at every call, so an interval does not change when it
    is recomputed, or computed with others.
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


INTERVALS = ("student", "bootstrap")


def summarise(
    frame: pl.DataFrame,
    by: Sequence[str],
    value: str = "score",
    *,
    level: float = 0.95,
    centre: Literal["mean", "iqm"] = "mean",
    interval: Literal["student", "bootstrap"] = "student",
) -> pl.DataFrame:
    """For each group of rows with equal `by`: centre over seeds, and its interval.

    Parameters
    ----------
    frame : polars.DataFrame
        A row per seed in each group, with columns `seed` and `diverged`.
    by : sequence of str
        Columns that define the groups.
    value : str
        The column to summarise.
    level : float
        The confidence level of the interval.
    centre : str
        "mean", or "iqm", the mean of the middle half of the seeds.
    interval : str
        "student", for means, or "bootstrap": percentiles over resampled seeds.

    Returns
    -------
    polars.DataFrame
        Columns of `by`, then centre, low, high, seeds (how many) and diverged (how many). With one
        seed, or an infinite centre, the interval is infinite.

    Examples
    --------
    >>> runs = pl.DataFrame(
    ...     {"rule": ["TD", "TD", "PTD", "PTD"], "seed": [0, 1, 0, 1], "diverged": [False] * 4,
    ...      "score": [2.0, 4.0, 1.0, 1.0]})
    >>> found = summarise(runs, by=["rule"], level=0.5)
    >>> found.with_columns(pl.col("low", "high").round(6)).rows()
    [('TD', 3.0, 2.0, 4.0, 2, 0), ('PTD', 1.0, 1.0, 1.0, 2, 0)]

    """
    _check_columns(frame, by, value)
    level = as_level(level)
    nearest("centre", centre, CENTRES)
    nearest("interval", interval, INTERVALS)
    if centre != "mean" and interval == "student":
        raise InputError('Student\'s interval is one of means: give interval="bootstrap" as well.')
    # Only what is needed, as all that is grouped is put together in memory first.
    needed = frame.select(*dict.fromkeys([*by, value, "seed", "diverged"]))
    groups = needed.group_by(list(by), maintain_order=True).agg(
        # In the order of seeds, so that the order of rows changes nothing, not even a last digit.
        pl.col(value).cast(pl.Float64).sort_by("seed").alias("_values"),
        pl.len().cast(pl.Int64).alias("seeds"),
        pl.col("diverged").sum().cast(pl.Int64),
        pl.col("seed").n_unique().alias("_different"),
    )
    if (groups["seeds"] != groups["_different"]).any():
        _refuse_repeated(frame, by, value)
    found = np.empty((3, groups.height))
    sizes = groups["seeds"].to_numpy()
    for seeds in np.unique(sizes):
        alike = np.flatnonzero(sizes == seeds)
        values = groups["_values"][alike].list.to_array(int(seeds)).to_numpy().T
        found[:, alike] = _summary(values, level, centre, interval)
    numbers = [pl.Series(name, x) for name, x in zip(("centre", "low", "high"), found, strict=True)]
    return groups.select(*by, *numbers, "seeds", "diverged")


def _summary(values: Dense, level: float, centre: str, interval: str) -> tuple[Dense, ...]:
    """Centre and ends of the interval, of seeds × groups."""
    middle = CENTRES[centre](values)
    with np.errstate(invalid="ignore"):  # an infinite mean less an infinite width
        if interval == "student":
            width = student(values, level).half_width
            low, high = middle - width, middle + width
        else:
            low, high = bootstrap(values, centre, level)
    none = np.isinf(middle)
    return middle, np.where(none, -np.inf, low), np.where(none, np.inf, high)


def _check_columns(frame: pl.DataFrame, by: Sequence[str], value: str) -> None:
    instance("frame", frame, pl.DataFrame, "a polars.DataFrame")
    given: object = by
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or not given:
        raise InputError(f'by is {short(by)}: give a list of columns, such as ["task", "rule"].')
    if "seed" in by:
        raise InputError("by names the seed, over which centres are taken: leave it out.")
    for name in (*by, value, "seed", "diverged"):
        nearest("column", name, frame.columns)
    wrong = frame[value].is_null() | frame[value].cast(pl.Float64).is_nan()
    if wrong.any():
        raise InputError(f"{value}[{wrong.arg_max()}] is missing or NaN: leave such rows out.")


def _refuse_repeated(frame: pl.DataFrame, by: Sequence[str], value: str) -> None:
    """Raise an error that names a repeated seed, and the columns in which its rows differ."""
    keys = [*by, "seed"]
    twice = frame.filter(pl.struct(keys).is_duplicated())
    first = twice.join(twice.head(1).select(keys), on=keys, how="semi", nulls_equal=True)
    seed = first["seed"][0]
    plain = [n for n in first.columns if n not in (*keys, value, "diverged", "cell")]
    differ = [n for n in plain if not first[n].dtype.is_nested() and first[n].n_unique() > 1]
    remedy = f"add {' or '.join(differ)} to by" if differ else "leave out the copy"
    raise InputError(f"seed {seed} is there {first.height} times in one group: {remedy}.")
