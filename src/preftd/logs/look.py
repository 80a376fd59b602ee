"""A look at a log: types, means and scales of its columns, and the values of categories."""

from __future__ import annotations

import numpy as np
import polars as pl

from preftd.arrays import LARGE, InputError, Vector
from preftd.logs.columns import LogColumns
from preftd.logs.encoding import Encoding, numbers_of, plain
from preftd.logs.table import Table

LOOK = 1 << 18
"""Rows that are looked at for means and scales; of a longer log, as many from all over it."""
PIECES = 16
MOST_LEVELS = 1000


def look(table: Table, columns: LogColumns) -> Encoding:
    """Return what turns the rows of a log into features, after a look at it."""
    seen = _sample(table, columns.features)
    for name in columns.features:
        _check_feature(table, name, seen)
    finite = [_finite(seen[name]) for name in columns.features]
    mean = np.array([column.mean() for column in finite])
    scale = np.array([column.std() for column in finite])
    centre, scale = (
        mean if columns.constant else np.zeros(len(mean)),
        np.where(scale > 0, scale, 1.0),
    )
    ends = [(column.min(), column.max()) for column in finite]
    box = (np.array(ends).reshape(-1, 2).T - centre) / scale
    levels = tuple(_levels(table, name) for name in columns.categories)
    return Encoding(
        columns.features,
        centre,
        scale,
        mean,
        levels,
        columns.categories,
        columns.fill,
        columns.trusted_by,
        columns.constant,
        columns.encoder,
        box,
    )


def check_types(table: Table, columns: LogColumns) -> None:
    """Refuse columns that are not there, or hold no numbers where numbers are needed."""
    schema = table.schema(table.names if callable(columns.target) else columns.all)
    others = {columns.terminated, columns.truncated, columns.episode, columns.order}
    others = (others | {*columns.categories}) - {*columns.features, *columns.reward}
    for name in columns.all:
        if name in others:
            continue
        if not (schema[name].is_numeric() or schema[name] == pl.Boolean):
            remedy = "give numbers"
            if name in columns.features:
                remedy += ", or name it among categories"
            raise InputError(
                f"column {name!r} holds {schema[name]}{_first_text(table, name)}: {remedy}."
            )


def _first_text(table: Table, name: str) -> str:
    """Where a column holds something that is no number."""
    for low, high in table.chunks(0, table.rows):
        column = table.read([name], low, high)[name]
        if column.dtype != pl.String:
            return ""
        wrong = column.cast(pl.Float64, strict=False).is_null() & column.is_not_null()
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            return f", such as {column[row]!r} in {table.place(low + row)}"
    return ""


def _sample(table: Table, names: tuple[str, ...]) -> pl.DataFrame:
    if table.rows <= LOOK:
        return table.read(names, 0, table.rows) if names else pl.DataFrame()
    each = LOOK // PIECES
    firsts = np.linspace(0, table.rows - each, PIECES).astype(int).tolist()
    return pl.concat([table.read(names, first, first + each) for first in firsts])


def _check_feature(table: Table, name: str, seen: pl.DataFrame) -> None:
    """Refuse a feature that says nothing."""
    numbers = numbers_of(seen[name])
    if not np.isfinite(numbers).any():
        raise InputError(f"feature {name!r} is missing in all {len(numbers):,} rows: leave it out.")
    finite = numbers[np.isfinite(numbers)]
    if np.abs(finite).max() > LARGE:
        raise InputError(
            f"feature {name!r} has numbers up to {np.abs(finite).max():g}: rescale it."
        )
    if finite.min() == finite.max() and _is_constant(table, name):
        raise InputError(
            f"feature {name!r} is {finite[0]:g} in every row: leave it out, there is a constant "
            "feature anyway."
        )


def _finite(column: pl.Series) -> Vector:
    numbers = numbers_of(column)
    return numbers[np.isfinite(numbers)]


def _is_constant(table: Table, name: str) -> bool:
    low, high = np.inf, -np.inf
    for first, stop in table.chunks(0, table.rows):
        numbers = numbers_of(table.read([name], first, stop)[name])
        if not np.isnan(numbers).all():
            low, high = min(low, np.nanmin(numbers)), max(high, np.nanmax(numbers))
        if low < high:
            return False
    return True


def _levels(table: Table, name: str) -> tuple[object, ...]:
    """The values of a category, the most frequent first."""
    counts: dict[object, int] = {}
    for low, high in table.chunks(0, table.rows):
        column = table.read([name], low, high)[name].drop_nulls()
        dtype = column.dtype
        if dtype.is_float() or dtype.is_nested() or dtype.is_temporal() or dtype == pl.Binary:
            raise InputError(f"category {name!r} holds {dtype}: give text or whole numbers.")
        try:
            values = plain(column)
        except pl.exceptions.InvalidOperationError:
            raise InputError(
                f"category {name!r} holds whole numbers of more than 64 bits: convert them to text."
            ) from None
        for value, count in values.value_counts().iter_rows():
            counts[value] = counts.get(value, 0) + count
        if len(counts) > MOST_LEVELS:
            raise InputError(
                f"category {name!r} has more than {MOST_LEVELS} values: leave it out, or group "
                "them."
            )
    if len(counts) < 2:
        raise InputError(f"category {name!r} has {len(counts)} values: leave it out.")
    return tuple(sorted(counts, key=lambda value: (-counts[value], str(value))))
