"""Signals that depend on one step only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_flag,
    check_not_negative,
    number,
    short,
)
from preftd._src.experience.stream import Codes
from preftd._src.preferences.signal import Signal, as_experience, as_task, as_vector, as_visit
from preftd.experience import Experience, Visit

if TYPE_CHECKING:
    from preftd.tasks import Task


@final
@dataclass(frozen=True)
class Constant(Signal):
    """The same number everywhere.

    Parameters
    ----------
    beta : float
        In [0, 1] for a preference, 0 or more for an interest.

    Examples
    --------
    >>> from preftd import tasks
    >>> Constant(0.5).stream(tasks.make("corridor", length=2).sampler(0).episodes(1))[0]
    array([0.5, 0.5, 0.5])

    """

    beta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "beta", _not_negative("beta", self.beta))

    @property
    def largest(self) -> float:
        """The number itself."""
        return self.beta

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """The number."""
        as_visit(visit)
        return self.beta, None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The number, shape (steps,)."""
        return np.full(len(as_experience(experience)), self.beta), None

    def per_state(self, task: Task) -> Vector:
        """The number, shape (states,)."""
        return np.full(as_task(task).states, self.beta)


@final
@dataclass(frozen=True)
class Observability(Signal):
    """One number where the state is observable, another where it is hidden.

    Parameters
    ----------
    observable, hidden : float
        In [0, 1] for a preference, 0 or more for an interest.

    Examples
    --------
    >>> from preftd import tasks
    >>> Observability().stream(tasks.make("corridor", length=2).sampler(0).episodes(1))[0]
    array([1., 0., 1.])

    """

    observable: float = 1.0
    hidden: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "observable", _not_negative("observable", self.observable))
        object.__setattr__(self, "hidden", _not_negative("hidden", self.hidden))

    @property
    def largest(self) -> float:
        """The larger of the two."""
        return max(self.observable, self.hidden)

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """One or the other."""
        shown = as_visit(visit).observable
        if shown is None:
            raise InputError(_NOT_KNOWN)
        return (self.observable if shown else self.hidden), None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """One or the other, shape (steps,)."""
        shown = as_experience(experience).observable
        if shown is None:
            raise InputError(_NOT_KNOWN)
        return np.where(shown, self.observable, self.hidden), None

    def per_state(self, task: Task) -> Vector:
        """One or the other, shape (states,)."""
        return np.where(as_task(task).observable, self.observable, self.hidden)


_NOT_KNOWN = (
    "the experience does not say which steps are observable: record it from an environment whose "
    "info has 'observable', or use another preference."
)


@final
class PerState(Signal):
    """A number for each state, for experience with known states.

    Parameters
    ----------
    beta : array of shape (states,)

    """

    def __init__(self, beta: ArrayLike) -> None:
        self.beta = as_array("beta", beta)
        if self.beta.ndim != 1 or not self.beta.size:
            raise InputError(f"beta has shape {self.beta.shape}: give one number for each state.")
        check_not_negative("beta", self.beta)

    @property
    def largest(self) -> float:
        """The largest of them."""
        return float(self.beta.max())

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """The number of the state."""
        state = as_visit(visit).state
        here = None if state is None else np.array([state], dtype=np.int32)
        return float(look_up("beta", self.beta, here)[0]), None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The number of each step's state, shape (steps,)."""
        return look_up("beta", self.beta, as_experience(experience).state), None

    def per_state(self, task: Task) -> Vector:
        """The numbers themselves, shape (states,)."""
        if self.beta.size != as_task(task).states:
            raise InputError(
                f"beta has {self.beta.size} numbers but {task.name} has {task.states} states: "
                "give one for each."
            )
        return self.beta

    def __repr__(self) -> str:
        return f"PerState({self.beta.tolist()})" if self.beta.size <= 8 else "PerState([…])"


def look_up(name: str, table: Vector, states: Codes | None) -> Vector:
    """Return the entry of a table of shape (states,) for each step, shape (steps,)."""
    if states is None:
        raise InputError(_NO_STATES)
    if states.size and not (states.min() >= 0 and states.max() < table.size):
        raise InputError(
            f"{name} covers states 0 to {table.size - 1} but states {states.min()} to "
            f"{states.max()} are visited: give one for each state."
        )
    return np.asarray(table[states])


_NO_STATES = (
    "the experience does not know its states: use a preference that depends on observations."
)


@final
@dataclass(frozen=True)
class Function(Signal):
    """Any function of the observation.

    Parameters
    ----------
    function : callable
        Turns an observation, an array of shape (n,), into a number.
    compiled : bool
        Whether Numba compiles the function: a step then takes a fraction of a microsecond. It must
        use only what Numba supports. Sums may differ from NumPy's in the last digits, so results
        are stored apart from those of the same function without this option.

    Examples
    --------
    >>> from preftd import tasks
    >>> trust = Function(lambda x: x.max() == 1, compiled=True)
    >>> trust.stream(tasks.make("corridor", length=2).sampler(0).episodes(1))[0]
    array([1., 0., 1.])

    """

    function: Callable[[Vector], float]
    compiled: bool = False

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"{short(self.function)} cannot be called: give a function.")
        object.__setattr__(self, "compiled", as_flag("compiled", self.compiled))
        _ = self._call  # what cannot be compiled is refused at once

    @cached_property
    def _call(self) -> Callable[[Vector], Any]:
        """The function, compiled if that is asked for; pickled, so that workers compile it once."""
        return _compiled(self.function) if self.compiled else self.function

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """The function of the observation."""
        seen = as_visit(visit).observation
        return self._of(np.array(as_vector(visit)) if self.compiled else seen), None

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The function of each observation, shape (steps,)."""
        return self._of_each(as_experience(experience).observations()), None

    def per_state(self, task: Task) -> Vector:
        """Return the function of each state's features, shape (states,), if they are fixed."""
        if as_task(task).features.codes()[2].any():  # some states show something new at each visit
            return super().per_state(task)
        return self._of_each(task.features.columns(slice(None)))

    def _of_each(self, observations: Dense) -> Vector:
        """The function of each row; compiled code is for rows that may be written to."""
        rows = np.array(observations, order="C") if self.compiled else observations
        return np.array([self._of(row) for row in rows])

    def _of(self, observation: Vector) -> float:
        """The function's result, checked to be a number."""
        found = self._call(observation)
        try:
            return float(found)
        except (TypeError, ValueError):
            raise InputError(f"the function returned {short(found)}: return one number.") from None


