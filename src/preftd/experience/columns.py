"""Columns of a log, one entry per step, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import (
    Dense,
    InputError,
    Vector,
    as_array,
    as_count,
    as_flags,
    check_finite,
    check_not_negative,
)
from preftd.experience.indices import LARGEST, Indices, as_indices


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
