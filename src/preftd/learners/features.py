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
    if type(given) is np.ndarray and given.dtype is _FLOAT and given.shape == (size,):
        return given if given.flags.carray else np.array(given)
    if isinstance(given, np.ndarray) and given.dtype.kind in "iu":
        return _places(name, given, size)
    x = np.array(as_array(name, given))
    if x.shape != (size,) and not (rows and x.ndim == 2 and x.shape[1] == size):
        raise InputError(
            f"{name} has shape {x.shape}: give {size} numbers, or an array of places of ones, such "
            "as np.array([0])."
        )
    return x


def as_pair(
    features: ArrayLike, next_features: ArrayLike, size: int
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features of two states, both vectors or both places."""
    if type(features) is np.ndarray and type(next_features) is np.ndarray:
        # What can be used as it is, most often: nothing is looked at twice.
        shape = (size,)
        if features.dtype is _FLOAT is next_features.dtype and (
            features.shape == shape == next_features.shape
            and features.flags.carray
            and next_features.flags.carray
        ):
            return features, next_features
    x = as_features("features", features, size)
    y = as_features("next_features", next_features, size)
    if x.dtype != y.dtype:
        raise InputError("features and next_features differ in kind: give vectors or places.")
    return x, y


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
