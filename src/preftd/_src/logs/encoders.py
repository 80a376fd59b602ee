"""Encoders of whole columns: products, cosines or tiles of the numbers of a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from preftd._src.arrays import Dense, InputError, Vector, short
from preftd._src.names import nearest
from preftd.experience import Fourier, Polynomial, TileCoding

MOST_FEATURES = 2000
"""Least squares keeps a matrix of this many rows and columns."""


class EncoderKind(NamedTuple):
    """How encoders of a kind are made and applied to rows."""

    example: str
    """Its text: the name, and the whole numbers that `make` takes after the corners of a box."""
    make: Callable[..., Any]
    expand: Callable[[Any, Dense], Dense]
    """From an encoder and rows, shape (rows, entries), to features, shape (rows, size)."""
    names: Callable[[Any, Sequence[str]], list[str]]
    """From an encoder and the names of entries to those of features."""
    constants: int = 1
    """The number of leading features that are always 1; without one, the others sum to 1."""


def _products(encoder: Polynomial, rows: Dense) -> Dense:
    with np.errstate(over="ignore"):  # of numbers that are not trusted
        products = [np.prod(rows[:, chosen], axis=1) for chosen in encoder.products]
    return np.stack(products, axis=1)


def _cosines(encoder: Fourier, rows: Dense) -> Dense:
    inside = np.clip(rows, encoder.low, encoder.high)
    share = (inside - encoder.low) / (encoder.high - encoder.low)
    # Added up entry by entry, so that a row has the same features alone and among others.
    waves = sum(share[:, i : i + 1] * encoder.waves[:, i] for i in range(share.shape[1]))
    return np.asarray(np.cos(np.pi * waves))


def _tiles(encoder: TileCoding, rows: Dense) -> Dense:
    grid = encoder.grid
    inside = np.clip(rows, grid.low, grid.high)
    at = np.floor(((inside - grid.low) / grid.width)[:, None] + grid.shifts).astype(np.intp)
    at = np.minimum(at, grid.shape - 1)
    flat = np.ravel_multi_index(tuple(np.moveaxis(at, 2, 0)), tuple(grid.shape.tolist()))
    found = np.zeros((len(rows), encoder.size))
    each = encoder.size // len(grid.shifts)
    for tiling in range(len(grid.shifts)):
        found[np.arange(len(rows)), tiling * each + flat[:, tiling]] = 1.0
    return found


ENCODERS = {
    "polynomial": EncoderKind(
        "polynomial:2",
        lambda low, _, degree: Polynomial(len(low), degree),
        _products,
        lambda made, names: [" · ".join(names[i] for i in some) for some in made.products],
    ),
    "fourier": EncoderKind(
        "fourier:3",
        Fourier,
        _cosines,
        lambda made, _: [f"cosine {wave.astype(int).tolist()}" for wave in made.waves],
    ),
    "tiles": EncoderKind(
        "tiles:8:4",
        lambda low, high, tiles, count: TileCoding(low, high, np.full(len(low), tiles), count),
        _tiles,
        lambda made, _: [f"tile {i}" for i in range(made.size)],
        constants=0,
    ),
}
"""Kinds of encoders by name."""


def as_encoder(text: Any, low: Vector, high: Vector) -> tuple[EncoderKind, Any]:
    """Return the encoder of a text, on a box, and its kind.

    Examples
    --------
    >>> as_encoder("polynomial:2", np.zeros(2), np.ones(2))[1].size
    6

    """
    if not isinstance(text, str):
        raise InputError(f"encoder is {short(text)}: give a text, such as polynomial:2.")
    name, *numbers = text.split(":")
    nearest("encoder", name, ENCODERS)
    kind = ENCODERS[name]
    if len(numbers) != kind.example.count(":") or not all(one.isdecimal() for one in numbers):
        raise InputError(f"encoder is {short(text)}: give it as {kind.example}.")
    return kind, kind.make(low, high, *map(int, numbers))


def check_encoder(text: Any, entries: int) -> None:
    """Refuse a bad encoder for a number of columns, before a log is read."""
    if text is None:
        return
    _, encoder = as_encoder(text, np.zeros(max(entries, 1)), np.ones(max(entries, 1)))
    if not entries:
        raise InputError("encoder is given without features: leave it out.")
    if encoder.size > MOST_FEATURES:
        raise InputError(
            f"encoder {short(text)} makes {encoder.size:,} features of {entries}: give one that "
            f"makes at most {MOST_FEATURES:,}."
        )
