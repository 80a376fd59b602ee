"""Preferences that look at one step only."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import InputError, Vector, as_array, check_unit_interval, unit
from preftd.experience import Experience, Visit
from preftd.experience.stream import Codes
from preftd.preferences.preference import Preference


@final
@dataclass(frozen=True)
class Constant(Preference):
    """The same β everywhere.

    >>> from preftd import tasks
    >>> Constant(0.5).stream(tasks.make("corridor", length=2).sampler(0).episodes(1))[0]
    array([0.5, 0.5, 0.5])
    """

    beta: float

    def __post_init__(self) -> None:
        unit("beta", self.beta)

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """β."""
        return self.beta, None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """β, as often as there are steps."""
        return np.full(len(experience), self.beta), None


@final
@dataclass(frozen=True)
class Observability(Preference):
    """One β where the state shows itself, another where it is hidden.

    >>> from preftd import tasks
    >>> Observability().stream(tasks.make("corridor", length=2).sampler(0).episodes(1))[0]
    array([1., 0., 1.])
    """

    observable: float = 1.0
    hidden: float = 0.0

    def __post_init__(self) -> None:
        unit("observable", self.observable)
        unit("hidden", self.hidden)

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """One or the other."""
        if visit.observable is None:
            raise InputError(_NOT_KNOWN)
        return (self.observable if visit.observable else self.hidden), None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """One or the other at each step."""
        if experience.observable is None:
            raise InputError(_NOT_KNOWN)
        return np.where(experience.observable, self.observable, self.hidden), None


_NOT_KNOWN = (
    "the experience does not say which steps are observable: record it from an environment whose "
    "info has 'observable', or use another preference."
)


@final
class PerState(Preference):
    """A β for each state, for experience that knows its states."""

    def __init__(self, beta: ArrayLike) -> None:
        self.beta = as_array("beta", beta)
        if self.beta.ndim != 1:
            raise InputError(f"beta has shape {self.beta.shape}: give one number for each state.")
        check_unit_interval("beta", self.beta)

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """The β of the state."""
        state = None if visit.state is None else np.array([visit.state], dtype=np.int32)
        return float(look_up("beta", self.beta, state)[0]), None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The β of each state."""
        return look_up("beta", self.beta, experience.state), None


def look_up(name: str, table: Vector, states: Codes | None) -> Vector:
    """What a table with an entry per state says of each step."""
    if states is None:
        raise InputError(_NO_STATES)
    if states.size and not (states.min() >= 0 and states.max() < table.size):
        raise InputError(
            f"states from {states.min()} to {states.max()} are visited, but {name} is for 0 to "
            f"{table.size - 1}: give one for each state."
        )
    return np.asarray(table[states])


_NO_STATES = (
    "the experience does not know its states: use a preference that looks at observations instead."
)


@final
@dataclass(frozen=True)
class Function(Preference):
    """Any function of the observation.

    >>> from preftd import tasks
    >>> trust = Function(lambda x: float(x.max() == 1))
    >>> trust.stream(tasks.make("corridor", length=2).sampler(0).episodes(1))[0]
    array([1., 0., 1.])
    """

    function: Callable[[Vector], float]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"{self.function!r} cannot be called: give a function.")

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """What the function says."""
        return self._of(visit.observation), None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """What the function says of each observation."""
        return np.array([self._of(x) for x in experience.observations()]), None

    def _of(self, observation: Vector) -> float:
        beta = self.function(observation)
        try:
            return float(beta)
        except (TypeError, ValueError):
            raise InputError(f"the function gave {beta!r}: let it give one number.") from None
