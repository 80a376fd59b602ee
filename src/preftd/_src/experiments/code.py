"""What the user's functions, classes and modules do, as plain data.

A function or class of the user is described by its compiled code and by everything that it refers
to: constants, helpers, defaults, closures, base classes. A module of the user is described by its
source and by the source of the user's modules that it imports. In doubt the description changes,
and results are computed again. Code that is installed goes by its name.
"""

import ast
import dis
import functools
import hashlib
import operator
import sys
import sysconfig
import types
from collections import namedtuple
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

Plain: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
Describe: TypeAlias = Callable[[Any], Plain]
"""Describes the parts of a value."""
_SLOTS = (
    *(types.MemberDescriptorType, types.GetSetDescriptorType),
    type(vars(namedtuple("_Named", "x"))["x"]),
)
"""Attributes of a class that say where its objects keep theirs."""


def of_function(function: types.FunctionType, describe: Describe) -> Plain:
    """Code, the global names that it looks up, modules that it imports, defaults and closure."""
    scope, steps = function.__globals__, list(_instructions(function.__code__))
    names = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    used = sorted(name for name in names & scope.keys() if not _is_special(name))
    imported = sorted({step.argval for step in steps if step.opname == "IMPORT_NAME"})
    closure = [_held(cell) for cell in function.__closure__ or ()]
    given = (function.__defaults__, function.__kwdefaults__, closure, vars(function))
    return {
        "name": function.__name__.strip("<>"),
        "code": _code(function.__code__),
        "uses": {name: describe(scope[name]) for name in used},
        "imports": [sources(name) for name in imported],
        "given": [*map(describe, given)],
    }


def of_class(kind: type, describe: Describe) -> Plain:
    """Everything that a class defines, and its base classes."""
    defined = {
        name: describe(part)
        for name, part in sorted(vars(kind).items())
        if not isinstance(part, _SLOTS)
        and (callable(part) or isinstance(part, classmethod) or not _is_special(name))
    }
    bases = [*map(describe, (*kind.__bases__, type(kind)))]
    return {"name": kind.__qualname__, "code": defined, "bases": bases}


def of_wrapper(value: Any, describe: Describe) -> Plain:
    """A property, or a static, class or cached method: the functions in it."""
    inside = [getattr(value, name, None) for name in ("fget", "fset", "func", "__func__")]
    return [type(value).__name__, *(describe(part) for part in inside if part is not None)]


def of_module(module: types.ModuleType, _: Describe) -> Plain:
    """A module of the user: its source."""
    return {"name": module.__name__, "code": sources(module.__name__)}


def sources(module: str) -> dict[str, str]:
    """Hashes of the source of a module's package and of all the user's modules that it imports."""
    found: dict[str, str] = {}
    left = [module.partition(".")[0]]
    while left:
        top = left.pop()
        if not top or top in found or installed(top):
            continue
        texts = [path.read_bytes() for path in _files(top)]
        found[top] = hashlib.sha256(b"\0".join(texts)).hexdigest()
        left += [name for text in texts for name in _imports(text)]
    return dict(sorted(found.items()))


def installed(module: str) -> bool:
    """Whether a module belongs to this library, to Python, or to an installed package."""
    top = module.partition(".")[0]
    if top in ("preftd", "__main__"):
        return top == "preftd"
    path = _file(module) or _file(top)
    return top in sys.stdlib_module_names if path is None else _in_installation(path)


def installed_name(value: Any) -> str | None:
    """Where an installed module keeps a module, class or function; None if none does."""
    if isinstance(value, types.ModuleType):
        return value.__name__ if installed(value.__name__) else None
    if isinstance(value, type):
        whole = f"{value.__module__}.{value.__qualname__}"
        return whole if installed(value.__module__) else None
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    said = getattr(getattr(value, "__objclass__", value), "__module__", None)
    # Ufuncs do not say where they are.
    for module in ("numpy", "scipy.special") if isinstance(value, np.ufunc) else (said,):
        if isinstance(module, str) and isinstance(name, str) and installed(module):
            try:
                if operator.attrgetter(name)(sys.modules[module]) is value:
                    return f"{module}.{name}"
            except (AttributeError, KeyError):
                continue
    return None


def constant_name(value: Any) -> str | None:
    """The name under which the module of its class keeps an object, such as `scipy.stats.norm`."""
    module = type(value).__module__
    kept = vars(sys.modules.get(module, types.ModuleType(module)))
    return next((f"{module}.{name}" for name, part in kept.items() if part is value), None)


def _code(code: types.CodeType) -> Plain:
    """What compiled code does, not where it stands."""
    constants = [_constant(value) for value in code.co_consts]
    names = [list(part) for part in (code.co_names, code.co_varnames, code.co_freevars)]
    shape = [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags]
    return [code.co_code.hex(), code.co_exceptiontable.hex(), constants, *names, *shape]


def _constant(value: Any) -> Plain:
    if isinstance(value, types.CodeType):
        return _code(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _instructions(code: types.CodeType) -> Iterator[dis.Instruction]:
    """The instructions of code and of code within it."""
    yield from dis.get_instructions(code)
    for part in code.co_consts:
        if isinstance(part, types.CodeType):
            yield from _instructions(part)


def _held(cell: types.CellType) -> Any:
    """What a function closes over; a stand-in for what has no value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return NotImplemented


def _is_special(name: str) -> bool:
    return name.startswith(("__", "_abc_")) and name.endswith(("__", "_impl"))


@functools.lru_cache(maxsize=256)
def _imports(source: bytes) -> list[str]:
    """Top-level packages that a source imports."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError):
        return []  # a compiled extension, or a file of the package that is not Python
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [name.partition(".")[0] for name in names]


def _files(top: str) -> list[Path]:
    file = _file(top)
    if file is None:
        return []
    path = Path(file)
    if path.name != "__init__.py":
        return [path]
    return sorted(one for one in path.parent.rglob("*.py") if one.is_file())


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
