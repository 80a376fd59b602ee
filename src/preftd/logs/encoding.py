"""From columns of a log to features: fills, scales, and a feature for each value of a category.

Numbers are centred and scaled by a look at the log, so that systems are well conditioned. This
changes no prediction beyond rounding, and weights can be had in the log's own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.logs.columns import FILLS
from preftd.logs.gather_kernel import AGE, VALUE, gather_four, gather_gaps, gather_whole

BLOCK = 2048
"""Rows that are turned at a time: they stay in the cache."""


class Encoding(NamedTuple):
    """What turns rows of a log into features."""

    features: tuple[str, ...]
    centre: Vector
    """Shape (features,)."""
    scale: Vector
    """Shape (features,)."""
    mean: Vector
    """What fills a gap, shape (features,)."""
    levels: tuple[tuple[Any, ...], ...]
    """The values of each category; the first has no feature."""
    categories: tuple[str, ...]
    fill: str
    counted: tuple[str, ...]
    """The inputs on which the age of a row depends."""
    constant: bool

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        found = list(self.features)
        for category, levels in zip(self.categories, self.levels, strict=True):
            found += [f"{category} = {level}" for level in levels[1:]]
        return (*found, *(["1"] if self.constant else []))

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.names)

    def raw(self, weights: Dense) -> Dense:
        """Weights in units of the log, from those of features; along the first axis."""
        found, count = np.array(weights), len(self.features)
        shape = (count,) + (1,) * (found.ndim - 1)
        found[:count] /= self.scale.reshape(shape)
        if self.constant:
            found[-1] -= (found[:count] * self.centre.reshape(shape)).sum(axis=0)
        return found


@final
class Gatherer:
    """Turns rows into features, one piece of a log after the other.

    Parameters
    ----------
    encoding : Encoding

    """

    def __init__(self, encoding: Encoding) -> None:
        self.encoding = encoding
        inputs = encoding.features + encoding.categories
        self._carried = np.zeros((len(inputs), 2))
        self._carried[:, VALUE], self._carried[:, AGE] = np.nan, np.inf
        self.missing = np.zeros(len(inputs), np.int64)
        """Gaps so far, of features and categories."""
        self._out = np.empty((0, encoding.size))
        self._factor = 1.0 / encoding.scale

    def features(
        self, frame: pl.DataFrame, begins: NDArray[np.bool_]
    ) -> tuple[Dense, Vector, NDArray[np.int64]]:
        """Return features, shape (rows, size), the age of each row, and gaps of each input.

        The features are overwritten by the next call: memory that is new takes long to get.

        Parameters
        ----------
        frame : polars.DataFrame
        begins : array of shape (rows,)
            Whether an episode begins with the row.

        """
        e, rows = self.encoding, frame.height
        if len(self._out) < rows:
            self._out = np.empty((rows, e.size))
        out, age = self._out[:rows], np.zeros(rows)
        gaps = np.zeros(len(self._carried), np.int64)
        columns = [numbers_of(frame[name]) for name in e.features]
        for low in range(0, rows, BLOCK):
            which = slice(low, min(low + BLOCK, rows))
            rows_here = [column[which] for column in columns]
            try:
                self._block(rows_here, begins[which], out[which], age[which], gaps)
            except InfiniteError as error:
                raise InfiniteError(error.name, low + error.row) from None
        at = len(columns)
        for i, name in enumerate(e.categories):
            at += self._category(frame[name], i, begins, out[:, at:], age, gaps)
        if e.constant:
            out[:, -1] = 1.0
        self.missing += gaps
        return out, age, gaps

    def _block(
        self,
        columns: list[Vector],
        begins: NDArray[np.bool_],
        out: Dense,
        age: Vector,
        gaps: NDArray[np.int64],
    ) -> None:
        """Write columns of numbers, four at a time where none has a gap."""
        e, i = self.encoding, 0
        while i < len(columns):
            four = columns[i : i + 4]
            if len(four) == 4 and gather_four(*four, e.centre, self._factor, out, i):
                for column, carried in zip(four, self._carried[i : i + 4], strict=True):
                    carried[VALUE], carried[AGE] = column[-1], 0.0
            else:
                for j, column in enumerate(four):
                    gaps[i + j] += self._column(i + j, column, begins, out, age)
            i += len(four)

    def _column(
        self, i: int, column: Vector, begins: NDArray[np.bool_], out: Dense, age: Vector
    ) -> int:
        e, carried, factor = self.encoding, self._carried[i], self._factor[i]
        if gather_whole(column, e.centre[i], factor, out, i):
            carried[VALUE], carried[AGE] = column[-1], 0.0
            return 0
        counts = e.features[i] in e.counted
        numbers = (e.centre[i], factor, e.mean[i], FILLS.index(e.fill), counts)
        gaps, bad = gather_gaps(column, begins, numbers, carried, out, i, age)
        if bad >= 0:
            raise InfiniteError(e.features[i], bad)
        return int(gaps)

    def _category(
        self,
        column: pl.Series,
        i: int,
        begins: NDArray[np.bool_],
        out: Dense,
        age: Vector,
        gaps: NDArray[np.int64],
    ) -> int:
        """Write the features of a category; returns how many there are."""
        e, levels = self.encoding, self.encoding.levels[i]
        row = len(e.features) + i
        codes = codes_of(column, levels)
        counts = e.categories[i] in e.counted
        # A code is a number whose gaps are filled like others; without a reading, no feature is 1.
        fill = FILLS.index("zero" if e.fill == "mean" else e.fill)
        filled = np.empty((len(codes), 1))
        numbers = (0.0, 1.0, 0.0, fill, counts)
        found, _ = gather_gaps(codes, begins, numbers, self._carried[row], filled, 0, age)
        gaps[row] += found
        for code in range(1, len(levels)):
            out[:, code - 1] = filled[:, 0] == code
        return len(levels) - 1


class InfiniteError(Exception):
    """A feature is infinite; the caller knows which row of the log it is."""

    def __init__(self, name: str, row: int) -> None:
        super().__init__(name, row)
        self.name, self.row = name, row


def numbers_of(column: pl.Series) -> Vector:
    """A column as numbers, NaN where it is null."""
    if column.dtype != pl.Float64:
        column = column.cast(pl.Float64)
    if column.null_count():
        column = column.fill_null(float("nan"))
    return column.to_numpy()


def codes_of(column: pl.Series, levels: Sequence[Any]) -> Vector:
    """The index of each value among the levels; NaN if it is null or none of them."""
    known = pl.Series(list(levels), dtype=_plain(column).dtype)
    codes = _plain(column).replace_strict(
        known, np.arange(len(levels), dtype=np.float64), default=None, return_dtype=pl.Float64
    )
    return np.array(codes.fill_null(float("nan")).to_numpy())


def _plain(column: pl.Series) -> pl.Series:
    """Categories as text, all whole numbers alike."""
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    return column.cast(pl.String)
