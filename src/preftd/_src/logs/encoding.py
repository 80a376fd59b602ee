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

from preftd._src.arrays import Dense, Vector
from preftd._src.logs.bases import as_encoder, expand
from preftd._src.logs.columns import FILLS
from preftd._src.logs.gather_kernel import (
    AGE,
    TRUSTED,
    VALUE,
    add_ages,
    gather_four,
    gather_gaps,
    gather_whole,
)
from preftd._src.logs.trust import Age, Missing, Trust, beta_of_age
from preftd.experience import Fourier, Polynomial, TileCoding

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
    preference : Trust
        Where β comes from.
    carried : array of shape (inputs, 3), optional
        What is known of each input before the first row: see `gather_kernel`.

    """

    def __init__(self, encoding: Encoding, preference: Trust, carried: Dense | None = None) -> None:
        e = self.encoding = encoding
        self._preference = preference
        none = len(e.categories)
        self._carried = nothing_carried(len(e.features) + none) if carried is None else carried
        self._out = np.empty((0, e.size))
        # A code is a number whose gaps are filled like others; without a reading, no feature is 1.
        self._centre = np.append(e.centre, np.zeros(none))
        self._factor = np.append(1.0 / e.scale, np.ones(none))
        self._mean = np.append(e.mean, np.zeros(none))
        self._basis = e.basis

    def features(
        self, frame: pl.DataFrame, begins: NDArray[np.bool_], beta: Vector | None
    ) -> tuple[Dense, Vector, NDArray[np.int64]]:
        """Return features, shape (rows, size), β of each row, and gaps of each input.

        The features are overwritten by the next call: memory that is new takes long to get.

        Parameters
        ----------
        frame : polars.DataFrame
        begins : array of shape (rows,)
            Whether an episode begins with the row.
        beta : array of shape (rows,), optional
            β, if it does not follow from ages (default: 1 then).

        """
        e, rows = self.encoding, frame.height
        if len(self._out) < rows:
            self._out = np.empty((rows, e.size))
        out, codes = self._out[:rows], np.empty((rows, len(e.categories)))
        numbers = out if self._basis is None else np.empty((rows, len(e.features)))
        beta, gaps = (
            np.ones(rows) if beta is None else beta.copy(),
            np.zeros(len(self._carried), int),
        )
        columns = [numbers_of(frame[name]) for name in e.features]
        columns += [
            codes_of(frame[name], levels)
            for name, levels in zip(e.categories, e.levels, strict=True)
        ]
        for low in range(0, rows, BLOCK):
            which = slice(low, min(low + BLOCK, rows))
            rows_here = [column[which] for column in columns]
            block = _Block(begins[which], beta[which], numbers[which], codes[which])
            try:
                self._block(rows_here, block, gaps)
            except InfiniteError as error:
                raise InfiniteError(error.name, low + error.row) from None
        at = len(e.features)
        if self._basis is not None:
            found = expand(self._basis, numbers)
            found = found if isinstance(self._basis, TileCoding) else found[:, 1:]
            at = found.shape[1]
            out[:, :at] = found
        for i, levels in enumerate(e.levels):
            for code in range(1, len(levels)):
                out[:, at] = codes[:, i] == code
                at += 1
        if e.adds_constant:
            out[:, -1] = 1.0
        return out, beta, gaps

    def _block(self, columns: list[Vector], block: _Block, gaps: NDArray[np.int64]) -> None:
        """Write columns and β: at first those without a gap, as gaps are filled by β."""
        whole = self._write_whole(columns, block)
        if isinstance(self._preference, Missing | Age):
            block.beta[:] = beta_of_age(self._preference, self._ages(columns, whole, block))
        last, begun = _last_trusted(block)
        for i, column in enumerate(columns):
            carried = self._carried[i]
            if not whole[i]:
                gaps[i] += self._fill(i, column, block)
                continue
            carried[VALUE] = column[-1]
            if last >= 0 or begun:
                carried[TRUSTED] = column[last] if last >= 0 else np.nan

    def _write_whole(self, columns: list[Vector], block: _Block) -> list[bool]:
        """Write columns without a gap, four at a time if possible; returns which these are."""
        whole, centre, factor = list[bool](), self._centre, self._factor
        numbers = len(self.encoding.features)
        while len(whole) < len(columns):
            i = len(whole)
            if i + 4 <= numbers:
                a, b, c, d = columns[i : i + 4]
                if gather_four(a, b, c, d, centre, factor, block.numbers, i):
                    whole += [True] * 4
                    continue
            for j in range(i, min(i + 4, numbers) if i < numbers else len(columns)):
                out, at = block.place(j, numbers)
                whole.append(gather_whole(columns[j], centre[j], factor[j], out, at))
        return whole

    def _ages(self, columns: list[Vector], whole: list[bool], block: _Block) -> Vector:
        """The age of each row: that of the oldest input that counts."""
        age = np.zeros(len(block.beta))
        for i, name in enumerate(self.encoding.features + self.encoding.categories):
            if name in self.encoding.counted:
                old = self._carried[i, AGE]
                self._carried[i, AGE] = (
                    0.0 if whole[i] else add_ages(columns[i], block.begins, old, age)
                )
        return age

    def _fill(self, i: int, column: Vector, block: _Block) -> int:
        """Write a column with gaps; returns how many there are."""
        e = self.encoding
        out, at = block.place(i, len(e.features))
        numbers = (self._centre[i], self._factor[i], self._mean[i], FILLS.index(e.fill))
        gaps, bad = gather_gaps(
            column, block.begins, block.beta, numbers, self._carried[i], out, at
        )
        if bad >= 0:
            raise InfiniteError(e.features[i], bad)
        return int(gaps)


class _Block(NamedTuple):
    """Some rows, and where their numbers go."""

    begins: NDArray[np.bool_]
    beta: Vector
    numbers: Dense
    codes: Dense

    def place(self, i: int, numbers: int) -> tuple[Dense, int]:
        """Return the array that holds input i, and its column; the first `numbers` are numeric."""
        return (self.numbers, i) if i < numbers else (self.codes, i - numbers)


def _last_trusted(block: _Block) -> tuple[int, bool]:
    """The last row with β > 0 of the last episode in a block, or −1; whether it begins there."""
    begun = bool(block.begins.any())
    first = len(block.begins) - 1 - int(block.begins[::-1].argmax()) if begun else 0
    trusted = block.beta[first:] > 0
    return (len(block.beta) - 1 - int(trusted[::-1].argmax()) if trusted.any() else -1), begun


def nothing_carried(inputs: int) -> Dense:
    """What is carried into the first row of an episode: nothing was read."""
    return np.tile([np.nan, np.inf, np.nan], (inputs, 1))


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
    """The index of each value among the levels; NaN if it is missing, 0 if it is none of them."""
    dtype = pl.Int64 if all(isinstance(level, int) for level in levels) else pl.String
    plain = plain_category(column).cast(dtype, strict=False)
    codes = plain.replace_strict(
        pl.Series(list(levels), dtype=dtype),
        np.arange(len(levels), dtype=np.float64),
        default=0.0,
        return_dtype=pl.Float64,
    )
    return np.where(is_there(column), codes.to_numpy(), np.nan)


def is_there(column: pl.Series) -> NDArray[np.bool_]:
    """Whether rows have a reading."""
    if column.dtype.is_float():
        return ~np.isnan(numbers_of(column))
    return column.is_not_null().to_numpy()


def plain_category(column: pl.Series) -> pl.Series:
    """Categories as text; whole numbers and flags alike, null where they have more than 64 bits."""
    if column.dtype.is_float():  # whole numbers with gaps, as pandas has them
        column = column.set(column != column.round(), None)
    number = column.dtype.is_numeric() or column.dtype == pl.Boolean
    return column.cast(pl.Int64 if number else pl.String, strict=False)
