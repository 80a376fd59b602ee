"""What beliefs are a function of: the features, or cells of observations that repeat exactly."""

from typing import final

import numpy as np

from preftd._src.arrays import Dense


@final
class Cells:
    """A cell for each observation that was seen before; cell 0 is all that are new.

    It remembers every observation, so memory grows with the stream.
    """

    def __init__(self) -> None:
        self._cells: dict[bytes, int] = {}
        self._count = 1

    def see(self, x: Dense) -> Dense:
        """The cells of observations in order, one-hot, of shape (observations, cells so far).

        An observation is in cell 0 when it is seen first, and in a cell of its own from then on.
        """
        codes = []
        for key in map(_key, x):
            cell = self._cells.setdefault(key, -1)
            if cell == -1:
                self._cells[key] = cell = 0
            elif cell == 0:
                self._cells[key] = cell = self._count
                self._count += 1
            codes.append(cell)
        return np.eye(self._count)[codes]

    def look_up(self, x: Dense) -> Dense:
        """The cell of one observation, one-hot, of shape (cells so far,); it is not remembered."""
        return np.asarray(np.eye(self._count)[self._cells.get(_key(x), 0)])


def _key(x: Dense) -> bytes:
    return (x + 0.0).tobytes()  # −0 is 0


def with_constant(x: Dense) -> Dense:
    """Features and a 1, shape (observations, features + 1)."""
    return np.column_stack([x, np.ones(len(x))])
