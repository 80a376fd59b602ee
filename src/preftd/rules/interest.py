"""Interest: how much each step matters in itself, a number of 0 or more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import InputError, Vector, as_array, check_finite, check_not_negative, number
from preftd.experience import Experience
from preftd.preferences import Signal
from preftd.preferences.simple import look_up
from preftd.tasks import Task


@final
@dataclass(frozen=True)
class FromBeta:
    """Interest computed from the preference: i_t = function(β_t), entry by entry.

    Examples
    --------
    >>> from preftd import ETD
    >>> ETD(interest=FromBeta(lambda beta: 0.5 * beta)).coefficients(beta=[1, 0], discount_t=[0, 1])
    Coefficients(decay=array([0., 1.]), gain=array([0.5, 0. ]))

    """

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"{self.function!r} cannot be called: give a function of β.")

    def of(self, beta: Any) -> Any:
        """The interest, in the shape of β."""
        found = self.function(beta)
        if np.shape(found) != np.shape(beta):
            raise InputError(
                f"the interest of β has shape {np.shape(found)}, not {np.shape(beta)}: let the "
                "function work entry by entry."
            )
        return found if np.ndim(beta) == 0 else np.asarray(found, dtype=np.float64)


Interest: TypeAlias = float | Vector | Signal | FromBeta
"""One number, one for each state, a signal, or a function of β."""


def as_interest(given: ArrayLike | Signal | FromBeta) -> Interest:
    """An interest from what a user gave."""
    if isinstance(given, Signal | FromBeta):
        if isinstance(given, Signal) and given.watches_learner:
            raise InputError(f"interest is {given!r}, which watches the learner: use another.")
        return given
    array = as_array("interest", given)
    if array.ndim > 1:
        raise InputError(
            f"interest has shape {array.shape}: give one number, or one for each state."
        )
    check_not_negative("interest", array)
    return number("interest", given) if array.ndim == 0 else array


def without_state(interest: Interest, beta: Any) -> Any:
    """The interest of steps of which nothing but β is known, in the shape of β or one number."""
    if isinstance(interest, float):
        return interest
    if isinstance(interest, FromBeta):
        return interest.of(beta)
    raise InputError(
        "the rule's interest is not one number, and steps do not know their state: "
        "give the interest of each step as interest=."
    )


def interest_along(
    interest: Interest | None, experience: Experience, memory: Any
) -> tuple[NDArray[np.float64] | None, Any]:
    """The interest of each step, shape (steps,), or None if β alone determines it; and memory."""
    if isinstance(interest, np.ndarray):
        return look_up("interest", interest, experience.state), None
    if isinstance(interest, Signal):
        numbers, memory = interest.along(experience, memory)
        check_finite("interest", numbers)
        check_not_negative("interest", numbers)
        return numbers, memory
    return None, None


def interest_per_state(interest: Interest, beta: Vector, task: Task | None) -> ArrayLike:
    """The interest of each state, shape (states,), or one number for all."""
    if isinstance(interest, FromBeta):
        return np.asarray(interest.of(beta))
    if isinstance(interest, Signal):
        if task is None:
            raise InputError(
                "the rule's interest is a signal of a stream: give a number per state, or use "
                "theory.limit, which knows the task."
            )
        return interest.per_state(task)
    return interest
