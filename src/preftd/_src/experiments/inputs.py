"""Arguments of experiments, checked; messages name the field."""

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from preftd._src.arrays import InputError, as_count, short, whole
from preftd._src.experiments.learning import acts, is_named, makes_tasks
from preftd._src.files import as_path
from preftd._src.learners.custom import as_spec
from preftd._src.learners.step_size import Decreasing, StepSizePair, StudyStepSize
from preftd.rules import Rule
from preftd.tasks import Task

if TYPE_CHECKING:
    from typing_extensions import TypeIs

Size = TypeVar("Size")
MOST = 1_000_000
"""The most members of a list; an infinite one has more."""
EXAMPLES = {
    "task": 'tasks.make("corridor")',
    "rule": "PTD()",
    "preference": "Constant(1.0)",
    "learner": "Linear()",
}
"""One of each kind, as you would type it."""


def check_task(name: str, given: Any, acting: bool = False) -> None:
    """Refuse anything but a task, or a function that makes one for each seed.

    For learners that act, a task is anything with a name.
    """
    made = makes_tasks(given) and not isinstance(given, type)
    if not (isinstance(given, Task) or made or (acting and is_named(given))):
        raise InputError(f"{name} is {short(given)}: give one, such as {EXAMPLES['task']}.")


def check_rule(name: str, given: Any) -> None:
    """Refuse anything but a rule with a name."""
    if not isinstance(given, Rule):
        raise InputError(f"{name} is {short(given)}: give one, such as {EXAMPLES['rule']}.")
    _check_text(name, given, "name")


def as_learner(name: str, given: Any) -> Any:
    """The specification of a learner, from itself or a factory of custom learners."""
    if hasattr(given, "start") or acts(given):
        if isinstance(given, type):
            raise InputError(f"{name} is {short(given)}: give one, such as {given.__name__}().")
        _check_text(name, given, "label")
        return given
    if not callable(given):
        raise InputError(f"{name} is {short(given)}: give one, such as {EXAMPLES['learner']}.")
    missing = [one for one in ("learn", "predict") if not hasattr(given, one)]
    if isinstance(given, type) and missing:
        raise InputError(
            f"{name} is {short(given)}, which has no {missing[0]}: give a class with learn and "
            "predict, or a function that makes a learner."
        )
    return as_spec(given)


def takes_step_size(learner: Any) -> bool:
    """Whether a learner has a step size."""
    return bool(getattr(learner, "takes_step_size", True))


def _check_text(name: str, given: Any, attribute: str) -> None:
    if not isinstance(getattr(given, attribute, None), str):
        raise InputError(
            f"{name} is a {type(given).__name__} without a {attribute}: give its class one, as in "
            f'{attribute} = "mine".'
        )


def as_seeds(name: str, given: int | Iterable[int]) -> tuple[int, ...]:
    """The seeds given, or the first n, from 0."""
    chosen = given if are_several(given) else range(whole(name, given))
    seeds = tuple(whole(f"{name}[{i}]", seed) for i, seed in enumerate(listed(name, chosen, "[0]")))
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError(f"{name} are {seeds}: give one or more, each once.")
    return seeds


def as_seed_count(name: str, given: Any) -> int:
    """How many seeds, from 1 to `MOST`."""
    count = as_count(name, given)
    if count > MOST:
        raise InputError(f"{name} is {short(count)}: give at most {MOST:,}.")
    return count


def are_several(given: int | Iterable[int]) -> "TypeIs[Iterable[int]]":
    """Whether these are several numbers, not a count; an array may be either."""
    return isinstance(given, Iterable) and not (isinstance(given, np.ndarray) and given.ndim == 0)


def as_step_sizes(
    name: str, given: Sequence[StudyStepSize], as_one: Callable[[str, Any], Size]
) -> list[Size]:
    """One or more step sizes, each of them possible: `as_one` checks one of them."""
    chosen = listed(name, given, "[0.1, 0.01]")
    if not chosen:
        raise InputError(f"{name} is empty: give one or more.")
    return [as_one(f"{name}[{i}]", alpha) for i, alpha in enumerate(chosen)]


def size_of(alpha: StudyStepSize | None) -> float | None:
    """A step size as a number: the initial one if it decreases, the critic's of a pair, or None."""
    if isinstance(alpha, StepSizePair):
        return alpha.critic
    return alpha.initial if isinstance(alpha, Decreasing) else alpha


def check_pairs(learner: Any, name: str, sizes: Sequence[StudyStepSize]) -> None:
    """Refuse pairs for a learner with one step size, and single ones for an actor-critic."""
    pairs = [isinstance(size, StepSizePair) for size in sizes]
    if getattr(learner, "takes_pairs", False) and not all(pairs):
        raise InputError(
            f"{name} has {sizes[pairs.index(False)]}, but {learner.label} has two step sizes: give "
            "pairs, such as StepSizePair.grid(actor=[0.1, 0.01], critic=[0.001])."
        )
    if any(pairs) and not getattr(learner, "takes_pairs", acts(learner)):
        raise InputError(
            f"{name} has {sizes[pairs.index(True)]}, but {short(learner)} has one step size: give "
            "numbers."
        )


def listed(name: str, given: Any, example: str) -> list[Any]:
    """A list of what is given, at most `MOST` members."""
    try:
        if isinstance(given, bytes):  # whose members are numbers
            raise TypeError
        chosen = list(islice(given, MOST + 1))
    except Exception:  # it may be of any class
        raise InputError(f"{name} is {short(given)}: give a list, such as {example}.") from None
    if len(chosen) > MOST:
        raise InputError(f"{name} has more than {MOST:,} members: give fewer.")
    return chosen


def as_workers(given: int | None) -> int:
    """Number of workers (default: one for each core)."""
    count = _cores() if given is None else whole("workers", given)
    if count < 1:
        raise InputError(f"workers is {given}: give 1 or more, or leave it out.")
    return count


def as_folder(name: str, given: Any) -> Path:
    """The path of a folder, which need not exist."""
    return as_path(name, given, 'the path of a folder, such as "results"')


def check_methods(name: str, given: Any, methods: Sequence[str]) -> None:
    """Refuse an object without the methods, or a class instead of an object."""
    missing = [one for one in methods if not callable(getattr(given, one, None))]
    if missing or isinstance(given, type):
        raise InputError(
            f"{name} is {short(given)}: give an object with the methods {', '.join(methods)}."
        )


def heed_interrupts() -> None:
    """Let Ctrl-C wake a thread that waits: the handler of polars would let it wait for hours."""
    if hasattr(signal, "siginterrupt"):
        signal.siginterrupt(signal.SIGINT, True)


def _cores() -> int:
    """The number of cores that this process may use, if known."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
