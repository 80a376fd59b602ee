"""Which rows of a log are trusted at all, and what an episode has shown before a row.

Parts are computed apart from each other, and a part may begin inside an episode: what gaps are
filled with there, and how old readings are, is found by reading backwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.encoding import Encoding, codes_of, is_there, nothing_carried, numbers_of
from preftd._src.logs.gather_kernel import AGE, TRUSTED, VALUE
from preftd._src.logs.plan import Plan
from preftd._src.logs.table import Table
from preftd._src.logs.trust import Age, Column, Missing, beta_of_age

BACK = 4096
"""Rows that are read at first to find the last readings before a row; then twice as many."""
VANISHED = 1100
"""Number of half-lives after which β underflows to 0."""

Flags = NDArray[np.bool_]


@final
class TrustedRows:
    """Tells which rows of a log have β > 0.

    Parameters
    ----------
    table : Table
    columns : LogColumns
    plan : Plan

    """

    def __init__(self, table: Table, columns: LogColumns, plan: Plan) -> None:
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

        A range that follows the one before is the quickest.
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
        counted, rows = self._columns.trusted_by, np.arange(frame.height)
        if low != self._stop:
            self._old = self._ages_before(low)
        within = self.begins[np.searchsorted(self.begins, low) :] - low
        begins = np.full(frame.height, -1)
        begins[within[within < frame.height]] = within[within < frame.height]
        begun, age = np.maximum.accumulate(begins), np.zeros(frame.height)
        for i, name in enumerate(counted):
            read = np.maximum.accumulate(np.where(is_there(frame[name]), rows, -1))
            before = np.where(begun < 0, self._old[i] + rows + 1, np.inf)
            own = np.where(read >= np.maximum(begun, 0), rows - read, before)
            self._old[i] = own[-1]
            age = np.maximum(age, own)
        self._stop = low + frame.height
        return age

    def _ages_before(self, row: int) -> Vector:
        """The age of each input that counts in the row before; infinite if β is then 0 anyway."""
        counted, trust = self._columns.trusted_by, self._columns.preference
        found = np.full(len(counted), np.inf)
        reach = trust.limit if isinstance(trust, Missing) else 0
        if isinstance(trust, Age):
            reach = math.ceil(min(VANISHED * trust.half_life, self._table.rows))
        first = max(self.episode_of(row - 1) if row else 0, row - reach - 1)
        for low, high in _backwards(first, row):
            left = [i for i in range(len(counted)) if np.isinf(found[i])]
            if not left:
                break
            frame = self._table.read([counted[i] for i in left], low, high)
            for i in left:
                at = _last(is_there(frame[counted[i]]))
                if at >= 0:
                    found[i] = row - 1 - (low + at)
        return found


def carried_into_parts(
    table: Table, columns: LogColumns, encoding: Encoding, plan: Plan
) -> tuple[Dense | None, ...]:
    """Return what is carried into each part, as `Gatherer` takes it; None at the start of one.

    Each is that of the part before unless there are readings since: no row is read for many.
    """
    trusted, found = TrustedRows(table, columns, plan), list[Dense | None]()
    for number, part in enumerate(plan.parts):
        if part.fresh[0]:
            found.append(None)
            continue
        begins, before = trusted.episode_of(part.start), plan.parts[number - 1].start
        known, first = found[-1], max(begins, before)
        if known is None or begins >= before:
            known = nothing_carried(len(columns.inputs))
        found.append(_carried(trusted, columns, encoding, known, (first, part.start)))
    return tuple(found)


def _carried(
    trusted: TrustedRows,
    columns: LogColumns,
    encoding: Encoding,
    known: Dense,
    rows: tuple[int, int],
) -> Dense:
    """What is carried after a range of rows of an episode, with what was known before it."""
    first, stop = rows
    found = known.copy()
    found[:, AGE] += stop - first
    left = {(i, what) for i in range(len(found)) for what in (VALUE, TRUSTED)}
    for low, high in _backwards(first, stop):
        if not left:
            break
        frame, good = trusted.read(columns.inputs, low, high)
        for i, what in sorted(left):
            name = columns.inputs[i]
            read = is_there(frame[name])
            at = _last(read & good if what == TRUSTED else read)
            if at < 0:
                continue
            left.discard((i, what))
            value = frame[name][at : at + 1]
            if i < len(columns.features):
                found[i, what] = numbers_of(value)[0]
            else:
                found[i, what] = codes_of(value, encoding.levels[i - len(columns.features)])[0]
            if what == VALUE:
                found[i, AGE] = stop - 1 - (low + at)
    return found


def _last(flags: Flags) -> int:
    """The last row with a flag, or −1."""
    return len(flags) - 1 - int(flags[::-1].argmax()) if flags.any() else -1


def _backwards(first: int, stop: int) -> list[tuple[int, int]]:
    """Ranges of rows from the last to the first, each twice as long as the one before."""
    found, many = list[tuple[int, int]](), BACK
    while stop > first:
        found.append((max(first, stop - many), stop))
        stop, many = found[-1][0], min(2 * many, 1 << 17)
    return found
