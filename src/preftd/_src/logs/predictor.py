"""Predictions of rows as they arrive: the state of each episode is kept between calls.

One row, a frame of rows and a whole log go through the same code, row for row with the same
operations, so that they give the same numbers to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_count, short
from preftd._src.logs.clock import all_microseconds, microseconds, units_between
from preftd._src.logs.columns import Age, Column, LogColumns, Missing
from preftd._src.logs.encoding import (
    Encoding,
    Gatherer,
    Rows,
    is_there,
    nothing_carried,
    number_of,
    numbers_of,
)
from preftd._src.logs.moments import Extras
from preftd._src.logs.parts import Flags, told
from preftd._src.logs.source import as_frame
from preftd._src.logs.splits import Whole
from preftd._src.names import nearest

MOST = 100_000
"""Episodes that are kept by default."""


class Prediction(NamedTuple):
    """The prediction for a row."""

    value: float
    beta: float
    """NaN if it is not known: the row has no column of it, or a signal needs more than a row."""
    age: float
    """The age of the oldest feature that counts, in rows or, if the log has a column of time, in
    its units; infinite before that."""


class Predictions(NamedTuple):
    """The same of several rows, arrays of shape (rows,)."""

    value: Vector
    beta: Vector
    age: Vector


class _Known(NamedTuple):
    """The state of an episode after its last row."""

    carried: Dense
    """Of each input, as `Gatherer` has it."""
    time: int | float


class _Rows(NamedTuple):
    """Rows as arrays."""

    inputs: list[Vector]
    beta: Vector | None
    time: NDArray[Any] | None
    """Numbers, if ages depend on them."""
    begins: Flags
    """Whether an episode begins with the row, as its reward is missing."""
    ends: Flags
    """Whether an episode ends with the row."""
    runs: list[tuple[Hashable, Whole | slice]]
    """Each episode, and its rows in order."""


@final
class Predictor:
    """Predicts values of rows as they arrive; made by `LogEvaluation.predictor`.

    For each episode it keeps the last reading of each column and its age. Threads may share it.
    """

    def __init__(
        self,
        encoding: Encoding,
        values: Callable[[Dense], Vector],
        most: int = MOST,
        extras: Extras | None = None,
    ) -> None:
        columns = encoding.columns
        self._columns, self._values, self._turn = columns, values, Lock()
        self._most, self._extras = as_count("most", most, 1), extras
        self._gatherer = Gatherer(encoding, counted=columns.trusted_by or columns.inputs)
        self._kept: dict[Hashable, _Known] = {}
        """The state of each episode, the most recent one last."""

    def __repr__(self) -> str:
        return f"<Predictor: {len(self._kept):,} episodes kept, at most {self._most:,}>"

    @property
    def episodes(self) -> tuple[Hashable, ...]:
        """The ids of episodes that are kept, the most recent one last."""
        return tuple(self._kept)

    def predict(self, row: Mapping[str, Any], episode: Hashable = None) -> Prediction:
        """Predict the value of one row.

        Parameters
        ----------
        row : mapping of str to number or text
            The columns of features and categories by name; None or NaN is a missing reading.
        episode : hashable, optional
            The id of its episode (default: what the row's column of episodes says).

        Returns
        -------
        Prediction

        """
        given: object = row
        if not isinstance(given, Mapping):
            raise InputError(f'row is {short(row)}: give a dict, such as {{"speed": 1.0}}.')
        own = self._columns.episode
        if episode is None and own is not None:
            episode = row.get(own)
            if episode is None:
                raise InputError(f"the row has no {own!r}: give it in the row, or as episode.")
        _check_id(episode)
        timed = self._check(row, keep=True)
        numbers = {name: np.array([number_of(name, row[name])]) for name in self._asked(row)}
        time = np.array([microseconds(self._columns, row[timed])]) if timed is not None else None
        rows = self._rows(self._gatherer.row(row), numbers, time, [(episode, slice(0, 1))])
        return Prediction(*(float(array[0]) for array in self._advance(rows, keep=True)))

    def predict_rows(self, frame: Any) -> pl.DataFrame:
        """Predict the values of rows of one episode or several, in order of time in each.

        Parameters
        ----------
        frame : polars or pandas frame, Arrow table, or DuckDB relation
            As `predict` takes a row. If the log had a column of episodes, it has to be there.

        Returns
        -------
        polars.DataFrame
            Columns value, beta and age, a row for each of the frame.

        """
        rows = as_frame(frame)
        if self._columns.episode is not None:
            nearest("column", self._columns.episode, rows.columns)
        return pl.DataFrame(self._frame(rows, keep=True)._asdict())

    def _frame(self, frame: pl.DataFrame, keep: bool) -> Predictions:
        """Predict rows of a frame; without `keep`, there is no history, and none is kept."""
        timed, time = self._check(frame.columns, keep), None
        try:
            numbers = {name: numbers_of(frame[name]) for name in self._asked(frame.columns)}
            inputs = self._gatherer.columns(frame)
            if timed is not None:
                time = all_microseconds(self._columns, frame[timed])
        except pl.exceptions.PolarsError as error:
            raise InputError(
                f"the rows cannot be read ({short(error)}): give numbers that are finite."
            ) from None
        return self._advance(self._rows(inputs, numbers, time, _runs(self._columns, frame)), keep)

    def end(self, episode: Hashable) -> None:
        """Forget an episode; a row of the same id then begins another one.

        Parameters
        ----------
        episode : hashable
            An id; one that is not kept is ignored.

        """
        _check_id(episode)
        with self._turn:
            self._kept.pop(episode, None)

    def _check(self, names: Any, keep: bool) -> str | None:
        """Refuse rows without a column of features, or of time if ages depend on it.

        The latter is returned.
        """
        columns = self._columns
        timed = columns.time if keep or columns.ages_by_time else None
        for name in (*columns.inputs, *([] if timed is None else [timed])):
            if name not in names:
                nearest("column", name, list(names))
        return timed

    def _asked(self, names: Any) -> Iterator[str]:
        """The other columns that describe rows, if present."""
        columns, trust = self._columns, self._columns.preference
        own = [columns.terminated, columns.truncated]
        own += [trust.name] if isinstance(trust, Column) else []
        own += columns.reward if columns.missing_reward == "cut" else []
        return (name for name in own if name is not None and name in names)

    def _rows(
        self,
        inputs: list[Vector],
        numbers: Mapping[str, Vector],
        time: NDArray[Any] | None,
        runs: Sequence[Any],
    ) -> _Rows:
        columns, trust, count = self._columns, self._columns.preference, len(inputs[0])
        begins, ends = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
        for name in (columns.terminated, columns.truncated):
            if name is not None and name in numbers:
                ends |= np.nan_to_num(numbers[name]) != 0
        if columns.missing_reward == "cut" and all(name in numbers for name in columns.reward):
            cut = begins if columns.reward_is == "with" else ends
            for name in columns.reward:
                cut |= np.isnan(numbers[name])
        beta = None
        if isinstance(trust, float):
            beta = np.full(count, trust)
        elif isinstance(trust, Column) and trust.name in numbers:
            beta = numbers[trust.name]
            wrong = ~((beta >= 0) & (beta <= 1))
            if wrong.any():
                row = int(wrong.argmax())
                raise InputError(
                    f"{trust.name!r} is {told(beta[row])} in row {row}: give numbers in [0, 1]."
                )
        return _Rows(inputs, beta, time, begins, ends, list(runs))

    def _advance(self, rows: _Rows, keep: bool) -> Predictions:
        """Predict rows, and keep the state after them if all are valid."""
        found = Predictions(*(np.empty(len(rows.begins)) for _ in Predictions._fields))
        with self._turn:
            after = dict[Hashable, _Known | None]()
            for episode, at in rows.runs if keep else _joined(rows):
                known = self._kept.get(episode) if keep else None
                begins = rows.begins[at].copy()
                begins[1:] |= rows.ends[at][:-1]
                carried = self._predict(rows, at, begins, known, found)
                time = 0 if rows.time is None else rows.time[at][-1].item()
                after[episode] = None if rows.ends[at][-1] else _Known(carried, time)
            if keep:
                self._keep(after)
        return found

    def _predict(
        self,
        rows: _Rows,
        at: Whole | slice,
        begins: Flags,
        known: _Known | None,
        found: Predictions,
    ) -> Dense:
        """Write the predictions for the rows of an episode; returns the state after them."""
        carried = nothing_carried(len(rows.inputs)) if known is None else known.carried.copy()
        inputs, beta = [column[at] for column in rows.inputs], None
        if rows.beta is not None:
            beta = rows.beta[at]
        self._gatherer.carried = carried
        passed = self._passed(rows, at, begins, known)
        made = self._gatherer.rows(inputs, begins, beta, passed)
        values = [
            self._values(self._with_extras(features, made, block))
            for block, features in self._gatherer.blocks(
                made, lambda row: f"row {np.arange(len(rows.begins))[at][row]}"
            )
        ]
        found.value[at], found.age[at] = np.concatenate(values), made.age
        by_age = isinstance(self._columns.preference, Missing | Age)
        found.beta[at] = made.beta if by_age or beta is not None else np.nan
        return carried

    def _with_extras(self, features: Dense, rows: Rows, block: slice) -> Dense:
        """Features and the extras that the arm uses, if there are any."""
        if self._extras is None:
            return features
        own = [column[block] for column in rows.columns]
        more = self._extras.of_rows(own, self._columns, rows.beta[block])
        return np.concatenate([features, more], axis=1)

    def _passed(
        self, rows: _Rows, at: Whole | slice, begins: Flags, known: _Known | None
    ) -> Vector | None:
        """The time since the previous row, for each row of an episode."""
        if rows.time is None:
            return None
        times = rows.time[at]
        before = times[0].item() if known is None else known.time
        passed = np.where(begins, 0.0, units_between(self._columns, before, times))
        if (passed < 0).any():
            row = np.arange(len(rows.begins))[at][(passed < 0).argmax()]
            raise InputError(
                f"time ({self._columns.time!r}) goes back in row {row}: give the rows of an "
                "episode in order, or end it before another begins."
            )
        return passed

    def _keep(self, after: Mapping[Hashable, _Known | None]) -> None:
        """Keep the state of episodes; the least recent ones are dropped."""
        for episode, known in after.items():
            self._kept.pop(episode, None)
            if known is not None:
                self._kept[episode] = known
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]


def predict_frame(predictor: Predictor, frame: pl.DataFrame) -> Predictions:
    """Return the predictions for rows without history."""
    return predictor._frame(frame, keep=False)


def _check_id(episode: Hashable) -> None:
    try:
        hash(episode)
    except TypeError:
        raise InputError(f"episode is {short(episode)}: give a number or a text.") from None


def _runs(columns: LogColumns, frame: pl.DataFrame) -> list[tuple[Hashable, Whole]]:
    """Each episode of a frame, and its rows in order; the most recent episode is last.

    All are of one episode if no column says more.
    """
    if not frame.height:
        return []
    if columns.episode is None or columns.episode not in frame.columns:
        return [(None, np.arange(frame.height))]
    ids = frame.select(pl.col(columns.episode).alias("id")).with_row_index("row")
    there = is_there(ids["id"])
    if not there.all():
        raise InputError(
            f"{columns.episode!r} is missing in row {there.argmin()}: fill the column."
        )
    grouped = ids.group_by("id", maintain_order=True).agg("row").sort(pl.col("row").list.last())
    rows = (one.to_numpy().astype(np.int64) for one in grouped["row"])
    return list(zip(grouped["id"].to_list(), rows, strict=True))


def _joined(rows: _Rows) -> list[tuple[Hashable, Whole]]:
    """All rows as one run, marked where episodes begin in it."""
    if not rows.runs:
        return []
    every = np.arange(len(rows.begins))
    each = [every[at] for _, at in rows.runs]
    rows.begins[[at[0] for at in each]] = True
    return [(None, np.concatenate(each))]
