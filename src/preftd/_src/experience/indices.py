"""Features that are 1 at a few indices and 0 elsewhere, stated explicitly.

An integer array is a vector of numbers like any other; only `Indices` means positions of ones.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, are_flags, as_array, short

LARGEST = 2**31 - 1
"""Indices, codes and actions are stored in four bytes."""
FEW = 64
"""Below this size, the minimum of a list is faster than that of an array."""


@final
class Indices:
    """The indices at which features are 1; an index that occurs twice counts twice.

    Parameters
    ----------
    indices : array of integers, shape (ones,)

    Examples
    --------
    >>> Indices([3, 29])
    Indices([3, 29])

    """

    __slots__ = ("array",)

    def __init__(self, indices: ArrayLike) -> None:
        if isinstance(indices, MaskedArray):
            as_array("indices", indices)  # refuses those that are missing
        try:
            array = np.asarray(indices)
        except Exception:  # whatever an object raises that cannot be made an array
            array = np.array(None)
        if array.shape == (0,):  # an empty list has no type
            array = array.astype(np.int32)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise InputError(
                f"indices are {array.dtype} of shape {array.shape}: give a list of integers."
            )
        self.array: NDArray[Any] = array

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return f"Indices({self.array.tolist()})"


def chosen_rows(name: str, given: slice | ArrayLike, rows: int) -> slice | NDArray[np.intp]:
    """Return an index of rows: a slice unchanged, or row numbers from 0 to rows − 1."""
    if isinstance(given, slice):
        return given
    array = as_array(name, given)
    if array.ndim != 1 or are_flags(given):
        raise InputError(
            f"{name} is {short(given)}: give a slice, or a list of whole numbers from 0 to "
            f"{rows - 1}."
        )
    wrong = (array < 0) | (array >= rows) | (array % 1 != 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"{name}[{at}] is {array[at]:.20g}: give whole numbers from 0 to {rows - 1}."
        )
    return array.astype(np.intp)


def as_indices(name: str, given: Indices, size: int) -> NDArray[np.int32]:
    """Return the indices as int32, checked to lie in 0 to size − 1."""
    array = given.array
    if 0 < array.size < FEW:
        few = array.tolist()
        least, most = min(few), max(few)
    elif not array.size:
        return array.astype(np.int32)
    else:
        least, most = int(array.min()), int(array.max())
    if least < 0 or most >= size or most > LARGEST:
        raise InputError(
            f"{name} has index {least if least < 0 else most}, but there are {size} features: "
            f"give indices from 0 to {min(size - 1, LARGEST)}."
        )
    return array.astype(np.int32, copy=False)
