"""All tasks by name."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from preftd.arrays import InputError
from preftd.names import nearest
from preftd.tasks.corridors import corridor, double_corridor
from preftd.tasks.counterexamples import counterexample_1, counterexample_2
from preftd.tasks.grids import cross_grid, random_grid
from preftd.tasks.random_walk import random_walk
from preftd.tasks.task import Task

TASKS: dict[str, Callable[..., Task]] = {
    make.__name__: make
    for make in (
        random_walk,
        corridor,
        double_corridor,
        cross_grid,
        random_grid,
        counterexample_1,
        counterexample_2,
    )
}
"""Every task, by the name that users type; the laws are tested over this table."""


def make(name: str, **parameters: Any) -> Task:
    """The task of that name.

    >>> make("corridor", length=5)
    <Task corridor(length=5): 11 states, 3 features>
    """
    nearest("task", name, TASKS)
    for parameter in parameters:
        nearest(f"parameter of {name}", parameter, inspect.signature(TASKS[name]).parameters)
    return TASKS[name](**parameters)


def overview() -> Iterator[str]:
    """A line on each task: its name with its parameters and their defaults, and what it is."""
    calls = {name: f"{name}{inspect.signature(make)}" for name, make in TASKS.items()}
    calls = {
        name: call.partition(" ->")[0].replace(": int = ", "=") for name, call in calls.items()
    }
    width = max(map(len, calls.values()))
    for name, make_task in TASKS.items():
        yield f"{calls[name].ljust(width)}  {inspect.getdoc(make_task)}"


def describe(task: Task) -> str:
    """What there is to know of a task, in a few lines."""
    length = task.mean_episode_length
    lines = [
        task.name,
        f"  states    {task.states}, of which {int((~task.observable).sum())} hidden",
        f"  features  {task.features.size}",
        f"  actions   {task.outcomes.actions}",
        f"  discount  {task.discount:g}",
        f"  episodes  {f'{length:.4g} steps on average' if np.isfinite(length) else 'none'}",
    ]
    return "\n".join(lines)


def parse(settings: Sequence[str]) -> dict[str, int]:
    """Parameters from text such as "length=10"."""
    parameters = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            parameters[name.strip()] = int(value)
        except ValueError:
            raise InputError(
                f"{setting!r} sets nothing: write a name, =, and a whole number."
            ) from None
    return parameters
