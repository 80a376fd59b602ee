"""Where episodes begin, which rows are a part, and the steps and features of its rows.

A *unit* is an episode, or a block of one: what belongs to two folds is cut, a log of few episodes
is cut into blocks, and so is an episode of very many rows. Traces are cut between blocks, as
where an episode is truncated; the row that follows a block is its final observation.

A *part* is a run of whole units: what is computed in one go and stored in one file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import LARGE, Dense, InputError, Vector, as_array
from preftd._src.logs.arms import Arm
from preftd._src.logs.clock import elapsed
from preftd._src.logs.columns import Column, LogColumns
from preftd._src.logs.encoding import Encoding, Gatherer, Rows, is_there, numbers_of
from preftd._src.logs.splits import FEW, Pieces, Split, Whole, split_log
from preftd._src.logs.table import LogTable, in_one_piece

PART = 1 << 20
"""The approximate number of rows of a part: some seconds of work, which an interrupt may lose."""
LONGEST = 1 << 20
"""The most rows of a unit: the last part of a longer episode is read at once."""
TOGETHER = 1 << 15
"""Rows of a chunk, few enough to reuse memory."""
BLOCKS = 10
"""The approximate number of blocks for each fold, if there are few episodes."""
SHORTEST = 8
"""The fewest rows of these blocks."""

Flags = NDArray[np.bool_]


class LogPart(NamedTuple):
    """A run of whole units."""

    number: int
    start: int
    stop: int
    starts: Whole
    """The first row of each unit, and `stop`; shape (units + 1,)."""
    fresh: Flags
    """Whether an episode begins with a unit, and whether one begins at `stop`; (units + 1,)."""
    groups: Whole
    """The group of each unit for resampling: its episode, or the unit itself if there are few
    episodes; shape (units,)."""
    folds: Whole
    """The fold of each unit, shape (units,)."""
    reach: int
    """The row after the last episode, which may end after the part."""
    later: Whole
    """The first rows of the units of the last episode that come after the part."""
    later_folds: Whole
    """The fold of each of them."""

    def after(self, start: int, stop: int) -> LogPart:
        """Return rows of its last episode that come after it as a part."""
        first = int(np.searchsorted(self.later, start, side="right")) - 1
        last = int(np.searchsorted(self.later, stop, side="left"))
        starts = np.append(np.maximum(self.later[first:last], start), stop)
        fresh = np.append(np.zeros(last - first, np.bool_), stop == self.reach)
        folds = self.later_folds[first:last]
        return LogPart(-1, start, stop, starts, fresh, folds, folds, self.reach, *self[-2:])

    def begins(self, count: int) -> Flags:
        """Return whether an episode begins with each of the first rows, shape (count,)."""
        found = np.zeros(count, np.bool_)
        found[(self.starts[:-1] - self.start)[self.fresh[:-1]]] = True
        return found


class LogPlan(NamedTuple):
    """All parts of a log."""

    parts: tuple[LogPart, ...]
    split: Split
    episodes: int
    units: int
    groups: int
    """The number of groups of units."""
    longest: int
    """Rows of the longest episode."""
    block: int | None
    """Rows of a block, if episodes are cut."""
    cuts: int
    """The number of cuts because a reward is missing."""


def plan_parts(
    table: LogTable,
    columns: LogColumns,
    folds: int,
    part: int,
    block: int | None = None,
    split: Callable[..., Pieces] = split_log,
) -> LogPlan:
    """Find the episodes of a log, check that each is contiguous, and cut the log into parts.

    Parameters
    ----------
    table, columns, folds
    part : int
        Rows of a part, about.
    block : int, optional
        Rows of a unit at most.
    split : callable
        `split_log`, which deals episodes or cuts the log.

    """
    begins, missing = _episode_starts(table, columns)
    rows, few = table.rows, len(begins) < FEW * folds
    over = np.append(begins, rows)
    pieces = split(table, columns, begins, folds)
    limit = min(LONGEST, block or LONGEST)
    if block is None and few:
        limit = min(LONGEST, max(SHORTEST, -(-rows // (BLOCKS * folds))))
    lengths = np.diff([*pieces.starts, rows])
    blocks = -(-lengths // limit)
    starts = np.repeat(pieces.starts, blocks)
    inside = np.arange(len(starts)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    starts, fold = starts + inside * limit, np.repeat(pieces.folds, blocks)
    fresh = np.isin(starts, begins)
    groups = np.arange(len(starts)) if few else np.cumsum(fresh) - 1
    cuts = np.unique(np.searchsorted(starts, np.arange(0, rows, part)))
    cuts = np.append(cuts[cuts < len(starts)], len(starts))
    starts, fresh = np.append(starts, rows), np.append(fresh, True)
    parts = []
    for number, (a, b) in enumerate(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)):
        start, stop = int(starts[a]), int(starts[b])
        reach = int(over[np.searchsorted(over, stop)])
        rest = slice(b, int(np.searchsorted(starts, reach)))
        own = (starts[a : b + 1], fresh[a : b + 1], groups[a:b], fold[a:b])
        parts.append(LogPart(number, start, stop, *own, reach, starts[rest], fold[rest]))
    cut = int(limit) if (blocks > 1).any() else None
    return LogPlan(
        tuple(parts), pieces.split, len(begins), len(groups), int(groups[-1]) + 1,
        int(np.diff(over).max()), cut, missing,
    )  # fmt: skip


def _episode_starts(table: LogTable, columns: LogColumns) -> tuple[Whole, int]:
    """The rows with which episodes begin, and how many rows have no reward."""
    named = (
        *(columns.episode, columns.order, columns.time),
        *(columns.terminated, columns.truncated),
    )
    cuts = columns.reward if columns.missing_reward == "cut" else ()
    wanted = [name for name in dict.fromkeys((*named, *cuts)) if name is not None]
    if not wanted:
        return np.zeros(1, np.int64), 0
    found, before, missing = [], None, 0
    for first, stop in table.sources:
        ids, rows = list[pl.Series](), list[Whole]()
        for low, high in table.chunks(first, stop):
            frame = table.read(wanted, low, high)
            known = before is not None
            both = frame if before is None else pl.concat([before, frame])
            starts = _checked_starts(_CheckedRows(table, both, low - known), columns)[known:]
            other, before = _other_ids(columns, both)[known:], both.tail(1)
            other[0] |= low == first  # it may come again in the file, though it began before
            found.append(low + np.flatnonzero(starts))
            missing += int(_unpaid(columns, frame).sum()) if cuts else 0
            if columns.episode is not None:
                ids.append(frame[columns.episode].filter(pl.Series(other)))
                rows.append(low + np.flatnonzero(other))
        if ids and columns.episode is not None:
            _refuse_repeated(table, columns.episode, pl.concat(ids), np.concatenate(rows))
    return np.concatenate(found), missing


def _other_ids(columns: LogColumns, rows: pl.DataFrame) -> Flags:
    """Whether each row has another episode ID than the previous row; the first has."""
    other = np.zeros(rows.height, np.bool_)
    other[:1] = True
    if columns.episode in rows.columns:
        ids = rows[columns.episode]
        other[1:] |= ids.ne_missing(ids.shift())[1:].to_numpy()
    return other


def _unpaid(columns: LogColumns, rows: pl.DataFrame) -> Flags:
    """Whether any reward of each row is missing."""
    paid = [numbers_of(rows[name]) for name in columns.reward]
    return np.asarray(np.isnan(paid).any(axis=0))


def _checked_starts(rows: _CheckedRows, columns: LogColumns) -> Flags:
    """Whether an episode begins with each row; order must increase in an episode."""
    if columns.episode is not None:
        rows.column(columns.episode)
    starts = _other_ids(columns, rows.frame)
    for name in (columns.terminated, columns.truncated):
        if name is not None:
            starts[1:] |= rows.flags(name)[:-1]
    if columns.missing_reward == "cut":
        cuts = _unpaid(columns, rows.frame)
        starts |= cuts if columns.reward_is == "with" else np.append(False, cuts)[:-1]
    if columns.order is not None:
        order = rows.column(columns.order)
        rows.refuse_steps_back("order", order, (order <= order.shift())[1:], starts)
    if columns.time is not None:
        time = rows.column(columns.time)
        if time.dtype.is_float():
            numbers = numbers_of(time)
            rows.refuse(columns.time, ~np.isfinite(numbers), numbers, "give the time of each row")
        rows.refuse_steps_back("time", time, (time < time.shift())[1:], starts)
    return starts


class ScatteredError(InputError):
    """Rows of an episode are not together."""


def _refuse_repeated(table: LogTable, name: str, ids: pl.Series, rows: Whole) -> None:
    """Refuse an id of a file that comes again after others."""
    again = ids.is_first_distinct().not_()
    if again.any():
        at = int(again.arg_max() or 0)
        raise ScatteredError(
            f"episode {ids[at]!r} ({name!r}) begins a second time in {table.place(int(rows[at]))}: "
            "give each episode its own id, or name a column of order or time, by which rows "
            "can be put together."
        )


class PartSteps(NamedTuple):
    """An entry for each row of a part, and one for the row after it if that ends its last unit."""

    rewards: Dense
    """The rewards after the row, shape (rows, cumulants); 0 where there are none."""
    discounts: Dense
    """Of the step that leaves the row: γ, or γ to the power of its time; 0 where it terminates. The
    shape is (discounts, rows)."""
    ends: Flags
    """Whether the step that leaves the row terminates."""
    elapsed: Vector | None
    """The time from the row before, if there is a column of time; 0 where an episode begins."""
    first: Flags
    """Whether a unit begins with the row."""
    opens: Flags
    """Whether a step leaves the row; none leaves the last observation of an episode."""
    closes: Flags
    """Whether the previous step is the last of its unit, and this row its final observation."""
    rho: Vector
    beta: Vector | None
    """β, if it does not depend on the features."""
    group: NDArray[np.int64]
    fold: NDArray[np.int64]
    own: int
    """The number of rows of the part."""
    clipped: int
    """The number of ratios that were too large."""
    frame: pl.DataFrame
    """The columns that were read, except features."""

    def before(self, which: int, rows: slice = slice(None)) -> Vector:
        """Return one discount of the step that leaves the row before; 0 at the first row."""
        first, stop, _ = rows.indices(self.discounts.shape[1])
        known = self.discounts[which, max(first - 1, 0) : max(stop - 1, 0)]
        return known if first else np.concatenate([[0.0], known])


def read_steps(settings: Settings, part: LogPart) -> PartSteps:
    """Read the steps of a part, checked."""
    table, columns = settings.table, settings.columns
    own, more = part.stop - part.start, not part.fresh[-1]
    count = own + more
    # One row more tells what came with the next observation, or is the last one.
    stop = min(part.stop + 1, table.rows)
    wanted = table.names if callable(columns.target) else columns.of_steps
    frame = table.read(wanted, part.start, stop)
    rows = _CheckedRows(table, frame, part.start)
    group, fold, first, episode_ends, closes = _units(part, count)
    stops = np.zeros(frame.height, np.bool_)
    if columns.terminated is not None:
        stops = rows.flags(columns.terminated)
    alive = np.ones(frame.height)
    if isinstance(columns.discount, str):
        alive = rows.numbers(columns.discount, 0.0, 1.0)
    alive = np.where(stops, 0.0, alive)
    paid = np.stack([numbers_of(frame[name]) for name in columns.reward], axis=1)
    opens = ~episode_ends
    if columns.reward_is == "with":  # what came with the next row follows this one
        following = np.append(np.arange(1, frame.height), frame.height - 1)
        paid, alive = paid[following], alive[following]
    else:
        opens |= stops[:count]
    if more:
        opens[-1] = False
    paid, ends = paid[:count].copy(), alive[:count] == 0
    spans = _spans(settings, part, count)
    discounts = [_powers(gamma, spans, episode_ends) * alive[:count] for gamma in columns.discounts]
    if columns.missing_reward == "cut":
        opens &= ~np.isnan(paid).any(axis=1)
    rows.check_rewards(columns, paid, opens)
    paid[~opens] = 0.0
    # The final observation of an episode that is not terminated is its own last row.
    closes |= ~opens & ~first
    beta = None
    if isinstance(columns.preference, Column):
        beta = np.array(rows.numbers(columns.preference.name, 0.0, 1.0)[:count])
    elif isinstance(columns.preference, float):
        beta = np.full(count, columns.preference)
    elif table.beta is not None:
        beta = table.read_beta(part.start, part.start + count)
    rho = rows.ratios(columns)[:count]
    clipped = 0
    if columns.clip is not None:
        clipped = int((rho[:own] > columns.clip).sum())
        rho = np.minimum(rho, columns.clip)
    return PartSteps(
        paid,
        np.array(discounts),
        ends,
        None if spans is None else spans[0],
        first,
        opens,
        closes,
        rho,
        beta,
        group,
        fold,
        own,
        clipped,
        frame,
    )


def _spans(settings: Settings, part: LogPart, count: int) -> tuple[Vector, Vector] | None:
    """The time of the steps into and out of the first rows of a part, if there is a column of it.

    No step leads into the first row of an episode.
    """
    table, columns = settings.table, settings.columns
    if columns.time is None:
        return None
    low = max(part.start - 1, 0)
    times = table.read([columns.time], low, min(part.start + count + 1, table.rows))
    passed = np.append(elapsed(columns, times[columns.time])[part.start - low :], 0.0)
    return np.where(part.begins(count), 0.0, passed[:count]), passed[1 : count + 1]


def _powers(gamma: float, spans: tuple[Vector, Vector] | None, episode_ends: Flags) -> Vector:
    """γ to the power of the time that steps take; what leaves an episode takes none."""
    if spans is None:
        return np.full(len(episode_ends), gamma)
    # After the final observation of a part there may be another episode, which began earlier.
    after = np.where(episode_ends, 0.0, np.maximum(spans[1], 0.0))
    return np.where(after == 1.0, gamma, gamma**after)  # powers may differ in their last digit


def _units(part: LogPart, count: int) -> tuple[Whole, Whole, Flags, Flags, Flags]:
    """The group and the fold of each row; where units begin, episodes end, and blocks are over."""
    lengths = np.diff(part.starts)
    both = (np.repeat(numbers, lengths) for numbers in (part.groups, part.folds))
    group, fold = (np.append(numbers, numbers[-1:])[:count] for numbers in both)
    first, episode_ends, closes = (np.zeros(count, np.bool_) for _ in range(3))
    first[part.starts[:-1] - part.start] = True
    last = part.starts[1:] - part.start - 1
    episode_ends[last[part.fresh[1:]]] = True
    closes[(last + 1)[~part.fresh[1:]]] = True
    return group, fold, first, episode_ends, closes


class _CheckedRows(NamedTuple):
    """Columns of some rows, checked; messages name the row of the log."""

    table: LogTable
    frame: pl.DataFrame
    first: int
    """The number of the first row."""

    def place(self, row: int) -> str:
        """Return the name of a row in messages."""
        return self.table.place(self.first + row)

    def column(self, name: str) -> pl.Series:
        """Return a column that has neither nulls nor NaN."""
        self.refuse(name, ~is_there(self.frame[name]), None, "fill the column")
        return self.frame[name]

    def flags(self, name: str) -> Flags:
        """Return a column as flags, from booleans or the numbers 0 and 1."""
        column = self.column(name)
        if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
            raise InputError(f"column {name!r} holds {column.dtype}: give flags, or 0 and 1.")
        numbers = numbers_of(column)
        wrong = (numbers != 0) & (numbers != 1)
        self.refuse(name, wrong, numbers, "give flags, or 0 and 1")
        return np.asarray(numbers != 0)

    def numbers(self, name: str, low: float, high: float) -> Vector:
        """Return numbers that lie in [low, high] and are finite."""
        numbers = numbers_of(self.frame[name])
        wrong = ~((numbers >= low) & (numbers <= high) & np.isfinite(numbers))
        span = "0 or more" if high == np.inf else f"in [{low:g}, {high:g}]"
        self.refuse(name, wrong, numbers, f"give numbers {span}")
        return numbers

    def refuse(self, name: str, wrong: Flags, numbers: Vector | None, remedy: str) -> None:
        """Refuse a column with wrong rows; without numbers, these are missing."""
        if wrong.any():
            row = int(wrong.argmax())
            value = "missing" if numbers is None else told(numbers[row])
            raise InputError(f"{name!r} is {value} in {self.place(row)}: {remedy}.")

    def refuse_steps_back(
        self, role: str, column: pl.Series, back: pl.Series, starts: Flags
    ) -> None:
        """Refuse a column that goes back, as told of all rows but the first, inside an episode."""
        wrong = np.append(False, back.to_numpy()) & ~starts
        if not wrong.any():
            return
        row, table = int(np.argmax(wrong)), self.table
        remedy = f"sort the log by episode and {role}"
        if self.first + row in table.first and not table.one_source:
            remedy = "give files in their order, or a column that tells episodes apart"
        elif isinstance(column.dtype, pl.Datetime) and column.dtype.time_zone is None:
            remedy += ", and give times in UTC if clocks were put back"
        raise InputError(
            f"{role} ({column.name!r}) goes from {column[row - 1]} to {column[row]} inside an "
            f"episode, in {self.place(row)}: {remedy}."
        )

    def ratios(self, columns: LogColumns) -> Vector:
        """Return the importance ratios, 1 if there are none."""
        if columns.rho is not None:
            return np.array(self.numbers(columns.rho, 0.0, np.inf))
        if columns.behaviour is None:
            return np.ones(self.frame.height)
        rows, named = self, columns.target
        if not isinstance(named, str):
            assert named is not None
            found = as_array("what target returns", named(self.frame), finite=False)
            if found.shape != (self.frame.height,):
                raise InputError(
                    f"what target returns has shape {found.shape}: give a probability for each "
                    f"of {self.frame.height} rows."
                )
            named = "target"
            rows = self._replace(frame=self.frame.with_columns(pl.Series(named, found)))
        target = rows.numbers(named, 0.0, np.inf)
        taken = rows.numbers(columns.behaviour, 0.0, np.inf)
        remedy = "an action that was taken has a probability above 0"
        self.refuse(columns.behaviour, taken == 0, abs(taken), remedy)
        return target / taken

    def check_rewards(self, columns: LogColumns, rewards: Dense, opens: Flags) -> None:
        """Refuse rewards of steps that are not finite, or so large that sums overflow."""
        wrong = ~(np.abs(rewards) <= LARGE) & opens[:, None]
        if not wrong.any():
            return
        row, which = (int(i) for i in np.argwhere(wrong)[0])
        value, place = rewards[row, which], self.place(row + (columns.reward_is == "with"))
        remedy = f"rescale it, sums of numbers above {LARGE:g} overflow."
        if not np.isfinite(value):
            remedy = (
                "give a number for each step, or let episodes be cut there, with "
                'missing_reward = "cut".'
            )
        raise InputError(
            f"reward ({columns.reward[which]!r}) is {told(value)} in {place}: {remedy}"
        )


def told(value: float) -> str:
    """Return a number in the format of messages."""
    return "missing" if np.isnan(value) else f"{value:g}"


class Settings(NamedTuple):
    """The settings shared by all parts of an evaluation."""

    table: LogTable
    encoding: Encoding
    arms: tuple[Arm, ...]
    split: Split
    carried: tuple[Dense | None, ...]
    """The state before each part, for `Gatherer`."""
    regularisation: float | None = None
    """ε of all arms; each has its own if it is not given."""
    notes: tuple[str, ...] = ()
    """Sentences on what a look at the log has found."""

    @property
    def columns(self) -> LogColumns:
        """The roles of the columns of the log."""
        return self.encoding.columns

    @property
    def least_squares(self) -> tuple[Arm, ...]:
        """The arms whose weights solve a system; they come before the others."""
        return tuple(arm for arm in self.arms if arm.solves)

    @property
    def bootstrapped(self) -> tuple[Arm, ...]:
        """Those of least squares that have a rule."""
        return tuple(arm for arm in self.least_squares if arm.rule is not None)

    @property
    def needs_returns(self) -> bool:
        """Whether weights or penalties depend on realised returns."""
        return bool(self.regressions) or self.regularisation is None

    @property
    def regressions(self) -> tuple[Arm, ...]:
        """Those of least squares that regress on realised returns."""
        return tuple(arm for arm in self.least_squares if arm.regression is not None)


class Piece(NamedTuple):
    """Some rows of a part with their features, which the next piece overwrites."""

    which: slice
    features: Dense
    beta: Vector


class Chunk(NamedTuple):
    """Rows of a part that are read at a time, with their β."""

    which: slice
    beta: Vector
    gaps: Whole
    """The number of gaps of each input, after all pieces were read."""
    inputs: list[Vector]
    """Features and codes of categories, NaN where they are missing."""
    pieces: Iterator[Piece]
    """Its rows with their features, few enough at a time for the cache."""

    def rows_of(self, piece: Piece) -> slice:
        """Return which rows of the chunk are a piece."""
        first = self.which.start
        return slice(piece.which.start - first, piece.which.stop - first)


def chunks(settings: Settings, part: LogPart, steps: PartSteps) -> Iterator[Chunk]:
    """The rows of a part, read one chunk after the other."""
    table, columns = settings.table, settings.columns
    carried, count, at = settings.carried[part.number], len(steps.first), 0
    carried = None if carried is None else carried.copy()
    gatherer = Gatherer(settings.encoding, carried)
    begins = part.begins(count)
    for low, high in table.chunks(part.start, part.start + count):
        for frame in in_one_piece(table.read(columns.inputs, low, high)):
            inputs = gatherer.columns(frame)
            for first in range(0, frame.height, TOGETHER):
                some = slice(first, min(first + TOGETHER, frame.height))
                which = slice(at, at + some.stop - first)
                given = None if steps.beta is None else steps.beta[which]
                passed = None if steps.elapsed is None else steps.elapsed[which]
                own = [column[some] for column in inputs]
                rows = gatherer.rows(own, begins[which], given, passed)
                found = _pieces(gatherer, rows, at, partial(_place, table, part.start + at))
                yield Chunk(which, rows.beta, rows.gaps, own, found)
                at = which.stop


def _place(table: LogTable, first: int, row: int) -> str:
    return table.place(first + row)


def _pieces(
    gatherer: Gatherer, rows: Rows, at: int, place: Callable[[int], str]
) -> Iterator[Piece]:
    """The pieces of a chunk that begins with row `at` of a part."""
    for block, features in gatherer.blocks(rows, place):
        yield Piece(slice(at + block.start, at + block.stop), features, rows.beta[block])


def read_part(settings: Settings, part: LogPart) -> tuple[PartSteps, Dense, Vector]:
    """Read a part in one go: its steps, features and β."""
    steps = read_steps(settings, part)
    features, beta = list[Dense](), list[Vector]()
    for chunk in chunks(settings, part, steps):
        beta.append(chunk.beta)
        features += [piece.features.copy() for piece in chunk.pieces]
    return steps, np.concatenate(features), np.concatenate(beta)
