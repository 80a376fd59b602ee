"""What users tell a learner about one step, as numbers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import InputError
from preftd.experience.indices import Indices


def not_numbers(error: Exception) -> InputError:
    """What to say when a signal of a step could not be made a number, or was refused as one."""
    if isinstance(error, InputError):
        return error
    return InputError("reward, discount, beta, interest, rho must be numbers: give one of each.")


def following(features: ArrayLike | Indices, discount: Any) -> ArrayLike | Indices:
    """What stands in for features that were not given: after the end, nothing is looked at."""
    if np.any(discount):
        raise InputError("next_features is missing: it may be None only where discount is 0.")
    return features


def as_flag(name: str, given: Any) -> bool:
    """True or false, one for all predictions."""
    if np.ndim(given) or given not in (0, 1):
        raise InputError(f"{name} is {given!r}: give true or false, one for all predictions.")
    return bool(given)
