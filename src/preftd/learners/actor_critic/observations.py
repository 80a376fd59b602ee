"""Observations as users and environments give them, as vectors."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import Dense, InputError, Vector, as_array, whole


def as_rows(name: str, given: ArrayLike, size: int) -> tuple[Dense, bool]:
    """Observations as rows, shape (n, size), and whether it was one that was not in a row.

    An integer, as of a Discrete space, stands for a vector that is 1 there and 0 elsewhere.
    """
    array = as_array(name, given)
    if array.ndim == 0:
        number: Any = np.asarray(given).item()
        index = whole(name, number)
        if not 0 <= index < size:
            raise InputError(f"{name} is {index}: give a whole number from 0 to {size - 1}.")
        return np.eye(1, size, index), True
    if array.shape[-1] != size or array.ndim > 2:
        raise InputError(f"{name} has shape {array.shape}: give {size} numbers.")
    return np.atleast_2d(array), array.ndim == 1


def as_vector(name: str, given: ArrayLike, size: int) -> Vector:
    """One observation, shape (size,)."""
    rows, single = as_rows(name, given, size)
    if not single:
        raise InputError(f"{name} has {len(rows)} rows: give one observation.")
    vector: Vector = rows[0]
    return vector
