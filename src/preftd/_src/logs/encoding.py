"""From columns of a log to features: fills, scales, and a feature for each value of a category.

Numbers are centred and scaled by a look at the log, so that systems are well conditioned. This
changes no prediction beyond rounding, and weights can be had in the log's own units.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, short
from preftd._src.kernels import kernel
from preftd._src.logs.columns import FILLS, Age, LogColumns, Missing, beta_of_age
from preftd._src.logs.encoders import EncoderKind, as_encoder

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
"""A whole number as text."""
BLOCK = 4096
"""Rows encoded at a time, few enough for the cache."""
LAST, MEAN, ZERO = range(3)
"""The fills, in the order of `FILLS`."""
VALUE, AGE, TRUSTED = range(3)
"""The state of a column between pieces: the last reading of the episode, its age,
and the last reading in a row with β > 0."""


@kernel(fastmath={"contract"})
def gather_whole(column: Vector, centre: float, factor: float, out: Dense, index: int) -> bool:
    """Write a column that has no gap; returns False if it has one, with `out` half written."""
    whole = True
    for t in range(column.size):
        x = column[t]
        whole &= abs(x) < np.inf
        out[t, index] = (x - centre) * factor
    return whole


@kernel(fastmath={"contract"})
def gather_four(
    a: Vector, b: Vector, c: Vector, d: Vector, centre: Vector, factor: Vector, out: Dense, i: int
) -> bool:
    """The same for four columns next to each other: memory is written in longer pieces."""
    whole = True
    for t in range(a.size):
        p, q, r, s = a[t], b[t], c[t], d[t]
        whole &= (abs(p) < np.inf) & (abs(q) < np.inf) & (abs(r) < np.inf) & (abs(s) < np.inf)
        out[t, i] = (p - centre[i]) * factor[i]
        out[t, i + 1] = (q - centre[i + 1]) * factor[i + 1]
        out[t, i + 2] = (r - centre[i + 2]) * factor[i + 2]
        out[t, i + 3] = (s - centre[i + 3]) * factor[i + 3]
    return whole


@kernel
def add_ages(
    column: Vector, begins: NDArray[np.bool_], elapsed: Vector, old: float, age: Vector
) -> float:
    """Let `age` be at least that of the column's last reading; returns that of the last row.

    elapsed  the time from the row before
    old      the age in the row before
    """
    for t in range(column.size):
        if begins[t]:
            old = np.inf
        old = old + elapsed[t] if np.isnan(column[t]) else 0.0
        age[t] = max(age[t], old)
    return old


@kernel
def gather_gaps(
    column: Vector,
    begins: NDArray[np.bool_],
    beta: Vector,
    numbers: tuple[float, float, float, int],
    carried: Vector,
    out: Dense,
    index: int,
) -> tuple[int, int]:
    """Write a column with gaps; returns how many there are, and the first infinite row or −1.

    A row with β = 0 never fills a gap of a row with β > 0.

    numbers  centre, factor, mean and fill
    carried  VALUE and TRUSTED are updated
    """
    centre, factor, mean, fill = numbers
    last, trusted, gaps = carried[VALUE], carried[TRUSTED], 0
    for t in range(column.size):
        x = column[t]
        if begins[t]:
            last = trusted = np.nan
        if np.isnan(x):
            gaps += 1
            known = trusted if beta[t] > 0.0 else last
            x = known if fill == LAST and not np.isnan(known) else (0.0 if fill == ZERO else mean)
        elif np.isinf(x):
            return gaps, t
        else:
            last = x
            trusted = x if beta[t] > 0.0 else trusted
        out[t, index] = (x - centre) * factor
    carried[VALUE], carried[TRUSTED] = last, trusted
    return gaps, -1


class Encoding(NamedTuple):
    """The settings that turn rows of a log into features."""

    columns: LogColumns
    centre: Vector
    """Shape (features,)."""
    scale: Vector
    """Shape (features,)."""
    mean: Vector
    """The value that fills a gap, shape (features,)."""
    levels: tuple[tuple[Any, ...], ...]
    """The values of each category; the first has no feature."""
    box: Dense
    """The smallest and largest number of each feature, centred and scaled; (2, features)."""
    gappy: tuple[str, ...] = ()
    """The inputs in which gaps were seen."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature."""
        columns, basis = self.columns, self.basis
        found = list(columns.features)
        if basis is not None:
            kind, encoder = basis
            found = kind.names(encoder, columns.features)[kind.constants :]
        for category, levels in zip(columns.categories, self.levels, strict=True):
            found += [f"{category} = {level}" for level in levels[1:]]
        return (*found, *(["1"] if self.adds_constant else []))

    @property
    def adds_constant(self) -> bool:
        """Whether the last feature is always 1; tiles add up to a constant without it."""
        return self.columns.constant and (self.basis is None or self.basis[0].constants > 0)

    @property
    def basis(self) -> tuple[EncoderKind, Any] | None:
        """The encoder of columns of numbers, and its kind."""
        text = self.columns.encoder
        return None if text is None else as_encoder(text, *self.box)

    @property
    def size(self) -> int:
        """The number of features."""
        return len(self.names)

    def raw(self, weights: Dense) -> Dense:
        """Weights in units of the log, converted from those of features, along the first axis.

        With an encoder, they are not converted.
        """
        found, count = np.array(weights), len(self.columns.features)
        if self.columns.encoder is not None:
            return found
        shape = (count,) + (1,) * (found.ndim - 1)
        found[:count] /= self.scale.reshape(shape)
        if self.columns.constant:
            found[-1] -= (found[:count] * self.centre.reshape(shape)).sum(axis=0)
        return found


