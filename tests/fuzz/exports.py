"""All public callables: what packages export, what the documentation imports, and their methods."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[2]
PACKAGES = [
    "experience",
    "experiments",
    "jax",
    "learners",
    "logs",
    "preferences",
    "ray",
    "rules",
    "sb3",
    "sklearn",
    "tasks",
    "theory",
    "torch",
    "torchrl",
]
IMPORTED = re.compile(r"from (preftd[\w.]*) import ([\w, ]+)")
METHODS = ("__call__", "__getitem__")
"""Special methods that users call; other public methods have names without underscores."""


class Export(NamedTuple):
    """A public callable."""

    call: Callable[..., Any]
    owner: type | None
    """The class whose instances have this method; None for a function or a constructor."""


@cache
def exports() -> dict[str, Export]:
    """Return all public callables by name, such as "rules.Rule.step"."""
    found: dict[str, Export] = {}
    for thing in _exported():
        if inspect.isclass(thing):
            found.update(_of_class(thing))
        elif callable(thing) and not inspect.ismodule(thing):
            found[_name(thing)] = Export(thing, None)
    return dict(sorted(found.items()))


def _exported() -> Iterator[Any]:
    """What packages list in `__all__`, and what the documentation imports."""
    for package in ["preftd", *(f"preftd.{name}" for name in PACKAGES)]:
        module = import_module(package)
        yield from (getattr(module, name) for name in module.__all__)
    for page in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ]:
        for module_name, names in IMPORTED.findall(page.read_text(encoding="utf-8")):
            module = import_module(module_name)
            yield from (getattr(module, name.strip()) for name in names.split(","))
    yield import_module("preftd._src.tasks.sampler").Sampler  # what task.sampler(seed) returns


def _of_class(thing: type) -> Iterator[tuple[str, Export]]:
    """The constructor of a class, unless it may hold anything, and the methods."""
    holds_anything = issubclass(thing, tuple | Exception) or getattr(thing, "_is_protocol", False)
    if not holds_anything and not inspect.isabstract(thing):
        yield _name(thing), Export(thing, None)
    for name in dir(thing):
        method = inspect.getattr_static(thing, name)
        if name.startswith("_") and name not in METHODS:
            continue
        function = getattr(method, "__func__", method)
        if not inspect.isfunction(function) or not function.__module__.startswith("preftd"):
            continue
        if isinstance(method, classmethod | staticmethod):
            yield _name(function), Export(getattr(thing, name), None)
        elif not getattr(function, "__isabstractmethod__", False) and not getattr(
            thing, "_is_protocol", False
        ):
            yield _name(function), Export(function, thing)


def method_of(owner: type, method: str) -> str:
    """Return the name of a method, which a class may have from another."""
    return _name(getattr(owner, method))


def _name(thing: Any) -> str:
    package = thing.__module__.removeprefix("preftd.").removeprefix("_src.").split(".")[0]
    return f"{package}.{thing.__qualname__}"
