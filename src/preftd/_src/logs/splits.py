"""Held-out rows, and the rows from which they are predicted.

Either whole episodes are dealt to folds, and each fold is predicted from the others; or the log is
cut into consecutive pieces, and the later ones are predicted from all before them. A log of few
episodes is never dealt, because neighbouring rows are similar.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import InputError, short
from preftd._src.logs.columns import LogColumns
from preftd._src.logs.table import LogTable

FEW = 2
"""With fewer episodes for each fold, pieces of time are held out, not episodes."""
LEARNED = 2
"""The number of pieces before the first that is tested: one to learn from, one to choose on."""
VALIDATED = 4
"""The most training folds on which a ridge penalty is chosen."""
SAMPLED = 1 << 22
"""The number of rows, evenly spread, whose times are sorted to find pieces of equal size."""

Whole = NDArray[np.int64]


class Split(NamedTuple):
    """Folds, and which of them are tested."""

    folds: int
    """All of them, including those that are only for training."""
    ordered: bool = False
    """Whether folds are pieces of time, each predicted from those before it."""
    tested: int = 0
    """The first that is tested."""

    def training(self, fold: int) -> list[int]:
        """Return the folds from which the weights for a fold come; those of all if it is −1."""
        if self.ordered and fold >= 0:
            return list(range(fold))
        return [one for one in range(self.folds) if one != fold]

    def validation(self, fold: int) -> list[tuple[int, list[int]]]:
        """Return the training folds for a choice, and the folds to learn from."""
        kept = self.training(fold)
        if self.ordered:
            return [(one, kept[:one]) for one in kept[1:]][-VALIDATED:]
        turned = [one for one in kept if one > fold] + [one for one in kept if one < fold]
        found = [(one, [other for other in kept if other != one]) for one in turned[:VALIDATED]]
        return found if len(kept) > 1 else []


class Pieces(NamedTuple):
    """Runs of rows that belong to one episode and one fold."""

    split: Split
    starts: Whole
    """The first row of each, shape (pieces,)."""
    folds: Whole


def shuffled(count: int, folds: int) -> Whole:
    """Return folds in turn and shuffled: of `folds` episodes in a row each has another."""
    keys = np.arange(-(-count // folds) * folds, dtype=np.uint64)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        keys = (keys + np.uint64(0x9E3779B97F4A7C15)) if shift == 30 else keys
        keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
    order = np.argsort(keys.reshape(-1, folds), axis=1, kind="stable").ravel()
    return np.asarray(order[:count], dtype=np.int64)


def split_log(
    table: LogTable,
    columns: LogColumns,
    begins: Whole,
    folds: int,
    walk_forward: bool = False,
    test_after: Any = None,
) -> Pieces:
    """Cut a log into pieces that belong to one episode and one fold.

    Parameters
    ----------
    table, columns
    begins : array of shape (episodes,)
        The rows with which episodes begin.
    folds : int
        The number of tested folds; with `test_after`, of folds for choices.
    walk_forward : bool
        Whether each fold is predicted from those before it only.
    test_after : number, date, time or str, optional
        Rows whose time is later are tested; it is read as the type of the column of time, or of
        order if there is none.

    """
    if walk_forward and test_after is not None:
        raise InputError("both walk_forward and test_after are given: give one of the two.")
    few = len(begins) < FEW * folds
    if test_after is None and not walk_forward and not few:
        return Pieces(Split(folds), begins, shuffled(len(begins), folds))
    split = Split(folds + LEARNED, True, LEARNED)
    if test_after is not None:
        split = Split(folds + 1, True, folds)
    name = columns.time
    if test_after is not None and name is None:
        name = columns.order
    if name is not None:
        found = _by_time(table, name, begins, split, test_after)
    elif test_after is not None:
        raise InputError("test_after needs the time of rows: name its column, as time or order.")
    else:
        found = _by_row(table, begins, split, few)
    counts = np.bincount(found.folds, np.diff([*found.starts, table.rows]), split.folds)
    if not counts.all():
        raise InputError(
            f"{table.label} is too short to be cut into {split.folds} pieces of time (rows: "
            f"{table.rows}, episodes: {len(begins)}): give a longer log, or fewer folds."
        )
    return found


def _by_row(table: LogTable, begins: Whole, split: Split, few: bool) -> Pieces:
    """Whole episodes in their order, or consecutive pieces of each."""
    if not few:
        return Pieces(split, begins, begins * split.folds // table.rows)
    ends = np.append(begins[1:], table.rows)
    edges = begins[:, None] + (ends - begins)[:, None] * np.arange(split.folds) // split.folds
    starts, which = np.unique(edges.ravel(), return_index=True)
    # Of an episode with fewer rows than pieces, the last piece that begins at a row counts.
    last = np.append(which[1:], edges.size) - 1
    return Pieces(split, starts, np.asarray(last % split.folds, dtype=np.int64))


def _by_time(table: LogTable, name: str, begins: Whole, split: Split, test_after: Any) -> Pieces:
    """Pieces of time, whose ends are the same for all episodes, in which no time goes back."""
    edges = _edges(table, name, split, test_after)
    starts, folds = list[Whole](), list[Whole]()
    before = -1
    for low, high in table.chunks(0, table.rows):
        own = np.searchsorted(edges, _times(table, name, low, high), side="left")
        first = begins[(begins >= low) & (begins < high)] - low
        at = np.union1d(first, np.flatnonzero(np.diff(own, prepend=before)))
        starts.append(low + at)
        folds.append(own[at])
        before = int(own[-1])
    return Pieces(split, np.concatenate(starts), np.concatenate(folds).astype(np.int64))


def _times(table: LogTable, name: str, low: int, high: int) -> NDArray[Any]:
    """The times of rows as whole numbers, or as numbers."""
    column = table.read([name], low, high)[name]
    if column.dtype.is_temporal():
        return column.to_physical().to_numpy()
    if not column.dtype.is_numeric():
        raise InputError(f"time ({name!r}) holds {column.dtype}: give numbers, dates or times.")
    return column.to_numpy()


def _edges(table: LogTable, name: str, split: Split, test_after: Any) -> NDArray[Any]:
    """The last time of each piece but the last: as many rows in each of those before a limit."""
    every = max(1, -(-table.rows // SAMPLED))
    some = [_times(table, name, low, high)[::every] for low, high in table.chunks(0, table.rows)]
    times = np.sort(np.concatenate(some))
    if test_after is None:
        shares = np.arange(1, split.folds) / split.folds
        return np.asarray(times[(shares * len(times)).astype(int) - 1])
    limit = _limit(table, name, test_after)
    before = times[times <= limit]
    if not len(before) or len(before) == len(times):
        where = "before or at" if not len(before) else "after"
        raise InputError(
            f"test_after is {short(test_after)}, and no row is {where} it: give a time between the "
            "first and the last."
        )
    shares = np.arange(1, split.folds - 1) / (split.folds - 1)
    return np.append(before[np.maximum((shares * len(before)).astype(int) - 1, 0)], limit)


def _limit(table: LogTable, name: str, given: Any) -> Any:
    """A time as the column has it, from itself or a text."""
    dtype = table.schema([name])[name]
    try:
        if dtype.is_temporal():
            found = pl.Series([given])
            if isinstance(given, str):
                kind: Any = type(dtype) if dtype in (pl.Date, pl.Time) else pl.Datetime
                found = found.str.strptime(kind)
            if isinstance(dtype, pl.Datetime):
                zone = getattr(found.dtype, "time_zone", None)
                if zone is None:  # it is the time on a clock of the log's zone
                    found = found.cast(pl.Datetime("us")).dt.replace_time_zone(dtype.time_zone)
            return found.cast(dtype).to_physical()[0]
        if isinstance(given, bool):
            raise TypeError
        return float(given)
    except (TypeError, ValueError, pl.exceptions.PolarsError):
        raise InputError(
            f"test_after is {short(given)}: give a time as in the column {name!r}, which holds "
            f"{dtype}."
        ) from None