@final
class Gatherer:
    """Turns rows into features, one piece of a log after the other.

    Parameters
    ----------
    encoding : Encoding
    carried : array of shape (inputs, 3), optional
        The state of each input before the first row: VALUE, AGE and TRUSTED.
    counted : sequence of str, optional
        The inputs whose ages are wanted (default: those on which β depends).

    """

    def __init__(
        self, encoding: Encoding, carried: Dense | None = None, counted: Sequence[str] | None = None
    ) -> None:
        e = self.encoding = encoding
        columns, none = e.columns, len(e.columns.categories)
        self.carried = nothing_carried(len(columns.inputs)) if carried is None else carried
        """The state of each input after the last row."""
        self._counted = columns.trusted_by if counted is None else tuple(counted)
        self._codes = [codes_by_level(own) for own in e.levels]
        self._out = np.empty((0, e.size))
        # A code is a number whose gaps are filled like others; without a reading, no feature is 1.
        self._centre = np.append(e.centre, np.zeros(none))
        self._factor = np.append(1.0 / e.scale, np.ones(none))
        self._mean = np.append(e.mean, np.zeros(none))
        self._fill = FILLS.index(columns.fill)
        self._basis, self._adds_constant = e.basis, e.adds_constant

    def columns(self, frame: pl.DataFrame) -> list[Vector]:
        """Return the inputs of rows as `features` takes them."""
        named = self.encoding.columns
        found = [numbers_of(frame[name]) for name in named.features]
        both = zip(named.categories, self._codes, strict=True)
        return found + [codes_of(frame[name], codes) for name, codes in both]

    def row(self, given: Mapping[str, Any]) -> list[Vector]:
        """Return the inputs of one row as `features` takes them."""
        named = self.encoding.columns
        found = [number_of(name, given[name]) for name in named.features]
        both = zip(named.categories, self._codes, strict=True)
        found += [code_of(given[name], codes) for name, codes in both]
        return [np.array([one]) for one in found]

    def rows(
        self,
        columns: list[Vector],
        begins: NDArray[np.bool_],
        beta: Vector | None,
        elapsed: Vector | None = None,
    ) -> Rows:
        """Return rows with their ages, and β of them.

        Parameters
        ----------
        columns : list of arrays of shape (rows,)
            The inputs, as `columns` or `row` returns them.
        begins : array of shape (rows,)
            Whether an episode begins with the row.
        beta : array of shape (rows,), optional
            β, if it does not follow from ages (default: 1 then).
        elapsed : array of shape (rows,), optional
            The time since the previous row (default: 1).

        """
        count, preference = len(begins), self.encoding.columns.preference
        age, spans = np.zeros(count), np.ones(count) if elapsed is None else elapsed
        for i, name in enumerate(self.encoding.columns.inputs):
            if name in self._counted:
                self.carried[i, AGE] = add_ages(
                    columns[i], begins, spans, self.carried[i, AGE], age
                )
        if isinstance(preference, Missing | Age):
            beta = beta_of_age(preference, age)
        elif beta is None:
            beta = np.ones(count)
        return Rows(columns, begins, beta, age, np.zeros(len(self.carried), int))

    def blocks(self, rows: Rows, place: Callable[[int], str]) -> Iterator[tuple[slice, Dense]]:
        """Yield features of at most `BLOCK` rows at a time, which the next ones overwrite.

        They stay in the cache while they are used.

        Parameters
        ----------
        rows : Rows
        place : callable
            The name of a row in messages.

        """
        named, levels = self.encoding.columns, self.encoding.levels
        for low in range(0, len(rows.begins), BLOCK):
            which = slice(low, min(low + BLOCK, len(rows.begins)))
            count = which.stop - low
            if len(self._out) < count:  # memory that is new takes long to get
                self._out = np.empty((count, self.encoding.size))
            out, codes = self._out[:count], np.empty((count, len(levels)))
            numbers = out if self._basis is None else np.empty((count, len(named.features)))
            block = _Block(
                len(named.features), rows.begins[which], rows.beta[which], numbers, codes
            )
            bad = self._write(block, [column[which] for column in rows.columns], rows.gaps)
            if bad is not None:
                name, row = named.features[bad[0]], place(low + bad[1])
                raise InputError(
                    f"feature {name!r} is infinite in {row}: give numbers, or leave it empty."
                )
            at = len(named.features)
            if self._basis is not None:
                kind, encoder = self._basis
                found = kind.expand(encoder, numbers)[:, kind.constants :]
                at = found.shape[1]
                out[:, :at] = found
            for i, own in enumerate(levels):
                for code in range(1, len(own)):
                    out[:, at] = codes[:, i] == code
                    at += 1
            if self._adds_constant:
                out[:, -1] = 1.0
            yield which, out

    def _write(
        self, block: _Block, columns: list[Vector], gaps: NDArray[np.int64]
    ) -> tuple[int, int] | None:
        """Write columns, at first those without a gap.

        Return the position of an infinite value: column and row.
        """
        whole = self._write_whole(block, columns)
        last, begun = block.last_trusted()
        for i, column in enumerate(columns):
            carried = self.carried[i]
            if whole[i]:
                carried[VALUE] = column[-1]
                if last >= 0 or begun:
                    carried[TRUSTED] = column[last] if last >= 0 else np.nan
                continue
            out, at = block.place(i)
            scaled = (self._centre[i], self._factor[i], self._mean[i], self._fill)
            found, bad = gather_gaps(column, block.begins, block.beta, scaled, carried, out, at)
            if bad >= 0:
                return i, bad
            gaps[i] += found
        return None

    def _write_whole(self, block: _Block, columns: list[Vector]) -> list[bool]:
        """Write columns without a gap, four at a time if possible; returns which these are."""
        whole, centre, factor = list[bool](), self._centre, self._factor
        numbers = len(self.encoding.columns.features)
        while len(whole) < len(columns):
            i = len(whole)
            if i + 4 <= numbers:
                a, b, c, d = columns[i : i + 4]
                if gather_four(a, b, c, d, centre, factor, block.numbers, i):
                    whole += [True] * 4
                    continue
            for j in range(i, min(i + 4, numbers) if i < numbers else len(columns)):
                whole.append(gather_whole(columns[j], centre[j], factor[j], *block.place(j)))
        return whole


