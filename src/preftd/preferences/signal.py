"""The base class of signals: a number for each step, for whole streams or one step at a time.

A signal in [0, 1] can be a preference β, a signal of 0 or more an interest.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, final

import numpy as np

from preftd.arrays import InputError, Vector, check_finite, check_unit_interval, number, short
from preftd.experience import Experience, Visit
from preftd.tasks import Task


class Signal(ABC):
    """A number for each step; to write your own, define `at`.

    `memory` is what a signal remembers of the past: None at first, then a number or an array.
    """

    watches_learner: ClassVar[bool] = False
    """Whether `at` needs `visit.value` and `visit.td_error`, which depend on the learner."""

    @abstractmethod
    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """Return the number of one step, and what to remember.

        Parameters
        ----------
        visit : Visit
            The step.
        memory : Any
            What this method returned at the step before; None at first.

        Returns
        -------
        tuple of (float, Any)

        """

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """Return the numbers of a stream, shape (steps,), and what to remember.

        Override it for speed; it must agree with `at`.
        """
        numbers = np.empty(len(as_experience(experience)))
        for t in range(len(experience)):
            numbers[t], memory = self.at(experience.visit(t), memory)
        return numbers, memory

    def per_state(self, task: Task) -> Vector:
        """Return the number of each state, shape (states,), if it depends on the state alone."""
        raise InputError(
            f"{short(self)} depends on more than the state of {as_task(task).name}, so there is no "
            "exact limit: use a signal that depends on the state alone, such as Observability()."
        )

    @property
    def largest(self) -> float | None:
        """The largest number it can give, or None if that is not known in advance."""
        return None

    @final
    def step(self, visit: Visit, memory: Any = None) -> tuple[float, Any]:
        """Return β at one step, checked to lie in [0, 1], and what to remember for the next.

        Parameters
        ----------
        visit : Visit
        memory : Any, optional
            What the call for the step before returned.

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
        """Return β at each step of a stream, checked to lie in [0, 1], and what to remember.

        Parameters
        ----------
        experience : Experience
        memory : Any, optional
            What the call for the piece before returned, if the stream comes in pieces.

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
    """Return the visit, or refuse what is none."""
    if not isinstance(given, Visit):
        raise InputError(f"visit is {short(given)}: give a Visit, such as experience.visit(0).")
    return given


def as_experience(given: Any) -> Experience:
    """Return the experience, or refuse what is none."""
    if not isinstance(given, Experience):
        raise InputError(f"experience is {short(given)}: give an Experience, as a sampler draws.")
    return given


def as_task(given: Any) -> Task:
    """Return the task, or refuse what is none."""
    if not isinstance(given, Task):
        raise InputError(f'task is {short(given)}: give one, such as tasks.make("corridor").')
    return given
