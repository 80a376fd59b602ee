"""The content of a value as plain data: the same content has the same hash, anywhere.

A cell's results are found by a hash of all that they depend on. Numbers, strings, arrays and
objects are described by their values. Functions and classes of this library or an installed one are
described by name; the number `SCHEMA` stands for the way results are computed.

A function or class of the user is described by its compiled code and by everything that it refers
to: constants, helpers, defaults, closures, base classes. A module of the user is described by its
source and by the source of the user's modules that it imports. In doubt the description changes,
and results are recomputed.
"""

import ast
import collections
import datetime
import decimal
import dis
import fractions
import functools
import hashlib
import json
import logging
import operator
import pathlib
import re
import sys
import sysconfig
import types
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from preftd._src.arrays import InputError
from preftd.tasks import Task

Plain: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
Describe: TypeAlias = Callable[[Any], Plain]
"""Describes the parts of a value."""
SCHEMA = 3
"""Raise it whenever the same description gives different results."""
ADDED = {"bounded": False, "compiled": False}
"""Fields that were added to classes of this library, each with the value that changes no results:
it is omitted, so that older results are still found."""
REVISIONS = {"Learned": 11}
"""Revisions of classes whose results change more often: raise one instead of `SCHEMA`, so that only
results of that class are recomputed."""


def digest(plain: Plain) -> str:
    """A hash of plain data: 32 hexadecimal digits."""
    written = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def content(value: Any) -> Plain:
    """Plain data that describe a value completely.

    >>> from preftd.preferences import Observability
    >>> content(Observability(hidden=0.1))
    {'class': {'known': 'Observability'}, 'holds': {'hidden': 0.1, 'observable': 1}}
    """
    try:
        return _content(value, (), {})
    except RecursionError:
        raise InputError(f"a {_kind(value)} is nested too deeply: make it flatter.") from None


def is_ours(plain: Plain) -> bool:
    """Whether something consists only of values and of code of this library.

    >>> from preftd.preferences import Function, Observability
    >>> is_ours(content(Observability())), is_ours(content(Function(lambda x: 1.0)))
    (True, False)
    """
    if isinstance(plain, list):
        return all(map(is_ours, plain))
    if not isinstance(plain, dict):
        return True
    # Names of other libraries say where in them something is.
    if "code" in plain or "." in str(plain.get("known", "")):
        return False
    return all(map(is_ours, plain.values()))


def text(plain: Plain) -> str:
    """Plain data as a readable line.

    >>> from preftd import ETD
    >>> from preftd.preferences import Observability
    >>> text(content(ETD(interest=Observability(0.5, 0.0))))
    'ETD(interest=Observability(hidden=0, observable=0.5))'
    """
    if isinstance(plain, list):
        return f"[{', '.join(map(text, plain))}]"
    if not isinstance(plain, dict):
        return plain if isinstance(plain, str) else repr(plain)
    if "class" in plain:
        parts = [f"{name.strip('_')}={text(part)}" for name, part in plain["holds"].items()]
        return f"{text(plain['class'])}({', '.join(parts)})"
    if "mapping" in plain:
        return f"{{{', '.join(f'{text(name)}: {text(part)}' for name, part in plain['mapping'])}}}"
    said = plain.get("known") or plain.get("constant")
    return str(said or f"{plain['name']}#{digest(plain)[:8]}")


def _content(value: Any, within: tuple[Any, ...], seen: dict[int, int]) -> Plain:
    """The same, given the enclosing values and those already described.

    Values may contain themselves. Functions and classes refer to each other, so each is described
    once, where it occurs first; otherwise there could be millions of paths.
    """
    if (name := installed_name(value)) is not None:
        return {"known": name.rpartition(".")[2] if name.startswith("preftd.") else name}
    for depth, outer in enumerate(within):
        if outer is value:
            return {"name": "within", "depth": depth}
    if isinstance(value, types.FunctionType | type):
        if id(value) in seen:
            return {"name": "again", "number": seen[id(value)]}
        seen[id(value)] = len(seen)

    def describe(part: Any) -> Plain:
        return _content(part, (*within, value), seen)

    for kinds, handle in _HANDLERS:
        if isinstance(value, kinds):
            described: Plain = handle(value, describe)
            if isinstance(value, type) or installed(type(value).__module__):
                return described
            # The user's own kind of tuple may do more than a tuple does.
            return _object(value, {"": described}, describe)
    return _other(value, describe)