class Rows(NamedTuple):
    """Some rows to encode, and the state before them."""

    columns: list[Vector]
    begins: NDArray[np.bool_]
    beta: Vector
    age: Vector
    """The age of the oldest input that counts; 0 if none counts."""
    gaps: NDArray[np.int64]
    """The number of gaps of each input, counted while features are made."""


class _Block(NamedTuple):
    """Some rows, and the arrays for their numbers."""

    features: int
    """The number of inputs that are numbers; codes of categories come after them."""
    begins: NDArray[np.bool_]
    beta: Vector
    numbers: Dense
    codes: Dense

    def place(self, i: int) -> tuple[Dense, int]:
        """Return the array that holds input i, and its column."""
        return (self.numbers, i) if i < self.features else (self.codes, i - self.features)

    def last_trusted(self) -> tuple[int, bool]:
        """The last row with β > 0 of its last episode, or −1; whether that begins in the block."""
        begun = last_true(self.begins)
        first = max(begun, 0)
        at = last_true(self.beta[first:] > 0)
        return (first + at if at >= 0 else -1), begun >= 0


def last_true(flags: NDArray[np.bool_]) -> int:
    """Return the last index with a flag, or −1."""
    return len(flags) - 1 - int(flags[::-1].argmax()) if flags.any() else -1