def _compiled(function: Callable[[Vector], float]) -> Callable[[Vector], Any]:
    """The function of one row, compiled; what is out of bounds and 1 / 0 are as in NumPy."""
    from numba import types  # noqa: PLC0415  (slow to load)

    from preftd._src.kernels import kernel  # noqa: PLC0415  (slow to load)

    row: Any = types.Array(types.float64, 1, "C")
    how: dict[str, Any] = {"stored": False, "boundscheck": True, "error_model": "numpy"}
    try:
        return kernel(signature=(row,), **how)(getattr(function, "py_func", function))
    except Exception as error:  # of many kinds
        lines = [line.strip("> ") for line in str(error).splitlines() if line.strip()]
        said = [line for line in lines if not line.startswith("Failed in")] or [repr(error)]
        cause = " ".join(said[: 1 + said[0].endswith(":")]).rstrip(".")
        raise InputError(
            f"{short(function)} cannot be compiled ({cause}): use only what Numba supports, or "
            "leave compiled=True out."
        ) from None


@final
@dataclass(frozen=True)
class Uncertainty(Signal):
    """Trust where an ensemble of predictors agrees: β = scale / (scale + variance).

    Updates of PTD are then weighted by inverse variances, as in inverse-variance reinforcement
    learning (Mai, Mani and Paull, 2022).

    Parameters
    ----------
    ensemble : callable
        Turns an observation, an array of shape (n,), into the predictions of all members, shape
        (members,), at least two.
    scale : float
        The variance at which β is 1/2, above 0.

    Examples
    --------
    >>> from preftd import Experience
    >>> log = Experience.from_log([[0.0], [2.0]], reward=[0, 1], discount=0.9, terminated=[0, 1])
    >>> Uncertainty(lambda x: [x[0], 0.0], scale=2.0).stream(log)[0]
    array([1. , 0.5])

    """

    ensemble: Callable[[Vector], ArrayLike]
    scale: float

    def __post_init__(self) -> None:
        if not callable(self.ensemble):
            raise InputError(f"{short(self.ensemble)} cannot be called: give a function.")
        object.__setattr__(self, "scale", number("scale", self.scale))
        if self.scale <= 0:
            raise InputError(f"scale is {self.scale:g}: give a variance above 0.")

    @property
    def largest(self) -> float:
        """1, where all agree."""
        return 1.0

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """The trust in the observation."""
        return Function(self._of).at(visit, memory)

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The trust in each observation, shape (steps,)."""
        return Function(self._of).along(experience, memory)

    def per_state(self, task: Task) -> Vector:
        """Return the trust in what each state shows, shape (states,), if that is fixed."""
        return Function(self._of).per_state(task)

    def _of(self, observation: Vector) -> float:
        predictions = as_array("the ensemble's prediction", self.ensemble(observation))
        if predictions.ndim != 1 or predictions.size < 2:
            raise InputError(
                f"the ensemble's prediction has shape {predictions.shape}: return one number for "
                "each member, two or more."
            )
        with np.errstate(over="ignore"):
            return float(self.scale / (self.scale + predictions.var(ddof=1)))


def as_signal(name: str, given: Any) -> Signal:
    """Return a signal from a number, an array, a function or a signal.

    Parameters
    ----------
    name : str
        The name of the argument, for error messages.
    given : float, array of shape (states,), callable, or Signal
        A number becomes `Constant`, an array `PerState`, a function `Function`.

    """
    if isinstance(given, Signal):
        return given
    if callable(given) and not isinstance(given, type):
        return Function(given)
    try:
        array = as_array(name, given)
    except InputError:
        raise InputError(
            f"{name} is {short(given)}: give a number, an array with one for each state, a "
            "function of the observation, or a signal such as Observability()."
        ) from None
    return Constant(number(name, given)) if array.ndim == 0 else PerState(given)


def as_preference(given: Any, name: str = "preference") -> Signal:
    """Return a signal like `as_signal`, and refuse one that is known to leave [0, 1].

    Parameters
    ----------
    given : float, array of shape (states,), callable, or Signal
    name : str
        The name of the argument, for error messages.

    Examples
    --------
    >>> as_preference(0.5)
    Constant(beta=0.5)

    """
    signal = as_signal(name, given)
    if signal.largest is not None and signal.largest > 1:
        raise InputError(f"{name} reaches {signal.largest:g}: give numbers in [0, 1].")
    return signal


def _not_negative(name: str, given: float) -> float:
    """A number, checked to be 0 or more."""
    checked = number(name, given)
    check_not_negative(name, np.array(checked))
    return checked
