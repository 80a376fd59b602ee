"""Step sizes: a number, one for each feature, one that decreases, or those of actor and critic."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Self, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    Vector,
    are_flags,
    as_array,
    check_not_negative,
    check_whole,
    number,
    short,
)


@final
@dataclass(frozen=True)
class Decreasing:
    """α_t = initial / (1 + t / delay)^power: decreases as Robbins and Monro ask, if power > ½.

    Σ α_t is infinite and Σ α_t² finite for ½ < power ≤ 1, so that noise averages out and any point
    can still be reached.

    >>> Decreasing(0.5, delay=100).at(np.array([0, 100, 900]))
    array([0.5 , 0.25, 0.05])
    """

    initial: float
    delay: float = 1000.0
    power: float = 1.0

    def __post_init__(self) -> None:
        for name, given in tuple(vars(self).items()):
            checked = number(name, given)
            if not isinstance(given, int):
                object.__setattr__(self, name, checked)
        if not (self.initial > 0 and self.delay > 0):
            raise InputError("initial and delay must be above 0: give such numbers.")
        if not 0.5 < self.power <= 1:
            raise InputError(f"power is {self.power}: it must be above 0.5 and at most 1.")

    def at(self, step: ArrayLike) -> Vector:
        """The step sizes of some steps, whole numbers counted from 0, in the same shape."""
        steps = as_array("step", step)
        check_not_negative("step", steps)
        check_whole("step", steps)
        return size_at(self, steps)


@final
@dataclass(frozen=True)
class StepSizePair:
    """The two step sizes of an actor-critic.

    Parameters
    ----------
    actor, critic : float
        Above 0.

    Examples
    --------
    >>> StepSizePair.grid(actor=[0.1, 0.01], critic=[1e-3])
    [StepSizePair(actor=0.1, critic=0.001), StepSizePair(actor=0.01, critic=0.001)]

    """

    actor: float
    critic: float

    def __post_init__(self) -> None:
        for name in ("actor", "critic"):
            given: Any = getattr(self, name)
            if isinstance(given, Decreasing):
                raise InputError(f"{name} is {given}, which decreases: give a number above 0.")
            size = number(name, given)
            if not size > 0:
                raise InputError(f"{name} is {size:g}: give a step size above 0.")
            object.__setattr__(self, name, size)

    @classmethod
    def grid(cls, actor: Iterable[float], critic: Iterable[float]) -> list[Self]:
        """Return all pairs of two lists of step sizes, to search over."""
        return [cls(*pair) for pair in product(listed("actor", actor), listed("critic", critic))]


def size_at(given: Decreasing, step: int | NDArray[Any]) -> Vector:
    """`Decreasing.at` for steps that are known to be counts."""
    return np.asarray(given.initial / (1 + step / given.delay) ** given.power)


StepSize: TypeAlias = float | Decreasing
StudyStepSize: TypeAlias = StepSize | StepSizePair
"""Step sizes of a study."""


def as_step_size(name: str, given: ArrayLike | StudyStepSize) -> StepSize:
    """A step size: above 0 and finite, or decreasing."""
    if isinstance(given, Decreasing):
        return given
    if isinstance(given, StepSizePair):
        raise InputError(
            f"{name} is a pair, for an actor-critic: give a number, or Decreasing(...)."
        )
    array = as_array(name, given)
    if array.ndim or not array > 0 or are_flags(given):
        raise InputError(f"{name} is {short(given)}: give a number above 0, or Decreasing(...).")
    return float(array)


def as_step_sizes(given: Any) -> tuple[StepSize, ...]:
    """Several step sizes, at least one."""
    sizes = enumerate(listed("step_sizes", given))
    return tuple(as_step_size(f"step_sizes[{i}]", size) for i, size in sizes)


def as_fixed_sizes(learners: str, given: Any) -> tuple[float, ...]:
    """Several step sizes, of which none decreases."""
    sizes = as_step_sizes(given)
    fixed = tuple(alpha for alpha in sizes if not isinstance(alpha, Decreasing))
    if len(fixed) < len(sizes):
        raise InputError(f"the step sizes of {learners} do not change: give numbers.")
    return fixed


def listed(name: str, given: Any) -> list[Any]:
    """The argument as a list, if it has entries; text and dicts are refused."""
    try:
        if isinstance(given, str | bytes | Mapping):
            raise TypeError
        sizes = list(given)
    except TypeError:
        raise InputError(f"{name} is {short(given)}: give a list of step sizes.") from None
    if not sizes:
        raise InputError(f"{name} is empty: give at least one.")
    return sizes


def as_study_step_size(name: str, given: Any) -> StudyStepSize:
    """A step size of any kind, as a study takes it."""
    return given if isinstance(given, StepSizePair) else as_step_size(name, given)


def step_size_parts(given: ArrayLike | Decreasing, size: int) -> tuple[StepSize, Vector]:
    """A step size as one for all features, times a factor for each."""
    if isinstance(given, Decreasing | StepSizePair):
        return as_step_size("step_size", given), np.ones(size)
    factors = np.array(as_array("step_size", given))
    if factors.ndim == 0:
        return as_step_size("step_size", given), np.ones(size)
    if factors.shape != (size,):
        raise InputError(f"step_size has shape {factors.shape}: give one number, or {size}.")
    if are_flags(given):
        raise InputError("step_size is true or false for each feature: give numbers.")
    if not (factors > 0).all():
        raise InputError(f"step_size[{int(np.argmin(factors))}] is not above 0: give a larger one.")
    return 1.0, factors


def step_sizes_of(given: Sequence[StepSize], first: int, steps: int) -> NDArray[np.float64]:
    """Steps × step sizes, or one row if none of them changes."""
    if not any(isinstance(alpha, Decreasing) for alpha in given):
        return np.array([given], dtype=np.float64)
    t = np.arange(first, first + steps)
    columns = [
        size_at(a, t) if isinstance(a, Decreasing) else np.full(steps, a, dtype=np.float64)
        for a in given
    ]
    return np.ascontiguousarray(np.stack(columns, axis=1))
