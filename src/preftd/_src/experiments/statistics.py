"""Centres and intervals over seeds, by the names of columns.

What a number is averaged over cannot be mistaken: it is always the column `seed`. A frame in which
a group holds the same seed twice would be averaged over something else, and is refused.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import polars as pl

from preftd._src.arrays import Dense, InputError, short
from preftd._src.experiments.intervals import CENTRES, as_level, bootstrap, student
from preftd._src.names import nearest

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
    """For each group of rows alike in `by`: centre over seeds, and its interval.

    Parameters
    ----------
    frame : polars.DataFrame
        A row per seed in each group, with columns `seed` and `diverged`.
    by : sequence of str
        Columns in which the rows of a group agree.
    value : str
        The column to summarise.
    level : float
        How often the interval holds what many seeds would give.
    centre : str
        "mean", or "iqm", the mean of the middle half of the seeds.
    interval : str
        "student", for means, or "bootstrap": percentiles over resampled seeds.

    Returns
    -------
    polars.DataFrame
        Columns of `by`, then centre, low, high, seeds (how many) and diverged (how many). With one
        seed, the interval is infinite; so is that around an infinite centre.

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
    if not isinstance(frame, pl.DataFrame):
        raise InputError(f"frame is {short(frame)}: give a polars.DataFrame.")
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
    """Say which seed is there more than once, and in what its rows differ."""
    keys = [*by, "seed"]
    twice = frame.filter(pl.struct(keys).is_duplicated())
    first = twice.join(twice.head(1).select(keys), on=keys, how="semi", nulls_equal=True)
    seed = first["seed"][0]
    plain = [n for n in first.columns if n not in (*keys, value, "diverged", "cell")]
    differ = [n for n in plain if not first[n].dtype.is_nested() and first[n].n_unique() > 1]
    remedy = f"add {' or '.join(differ)} to by" if differ else "leave out the copy"
    raise InputError(f"seed {seed} is there {first.height} times in one group: {remedy}.")
