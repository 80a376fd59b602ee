"""The base class of signals: a number for each step, for whole streams or one step at a time.

A signal in [0, 1] can be a preference β, a signal of 0 or more an interest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np

from preftd._src.arrays import (
    InputError,
    Vector,
    as_array,
    as_count,
    as_flag,
    check_finite,
    check_unit_interval,
    number,
    short,
    unit,
)
from preftd._src.experience.indices import LARGEST
from preftd.experience import Experience, Visit

if TYPE_CHECKING:
    from preftd.tasks import Task

FLOAT = np.dtype(np.float64)
_UNKNOWN = (None,) * 6
"""The last fields of a visit, if unknown."""


class Signal(ABC):
    """A number for each step; to write your own, define `at`.

    `memory` is None at first, then a number or an array.
    """

    watches_learner: ClassVar[bool] = False
    """Whether `at` needs `visit.value` and `visit.td_error`, which depend on the learner."""

    @abstractmethod
    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """Return the number of one step, and the memory.

        Parameters
        ----------
        visit : Visit
            The step.
        memory : Any
            The memory that the previous step returned; None at first.

        Returns
        -------
        tuple of (float, Any)

        """

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """Return the numbers of a stream, shape (steps,), and the memory.

        Override it for speed; it must agree with `at`.
        """
        numbers = np.empty(len(as_experience(experience)))
        for t, visit in enumerate(experience.visits()):
            numbers[t], memory = self.at(visit, memory)
        return numbers, memory

    def per_state(self, task: Task) -> Vector:
        """Return the number of each state, shape (states,), if it depends on the state alone."""
        raise InputError(
            f"{short(self)} depends on more than the state of {as_task(task).name}, so there is no "
            "exact limit: use a signal that depends on the state alone, such as Observability()."
        )

    @property
    def largest(self) -> float | None:
        """The largest number it can return, or None if that is not known in advance."""
        return None

    @final
    def step(self, visit: Visit, memory: Any = None) -> tuple[float, Any]:
        """Return β at one step, checked to lie in [0, 1], and the memory for the next.

        Parameters
        ----------
        visit : Visit
        memory : Any, optional
            The memory that the previous step returned.

        Returns
        -------
        tuple of (float, Any)

        """
        beta, memory = self.at(as_visit(visit), memory)
        if type(beta) is not float:
            beta = number("beta", beta)
        if not 0 <= beta <= 1:
            raise InputError(f"beta is {beta}: it must lie in [0, 1].")
        return beta, memory

    @final
    def stream(self, experience: Experience, memory: Any = None) -> tuple[Vector, Any]:
        """Return β at each step of a stream, checked to lie in [0, 1], and the memory.

        Parameters
        ----------
        experience : Experience
        memory : Any, optional
            The memory that the previous piece returned, if the stream comes in pieces.

        Returns
        -------
        tuple of (array of shape (steps,), Any)

        """
        if self.watches_learner:
            raise InputError(
                f"{short(self)} watches the learner, so β is known only while it learns: use it "
                "with a learner that learns step by step."
            )
        betas, memory = self.along(as_experience(experience), memory)
        check_finite("beta", betas)
        check_unit_interval("beta", betas)
        return betas, memory


def as_visit(given: Any) -> Visit:
    """Return the visit with all fields checked and converted to the types of `Visit`."""
    if not isinstance(given, Visit):
        raise InputError(f"visit is {short(given)}: give a Visit, such as experience.visit(0).")
    fields: tuple[Any, ...] = given
    seen, is_first, state, observable, reward_t, discount_t = fields[:6]
    is_plain = (  # as most are: a step then costs little more than its signal
        type(seen) is np.ndarray
        and seen.dtype is FLOAT
        and type(is_first) is bool
        and state is observable is None
        and type(reward_t) is float
        and isfinite(reward_t)
        and type(discount_t) is float
        and 0.0 <= discount_t <= 1.0
        and fields[6:] == _UNKNOWN
    )
    if is_plain:
        return given
    is_array = type(seen) is np.ndarray and seen.dtype.kind in "biuf"
    if not is_array and not isinstance(seen, Mapping):  # which functions may take
        seen = as_array("observation", seen, finite=False)
    return Visit(
        seen,
        as_flag("is_first", is_first),
        _whole("state", state),
        None if observable is None else as_flag("observable", observable),
        _number("reward_t", reward_t),
        _share("discount_t", discount_t),
        _whole("action_tm1", given.action_tm1),
        _whole("action", given.action),
        None if given.rho is None else _number("rho", given.rho),
        None if given.value is None else _number("value", given.value),
        None if given.td_error is None else _number("td_error", given.td_error),
        None if given.reward_end is None else _number("reward_end", given.reward_end),
    )


def _whole(name: str, given: Any) -> int | None:
    return None if given is None else as_count(name, given, -LARGEST, LARGEST)


def _number(name: str, given: Any) -> float:
    return given if type(given) is float and isfinite(given) else number(name, given)


def _share(name: str, given: Any) -> float:
    return given if type(given) is float and 0.0 <= given <= 1.0 else unit(name, given)


def as_vector(visit: Visit) -> Vector:
    """Return the observation of a visit as numbers, shape (n,)."""
    seen = visit.observation
    if type(seen) is not np.ndarray or seen.dtype is not FLOAT:
        seen = as_array("observation", seen, finite=False)
    if seen.ndim != 1 or not seen.size:
        raise InputError(f"observation has shape {seen.shape}: give numbers in one row.")
    return seen


def as_experience(given: Any) -> Experience:
    """Return the experience, checked to be one."""
    if not isinstance(given, Experience):
        raise InputError(f"experience is {short(given)}: give an Experience, as a sampler draws.")
    return given


def as_task(given: Any) -> Task:
    """Return the task, checked to be one."""
    from preftd.tasks import Task  # noqa: PLC0415  (slow to load)

    if not isinstance(given, Task):
        raise InputError(f'task is {short(given)}: give one, such as tasks.make("corridor").')
    return given
