"""Checks of a state that a user loads."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike, NDArray

from preftd.arrays import InputError, as_array


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
