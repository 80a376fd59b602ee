"""Features as users give them to a learner: vectors of numbers, or `Indices` of ones."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, as_array
from preftd._src.experience.indices import Indices, as_indices

MOST_FEATURES = 2**29
"""Memory for more than that, squared, has no address."""
_FLOAT = np.dtype(np.float64)


def as_features(
    name: str,
    given: ArrayLike | Indices,
    size: int,
    rows: bool = False,
    finite: bool = True,
) -> NDArray[Any]:
    """A vector of floats, or indices of ones as int32; rows of floats where they are asked for.

    Vectors that can be used as they are are not checked to be finite, which would take longer than
    learning from them: learners see it in what they compute.
    """
    if type(given) is np.ndarray and given.dtype is _FLOAT and given.shape == (size,):
        return given if given.flags.carray else np.array(given)
    if type(given) is Indices:
        if not given.array.size:
            raise InputError(f"{name} has no indices: give at least one.")
        indices = as_indices(name, given, size)
        return indices if indices.flags.carray else np.array(indices)
    x = np.array(as_array(name, given, finite=finite))
    if x.shape != (size,) and not (rows and x.ndim == 2 and x.shape[1] == size):
        raise InputError(
            f"{name} has shape {x.shape}: give {size} numbers, or Indices([...]) for a few ones."
        )
    return x


def as_pair(
    features: ArrayLike | Indices,
    next_features: ArrayLike | Indices,
    size: int,
    finite: bool = True,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features of two states, both vectors or both indices; `finite` as for `as_features`."""
    if type(features) is np.ndarray and type(next_features) is np.ndarray:
        # What can be used as it is, most often: nothing is looked at twice.
        shape = (size,)
        if features.dtype is _FLOAT is next_features.dtype and (
            features.shape == shape == next_features.shape
            and features.flags.carray
            and next_features.flags.carray
        ):
            return features, next_features
    x = as_features("features", features, size, finite=finite)
    y = as_features("next_features", next_features, size, finite=finite)
    if x.dtype != y.dtype:
        raise InputError("features and next_features differ in kind: give vectors or Indices.")
    return x, y
