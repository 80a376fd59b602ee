"""Where episodes begin, and which rows are a part.

A *unit* is what is held out together: an episode, or a block of one. A log of few episodes is cut
into blocks, and so is an episode of very many rows. Traces are cut between blocks, as
where an episode is truncated; the row that follows a block is its final observation.

A *part* is a run of whole units: what is computed in one go and stored in one file.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import InputError
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import numbers_of
from preftd._src.logs.table import Table

PART = 1 << 20
"""Rows of a part, about: some seconds of work, and what an interrupt may lose."""
LONGEST = 1 << 20
"""Rows of a unit at most: the last part of an episode that is longer is read in one go."""
FEW = 2
"""With fewer than so many episodes for each fold, episodes are cut into blocks."""
BLOCKS = 10
"""So many blocks there are then for each fold."""

Whole = NDArray[np.int64]


class Part(NamedTuple):
    """A run of whole units."""

    number: int
    start: int
    stop: int
    starts: Whole
    """The first row of each unit, and `stop`; shape (units + 1,)."""
    fresh: NDArray[np.bool_]
    """Whether an episode begins with a unit, and whether one begins at `stop`; (units + 1,)."""
    first: int
    """The number of its first unit."""
    reach: int
    """The row after the last episode, which may end after the part."""

    def begins(self, count: int) -> NDArray[np.bool_]:
        """Return whether an episode begins with each of the first rows, shape (count,)."""
        found = np.zeros(count, np.bool_)
        found[(self.starts[:-1] - self.start)[self.fresh[:-1]]] = True
        return found


class Plan(NamedTuple):
    """All parts of a log."""

    parts: tuple[Part, ...]
    episodes: int
    units: int
    longest: int
    """Rows of the longest episode."""
    block: int | None
    """Rows of a block, if episodes are cut."""
    cuts: int
    """How often an episode is cut because a reward is missing."""


def plan_parts(
    table: Table, columns: LogColumns, folds: int, part: int, block: int | None = None
) -> Plan:
    """Find the episodes of a log, checked to be in one piece each, and cut it into parts."""
    begins, missing = _episode_starts(table, columns)
    rows, lengths = table.rows, np.diff([*begins, table.rows])
    limit = min(LONGEST, block or LONGEST)
    if block is None and len(begins) < FEW * folds:
        limit = min(LONGEST, -(-rows // (BLOCKS * folds)))
    pieces = -(-lengths // limit)
    starts = np.repeat(begins, pieces)
    inside = np.arange(len(starts)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    starts, fresh = starts + inside * limit, inside == 0
    if len(starts) < folds:
        raise InputError(
            f"{table.label} is too short to hold out one in {folds} (rows: {rows}, episodes: "
            f"{len(begins)}): give a longer log, or fewer folds."
        )
    cuts = np.unique(np.searchsorted(starts, np.arange(0, rows, part)))
    cuts = np.append(cuts[cuts < len(starts)], len(starts))
    starts, fresh = np.append(starts, rows), np.append(fresh, True)
    over = np.append(begins, rows)
    parts = []
    for number, (a, b) in enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)):
        start, stop = int(starts[a]), int(starts[b])
        reach = int(over[np.searchsorted(over, stop)])
        parts.append(Part(number, start, stop, starts[a : b + 1], fresh[a : b + 1], a, reach))
    cut = int(limit) if (pieces > 1).any() else None
    return Plan(tuple(parts), len(begins), len(starts) - 1, int(lengths.max()), cut, missing)


def folds_of(first: int, count: int, folds: int) -> Whole:
    """The folds of units, in turn and shuffled: of `folds` units in a row each has another."""
    low = first // folds * folds
    keys = np.arange(low, -(-(first + count) // folds) * folds, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        keys = (keys + np.uint64(0x9E3779B97F4A7C15)) if shift == 30 else keys
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    order = np.argsort(keys.reshape(-1, folds), axis=1, kind="stable").ravel()
    return np.asarray(order[first - low : first - low + count], dtype=np.int64)


def _episode_starts(table: Table, columns: LogColumns) -> tuple[Whole, int]:
    """The rows with which episodes begin, and how many rows have no reward."""
    named = (columns.episode, columns.order, columns.terminated, columns.truncated)
    cuts = columns.reward if columns.missing_reward == "cut" else ()
    wanted = [name for name in dict.fromkeys((*named, *cuts)) if name is not None]
    if not wanted:
        return np.zeros(1, np.int64), 0
    found, before, missing = [], None, 0
    for first, stop in table.sources:
        ids, rows = list[pl.Series](), list[Whole]()
        for low, high in table.chunks(first, stop):
            frame = table.read(wanted, low, high)
            starts, other, before = _starts_in(table, columns, frame, low, before)
            other[0] |= low == first  # it may come again in the file, though it began before
            found.append(low + np.flatnonzero(starts))
            missing += int(unpaid(columns, frame).sum()) if cuts else 0
            if columns.episode is not None:
                ids.append(frame[columns.episode].filter(pl.Series(other)))
                rows.append(low + np.flatnonzero(other))
        if ids and columns.episode is not None:
            _refuse_repeated(table, columns.episode, pl.concat(ids), np.concatenate(rows))
    return np.concatenate(found), missing


def unpaid(columns: LogColumns, rows: pl.DataFrame) -> NDArray[np.bool_]:
    """Return whether any reward of each row is missing."""
    paid = [numbers_of(rows[name]) for name in columns.reward]
    return np.asarray(np.isnan(paid).any(axis=0))


def _starts_in(
    table: Table, columns: LogColumns, frame: pl.DataFrame, low: int, before: pl.DataFrame | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], pl.DataFrame]:
    """Whether an episode begins with each row of a chunk, whether its id does, and the last row."""
    known = before is not None
    rows = frame if before is None else pl.concat([before, frame])
    starts, first = np.zeros(rows.height, np.bool_), low - known
    starts[0] = True
    if columns.episode is not None:
        ids = rows[columns.episode]
        _refuse_missing(table, columns.episode, ids, first)
        starts[1:] |= (ids != ids.shift())[1:].to_numpy()
    other = starts.copy()
    for name in (columns.terminated, columns.truncated):
        if name is not None:
            starts[1:] |= flags(table, name, rows[name], first)[:-1]
    if columns.missing_reward == "cut":
        cut = unpaid(columns, rows)
        starts |= cut if columns.reward_is == "with" else np.append(False, cut[:-1])
    if columns.order is not None:
        order = rows[columns.order]
        _refuse_missing(table, columns.order, order, first)
        back = np.append(False, (order <= order.shift())[1:].to_numpy())
        wrong = back & ~starts
        if wrong.any():
            row = int(np.argmax(wrong))
            remedy = "sort the log by episode and order"
            if first + row in table.first and not table.one_source:
                remedy = "give files in their order, or a column that tells episodes apart"
            raise InputError(
                f"order ({columns.order!r}) goes from {order[row - 1]} to {order[row]} inside an "
                f"episode, in {table.place(first + row)}: {remedy}."
            )
    return starts[known:], other[known:], rows.tail(1)


def flags(table: Table, name: str, column: pl.Series, first: int) -> NDArray[np.bool_]:
    """A column as flags, from booleans or the numbers 0 and 1."""
    _refuse_missing(table, name, column, first)
    if column.dtype == pl.Boolean:
        return column.to_numpy()
    if not column.dtype.is_numeric():
        raise InputError(f"column {name!r} holds {column.dtype}: give flags, or 0 and 1.")
    numbers = column.cast(pl.Float64).to_numpy()
    wrong = (numbers != 0) & (numbers != 1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name!r} is {numbers[row]:g} in {table.place(first + row)}: give flags, or 0 and 1."
        )
    return np.asarray(numbers != 0)


def _refuse_missing(table: Table, name: str, column: pl.Series, first: int) -> None:
    """Refuse nulls and NaN."""
    missing = column.is_null()
    if column.dtype.is_float():
        missing |= column.is_nan().fill_null(True)
    if missing.any():
        row = int(missing.arg_max() or 0)
        raise InputError(f"{name!r} is missing in {table.place(first + row)}: fill the column.")


def _refuse_repeated(table: Table, name: str, ids: pl.Series, rows: Whole) -> None:
    """Refuse an id of a file that comes again after others."""
    again = ids.is_first_distinct().not_()
    if again.any():
        at = int(again.arg_max() or 0)
        raise InputError(
            f"episode {ids[at]!r} ({name!r}) begins a second time in {table.place(int(rows[at]))}: "
            "sort the log by episode, or give each episode its own id."
        )
