"""The table of tasks, and how to make and describe them by name."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from preftd._src.arrays import InputError, short
from preftd._src.names import nearest
from preftd._src.registration import TASK_MODULES
from preftd._src.tasks.task import Task
from preftd._src.terminal import hanging

TASKS: dict[str, Callable[..., Task]] = {
    name: getattr(import_module(f"preftd._src.tasks.{module}"), name)
    for name, module in TASK_MODULES.items()
}
"""Every task by name; tests run over this table."""


def make(name: str, **parameters: Any) -> Task:
    """Make the task of that name.

    Parameters
    ----------
    name : str
        A name in `TASKS`.
    **parameters
        Parameters of the task, such as `length=5`.

    Examples
    --------
    >>> make("corridor", length=5)
    <Task corridor(length=5): 11 states, 3 features>

    """
    nearest("task", name, TASKS)
    for parameter in parameters:
        nearest(f"parameter of {name}", parameter, inspect.signature(TASKS[name]).parameters)
    made = TASKS[name](**parameters)
    if not isinstance(made, Task):
        raise InputError(
            f"task {name!r} was made as {short(made)}: let its function return a Task."
        )
    return made


def overview() -> Iterator[str]:
    """Return for each task its name, parameters with defaults, and summary."""
    for name, make_task in TASKS.items():
        parameters = inspect.signature(make_task).parameters.values()
        call = f"{name}({', '.join(f'{p.name}={p.default}' for p in parameters)})"
        yield hanging(call, (inspect.getdoc(make_task) or "").partition("\n")[0], 4)


def describe(task: Task) -> str:
    """Return a description of a task in a few lines."""
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
    """Return parameters from texts such as "length=10"."""
    parameters = {}
    for setting in settings:
        name, _, value = setting.partition("=")
        try:
            parameters[name.strip()] = int(value)
        except ValueError:
            raise InputError(
                f"{setting!r} is not a parameter: write a name, =, and a whole number."
            ) from None
    return parameters
