"""Columns of a log, one entry per step, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    as_flags,
    check_finite,
    check_not_negative,
)
from preftd._src.experience.indices import LARGEST, Indices, as_indices
from preftd._src.names import nearest


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


def per_step(name: str, given: ArrayLike, steps: int) -> Vector:
    """Return a number for each step, from one for all or one for each."""
    array = as_array(name, given)
    if array.shape not in ((), (steps,)):
        raise InputError(f"{name} has shape {array.shape}: give one number, or {steps}.")
    return np.broadcast_to(array, (steps,))


def flags(name: str, given: ArrayLike, steps: int) -> NDArray[np.bool_]:
    """Return true or false for each step."""
    return as_flags(name, per_step(name, given, steps))


def actions(given: ArrayLike, steps: int) -> NDArray[np.int32]:
    """Return the action of each step, checked to be an integer."""
    array = as_array("action", given)
    if array.shape != (steps,):
        raise InputError(f"action has shape {array.shape}: give an integer for each step.")
    broken = (array != np.floor(array)) | (np.abs(array) > LARGEST)
    if broken.any():
        step = int(np.argmax(broken))
        raise InputError(f"action[{step}] is {array[step]:g}: give integers below 2³¹.")
    return array.astype(np.int32)


def ratios(given: ArrayLike, steps: int) -> Vector:
    """Return the importance ratio of each step, checked not to be negative."""
    ratios = per_step("rho", given, steps)
    check_not_negative("rho", ratios)
    return ratios
