"""Encoders for whole columns: products, cosines or tiles of the numbers of a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from preftd._src.arrays import Dense, InputError, Vector, short
from preftd._src.names import nearest
from preftd.experience import Fourier, Polynomial, TileCoding

KINDS = {"polynomial": 1, "fourier": 1, "tiles": 2}
"""How many whole numbers follow the name of each."""
MOST_FEATURES = 2000
"""Least squares keeps the square of so many numbers."""


def check_encoder(text: Any, entries: int) -> None:
    """Refuse what is no encoder of so many numbers, before a log is read."""
    if text is None:
        return
    encoder = as_encoder(text, np.zeros(max(entries, 1)), np.ones(max(entries, 1)))
    if not entries:
        raise InputError("encoder is given without features: leave it out.")
    if encoder.size > MOST_FEATURES:
        raise InputError(
            f"encoder {short(text)} makes {encoder.size:,} features of {entries}: give one that "
            f"makes at most {MOST_FEATURES:,}."
        )


def as_encoder(text: Any, low: Vector, high: Vector) -> Polynomial | Fourier | TileCoding:
    """Return the encoder that a text stands for, on a box.

    Examples
    --------
    >>> as_encoder("polynomial:2", np.zeros(2), np.ones(2)).size
    6

    """
    if not isinstance(text, str):
        raise InputError(f"encoder is {short(text)}: give a text, such as polynomial:2.")
    kind, *numbers = text.split(":")
    nearest("encoder", kind, KINDS)
    if len(numbers) != KINDS[kind] or not all(one.isdecimal() for one in numbers):
        example = {"polynomial": "polynomial:2", "fourier": "fourier:3", "tiles": "tiles:8:4"}[kind]
        raise InputError(f"encoder is {short(text)}: give it as {example}.")
    first = int(numbers[0])
    if kind == "polynomial":
        return Polynomial(len(low), first)
    if kind == "fourier":
        return Fourier(low, high, first)
    return TileCoding(low, high, np.full(len(low), first), int(numbers[1]))


def expand(encoder: Polynomial | Fourier | TileCoding, rows: Dense) -> Dense:
    """Return what the encoder makes of each row, shape (rows, size); equal to one by one.

    Parameters
    ----------
    encoder : Polynomial, Fourier or TileCoding
    rows : array of shape (rows, entries)

    """
    if isinstance(encoder, Polynomial):
        with np.errstate(over="ignore"):  # of numbers that are not trusted
            products = [np.prod(rows[:, chosen], axis=1) for chosen in encoder.products]
        return np.stack(products, axis=1)
    if isinstance(encoder, Fourier):
        inside = np.clip(rows, encoder.low, encoder.high)
        share = (inside - encoder.low) / (encoder.high - encoder.low)
        return np.asarray(np.cos(np.pi * (share @ encoder.waves.T)))
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
