"""The fields of an `Experience` and the columns of a log, checked where they enter the library.

Compiled loops look up rows by codes without checks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Dense,
    InputError,
    as_array,
    as_count,
    as_flags,
    check_finite,
    check_not_negative,
    check_unit_interval,
    number,
    one_or_each,
)
from preftd._src.experience.indices import LARGEST, Indices, as_indices
from preftd._src.names import nearest

INT32 = np.iinfo(np.int32)
_FLOATS = ("reward", "discount_tp1", "discount_t", "rho")
_FLAGS = ("is_first", "is_last", "observable")
_INTEGERS = {
    "code_t": (0, 0),
    "code_tp1": (0, 0),
    "state": (0, int(INT32.max)),
    "action": (int(INT32.min), int(INT32.max)),
}
"""Whole numbers and their ranges; for codes, the range depends on other fields."""
_OPTIONAL = ("state", "observable", "observation", "action", "rho", "action_before", "reward_end")


def checked_fields(given: Mapping[str, Any]) -> dict[str, Any]:
    """The fields in their types, shapes and ranges; arrays are read-only views of copies."""
    found = dict(given)
    size = found["size"] = as_count("size", given["size"])
    rows = found["dense"] = _numbers("dense", given["dense"], 2)
    if rows.shape[1] != size:
        raise InputError(f"dense has {rows.shape[1]} columns, not {size}: give size columns.")
    codes = size
    if given["active"] is not None:
        found["active"] = _integers("active", given["active"], 2, (0, size - 1))
        codes = len(found["active"])
    for name, field in given.items():
        if field is None and name in _OPTIONAL:
            continue
        if name in _INTEGERS:
            within = (-len(rows), codes - 1) if name.startswith("code") else _INTEGERS[name]
            found[name] = _integers(name, field, 1, within)
        elif name in _OTHERS:
            found[name] = _OTHERS[name](name, field)
    _check_lengths(found)
    _check_ranges(found)
    _check_episodes(found)
    return {name: read_only_view(field) for name, field in found.items()}


def read_only_view(field: Any) -> Any:
    """A read-only view of an array; anything else unchanged."""
    if isinstance(field, np.ndarray) and field.flags.writeable:
        field = field.view()
        field.setflags(write=False)
    return field


def is_within(array: NDArray[Any], least: int, most: int) -> bool:
    """Whether all entries lie between two numbers, these included."""
    return not array.size or bool(least <= array.min() and array.max() <= most)


def _shaped(name: str, array: NDArray[Any], axes: int) -> NDArray[Any]:
    if array.ndim != axes:
        kind = "a row for each" if axes == 2 else "one number for each step"
        raise InputError(f"{name} has shape {array.shape}: give {kind}.")
    return np.array(array, order="C")


def _numbers(name: str, given: Any, axes: int) -> NDArray[np.float64]:
    plain = type(given) is np.ndarray and given.dtype == np.float64
    return _shaped(name, given if plain else as_array(name, given, finite=False), axes)


def _flags(name: str, given: Any) -> NDArray[np.bool_]:
    if type(given) is np.ndarray and given.dtype == np.bool_:
        return _shaped(name, given, 1)
    array = _shaped(name, as_array(name, given), 1)
    if not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} holds something other than 0 and 1: give true or false.")
    return array.astype(np.bool_)


def _integers(name: str, given: Any, axes: int, limits: tuple[int, int]) -> NDArray[np.int32]:
    """Whole numbers as int32, whose limits are checked before the conversion."""
    plain = type(given) is np.ndarray and given.dtype.kind in "iu"
    array = _shaped(name, given if plain else as_array(name, given), axes)
    least, most = limits
    if not is_within(array, least, most):
        at = int(np.argmax(((array < least) | (array > most)).ravel()))
        raise InputError(
            f"{name} holds {array.ravel()[at]:.20g} at {_place(at, array.shape)}: give whole "
            f"numbers from {least} to {most}."
        )
    if not plain and (array % 1 != 0).any():
        at = int(np.argmax((array % 1 != 0).ravel()))
        raise InputError(
            f"{name} holds {array.ravel()[at]:g} at {_place(at, array.shape)}: give whole numbers."
        )
    return array.astype(np.int32, copy=False)


def _place(flat: int, shape: tuple[int, ...]) -> str:
    return f"[{', '.join(str(int(i)) for i in np.unravel_index(flat, shape))}]"


def _check_lengths(found: Mapping[str, Any]) -> None:
    """Refuse arrays that do not have one entry for each step."""
    steps = len(found["code_t"])
    for name in (*_INTEGERS, *_FLOATS, *_FLAGS, "observation"):
        array = found[name]
        if array is not None and len(array) != steps:
            raise InputError(
                f"{name} has {len(array)} entries but there are {steps} steps: "
                "give one for each step."
            )


def _check_ranges(found: Mapping[str, Any]) -> None:
    """Refuse rewards that are not finite, discounts outside [0, 1] and negative ratios."""
    for name in _FLOATS:
        array = found[name]
        if array is None or not array.size:
            continue
        least, most = array.min(), array.max()  # NaN if there is one
        if not (-np.inf < least and most < np.inf):
            check_finite(name, array)
        if name == "rho" and least < 0:
            check_not_negative(name, array)
        elif name.startswith("discount") and not 0 <= least <= most <= 1:
            check_unit_interval(name, array)


def _check_episodes(found: Mapping[str, Any]) -> None:
    """Refuse starts, ends and discounts of steps that contradict each other."""
    first, last, discount_t = found["is_first"], found["is_last"], found["discount_t"]
    if first.size and first[0] and discount_t[0] != 0:
        raise InputError(
            f"discount_t[0] is {discount_t[0]:g} where an episode starts: give 0 there."
        )
    apart = first[1:] != last[:-1]
    if apart.any():
        t = int(np.argmax(apart)) + 1
        raise InputError(
            f"is_first[{t}] is {first[t]} and is_last[{t - 1}] is {last[t - 1]}: let an episode "
            "start where the previous one has ended, and only there."
        )
    # Where an episode starts, its discount is 0; elsewhere it is that of the previous step.
    odd = discount_t[1:] != found["discount_tp1"][:-1] * ~first[1:]
    if odd.any():
        t = int(np.argmax(odd)) + 1
        before = "an episode starts" if first[t] else f"discount_tp1[{t - 1}] is"
        value = "" if first[t] else f" {found['discount_tp1'][t - 1]:g}"
        raise InputError(
            f"discount_t[{t}] is {discount_t[t]:g}, but {before}{value}: give that of the previous "
            "step, and 0 where an episode starts."
        )


_OTHERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(_FLOATS, lambda name, given: _numbers(name, given, 1)),
    **dict.fromkeys(_FLAGS, _flags),
    "observation": lambda name, given: _numbers(name, given, 2),
    "reward_before": number,
    "reward_end": number,
    "action_before": lambda name, given: as_count(name, given, *_INTEGERS["action"]),
}
"""The dtypes of the other fields."""


def coded(
    name: str, given: ArrayLike | Indices, size: int | None
) -> tuple[NDArray[np.int32], Dense, int]:
    """Return the codes of features, the rows of those that are dense, and their number.

    NaN is allowed: learners refuse it where it has a weight.
    """
    if size is not None:
        size = as_count("size", size, 1, LARGEST)
    if isinstance(given, Indices):
        if size is None:
            raise InputError(f"{name} are indices of ones: give size, the number of features.")
        return as_indices(name, given, size).copy(), np.zeros((0, size)), size
    array = as_array(name, given, finite=False)
    if np.isinf(array).any():
        check_finite(name, np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf))
    if array.ndim != 2:
        raise InputError(
            f"{name} has shape {array.shape}: give a row of numbers for each step, or "
            "Indices([...]) for one-hot features."
        )
    if not array.shape[1]:
        raise InputError(f"{name} has no columns: give at least one feature.")
    if len(array) > LARGEST // 2:
        raise InputError(f"{name} has {len(array)} rows: give at most {LARGEST // 2} at a time.")
    if size not in (None, array.shape[1]):
        raise InputError(f"{name} has {array.shape[1]} columns, not {size}: omit size.")
    return -1 - np.arange(len(array), dtype=np.int32), array, array.shape[1]


def final_rows(
    given: ArrayLike | Indices | str | None, cut: NDArray[np.bool_], size: int | None, width: int
) -> tuple[NDArray[np.int32] | None, Dense]:
    """Return codes and rows of what was observed after truncated steps; None for "last".

    Parameters
    ----------
    given : array, Indices, "last" or None
        As for `Experience.from_log`.
    cut : array of shape (steps,)
        Whether the step is truncated.
    size, width : int
        The number of features, if it was given, and as found.

    """
    many, nothing = int(cut.sum()), np.zeros((0, width))
    if isinstance(given, str):
        nearest("value of final", given, ["last"])
        return None, nothing
    if not many and (given is None or (isinstance(given, list) and not given)):
        return np.zeros(0, np.int32), nothing
    if given is None:
        raise InputError(
            f"final is missing: {many} episodes are truncated (the first at step "
            f"{int(np.argmax(cut))}), so give what was observed after each, or "
            'final="last" if their last rows are that.'
        )
    codes, rows, found = coded("final", given, size)
    if codes.size and not many:
        raise InputError("final is given but no episode is truncated: omit it.")
    if codes.size != many or found != width:
        raise InputError(
            f"final has {codes.size} rows of {found}: give one row of {width} for each of the "
            f"{many} episodes that are truncated."
        )
    return codes, rows


def flags(name: str, given: ArrayLike, steps: int) -> NDArray[np.bool_]:
    """Return true or false for each step."""
    return as_flags(name, one_or_each(name, given, steps))
