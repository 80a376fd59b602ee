"""What is asked of predictions on a task: the states that count, what they show, their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector

if TYPE_CHECKING:
    from preftd.tasks.task import Task


class Scored(NamedTuple):
    """The observable states; for one whose features are random, a prediction from their mean."""

    codes: NDArray[np.int32]
    """What each shows, in the codes of experience: a place, or −1 − row of `dense`."""
    dense: Dense
    values: Vector

    @classmethod
    def of(cls, task: Task) -> Self:
        """The scored states of a task.

        >>> from preftd import tasks
        >>> Scored.of(tasks.make("corridor", length=5)).values
        array([ 0.5,  2. , -1. ])
        """
        fixed, shown, fresh = task.features.codes()
        random = np.flatnonzero(fresh & task.observable)
        shown[random] = -1 - len(fixed) - np.arange(random.size)
        dense = np.concatenate([fixed, task.features.rows(random)])
        states = np.flatnonzero(task.observable)
        return cls(shown[states], dense, np.array(task.values[states]))
