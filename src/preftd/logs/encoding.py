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
from preftd.experience import Fourier, Polynomial, TileCoding
from preftd.logs.bases import as_encoder, expand
from preftd.logs.columns import FILLS
from preftd.logs.gather_kernel import AGE, VALUE, gather_four, gather_gaps, gather_whole

BLOCK = 4096
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
    encoder: str | None
    box: Dense
    """The least and the largest number of each feature, centred and scaled; (2, features)."""

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is."""
        found = list(self.features) if self.encoder is None else self._encoded()
        for category, levels in zip(self.categories, self.levels, strict=True):
            found += [f"{category} = {level}" for level in levels[1:]]
        return (*found, *(["1"] if self.adds_constant else []))

    @property
    def adds_constant(self) -> bool:
        """Whether the last feature is always 1; tiles add up to a constant without it."""
        return self.constant and not isinstance(self.basis, TileCoding)

    @property
    def basis(self) -> Polynomial | Fourier | TileCoding | None:
        """The encoder of columns of numbers."""
        return None if self.encoder is None else as_encoder(self.encoder, *self.box)

    def _encoded(self) -> list[str]:
        basis = self.basis
        if isinstance(basis, Polynomial):
            return [" · ".join(self.features[i] for i in some) for some in basis.products[1:]]
        if isinstance(basis, Fourier):
            return [f"cosine {wave.astype(int).tolist()}" for wave in basis.waves[1:]]
        return [f"tile {i}" for i in range(basis.size if basis else 0)]

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.names)

    def raw(self, weights: Dense) -> Dense:
        """Weights in units of the log, from those of features; along the first axis.

        With an encoder, they stay what they are.
        """
        found, count = np.array(weights), len(self.features)
        if self.encoder is not None:
            return found
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
        self._basis = encoding.basis

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
        numbers = out if self._basis is None else np.empty((rows, len(e.features)))
        gaps = np.zeros(len(self._carried), np.int64)
        columns = [numbers_of(frame[name]) for name in e.features]
        for low in range(0, rows, BLOCK):
            which = slice(low, min(low + BLOCK, rows))
            rows_here = [column[which] for column in columns]
            try:
                self._block(rows_here, begins[which], numbers[which], age[which], gaps)
            except InfiniteError as error:
                raise InfiniteError(error.name, low + error.row) from None
        at = len(columns)
        if self._basis is not None:
            found = expand(self._basis, numbers)
            found = found if isinstance(self._basis, TileCoding) else found[:, 1:]
            at = found.shape[1]
            out[:, :at] = found
        for i, name in enumerate(e.categories):
            at += self._category(frame[name], i, begins, out[:, at:], age, gaps)
        if e.adds_constant:
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
        i = 0
        while i < len(columns):
            four = columns[i : i + 4]
            if len(four) == 4 and self._four(four, out, i):
                self._carried[i : i + 4, VALUE] = [column[-1] for column in four]
                self._carried[i : i + 4, AGE] = 0.0
            else:
                for j, column in enumerate(four):
                    gaps[i + j] += self._column(i + j, column, begins, out, age)
            i += len(four)

    def _four(self, four: list[Vector], out: Dense, i: int) -> bool:
        a, b, c, d = four
        return gather_four(a, b, c, d, self.encoding.centre, self._factor, out, i)

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
    known = pl.Series(list(levels), dtype=plain(column).dtype)
    codes = plain(column).replace_strict(
        known, np.arange(len(levels), dtype=np.float64), default=None, return_dtype=pl.Float64
    )
    return np.array(codes.fill_null(float("nan")).to_numpy())


def plain(column: pl.Series) -> pl.Series:
    """Categories as text; whole numbers and flags alike."""
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return column.cast(pl.Int64)
    return column.cast(pl.String)
