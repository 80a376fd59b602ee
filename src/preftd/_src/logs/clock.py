"""The time between rows: the power to which γ is raised, and by how much readings get older.

Without a column of time, each row comes one unit of time after the row before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from preftd._src.arrays import InputError, Vector, number, short

if TYPE_CHECKING:
    from preftd._src.logs.columns import LogColumns

NANOSECONDS = {
    "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9,
}  # fmt: skip


def as_time_unit(given: float | str) -> float | str:
    """Return a unit of time: a number, of what a column counts, or a text such as 5m or 1h.

    Examples
    --------
    >>> as_time_unit("5m"), as_time_unit("300")
    ('5m', 300.0)

    """
    if isinstance(given, str) and _nanoseconds(given):
        return given
    try:
        found = number("time_unit", float(given) if isinstance(given, str) else given)
    except ValueError:  # a text that is no number
        found = 0.0
    if found <= 0:
        raise InputError(
            f"time_unit is {short(given)}: give it as 1s, 5m, 1h or 1d; or as a number above 0, if "
            "the column of time holds numbers."
        )
    return found


def _nanoseconds(text: str) -> int:
    """How long a text such as 5m is; 0 if it says no duration."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})(us|ms|s|m|h|d)", text)
    return int(found[1]) * NANOSECONDS[found[2]] if found else 0


def counts_in_a_unit(columns: LogColumns, dtype: pl.DataType) -> float:
    """How many of what a column of time counts make a unit; refuses types that tell no time."""
    unit, name = columns.time_unit, columns.time
    if isinstance(dtype, pl.Date | pl.Datetime | pl.Duration):
        if not isinstance(unit, str):
            raise InputError(
                f"column {name!r} holds {dtype}, and no unit says after how long discounts apply: "
                "give time_unit as 1s, 5m, 1h or 1d."
            )
        tick = NANOSECONDS["d"] if isinstance(dtype, pl.Date) else 1
        if isinstance(dtype, pl.Datetime | pl.Duration):
            tick = {"ns": 1, "us": 10**3, "ms": 10**6}[dtype.time_unit]
        return _nanoseconds(unit) / tick
    if not dtype.is_numeric():
        raise InputError(
            f"column {name!r} holds {dtype}, which tells no time: give numbers, or dates with "
            "their times."
        )
    if isinstance(unit, str):
        raise InputError(
            f"time_unit is {unit!r} but column {name!r} holds {dtype}: give the unit as a number "
            "of what the column counts."
        )
    return 1.0 if unit is None else unit


def elapsed(columns: LogColumns, times: pl.Series) -> Vector:
    """The units of time from each row's predecessor to the row; 0 for the first row."""
    unit = counts_in_a_unit(columns, times.dtype)
    whole = times.dtype.is_temporal() or times.dtype.is_integer()
    ticks = times.cast(pl.Int128 if times.dtype.is_integer() else pl.Int64) if whole else times
    passed = ticks.diff().cast(pl.Float64).to_numpy() / unit
    passed[:1] = 0.0
    return passed


def older(age: float, passed: Vector) -> float:
    """An age after some more rows, added up one by one as `add_ages` does."""
    return float(np.cumsum(np.append(age, passed))[-1])
