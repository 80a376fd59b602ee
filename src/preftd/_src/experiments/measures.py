"""Measures: named numbers that a run yields after each episode, each with a direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from preftd._src.arrays import Dense, InputError, Vector, as_array, as_flag, short
from preftd._src.names import is_one_line

if TYPE_CHECKING:
    from preftd.experience import Experience


@final
@dataclass(frozen=True)
class Measure:
    """A number that a run yields after each episode.

    Parameters
    ----------
    name : str
        The name of its column; a Python identifier.
    label : str
        Its name in tables and figures (default: `name`).
    maximise : bool
        Whether more is better (default: less is better).

    Examples
    --------
    >>> Measure("length", "steps per episode", maximise=True)
    Measure(name='length', label='steps per episode', maximise=True)

    """

    name: str
    label: str = ""
    maximise: bool = False

    def __post_init__(self) -> None:
        given: object = self.name
        if not isinstance(given, str) or not given.isidentifier():
            raise InputError(f"name of the measure is {short(given)}: give a Python identifier.")
        label: object = self.label
        if not isinstance(label, str) or not is_one_line(label):
            raise InputError(
                f"label of the measure is {short(self.label)}: give a string of one line."
            )
        object.__setattr__(self, "label", self.label or self.name)
        object.__setattr__(self, "maximise", as_flag("maximise of the measure", self.maximise))

    @property
    def worst(self) -> float:
        """What counts where a run yields no finite number."""
        return -np.inf if self.maximise else np.inf

    def bounded(self, found: Dense) -> Dense:
        """The same numbers, with the worst in place of those that are not finite."""
        numbers = as_array("found", found, finite=False)
        return np.where(np.isfinite(numbers), numbers, self.worst)


ERROR = Measure("error", "mean squared error")
"""Mean over the observable states of (prediction − value)²."""
RETURN = Measure("return", "return", maximise=True)
"""Sum of the rewards of the episode: discounted by learners that predict it, plain by those that
act, which also yield the discounted sum."""
UPDATED = Measure("updated", "share of steps that update")
"""Share of the steps of the episode whose gain is above 0."""
KNOWN = {measure.name: measure for measure in (ERROR, RETURN, UPDATED)}
"""Measures that every learner yields that learns from a task's experience."""
DISCOUNTED = Measure("discounted", "discounted return", maximise=True)
"""Discounted sum of the rewards of the episode."""
STEPS = Measure("steps", "steps per episode", maximise=True)
"""The number of steps of the episode."""
PREFERRED = Measure("preferred", "share of steps with β = 1")
"""Share of the steps of the episode at which β is 1."""
ACTED = {measure.name: measure for measure in (RETURN, DISCOUNTED, STEPS, PREFERRED)}
"""Measures that an actor-critic yields."""
NAMED = KNOWN | ACTED
"""Measures that have names."""


def as_measure(name: str, given: Any) -> Measure:
    """A measure, from itself or the name of a known one."""
    if isinstance(given, Measure):
        return given
    if not isinstance(given, str) or given not in NAMED:
        raise InputError(
            f"{name} is {short(given)}: give one of {', '.join(NAMED)}, or a measure of your own, "
            'such as Measure("length", maximise=True).'
        )
    return NAMED[given]


def returns(experience: Experience) -> Vector:
    """The discounted return of each of some whole episodes, shape (episodes,).

    Examples
    --------
    >>> from preftd import tasks
    >>> returns(tasks.make("corridor", length=5).sampler(0).episodes(4)).shape
    (4,)

    """
    lengths = _lengths(experience)
    inside = np.arange(lengths.max()) < lengths[:, None]  # episodes × steps
    reward, discount = np.zeros(inside.shape), np.ones(inside.shape)
    reward[inside] = experience.reward
    discount[inside] = experience.discount_tp1
    before = np.cumprod(discount, axis=1)[:, :-1]
    return np.asarray(reward[:, 0] + (before * reward[:, 1:]).sum(axis=1))


def updated(experience: Experience, gain: Vector) -> Vector:
    """The share of steps with gain > 0 in each of some whole episodes, shape (episodes,)."""
    lengths = _lengths(experience)
    starts = np.cumsum(lengths) - lengths
    return np.add.reduceat((gain > 0).astype(np.float64), starts) / lengths


def _lengths(experience: Experience) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    return np.diff(np.flatnonzero(experience.is_last), prepend=-1)
