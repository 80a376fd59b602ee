"""What the user's own functions, classes and modules do, as plain data.

Compiled code and all that it refers to: a constant that is edited in a study's file changes every
description of what uses it, a comment or an unrelated line changes none. What code finds only while
it runs, such as the content of a file that it reads, is not known.
"""

import dis
import enum
import functools
import types
from collections import namedtuple
from collections.abc import Callable
from typing import Any, TypeAlias

from preftd.experiments.modules import imports, installed, sources, steps

Plain: TypeAlias = bool | int | float | str | list[Any] | dict[str, Any] | None
Describe: TypeAlias = Callable[[Any], Plain]
"""How to go on with the parts of a thing."""


def of_function(function: types.FunctionType, describe: Describe) -> Plain:
    """Code, the outside names that it looks up, defaults, what it closes over and was given."""
    scope, code = function.__globals__, function.__code__
    looked_up = {str(step.argval) for step in steps(code) if step.opname in _LOOKS_UP}
    # The names of a file and of its module say nothing about what is computed.
    used = sorted(name for name in looked_up & scope.keys() if not _is_special(name))
    closure = [_held(cell) for cell in function.__closure__ or ()]
    given = (function.__defaults__, function.__kwdefaults__, closure, vars(function))
    return {
        "name": function.__name__.strip("<>"),
        "code": describe(code),
        "uses": {name: describe(scope[name]) for name in used},
        "imports": [sources(name) for name in sorted(imports(code))],
        "given": [*map(describe, given)],
    }


def _held(cell: types.CellType) -> Any:
    """What a function closes over; a stand-in for what was not given a value yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return NotImplemented


def of_code(code: types.CodeType, describe: Describe) -> Plain:
    """What the code does, not where it stands or what is written about it."""
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    shape = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
    done = [
        [step.opname, _constant(step.argval, describe) if step.opcode in dis.hasconst else step.arg]
        for step in dis.get_instructions(code)
    ]
    return [done, code.co_exceptiontable.hex(), *map(describe, (names, shape))]


def of_class(kind: type, describe: Describe) -> Plain:
    """Everything that a class defines, and what it is made from."""
    defined = {
        name: describe(part)
        for name, part in sorted(vars(kind).items())
        if _is_the_authors(name, part)
    }
    made_from = [*map(describe, (*kind.__bases__, type(kind)))]
    return {"name": kind.__qualname__, "code": defined, "from": made_from}


def of_wrapper(value: Any, describe: Describe) -> Plain:
    """A property, or a static, class or cached method: the functions in it."""
    inside = [getattr(value, name, None) for name in ("fget", "fset", "func", "__func__")]
    return [type(value).__name__, *(describe(part) for part in inside if part is not None)]


def of_builtin(value: Any, describe: Describe) -> Plain:
    """A compiled function: its name, and what it is part of."""
    return [value.__name__, describe(value.__self__)]


def of_module(module: types.ModuleType, _: Describe) -> Plain:
    """One of the user's own modules: its source."""
    return {"name": module.__name__, "code": sources(module.__name__)}


def of_wrapped(value: Any, describe: Describe) -> Plain:
    """What numba compiled or functools keeps the results of: the function, and with what options.

    None for what is neither.
    """
    if not installed(type(value).__module__) or not hasattr(value, "__wrapped__"):
        return None
    parts = (type(value), value.__wrapped__, getattr(value, "targetoptions", None))
    return {"name": value.__name__, "code": [*map(describe, parts)]}


def state(value: Any) -> dict[str, Any] | None:
    """The attributes of an object, but for those that only save time; None if it is not for us.

    What installed packages keep in their objects (a position, a file) describes nothing.
    """
    if isinstance(value, enum.Enum):
        return {"name": value.name, "value": value.value}
    kind = type(value)
    if installed(kind.__module__) and kind.__module__.partition(".")[0] != "preftd":
        return None
    slots, kept = [], set()
    for base in kind.__mro__:
        for name, part in vars(base).items():
            if isinstance(part, types.MemberDescriptorType):
                slots.append(name)
            elif isinstance(part, functools.cached_property):
                kept.add(name)
    found = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    found |= getattr(value, "__dict__", {})
    return {name: found[name] for name in sorted(found.keys() - kept)}


_LOOKS_UP = ("LOAD_GLOBAL", "LOAD_NAME")
_PLACES = (
    *(types.MemberDescriptorType, types.GetSetDescriptorType),
    type(vars(namedtuple("_Place", "x"))["x"]),
)
"""Where objects keep their attributes: the attributes themselves are described with the object."""


def _constant(value: Any, describe: Describe) -> Plain:
    """What is written in the code itself; there, 1 and 1.0 may do different things."""
    if isinstance(value, types.CodeType):
        return describe(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _is_the_authors(name: str, part: Any) -> bool:
    """Whether an attribute of a class is its author's, and not Python's own bookkeeping."""
    if isinstance(part, _PLACES):
        return False
    if name.startswith(("__dataclass", "__annot", "_abc_")):
        return False
    return callable(part) or isinstance(part, classmethod) or not _is_special(name)
