"""A hash of all that a kernel is made of: its file, and what it uses of other files."""

import enum
import functools
import hashlib
import sys
from collections.abc import Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

LIBRARY = __name__.partition(".")[0]
_CONSTANT = (bool, int, float, complex, str, bytes, tuple, enum.Enum, np.generic, np.ndarray)


def read_files(function: FunctionType) -> None:
    """Read the file of a kernel and those of what its module has imported.

    Called while modules are loaded: a file that changes later is not what this process runs.
    """
    for value in (function, *function.__globals__.values()):
        module = _module_of(value)
        if module is not None:
            _hash_of(module)


def content_of(dispatcher: Any) -> str:
    """Return a hash of the files, constants, options and versions that a kernel depends on."""
    parts = {f"numba {numba.__version__}, numpy {np.__version__}"}
    todo, seen = [dispatcher], {dispatcher}
    while todo:
        at = todo.pop()
        known = at.py_func.__globals__
        used = {name: known[name] for name in _names(at.py_func.__code__) if name in known}
        parts |= _constants(at.__module__, used)
        parts.add(f"{at.__module__}.{at.__qualname__}: {_sorted(at.targetoptions)}")
        for value in (at, *used.values()):
            module = _module_of(value)
            if module is None:
                continue
            parts.add(_hash_of(module))
            if not is_jitted(value):  # what numba puts in its place stands in the same file
                parts |= _constants(module.__name__, vars(module))
            members = vars(value).values() if isinstance(value, ModuleType) else (value,)
            new = {one for one in members if is_jitted(one)} - seen
            seen |= new
            todo += new
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:16]


def _sorted(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options as the same text in every process, though some are sets."""
    return sorted(
        (name, str(sorted(value) if isinstance(value, set) else value))
        for name, value in options.items()
    )


def _names(code: CodeType) -> set[str]:
    """The names that code uses, and functions inside it."""
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _constants(module: str, known: Mapping[str, Any]) -> set[str]:
    """A line for each constant."""
    return {
        f"{module}.{name} = {_text(value)}"
        for name, value in known.items()
        if isinstance(value, _CONSTANT) and not name.startswith("__")
    }


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):  # as text, long ones are shortened
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    return f"{type(value).__name__} {value!r}"


def _module_of(value: Any) -> ModuleType | None:
    """The module of the library that something was defined in, or is."""
    found = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    name = str(found)
    return sys.modules[name] if name.partition(".")[0] == LIBRARY else None


@functools.cache
def _hash_of(module: ModuleType) -> str:
    """A hash of the file of a module as it is when this is first asked."""
    spec: Any = module.__spec__
    return hashlib.sha256(spec.loader.get_data(spec.origin)).hexdigest()