def nothing_carried(inputs: int) -> Dense:
    """The state before the first row of an episode: no readings."""
    return np.tile([np.nan, np.inf, np.nan], (inputs, 1))


def numbers_of(column: pl.Series) -> Vector:
    """A column as numbers, NaN where it is null."""
    if column.dtype != pl.Float64:
        column = column.cast(pl.Float64)
    if column.null_count():
        column = column.fill_null(float("nan"))
    return column.to_numpy()


def number_of(name: str, given: Any) -> float:
    """A value of a feature as a number, NaN if it is missing."""
    if given is None:
        return float("nan")
    if not isinstance(given, int | float | np.number | np.bool_):
        raise InputError(f"feature {name!r} is {short(given)}: give a number, or None.")
    return float(given)


def codes_by_level(levels: Sequence[Any]) -> dict[Any, float]:
    """The code of each value of a category: its index."""
    return {level: float(i) for i, level in enumerate(levels)}


def codes_of(column: pl.Series, codes: Mapping[Any, float]) -> Vector:
    """The code of each value, as `code_of` has it; each distinct one is looked up once."""
    values = plain_category(column).unique() if column.dtype.is_nested() else column.unique()
    known = {value: code_of(value, codes) for value in values.drop_nulls().to_list()}
    known = {value: code for value, code in known.items() if code == code}  # noqa: PLR0124  (NaN)
    if not known:
        return np.full(len(column), np.nan)
    found = column.replace_strict(
        list(known), list(known.values()), default=float("nan"), return_dtype=pl.Float64
    )
    return found.to_numpy()


def code_of(given: Any, codes: Mapping[Any, float]) -> float:
    """The index of a value among the levels; NaN if it is missing, 0 if it is unknown."""
    if given is None or given != given:  # noqa: PLR0124  (NaN)
        return float("nan")
    if isinstance(given, int | float | np.number | np.bool_):
        if not np.isfinite(given) or given != round(float(given)):
            return 0.0
        given = int(given)
    if isinstance(next(iter(codes)), str):
        return codes.get(str(given), 0.0)
    text = str(given)
    return codes.get(int(text), 0.0) if _WHOLE.fullmatch(text) else 0.0


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
