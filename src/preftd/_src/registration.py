"""Names of tasks and rules, also for Gymnasium and plug-ins.

This module refers to tasks and rules by name, so that importing preftd does not load them.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from preftd.failures import InputError

if TYPE_CHECKING:
    from preftd.rules import Rule
    from preftd.tasks import Task

PLUGINS = "preftd.plugins"
"""The group of entry points by which installed packages name modules with tasks and rules."""


def environment_id(task: str) -> str:
    """Return the Gymnasium name of a task.

    Examples
    --------
    >>> environment_id("random_walk")
    'preftd/RandomWalk-v0'

    """
    return f"preftd/{task.title().replace('_', '')}-v0"


TASK_MODULES = {
    **dict.fromkeys(("random_walk", "corridor", "double_corridor", "decision_corridors"), "chains"),
    **dict.fromkeys(("cross_grid", "random_grid", "four_rooms"), "grids"),
    **dict.fromkeys(("counterexample_1", "counterexample_2"), "chains"),
}
"""Modules of tasks, by the name of the function that makes one."""
ENVIRONMENTS = {environment_id(task): task for task in TASK_MODULES}
"""Names of tasks by their Gymnasium names."""


def register_environments() -> None:
    """Make `gymnasium.make("preftd/Corridor-v0", length=10)` work, for all tasks."""
    from gymnasium.envs.registration import register, registry  # noqa: PLC0415  (takes a while)

    for name, task in ENVIRONMENTS.items():
        if name not in registry:
            register(
                name,
                entry_point="preftd._src.tasks.environment:TaskEnvironment",
                kwargs={"task": task},
            )


def register_task(name: str, make: Callable[..., Task]) -> None:
    """Add a task under a name.

    `tasks.make`, `gymnasium.make` and the command `preftd tasks` then find it.

    Parameters
    ----------
    name : str
        Small letters, digits and underscores, such as "foggy_rooms"; the Gymnasium name is then
        "preftd/FoggyRooms-v0".
    make : callable
        Returns the task, given its parameters. Each has a default; the command line can set whole
        numbers only.

    Examples
    --------
    >>> import preftd
    >>> def coin(sides=2):
    ...     '''A coin that is tossed until it shows 0.'''
    ...     rows = [(0, 0, 1 - 1 / sides, 0, 1), (0, 0, 1 / sides, -1, 0)]
    ...     return preftd.Task(f"coin(sides={sides})", rows, [[1.0]], discount=1.0, start=[1])
    >>> preftd.register_task("coin", coin)
    >>> preftd.tasks.make("coin", sides=6).values.round(6)
    array([5.])

    """
    from preftd._src.tasks.catalogue import TASKS  # noqa: PLC0415  (takes a while)

    _check_name("task", name, TASKS)
    if environment_id(name) in ENVIRONMENTS:
        known = ENVIRONMENTS[environment_id(name)]
        raise InputError(f"task {name!r} has the Gymnasium name of {known!r}: choose another name.")
    _check_callable("task", name, make)
    for parameter in inspect.signature(make).parameters.values():
        if parameter.default is parameter.empty and parameter.kind not in _OPEN:
            raise InputError(
                f"parameter {parameter.name} of task {name!r} has no default: give it one, so that "
                "the task can be made by its name alone."
            )
    TASKS[name] = make
    ENVIRONMENTS[environment_id(name)] = name
    register_environments()


def register_rule(name: str, make: Callable[[Any], Rule]) -> None:
    """Add a rule to those that `preftd diagnose` compares.

    Parameters
    ----------
    name : str
        Small letters, digits and underscores, such as "interest_td".
    make : callable
        Returns the rule, given an interest: a class such as `ETD`, or `lambda interest: Mine()`
        for a rule that has none.

    """
    from preftd.rules import RULES, Rule  # noqa: PLC0415  (takes a while)

    _check_name("rule", name, RULES)
    _check_callable("rule", name, make)
    try:
        made = make(1.0)
    except (TypeError, InputError) as error:
        raise InputError(
            f"rule {name!r} cannot be made from an interest: give a function of one, such as "
            "lambda interest: Mine()."
        ) from error
    if not isinstance(made, Rule):
        raise InputError(
            f"rule {name!r} makes a {type(made).__name__}: give a function that returns a Rule."
        )
    RULES[name] = make


def load_plugins() -> None:
    """Import the plug-in modules of installed packages, which register tasks and rules."""
    from importlib.metadata import entry_points  # noqa: PLC0415  (takes a while)

    for plugin in entry_points(group=PLUGINS):
        try:
            plugin.load()
        except Exception as error:  # it is someone else's code
            raise InputError(
                f"the plug-in {plugin.name!r} cannot be loaded ({type(error).__name__}: {error}): "
                "correct it, or uninstall its package."
            ) from error


_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _check_name(kind: str, name: Any, known: Collection[str]) -> None:
    """Refuse a name that cannot be typed, or that is taken."""
    if not isinstance(name, str) or not re.fullmatch("[a-z][a-z0-9_]*", name):
        from preftd._src.arrays import short  # noqa: PLC0415  (loads scipy)

        raise InputError(
            f"the name of a {kind} is {short(name)}: give small letters, digits and underscores, "
            "such as 'foggy_rooms'."
        )
    if name in known:
        raise InputError(f"there is a {kind} {name!r} already: choose another name.")


def _check_callable(kind: str, name: str, make: Any) -> None:
    """Refuse anything that is not callable, such as a task itself."""
    if not callable(make):
        raise InputError(
            f"{kind} {name!r} is registered with a {type(make).__name__}: give a function that "
            f"returns a {kind.capitalize()}."
        )
