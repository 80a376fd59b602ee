"""Arrays of any layout as the kernels of returns read them, without copies where possible."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Layout:
    """How streams lie in memory: axes before time, time, axes after it.

    Parameters
    ----------
    shape : tuple of int
        That of all arrays, once they are broadcast.
    axis : int
        The time axis, from 0.
    order : tuple of int
        The axes, from the one with the widest steps in memory to the one with the narrowest.

    """

    def __init__(self, shape: tuple[int, ...], axis: int, order: tuple[int, ...]) -> None:
        self.shape, self.order = shape, order
        self.ordered, at = tuple(shape[k] for k in order), order.index(axis)
        before, after = math.prod(self.ordered[:at]), math.prod(self.ordered[at + 1 :])
        self.time_is_last = after == 1
        """Whether the kernels by streams are to be used, not those by rows."""
        self.inner = (before, shape[axis]) if self.time_is_last else (before, shape[axis], after)
        """The shape in which the kernels see all entries."""
        self.row = (1,) * (len(self.inner) - 1) + self.inner[-1:]
        """The shape of what is the same in all rows."""
        self._is_plain = order == tuple(range(len(order)))

    def read(self, array: Array) -> Array:
        """Return an array as the kernels read it; one number becomes a row that they read often."""
        if self._is_plain and array.shape == self.shape and array.flags.c_contiguous:
            return array.reshape(self.inner)
        if array.size == 1 or not any(array.strides):
            return self.repeated(array.item(0), array.dtype)
        whole = np.broadcast_to(array, self.shape).transpose(self.order)
        return np.ascontiguousarray(whole).reshape(self.inner)

    def repeated(self, number: float, kind: np.dtype[Any]) -> Array:
        """Return one number as the kernels read it."""
        return _row(self.row, number, kind)

    def restored(self, array: Array) -> Array:
        """Return what a kernel has written, in the shape that users know."""
        if self._is_plain:
            return array.reshape(self.shape)
        return array.reshape(self.ordered).transpose(np.argsort(self.order))


def layout_of(shape: tuple[int, ...], axis: int, arrays: Iterable[Array]) -> Layout:
    """Return the layout of arrays that are to be broadcast: that of the first one of full size."""
    order = tuple(range(len(shape)))
    for array in arrays:
        if array.shape == shape and 0 not in array.strides:
            if not array.flags.c_contiguous:
                steps = array.strides
                order = tuple(sorted(order, key=lambda k: -abs(steps[k])))
            break
    return _layout(shape, axis, order)


_layout = lru_cache(maxsize=64)(Layout)
"""Those used of late: making one takes longer than returns of a few steps."""


@lru_cache(maxsize=32)
def _row(shape: tuple[int, ...], number: float, kind: np.dtype[Any]) -> Array:
    """One number many times, made once for many calls."""
    row = np.full(shape, number, kind)
    row.setflags(write=False)
    return row