def _other(value: Any, describe: Describe) -> Plain:
    kind = type(value).__module__
    if not installed(kind) or kind.partition(".")[0] == "preftd":
        return _object(value, {}, describe)
    if hasattr(value, "__wrapped__"):  # by numba or functools, with some options
        parts = (type(value), value.__wrapped__, getattr(value, "targetoptions", None))
        return {"name": value.__name__, "code": [*map(describe, parts)]}
    if type(value) is object or kind == "typing":
        return {"constant": "object()" if type(value) is object else repr(value)}
    if (name := constant_name(value)) is not None:
        return {"known": name}
    raise InputError(
        f"a {_kind(value)} has no content that can be hashed: make tasks, rules, preferences and "
        "learners of numbers, arrays, functions and objects of these."
    )


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _number(value: float, _: Describe) -> Plain:
    """1 and 1.0 give the same results."""
    return int(value) if value == value // 1 else float(value)


def _array(value: Any, _: Describe) -> Plain:
    if value.dtype.hasobject:
        raise InputError("an array of Python objects cannot be hashed: give numbers.")
    whole = hashlib.sha256(value.tobytes()).hexdigest()
    kind = "" if type(value) is np.ndarray else f"{_kind(value)} "  # a matrix computes otherwise
    return {"name": f"{kind}{value.dtype}{list(value.shape)}", "sha256": whole}


def _set(value: Any, describe: Describe) -> Plain:
    return {"name": "set", "parts": sorted(digest(describe(part)) for part in value)}


def _mapping(value: Mapping[Any, Any], describe: Describe) -> Plain:
    """In iteration order."""
    found = {"mapping": [[describe(name), describe(part)] for name, part in value.items()]}
    if isinstance(value, collections.defaultdict):
        return found | {"else": describe(value.default_factory)}
    return found


def _deque(value: collections.deque[Any], describe: Describe) -> Plain:
    parts: list[Plain] = [*map(describe, value)]
    return parts if value.maxlen is None else {"name": f"last {value.maxlen}", "parts": parts}


def _object(value: Any, more: dict[str, Plain], describe: Describe) -> Plain:
    """The class of an object and its attributes, except those that change no results."""
    kind, left_out = type(value), set()
    held: dict[str, Any] = {}
    for base in kind.__mro__:
        for name, part in vars(base).items():
            if isinstance(part, types.MemberDescriptorType) and hasattr(value, name):
                held[name] = getattr(value, name)
            elif isinstance(part, functools.cached_property):
                left_out.add(name)
    held |= getattr(value, "__dict__", {})
    described: Any = describe(kind)
    if kind.__module__.partition(".")[0] == "preftd":
        left_out |= {name for name, usual in ADDED.items() if held.get(name) is usual}
        if kind.__name__ in REVISIONS:
            described = {**described, "revision": REVISIONS[kind.__name__]}
    parts = {name: describe(held[name]) for name in sorted(held.keys() - left_out)}
    return {"class": described, "holds": more | parts}


def _sparse(value: Any, describe: Describe) -> Plain:
    rows = value.tocsr()
    parts = (rows.shape, rows.indptr, rows.indices, rows.data)
    return {"name": "sparse", "parts": [*map(describe, parts)]}


def _task(value: Task, describe: Describe) -> Plain:
    """What experience and values depend on, which excludes the positions of states in pictures."""
    names = (
        *("name", "outcomes", "features", "discount", "start", "observable"),
        *("policy", "behaviour"),
    )
    return {"class": "Task", "holds": {name: describe(getattr(value, name)) for name in names}}


