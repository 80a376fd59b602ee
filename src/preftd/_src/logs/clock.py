"""The time between rows: the exponent of γ, and the increase of ages.

Without a column of time, each row is one unit of time after the previous row.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, number, short

if TYPE_CHECKING:
    from preftd._src.logs.columns import LogColumns

NANOSECONDS = {
    "us": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9, "d": 86400 * 10**9,
}  # fmt: skip


_MICROSECOND = dt.timedelta(microseconds=1)


def as_time_unit(given: float | str) -> float | str:
    """Return a unit of time: a number in the units of a column, or a text such as 5m or 1h.

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
    """The duration of a text such as 5m; 0 if it is not a duration."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})(us|ms|s|m|h|d)", text)
    return int(found[1]) * NANOSECONDS[found[2]] if found else 0


def counts_in_a_unit(columns: LogColumns, dtype: pl.DataType) -> float:
    """A unit of time in the units of a column; refuses types that are not times."""
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


def microseconds(columns: LogColumns, given: Any) -> int | float:
    """Return one time as a number: of microseconds for dates with their times."""
    if isinstance(columns.time_unit, str):
        if isinstance(given, np.datetime64):
            given = given.astype("datetime64[us]").item()
        if isinstance(given, dt.timedelta):
            return given // _MICROSECOND
        if isinstance(given, dt.datetime):
            zone = None if given.tzinfo is None else dt.UTC
            return (given - dt.datetime(1970, 1, 1, tzinfo=zone)) // _MICROSECOND
        if isinstance(given, dt.date):
            return (given - dt.date(1970, 1, 1)) // _MICROSECOND
    elif isinstance(given, int | float | np.number) and np.isfinite(given):
        return int(given) if isinstance(given, int | np.integer) else float(given)
    wanted = "a date with its time" if isinstance(columns.time_unit, str) else "a number"
    raise InputError(f"time ({columns.time!r}) is {short(given)}: give {wanted}.")


def all_microseconds(columns: LogColumns, times: pl.Series) -> NDArray[Any]:
    """Return times as `microseconds` does, shape (rows,)."""
    counts_in_a_unit(columns, times.dtype)
    if times.null_count() or (times.dtype.is_float() and not times.is_finite().all()):
        raise InputError(f"time ({columns.time!r}) is missing in some row: give that of each.")
    if isinstance(times.dtype, pl.Duration):
        times = times.cast(pl.Duration("us"))
    elif times.dtype.is_temporal():
        times = times.cast(pl.Datetime("us", getattr(times.dtype, "time_zone", None)))
    whole = times.dtype.is_temporal() or times.dtype.is_integer()
    return times.cast(pl.Int64 if whole else pl.Float64).to_numpy()


def units_between(columns: LogColumns, before: int | float, times: NDArray[Any]) -> Vector:
    """Return the units of time from each row's predecessor to the row, from `microseconds`."""
    unit = columns.time_unit
    each = _nanoseconds(unit) / 1000 if isinstance(unit, str) else 1.0 if unit is None else unit
    return np.diff(times, prepend=before).astype(np.float64) / each


def older(age: float, passed: Vector) -> float:
    """An age after some more rows, added one by one as in `add_ages`."""
    return float(np.cumsum(np.append(age, passed))[-1])
