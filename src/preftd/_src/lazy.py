"""Packages whose names are loaded on first use."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy(
    package: str, modules: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    Parameters
    ----------
    package : str
        Its public name, such as ``preftd.tasks``.
    modules : mapping from str to str
        Names of modules of its private package, and the public names that each defines, separated
        by spaces.

    """
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        private = package.replace("preftd.", "preftd._src.", 1)
        return getattr(import_module(f"{private}.{module_of[name]}"), name)

    return load, lambda: sorted(module_of)
