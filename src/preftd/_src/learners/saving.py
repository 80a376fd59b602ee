"""Checks of a state that a user loads: what no learner could have written is refused."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, as_array, short

LARGEST_COUNT = 2.0**53
"""Up to here, all whole numbers are floats."""


def as_state(given: Any) -> dict[str, Any]:
    """What was given as a dict, if it has names of arrays."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"the state is {short(given)}: give what state_dict gave.")
    return {name: given[name] for name in given}


def checked_state(
    given: Mapping[str, ArrayLike], own: Mapping[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """The arrays that were given, if they have the names and shapes of the learner's own."""
    odd = sorted(set(own) ^ set(given))
    if odd:
        raise InputError(
            f"the state does not fit, seeing {odd[0]!r}: give that of a learner made in the same "
            "way."
        )
    arrays = {name: as_array(name, given[name]) for name in sorted(own)}
    for name, array in arrays.items():
        if array.shape != own[name].shape:
            raise InputError(
                f"{name} of the state has shape {array.shape}, not {own[name].shape}: "
                "give that of a learner of the same size."
            )
    return arrays


def refuse_unless(fits: Any, name: str) -> None:
    """Refuse a part of a state if anything in it does not fit."""
    if not np.all(fits):
        raise InputError(f"{name} of the state cannot be right: give what state_dict gave.")


def are_counts(array: NDArray[Any]) -> bool:
    """Whether all are whole numbers from 0 on."""
    return bool(((array >= 0) & (array <= LARGEST_COUNT) & (array % 1 == 0)).all())


def are_flags(array: NDArray[Any]) -> bool:
    """Whether all are 0 or 1."""
    return bool(((array == 0) | (array == 1)).all())
