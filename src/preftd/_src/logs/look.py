"""A look at a log: types, means and scales of its columns, and the values of categories.

Only rows with β > 0 are used. Parts are computed apart from each other, and a
part may begin inside an episode: the fills of gaps there, and the ages of readings, are found by
reading backwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import final

import numpy as np
import polars as pl

from preftd._src.arrays import LARGE, Dense, InputError, Vector
from preftd._src.logs.arms import Arm
from preftd._src.logs.clock import counts_in_a_unit, elapsed, older
from preftd._src.logs.columns import ROUNDED, Age, Column, LogColumns, Missing, beta_of_age
from preftd._src.logs.encoding import (
    AGE,
    TRUSTED,
    VALUE,
    Encoding,
    add_ages,
    codes_by_level,
    codes_of,
    is_there,
    last_true,
    nothing_carried,
    numbers_of,
    plain_category,
)
from preftd._src.logs.parts import Flags, LogPlan, Settings
from preftd._src.logs.table import CHUNK, LogTable

LOOK = 1 << 18
"""The number of rows used for means and scales; of a longer log, this many from all over it."""
PIECES = 16
FEWEST = 1 << 10
"""If fewer of these rows have β > 0, all such rows are searched for."""
MOST_LEVELS = 1000
BACK = 4096
"""Rows that are read at first to find the last readings before a row; then twice as many."""
REPEATS, VARIETY, FAR, FAR_NINES = 3, 20, 2.0, 1.0
"""A reading seems to mark missing ones if it comes REPEATS times, the others have VARIETY different
values, and it is FAR times their range away from them, or FAR_NINES times if it is −99, 999, …."""
VANISHED = 1100
"""Number of half-lives after which β underflows to 0."""


def look(
    table: LogTable,
    columns: LogColumns,
    plan: LogPlan,
    arms: tuple[Arm, ...],
    regularisation: float | None = None,
) -> Settings:
    """Return the settings of an evaluation, after a look at the rows with β > 0.

    Other rows must not change the values of trusted rows. If there are none,
    all rows are looked at.
    """
    found = _Look(table, columns, plan)
    for name in columns.features:
        found.check_feature(name)
    finite = [found.finite(name) for name in columns.features]
    mean = np.array([column.mean() for column in finite])
    scale = np.array([column.std() for column in finite])
    centre = mean if columns.constant else np.zeros(len(mean))
    scale = np.where(scale > 0, scale, 1.0)
    ends = [(column.min(), column.max()) for column in finite]
    box = (np.array(ends).reshape(-1, 2).T - centre) / scale
    encoding = Encoding(columns, centre, scale, mean, found.levels(), box, found.gaps())
    carried = _carried_into_parts(table, encoding, plan)
    notes = tuple(
        f"{name!r} is {value:g} in {share:.2g}% of its readings with β > 0, far from all others "
        f"({low:g} to {high:g}): if it marks missing readings, make it null (in CSV by "
        f"--null {value:g}) and use --preference missing, or let β be 0 there."
        for name, column in zip(columns.features, finite, strict=True)
        for value, share, low, high in marks_in(column)
    )
    return Settings(table, encoding, arms, plan.split, carried, regularisation, notes)


def marks_in(readings: Vector) -> Iterator[tuple[float, float, float, float]]:
    """Yield readings that seem to mark missing ones: they repeat, far from all others.

    Each comes with its share in per cent, and the least and the largest of the others. Zero is
    never one, as many columns are 0 now and then.

    Examples
    --------
    >>> speed = np.linspace(10, 19, 48)
    >>> list(marks_in(np.append(speed, [-999.0, -999.0])))
    []
    >>> list(marks_in(np.append(speed[:47], [-999.0, -999.0, -999.0])))[0][:2]
    (-999.0, 6.0)

    """
    left = readings
    while left.size > REPEATS:
        for value in (left.min(), left.max()):
            others = left[left != value]
            if value == 0 or left.size - others.size < REPEATS or others.size < VARIETY:
                continue
            low, high = float(others.min()), float(others.max())
            nines = set(f"{abs(value):g}") == {"9"}
            away = min(abs(value - low), abs(value - high))
            far = away > (FAR_NINES if nines else FAR) * (high - low)
            if far and np.unique(others).size >= VARIETY:
                yield float(value), 100 * (left.size - others.size) / readings.size, low, high
                left = others
                break
        else:
            return


def check_types(table: LogTable, columns: LogColumns) -> None:
    """Refuse columns that do not exist, or that contain no numbers where numbers are needed."""
    schema = table.schema(table.names if callable(columns.target) else columns.all)
    others = {columns.terminated, columns.truncated, columns.episode, columns.order, columns.time}
    others = (others | {*columns.categories}) - {*columns.features, *columns.reward}
    for name in columns.all:
        if name in others:
            continue
        if not (schema[name].is_numeric() or schema[name] == pl.Boolean):
            category = ", name it among categories" if name in columns.features else ""
            remedy = f"give numbers{category}, or in CSV name what is missing among nulls"
            raise InputError(
                f"column {name!r} holds {schema[name]}{_first_text(table, name)}: {remedy}."
            )
    if columns.time is not None:
        counts_in_a_unit(columns, schema[columns.time])


def _first_text(table: LogTable, name: str) -> str:
    """The position of a value that is not a number."""
    for low, high in table.chunks(0, table.rows):
        column = table.read([name], low, high)[name]
        if column.dtype != pl.String:
            return ""
        wrong = column.cast(pl.Float64, strict=False).is_null() & column.is_not_null()
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            return f", such as {column[row]!r} in {table.place(low + row)}"
    return ""


@final
class _Look:
    """The rows of a log that are used for means and scales."""

    def __init__(self, table: LogTable, columns: LogColumns, plan: LogPlan) -> None:
        self._table, self._columns = table, columns
        self._rows = TrustedRows(table, columns, plan)
        each = LOOK // PIECES
        firsts = np.linspace(0, table.rows - each, PIECES).astype(int).tolist()
        sample = [(first, first + each) for first in firsts]
        if table.rows <= LOOK:
            sample = [(0, table.rows)]
        self._trusted = True
        """Whether only rows with β > 0 are used."""
        self._gaps = np.zeros(len(columns.inputs), np.bool_)
        self._seen = self._read(sample)
        if self._seen.height < FEWEST and table.rows > LOOK:
            self._seen = self._read(table.chunks(0, table.rows))
        if not self._seen.height:
            self._trusted = False
            self._seen = self._read(sample)
        every = not self._trusted or self._seen.height >= min(table.rows, LOOK)
        self._which = "" if every else " with β > 0"

    def _chunks(
        self, names: Sequence[str], ranges: Iterable[tuple[int, int]], trusted: bool
    ) -> Iterator[pl.DataFrame]:
        """Columns of some ranges of rows; of those with β > 0, or of all."""
        for low, high in ranges:
            frame, some = self._rows.read(names, low, high)
            for name in names:
                i = self._columns.inputs.index(name)
                self._gaps[i] = self._gaps[i] or not is_there(frame[name]).all()
            yield frame.filter(pl.Series(some)) if trusted and not some.all() else frame

    def _read(self, ranges: Iterable[tuple[int, int]]) -> pl.DataFrame:
        """About LOOK rows of some ranges."""
        found, rows = list[pl.DataFrame](), 0
        for frame in self._chunks(self._columns.inputs, ranges, self._trusted):
            found.append(frame)
            rows += frame.height
            if rows >= LOOK:
                break
        return pl.concat(found, how="vertical_relaxed")

    def gaps(self) -> tuple[str, ...]:
        """The inputs that are missing in some of these rows, trusted or not."""
        return tuple(np.array(self._columns.inputs)[self._gaps].tolist())

    def finite(self, name: str) -> Vector:
        """The readings of a feature; from all of a long log if none was seen."""
        numbers = _finite(self._seen[name])
        if numbers.size or self._table.rows <= LOOK:
            return numbers
        every = self._chunks([name], self._table.chunks(0, self._table.rows), self._trusted)
        return np.concatenate([_finite(frame[name]) for frame in every])

    def check_feature(self, name: str) -> None:
        """Refuse a feature without information."""
        finite = self.finite(name)
        if not finite.size:
            rows = f"{self._seen.height:,} rows{self._which}"
            raise InputError(f"feature {name!r} is missing in all {rows}: leave it out.")
        if np.abs(finite).max() > LARGE:
            raise InputError(
                f"feature {name!r} has numbers up to {np.abs(finite).max():g}: rescale it."
            )
        if finite.min() == finite.max() and self._is_constant(name, self._trusted):
            # Rules that also learn where β is 0 may use it; an encoder needs a range.
            everywhere = self._is_constant(name, False)
            if everywhere or self._columns.encoder is not None:
                which = "" if everywhere else self._which
                raise InputError(
                    f"feature {name!r} is {finite[0]:g} in every row{which}: leave it out, there "
                    "is a constant feature anyway."
                )

    def _is_constant(self, name: str, trusted: bool) -> bool:
        low, high = np.inf, -np.inf
        for frame in self._chunks([name], self._table.chunks(0, self._table.rows), trusted):
            numbers = numbers_of(frame[name])
            if not np.isnan(numbers).all():
                low, high = min(low, np.nanmin(numbers)), max(high, np.nanmax(numbers))
            if low < high:
                return False
        return True

    def levels(self) -> tuple[tuple[object, ...], ...]:
        """The values of each category, the most frequent first."""
        counts = self._counts(self._trusted)
        for i, (name, own) in enumerate(zip(self._columns.categories, counts, strict=True)):
            if not own or (len(own) < 2 and len(self._counts(False)[i]) < 2):
                which = self._which if not own else ""
                raise InputError(f"category {name!r} has {len(own)} values{which}: leave it out.")
        return tuple(map(_by_frequency, counts))

    def _counts(self, trusted: bool) -> list[dict[object, int]]:
        """The counts of each category's values."""
        names = self._columns.categories
        counts: list[dict[object, int]] = [{} for _ in names]
        every = self._table.chunks(0, self._table.rows) if names else ()
        for frame in self._chunks(names, every, trusted):
            for name, own in zip(names, counts, strict=True):
                _count(name, frame[name].drop_nulls(), own)
        return counts


