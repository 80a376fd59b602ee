"""What a thing consists of, as plain data: the same content gives the same name, anywhere.

A cell's results are found by a hash of all that they depend on. Numbers, strings, arrays and
objects are described by their values, the user's code by `code.py`. What this library or an
installed one defines goes by its name: the number `SCHEMA` stands for how results are computed.
"""

import collections
import datetime
import decimal
import fractions
import functools
import hashlib
import json
import logging
import pathlib
import re
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from preftd._src.arrays import InputError
from preftd._src.experiments import code
from preftd._src.experiments.code import Describe, Plain, constant_name, installed, installed_name
from preftd.tasks import Task

SCHEMA = 3
"""To be raised whenever the same description gives other results than before."""
ADDED = {"bounded": False}
"""Fields that were added to classes of this library, each with the value that changes no results:
it is left out, so that results stored before are found."""
REVISIONS = {"Learned": 4}
"""Classes of this library whose results may change more often than all others: to be raised in
place of `SCHEMA` when such a class gives other results, so that only these are computed again."""


def digest(plain: Plain) -> str:
    """A short name for plain data: 32 hexadecimal digits, others for other data."""
    written = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(written.encode()).hexdigest()[:32]


def content(value: Any) -> Plain:
    """Plain data that say all there is to a value.

    >>> from preftd.preferences import Observability
    >>> content(Observability(hidden=0.1))
    {'class': {'known': 'Observability'}, 'holds': {'hidden': 0.1, 'observable': 1}}
    """
    try:
        return _content(value, (), {})
    except RecursionError:
        raise InputError(
            f"a {_kind(value)} holds things within things without end: make it less deep."
        ) from None


def is_ours(plain: Plain) -> bool:
    """Whether something consists of values and of what this library defines, and nothing else.

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
    """Plain data as a line to be read.

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
    """The same, knowing what the value is part of and what was described already.

    Things may hold themselves. Functions and classes refer to each other in all directions: each is
    described where it comes first, or a few of them could be walked through in millions of ways.
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
        f"a {_kind(value)} has no content by which results could be found again: make tasks, "
        "rules, preferences and learners of numbers, arrays, functions and objects that hold such."
    )


def _kind(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")


def _number(value: float, _: Describe) -> Plain:
    """1 and 1.0 give the same results."""
    return int(value) if value == value // 1 else float(value)


def _array(value: Any, _: Describe) -> Plain:
    if value.dtype.hasobject:
        raise InputError(
            "an array of Python objects has no content that could be compared: give numbers."
        )
    whole = hashlib.sha256(value.tobytes()).hexdigest()
    kind = "" if type(value) is np.ndarray else f"{_kind(value)} "  # a matrix computes otherwise
    return {"name": f"{kind}{value.dtype}{list(value.shape)}", "sha256": whole}


def _set(value: Any, describe: Describe) -> Plain:
    return {"name": "set", "parts": sorted(digest(describe(part)) for part in value)}


def _mapping(value: Mapping[Any, Any], describe: Describe) -> Plain:
    """In the order in which it is walked through."""
    found = {"mapping": [[describe(name), describe(part)] for name, part in value.items()]}
    if isinstance(value, collections.defaultdict):
        return found | {"else": describe(value.default_factory)}
    return found


def _deque(value: collections.deque[Any], describe: Describe) -> Plain:
    parts: list[Plain] = [*map(describe, value)]
    return parts if value.maxlen is None else {"name": f"last {value.maxlen}", "parts": parts}


def _object(value: Any, more: dict[str, Plain], describe: Describe) -> Plain:
    """The class of an object and its attributes, but for those that change no results."""
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
    """What experience and values depend on; where states are drawn is not among it."""
    names = (
        *("name", "outcomes", "features", "discount", "start", "observable"),
        *("policy", "behaviour"),
    )
    return {"class": "Task", "holds": {name: describe(getattr(value, name)) for name in names}}


_REPRESENTED = (
    *(bytes, bytearray, complex, range, slice, types.EllipsisType, types.NotImplementedType),
    *(decimal.Decimal, fractions.Fraction, datetime.date, datetime.time, datetime.timedelta),
    *(np.dtype, types.GenericAlias, types.UnionType, pathlib.PurePath),
)
"""What Python writes in full."""

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
    (types.ModuleType, code.of_module),
    (type, code.of_class),
    (types.FunctionType, code.of_function),
    (types.BuiltinFunctionType, lambda v, describe: [v.__name__, describe(v.__self__)]),
    (types.MethodType, lambda value, describe: [*map(describe, (value.__func__, value.__self__))]),
    (functools.partial, lambda v, describe: [*map(describe, (v.func, v.args, v.keywords))]),
    ((property, functools.cached_property, staticmethod, classmethod), code.of_wrapper),
    (Task, _task),
)
"""Kinds of values and how each is described; the first that fits."""
