"""The states on which predictions are scored: the observable ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, short

if TYPE_CHECKING:
    from preftd._src.tasks.task import Task


class Scored(NamedTuple):
    """The observable states and their values.

    Where the features of a state are random, the prediction is that of their mean.
    """

    codes: NDArray[np.int32]
    """Shape (scored,): features as codes of `Experience`, an index or −1 − row of `dense`."""
    dense: Dense
    """Shape (rows, features)."""
    values: Vector
    """Shape (scored,)."""

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return the scored states of a task.

        Examples
        --------
        >>> from preftd import tasks
        >>> Scored.of(tasks.make("corridor", length=5)).values
        array([ 0.5,  2. , -1. ])

        """
        if not hasattr(task, "features"):  # Task itself cannot be imported here
            raise InputError(f'task is {short(task)}: give one, such as tasks.make("corridor").')
        fixed, shown, fresh = task.features.codes()
        random = np.flatnonzero(fresh & task.observable)
        shown[random] = -1 - len(fixed) - np.arange(random.size)
        dense = np.concatenate([fixed, task.features.rows(random)])
        states = np.flatnonzero(task.observable)
        return cls(shown[states], dense, np.array(task.values[states]))
