"""What an experiment is given, checked; messages name the field."""

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from preftd.arrays import InputError, whole
from preftd.learners.step_size import StepSize, as_step_size
from preftd.preferences import Signal
from preftd.rules import Rule
from preftd.tasks import Task

if TYPE_CHECKING:
    from typing_extensions import TypeIs

EXAMPLES = {
    "task": 'tasks.make("corridor")',
    "rule": "PTD()",
    "preference": "Constant(1.0)",
    "learner": "Linear()",
}
"""What to type for one of each kind."""


def is_a(kind: str, given: Any) -> bool:
    """Whether something can be used as a task, rule, preference or learner."""
    if kind == "task":
        return isinstance(given, Task) or (callable(given) and not isinstance(given, type))
    if kind == "learner":
        return hasattr(given, "start") and not isinstance(given, type)
    return isinstance(given, {"rule": Rule, "preference": Signal}[kind])


def check_kind(name: str, kind: str, given: Any) -> None:
    """Refuse what is not a task, rule, preference or learner."""
    if not is_a(kind, given):
        raise InputError(f"{name} is {given!r}: give one, such as {EXAMPLES[kind]}.")
    called = {"rule": "name", "learner": "label"}.get(kind)
    if called is not None and not isinstance(getattr(given, called, None), str):
        raise InputError(
            f"{name} is a {type(given).__name__} without a {called}: give its class one, as in "
            f'{called} = "mine".'
        )


def as_count(name: str, given: int) -> int:
    """A whole number of 1 or more."""
    if whole(name, given) < 1:
        raise InputError(f"{name} is {given}: give 1 or more.")
    return whole(name, given)


def as_seeds(name: str, given: int | Iterable[int]) -> tuple[int, ...]:
    """Which seeds: those given, or so many, from 0."""
    chosen = given if are_several(given) else range(whole(name, given))
    seeds = tuple(whole(f"{name}[{i}]", seed) for i, seed in enumerate(chosen))
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError(f"{name} are {seeds}: give one or more, each once.")
    return seeds


def are_several(given: int | Iterable[int]) -> "TypeIs[Iterable[int]]":
    """Whether numbers are given, not one that says how many; an array may be either."""
    return isinstance(given, Iterable) and not (isinstance(given, np.ndarray) and given.ndim == 0)


def as_step_sizes(name: str, given: Sequence[StepSize]) -> list[StepSize]:
    """Step sizes, each of them possible."""
    try:
        chosen = list(given)
    except TypeError:
        raise InputError(f"{name} is {given!r}: give a list, such as [0.1, 0.01].") from None
    if not chosen:
        raise InputError(f"{name} is empty: give one or more.")
    return [as_step_size(f"{name}[{i}]", alpha) for i, alpha in enumerate(chosen)]


def as_workers(given: int | None) -> int:
    """How many work at the same time: as many as there are cores, if not said."""
    count = _cores() if given is None else whole("workers", given)
    if count < 1:
        raise InputError(f"workers is {given}: give 1 or more, or leave it out.")
    return count


def _cores() -> int:
    """How many cores this process may use, where that is known."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