def _finite(column: pl.Series) -> Vector:
    numbers = numbers_of(column)
    return numbers[np.isfinite(numbers)]


def _by_frequency(counts: dict[object, int]) -> tuple[object, ...]:
    return tuple(sorted(counts, key=lambda value: (-counts[value], str(value))))


def _count(name: str, column: pl.Series, counts: dict[object, int]) -> None:
    """Count the values of a category."""
    dtype = column.dtype
    if dtype.is_float() or dtype.is_nested() or dtype.is_temporal() or dtype == pl.Binary:
        raise InputError(f"category {name!r} holds {dtype}: give text or whole numbers.")
    values = plain_category(column)
    if values.null_count() > column.null_count():
        raise InputError(
            f"category {name!r} holds whole numbers of more than 64 bits: convert them to text."
        )
    for value, count in values.value_counts().iter_rows():
        counts[value] = counts.get(value, 0) + count
    if len(counts) > MOST_LEVELS:
        raise InputError(
            f"category {name!r} has more than {MOST_LEVELS} values: leave it out, or group them."
        )


@final
class TrustedRows:
    """Finds the rows of a log with β > 0.

    Parameters
    ----------
    table : LogTable
    columns : LogColumns
    plan : LogPlan

    """

    def __init__(self, table: LogTable, columns: LogColumns, plan: LogPlan) -> None:
        self._table, self._columns = table, columns
        starts = [part.starts[:-1][part.fresh[:-1]] for part in plan.parts]
        self.begins = np.concatenate(starts)
        """The rows with which episodes begin."""
        self._stop, self._old = -1, np.empty(0)

    def episode_of(self, row: int) -> int:
        """Return the row with which the episode of a row begins."""
        return int(self.begins[np.searchsorted(self.begins, row, side="right") - 1])

    def read(self, names: Sequence[str], low: int, high: int) -> tuple[pl.DataFrame, Flags]:
        """Return columns of a range of rows, and whether β is above 0 in each.

        A range that follows the previous one is the fastest.
        """
        trust, table = self._columns.preference, self._table
        own = [trust.name] if isinstance(trust, Column) else self._columns.trusted_by
        frame = table.read(list(dict.fromkeys([*names, *own])), low, high)
        if isinstance(trust, Missing | Age):
            return frame, beta_of_age(trust, self._ages(frame, low)) > 0
        if isinstance(trust, Column):
            return frame, numbers_of(frame[trust.name]) > 0
        if table.beta is not None:
            return frame, table.read_beta(low, high) > 0
        return frame, np.full(high - low, not isinstance(trust, float) or trust > 0)

    def _ages(self, frame: pl.DataFrame, low: int) -> Vector:
        """The age of each row that follows `low`."""
        if low != self._stop:
            self._old = self._ages_before(low)
        within = self.begins[np.searchsorted(self.begins, low) :] - low
        begins, age = np.zeros(frame.height, np.bool_), np.zeros(frame.height)
        begins[within[within < frame.height]] = True
        passed = self.elapsed(low, low + frame.height)
        for i, name in enumerate(self._columns.trusted_by):
            read = np.where(is_there(frame[name]), 0.0, np.nan)
            self._old[i] = add_ages(read, begins, passed, self._old[i], age)
        self._stop = low + frame.height
        return age

    def elapsed(self, low: int, high: int) -> Vector:
        """Return the time from each row's predecessor to the row; 1 without a column of time."""
        name = self._columns.time
        if name is None:
            return np.ones(high - low)
        first = max(low - 1, 0)
        return elapsed(self._columns, self._table.read([name], first, high)[name])[low - first :]

    def _ages_before(self, row: int) -> Vector:
        """The age of each input that counts in the previous row; infinite if β is then 0 anyway."""
        counted, trust = self._columns.trusted_by, self._columns.preference
        assert isinstance(trust, Missing | Age)
        reach = trust.limit if isinstance(trust, Missing) else VANISHED * trust.half_life
        first = self._first_within(row, reach) if row else 0
        last = self.last_readings(counted, first, row, trusted=False)
        return np.array(
            [self.age(last[name][0], row) if name in last else np.inf for name in counted]
        )

    def age(self, read: int, row: int) -> float:
        """Return the age, just before a row, of a reading in another row."""
        return older(0.0, self.elapsed(read + 1, row))

    def _first_within(self, row: int, reach: float) -> int:
        """A row before which all readings are older than this age, just before `row`."""
        begins, first, age, many = self.episode_of(row - 1), row, 0.0, BACK
        if self._columns.time is None:
            return max(begins, row - 1 - math.ceil(min(reach, row)))
        while first > begins and age <= reach * ROUNDED:
            low = max(begins, first - many)
            age += float(self.elapsed(low + 1, min(first + 1, row)).sum())
            first, many = low, min(2 * many, CHUNK)
        return first

    def last_readings(
        self, names: Sequence[str], first: int, stop: int, *, trusted: bool
    ) -> dict[str, tuple[int, pl.Series]]:
        """Return by column the last row of a range with a reading, and that; of β > 0, or any."""
        found, many = dict[str, tuple[int, pl.Series]](), BACK
        while stop > first and (left := [name for name in names if name not in found]):
            low = max(first, stop - many)
            if trusted:
                frame, some = self.read(left, low, stop)
            else:
                frame, some = self._table.read(left, low, stop), np.ones(stop - low, np.bool_)
            for name in left:
                at = last_true(is_there(frame[name]) & some)
                if at >= 0:
                    found[name] = low + at, frame[name][at : at + 1]
            stop, many = low, min(2 * many, CHUNK)
        return found


