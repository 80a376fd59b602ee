"""Interest: the weight of each step itself, a number of 0 or more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    Vector,
    as_array,
    check_finite,
    check_not_negative,
    number,
    short,
)
from preftd._src.preferences.simple import look_up
from preftd.experience import Experience, Visit
from preftd.preferences import Signal

if TYPE_CHECKING:
    from preftd.tasks import Task


@final
@dataclass(frozen=True)
class FromBeta:
    """Interest computed from the preference: i_t = function(β_t), entry by entry.

    Parameters
    ----------
    function : callable
        Turns β, a number or an array, into an interest of the same shape.

    Examples
    --------
    >>> from preftd import ETD
    >>> ETD(interest=FromBeta(lambda beta: 0.5 * beta)).coefficients(beta=[1, 0], discount_t=[0, 1])
    Coefficients(decay=array([0., 1.]), gain=array([0.5, 0. ]))

    """

    function: Callable[[Any], Any]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"{short(self.function)} cannot be called: give a function of β.")

    def of(self, beta: Any) -> Any:
        """Return the interest, in the shape of β."""
        try:
            found = self.function(beta)
        except ValueError:  # a comparison of an array, most likely
            raise InputError(
                "the interest from β cannot be computed for an array: compute it entry by entry, "
                "for instance with np.where."
            ) from None
        if type(found) is float and type(beta) is float:
            return found
        array = as_array("the interest from β", found)
        if array.shape != np.shape(beta):
            raise InputError(
                f"the interest from β has shape {array.shape}, not {np.shape(beta)}: compute "
                "it entry by entry."
            )
        return array if array.ndim else float(array)


Interest: TypeAlias = float | Vector | Signal | FromBeta
"""One number, one for each state, a signal, or a function of β."""


def as_interest(given: ArrayLike | Signal | FromBeta) -> Interest:
    """Return an interest, checked, from a number, an array, a signal or a FromBeta."""
    if isinstance(given, Signal | FromBeta):
        if isinstance(given, Signal) and given.watches_learner:
            raise InputError(
                f"interest is {short(given)}, which watches the learner: use another signal."
            )
        return given
    if callable(given):
        raise InputError(
            f"interest is {short(given)}: give Function(f) for a function of the observation, or "
            "FromBeta(f) for one of β."
        )
    array = as_array("interest", given)
    if array.ndim > 1 or not array.size:
        raise InputError(
            f"interest has shape {array.shape}: give one number, or one for each state."
        )
    check_not_negative("interest", array)
    return number("interest", given) if array.ndim == 0 else array


def without_state(interest: Any, beta: Any) -> Any:
    """Return the interest of steps of which only β is known: one number, or in β's shape."""
    if isinstance(interest, float):
        return interest
    known = as_interest(interest)  # a custom rule may give any number or list
    if isinstance(known, float):
        return known
    if isinstance(known, FromBeta):
        return known.of(beta)
    raise InputError(
        "the rule's interest depends on the state, which is not known here: give the interest of "
        "each step as interest=."
    )


def interest_along(
    interest: Interest | None, experience: Experience, memory: Any
) -> tuple[NDArray[np.float64] | None, Any]:
    """Return the interest of each step, shape (steps,), or None if β determines it; and memory."""
    interest = None if interest is None else as_interest(interest)
    if isinstance(interest, np.ndarray):
        return look_up("interest", interest, experience.state), None
    if isinstance(interest, Signal):
        numbers, memory = interest.along(experience, memory)
        check_finite("interest", numbers)
        check_not_negative("interest", numbers)
        return numbers, memory
    return None, None


def interest_at(interest: Interest | None, visit: Visit, memory: Any) -> tuple[float | None, Any]:
    """Return the interest of one step, or None if β determines it; and memory."""
    interest = None if interest is None else as_interest(interest)
    if isinstance(interest, np.ndarray):
        state = None if visit.state is None else np.array([visit.state], dtype=np.int32)
        return float(look_up("interest", interest, state)[0]), None
    if isinstance(interest, Signal):
        return interest.at(visit, memory)
    return None, None


def interest_per_state(interest: Interest, beta: Vector, task: Task | None) -> ArrayLike:
    """Return the interest of each state, shape (states,), or one number for all."""
    interest = as_interest(interest)
    if isinstance(interest, FromBeta):
        return np.asarray(interest.of(beta))
    if isinstance(interest, Signal):
        if task is None:
            raise InputError(
                "the rule's interest is a signal of a stream: give a number per state, or use "
                "theory.limit with a task."
            )
        return interest.per_state(task)
    return interest
