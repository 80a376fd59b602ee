"""Pictures: anything as nested tuples that are equal if and only if the things are alike.

A picture of an answer, of an argument or of an object's state can be kept and compared later.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

OPAQUE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, GeneratorType, type)
"""Compared by identity: they have no numbers of their own."""


def picture(thing: Any, *, exact: bool = True, inside: frozenset[int] = frozenset()) -> Any:
    """Return a picture, of numbers to the bit.

    Parameters
    ----------
    thing : Any
    exact : bool
        False leaves out the numbers: what remains is their form, and whether one is NaN.
    inside : frozenset of int
        The ids of the things around this one, against cycles.

    """
    if id(thing) in inside:
        return "itself"
    if isinstance(thing, str):
        return f"text {thing}" if exact else "text"
    number = _number(thing)
    if number is not None:
        return _numbers(number, exact)
    if thing is None or isinstance(thing, bytes | slice):
        return repr(thing) if exact else type(thing).__name__
    if isinstance(thing, OPAQUE):
        return id(thing)
    around = inside | {id(thing)}
    parts = ((key, picture(part, exact=exact, inside=around)) for key, part in _parts(thing))
    return _kind(thing), tuple(parts)


def _number(thing: Any) -> NDArray[Any] | None:
    """The numbers of an array of any library, or of one number; None for anything else."""
    if isinstance(thing, np.ma.MaskedArray | type):
        return None
    if isinstance(thing, bool | int | float | complex | np.generic | np.ndarray):
        return np.asarray(thing)
    if type(thing).__module__.partition(".")[0] == "torch" and hasattr(thing, "numpy"):
        return np.asarray(thing.detach().numpy())
    return None


def _numbers(array: NDArray[Any], exact: bool) -> Any:
    if array.dtype.kind == "O":
        return "objects", tuple(map(repr, array.ravel().tolist()))
    if array.ndim == 0 and array.dtype.kind in "biu":
        return int(array) if exact else "whole number"  # of any type
    if not exact:
        return array.dtype.kind, array.shape, array.dtype.kind in "fc" and bool(_is_nan(array))
    return array.dtype.kind, array.shape, array.astype(array.dtype.newbyteorder("=")).tobytes()


def _is_nan(array: NDArray[Any]) -> bool:
    return bool(np.isnan(array).any())


def _kind(thing: Any) -> str:
    """Lists and tuples are alike, and so are dictionaries of any kind."""
    if isinstance(thing, list | tuple):
        return "sequence"
    return "mapping" if isinstance(thing, Mapping) else type(thing).__name__


def _parts(thing: Any) -> Iterator[tuple[Any, Any]]:
    """What a thing consists of, without results that it keeps to save time."""
    if isinstance(thing, list | tuple):
        yield from enumerate(thing)
    elif isinstance(thing, Mapping):
        yield from ((repr(key), part) for key, part in thing.items())
    elif isinstance(thing, set | frozenset):
        yield from enumerate(sorted(thing, key=repr))
    elif isinstance(thing, np.ma.MaskedArray):
        yield from enumerate((np.asarray(thing.data), np.ma.getmaskarray(thing)))
    elif isinstance(thing, np.random.Generator):
        yield "state", thing.bit_generator.state
    elif sparse.issparse(thing):
        csr: Any = sparse.csr_array(thing)  # type: ignore[call-overload]  # any sparse format
        yield from enumerate((csr.shape, csr.data, csr.indices, csr.indptr))
    elif type(thing).__module__.partition(".")[0] in ("pandas", "polars"):
        yield from enumerate((repr(thing), thing.to_numpy()))
    elif hasattr(thing, "state_dict"):
        yield "state", thing.state_dict()
    elif type(thing).__module__.partition(".")[0] not in ("matplotlib", "numba"):
        yield from _attributes(thing)


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    for name, part in sorted(getattr(thing, "__dict__", {}).items()):
        if not isinstance(getattr(type(thing), name, None), cached_property):
            yield name, part
    for name in getattr(type(thing), "__slots__", ()):
        if hasattr(thing, name):
            yield name, getattr(thing, name)