def _carried_into_parts(
    table: LogTable, encoding: Encoding, plan: LogPlan
) -> tuple[Dense | None, ...]:
    """The state before each part, for `Gatherer`; None at the start of an episode.

    Each is that of the previous part unless there are readings since, so few rows are read.
    """
    columns, found = encoding.columns, list[Dense | None]()
    trusted = TrustedRows(table, columns, plan)
    for number, part in enumerate(plan.parts):
        if part.fresh[0]:
            found.append(None)
            continue
        begins, before = trusted.episode_of(part.start), plan.parts[number - 1].start
        known, first = found[-1], max(begins, before)
        if known is None or begins >= before:
            known = nothing_carried(len(columns.inputs))
        found.append(_carried(trusted, encoding, known, first, part.start))
    return tuple(found)


def _carried(
    trusted: TrustedRows, encoding: Encoding, known: Dense, first: int, stop: int
) -> Dense:
    """The state after a range of rows of an episode, given the state before it."""
    columns, found = encoding.columns, known.copy()
    codes = dict(zip(columns.categories, map(codes_by_level, encoding.levels), strict=True))
    if columns.trusted_by:
        passed = trusted.elapsed(first, stop)
        found[:, AGE] = [older(age, passed) for age in found[:, AGE].tolist()]
    for what in (VALUE, TRUSTED):
        last = trusted.last_readings(columns.inputs, first, stop, trusted=what == TRUSTED)
        for i, name in enumerate(columns.inputs):
            if name in last:
                row, read = last[name]
                own = codes_of(read, codes[name]) if name in codes else numbers_of(read)
                found[i, what] = own[0]
                if what == VALUE:
                    found[i, AGE] = trusted.age(row, stop)
    return found