_SLOTS = (
    *(types.MemberDescriptorType, types.GetSetDescriptorType),
    type(vars(namedtuple("_Named", "x"))["x"]),
)
"""Attributes of a class that describe the storage of its objects."""


def _function(function: types.FunctionType, describe: Describe) -> Plain:
    """Code, its global names, the modules that it imports, defaults and closure."""
    scope, steps = function.__globals__, list(_instructions(function.__code__))
    names = {step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    used = sorted(name for name in names & scope.keys() if not _is_special(name))
    imported = sorted({step.argval for step in steps if step.opname == "IMPORT_NAME"})
    closure = [_enclosed(cell) for cell in function.__closure__ or ()]
    given = (function.__defaults__, function.__kwdefaults__, closure, vars(function))
    return {
        "name": function.__name__.strip("<>"),
        "code": _code(function.__code__),
        "uses": {name: describe(scope[name]) for name in used},
        "imports": [sources(name) for name in imported],
        "given": [*map(describe, given)],
    }


def _class(kind: type, describe: Describe) -> Plain:
    """Everything that a class defines, and its base classes."""
    defined = {
        name: describe(part)
        for name, part in sorted(vars(kind).items())
        if not isinstance(part, _SLOTS)
        and (callable(part) or isinstance(part, classmethod) or not _is_special(name))
    }
    bases = [*map(describe, (*kind.__bases__, type(kind)))]
    return {"name": kind.__qualname__, "code": defined, "bases": bases}


def _wrapper(value: Any, describe: Describe) -> Plain:
    """A property, or a static, class or cached method: the functions in it."""
    inside = [getattr(value, name, None) for name in ("fget", "fset", "func", "__func__")]
    return [type(value).__name__, *(describe(part) for part in inside if part is not None)]


def _module(module: types.ModuleType, _: Describe) -> Plain:
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
    """The name under which an installed module defines a module, class or function.

    None if none does.
    """
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
    """The name of an object in the module of its class, such as `scipy.stats.norm`."""
    module = type(value).__module__
    kept = vars(sys.modules.get(module, types.ModuleType(module)))
    return next((f"{module}.{name}" for name, part in kept.items() if part is value), None)


def _code(code: types.CodeType) -> Plain:
    """What compiled code does, without its position."""
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


def _enclosed(cell: types.CellType) -> Any:
    """The closure of a function, with a placeholder for variables without a value."""
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


_REPRESENTED = (
    *(bytes, bytearray, complex, range, slice, types.EllipsisType, types.NotImplementedType),
    *(decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta),
    *(np.dtype, types.GenericAlias, types.UnionType, pathlib.PurePath),
)
"""Types whose repr is complete."""

_HANDLERS: Any = (
    ((types.NoneType, bool), lambda value, _: value),
    (str, lambda value, _: str(value)),
    ((int, float), _number),
    (np.generic, lambda value, describe: describe(value.item())),
    (_REPRESENTED, lambda value, _: {"constant": repr(value)}),
    (re.Pattern, lambda value, _: {"constant": f"{value.pattern!r}, {value.flags}"}),
    (logging.Logger, lambda _, __: {"constant": "Logger"}),  # it changes no results
    (np.ndarray, _array),
    ((sparse.sparray, sparse.spmatrix), _sparse),
    ((list, tuple), lambda value, describe: [describe(v) for v in value]),
    (collections.deque, _deque),
    ((set, frozenset), _set),
    (Mapping, _mapping),
    (types.SimpleNamespace, lambda value, describe: describe(vars(value))),
    (types.ModuleType, _module),
    (type, _class),
    (types.FunctionType, _function),
    (types.BuiltinFunctionType, lambda v, describe: [v.__name__, describe(v.__self__)]),
    (types.MethodType, lambda value, describe: [*map(describe, (value.__func__, value.__self__))]),
    (functools.partial, lambda v, describe: [*map(describe, (v.func, v.args, v.keywords))]),
    ((property, functools.cached_property, staticmethod, classmethod), _wrapper),
    (Task, _task),
)
"""Types of values and their descriptions; the first match counts."""
