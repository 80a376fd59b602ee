"""Features as users give them to a learner."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import InputError, as_array

_FLOAT = np.dtype(np.float64)


def as_features(name: str, given: ArrayLike, size: int, rows: bool = False) -> NDArray[Any]:
    """A vector of floats, or places of ones as int32; rows of floats where they are asked for.

    An array of whole numbers means places, any other numbers a vector. They are not checked to be
    finite, which would take longer than learning from them: learners see it in what they compute.
    """
    if type(given) is np.ndarray and given.dtype == _FLOAT and given.shape == (size,):
        return given if given.flags.carray else np.array(given)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
        return _places(name, given, size)
    x = np.array(as_array(name, given))
    if x.shape != (size,) and not (rows and x.ndim == 2 and x.shape[1] == size):
        raise InputError(f"{name} has shape {x.shape}: give {size} numbers.")
    return x


def _places(name: str, given: NDArray[Any], size: int) -> NDArray[np.int32]:
    if given.ndim != 1 or not given.size or given.shape == (size,) != (1,):
        raise InputError(
            f"{name} are whole numbers of shape {given.shape}, hence places of ones: give a row of "
            "some, or numbers of type float for a vector."
        )
    few = given.tolist()  # of a few, lists find the least faster than arrays
    if min(few) < 0 or max(few) >= size:
        raise InputError(
            f"{name} has a place outside 0 to {size - 1}: give the learner a larger size."
        )
    return given.astype(np.int32)
