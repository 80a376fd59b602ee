"""Whose a module is, and what the source of the user's own ones says.

Installed code goes by its name. The user's own is edited between runs, so its text counts: that of
a module, of its whole package, and of every module of the user's that it imports in turn.
"""

import dis
import functools
import hashlib
import operator
import sys
import sysconfig
import types
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

_UFUNCS = ("numpy", "scipy.special")
"""Where functions of this kind live, which do not all say it themselves."""


def installed(module: str) -> bool:
    """Whether a module belongs to this library, to Python, or to an installed package."""
    top = module.partition(".")[0]
    if top in ("preftd", "__main__"):
        return top == "preftd"
    path = _file(module) or _file(top)
    return top in sys.stdlib_module_names if path is None else _in_installation(path)


def known_name(value: Any) -> str | None:
    """Where an installed module keeps a value, if it does: what is there is not edited."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if installed(value.__name__) else None
    if isinstance(value, type):
        whole = f"{value.__module__}.{value.__qualname__}"
        return whole if installed(value.__module__) else None
    name: Any = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    owner = getattr(value, "__objclass__", value)  # str.upper does not know its module
    said: Any = getattr(owner, "__module__", None)
    for module in _UFUNCS if isinstance(value, np.ufunc) else (said,):
        named = isinstance(module, str) and isinstance(name, str)
        if named and installed(module) and _at(module, name) is value:
            return f"{module}.{name}"
    return None


def constant_name(value: Any) -> str | None:
    """Under which name the module of its class keeps an object, such as scipy's distributions."""
    module = type(value).__module__
    kept = vars(sys.modules.get(module, types.ModuleType(module)))
    return next((f"{module}.{name}" for name, part in kept.items() if part is value), None)


def sources(module: str) -> dict[str, str]:
    """Hashes of the source of a module's package and of all that it imports, if the user's own."""
    found: dict[str, str] = {}
    left = [module.partition(".")[0]]
    while left:
        top = left.pop()
        if top in found or installed(top):
            continue
        texts = [path.read_bytes() for path in _files(top)]
        found[top] = hashlib.sha256(b"\0".join(texts)).hexdigest()
        left += [name for text in texts for name in _imports_of(text)]
    return dict(sorted(found.items()))


def imports(code: types.CodeType) -> set[str]:
    """The packages that code, and code within it, imports when it runs."""
    return {str(step.argval).partition(".")[0] for step in steps(code) if _is_import(step)} - {""}


def steps(code: types.CodeType) -> Iterator[dis.Instruction]:
    """What code, and code within it, does one after the other."""
    yield from dis.get_instructions(code)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from steps(part)


def _is_import(step: dis.Instruction) -> bool:
    return step.opname == "IMPORT_NAME"


@functools.lru_cache(maxsize=256)
def _imports_of(source: bytes) -> set[str]:
    try:
        return imports(compile(source, "<source>", "exec", dont_inherit=True))
    except (SyntaxError, ValueError):
        return set()  # a compiled extension, or a file of the package that is no Python


def _files(top: str) -> list[Path]:
    file = _file(top)
    if file is None:
        return []
    path = Path(file)
    return sorted(path.parent.rglob("*.py")) if path.name == "__init__.py" else [path]


def _file(module: str) -> str | None:
    """The file of a module, loaded or not, if it has one."""
    if module in sys.modules:
        path: str | None = getattr(sys.modules[module], "__file__", None)
        return path
    spec = None if "." in module else find_spec(module)
    return spec.origin if spec and spec.has_location and spec.origin else None


@functools.cache
def _in_installation(path: str) -> bool:
    whole = Path(path).resolve()
    python = Path(sysconfig.get_path("stdlib")).resolve()
    packages = {"site-packages", "dist-packages"} & set(whole.parts)
    return bool(packages) or whole.is_relative_to(python)


def _at(module: str, name: str) -> Any:
    try:
        return operator.attrgetter(name)(sys.modules[module])
    except (AttributeError, KeyError):
        return None
