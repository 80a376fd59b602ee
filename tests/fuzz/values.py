"""Values that replace a valid one: some say the same in another way, the others are bad.

A kind of value has a name, and makes its value from the valid one. `like` makes the plain value
that it stands for: a call with either must give the same answer. A kind without it is bad.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import torch
from numpy.typing import NDArray
from scipy import sparse


class Kind(NamedTuple):
    """A way to make a value from a valid one."""

    name: str
    make: Callable[[Any], Any]
    like: Callable[[Any], Any] | None = None


def same(plain: Any) -> Any:
    """What stands for the valid value itself."""
    return plain


def _bad(**values: Any) -> list[Kind]:
    """Kinds of bad values that do not depend on the valid one."""
    return [_constant(name.strip("_").replace("_", " "), values[name]) for name in values]


def _constant(name: str, value: Any) -> Kind:
    return Kind(name, lambda _: value)


ANYWHERE = [
    *_bad(None_=None, word="x", object=object(), mapping={"x": 1}, complex=0.5 + 1j, bytes=b"x"),
    *_bad(nan=float("nan"), infinity=float("inf"), type=float, date=np.datetime64("2026-01-01")),
    *_bad(masked=np.ma.masked, empty=[], ragged=[[0.5], [0.5, 0.5]], long_word="x" * 1000),
    *_bad(words=["x", "y"], missing=[None, None], line="a\nb"),
    Kind("generator", lambda _: (x for x in [0.5])),
]
"""Bad wherever they occur, if the row of the callable does not say otherwise."""
NUMBERS = [
    *ANYWHERE,
    *_bad(negative=-1.0, huge=1e300, minus_infinity=-float("inf"), large=10**400),
    Kind("text", str),
    Kind("pair", lambda plain: [plain, plain]),
    Kind("flag", lambda _: True, lambda _: 1.0),
    Kind("float64", np.float64, same),
    Kind("float32", np.float32, lambda plain: float(np.float32(plain))),
    Kind("array", np.array, same),
    Kind("tensor", lambda plain: torch.tensor(plain, dtype=torch.float64), same),
    Kind("unmasked", np.ma.array, same),
]
COUNTS = [
    *ANYWHERE,
    *_bad(negative=-1, zero=0, half=2.5, int32=2**31, int64=2**63, trillion=10**12),
    Kind("text", str),
    Kind("pair", lambda plain: [plain, plain]),
    Kind("flag", lambda _: True, lambda _: 1),
    Kind("float", float, same),
    Kind("int8", np.int8, same),
    Kind("uint64", np.uint64, same),
    Kind("array", np.array, same),
    Kind("tensor", torch.tensor, same),
]
FLAGS = [
    *ANYWHERE,
    *_bad(no="no", two=2, minus_one=-1, half=0.5),
    Kind("pair", lambda plain: [plain, plain]),
    Kind("int", int, same),
    Kind("bool", np.bool_, same),
    Kind("array", np.array, same),
]
TEXTS = [
    *ANYWHERE,
    *_bad(number=3, nothing="", pair=["x", "x"], half_of_a_pair="a\ud800"),
    Kind("str", np.str_, same),
]
FUNCTIONS = [
    *(kind for kind in ANYWHERE if kind.name != "type"),  # which can be called
    *_bad(number=3, half=0.5, negative=-1, array=np.ones((2, 2)), flag=True),
]
THINGS = [*FUNCTIONS, *_bad(type=float), Kind("its type", type)]
OTHER_NUMBERS = ("negative", "huge", "negative entry", "huge entry")
"""Kinds that have the form of the valid value."""


def kinds_for(plain: Any) -> list[Kind]:
    """The kinds of values that replace a valid one."""
    if isinstance(plain, bool):
        return FLAGS
    if isinstance(plain, int):
        return COUNTS
    if isinstance(plain, float):
        return NUMBERS
    if isinstance(plain, str):
        return TEXTS
    if isinstance(plain, np.ndarray):
        return list(_arrays(plain)) if plain.ndim else kinds_for(plain.item())
    return FUNCTIONS if isinstance(plain, FunctionType | BuiltinFunctionType | np.ufunc) else THINGS


def _arrays(plain: NDArray[Any]) -> Iterator[Kind]:
    """Those for arrays."""
    yield from ANYWHERE
    yield from (Kind(name, make, same) for name, make in SAME.items())
    if not plain.size:
        return
    if plain.dtype.kind == "f":
        entries: dict[str, Any] = {
            "nan": np.nan,
            "infinite": np.inf,
            "negative": -1.0,
            "huge": 1e300,
        }
        yield Kind("float32", lambda plain: plain.astype(np.float32), _single)
    else:
        entries = {"half": 0.5, "negative": -1, "int32": 2**31, "int64": np.uint64(2**63)}
    for name, entry in entries.items():
        yield Kind(f"{name} entry", partial(_with_entry, entry=entry))
    yield Kind("masked entry", lambda plain: np.ma.masked_equal(plain, plain.flat[0]))
    yield Kind("complex entries", lambda plain: plain + 1j)
    yield Kind("longer", lambda plain: np.concatenate([plain, plain[:1]]))
    yield Kind("shorter", lambda plain: plain[:-1].copy())
    yield Kind("more axes", lambda plain: plain[None])
    yield Kind("one entry", lambda plain: plain.flat[0].item())
    if plain.ndim == 1:
        nothing = [None, *plain[1:].tolist()]
        yield Kind("null in pandas", lambda _: pd.Series(nothing, dtype="Float64"))
        yield Kind("null in polars", lambda _: pl.Series(nothing))
    if plain.ndim == 2:
        yield Kind("wider", lambda plain: np.concatenate([plain, plain[:, :1]], axis=1))
        yield Kind("sparse", sparse.csr_array, same)
        yield Kind("broken sparse", _broken)


SAME: dict[str, Callable[[NDArray[Any]], Any]] = {
    "list": lambda plain: plain.tolist(),
    "tuple": lambda plain: tuple(plain.tolist()),
    "read-only": lambda plain: _read_only(plain.copy()),
    "strided": lambda plain: np.repeat(plain, 2, axis=0)[::2],
    "backwards": lambda plain: plain[::-1].copy()[::-1],
    "by columns": np.asfortranarray,
    "big-endian": lambda plain: plain.astype(plain.dtype.newbyteorder(">")),
    "floats": lambda plain: plain.astype(np.float64),
    "objects": lambda plain: plain.astype(object),
    "unmasked": np.ma.array,
    "tensor": lambda plain: torch.from_numpy(plain.copy()),
    "pandas": lambda plain: (
        (pd.Series if plain.ndim == 1 else pd.DataFrame)(plain)
        if plain.ndim in (1, 2)
        else plain.tolist()
    ),
    "polars": lambda plain: (
        (pl.Series if plain.ndim == 1 else pl.DataFrame)(plain)
        if plain.ndim in (1, 2)
        else plain.tolist()
    ),
}
"""The same array in other ways."""


def _single(plain: NDArray[Any]) -> NDArray[Any]:
    """The numbers as they are once rounded to 32 bits."""
    return plain.astype(np.float32).astype(np.float64)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _with_entry(plain: NDArray[Any], entry: Any) -> NDArray[Any]:
    """The array with another first entry, in a type that holds it."""
    array = plain.astype(np.result_type(plain, np.asarray(entry)))
    if isinstance(entry, np.uint64):
        array = plain.astype(np.uint64)
    array.flat[0] = entry
    return array


def _broken(plain: NDArray[Any]) -> Any:
    """A sparse matrix with an index outside."""
    csr = sparse.csr_array(plain + (plain == 0))
    csr.indices[0] = 10**6
    return csr
