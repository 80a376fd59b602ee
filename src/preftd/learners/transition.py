"""One transition as users give it to a learner, as numbers."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import InputError, Vector
from preftd.experience.indices import Indices
from preftd.rules import Rule


class DivergedError(InputError):
    """Predictions or weights are no longer finite; the learner is as it was before the step."""


def not_numbers(error: Exception) -> InputError:
    """What to say when a number of a step could not be made one, or was refused."""
    if isinstance(error, InputError):
        return error
    return InputError("reward, discount, beta, interest, rho must be numbers: give one of each.")


def after_the_end(features: ArrayLike | Indices, discount: Any) -> ArrayLike | Indices:
    """What stands in for next features that were not given: after the end, they have no part."""
    if np.any(discount):
        raise InputError("next_features is missing: it may be None only where discount is 0.")
    return features


def as_flag(name: str, given: Any) -> bool:
    """True or false, one for all predictions."""
    if np.ndim(given) or given not in (0, 1):
        raise InputError(f"{name} is {given!r}: give true or false, one for all predictions.")
    return bool(given)


def check_discount(discount: float) -> None:
    """Refuse one outside [0, 1]."""
    if not 0 <= discount <= 1:
        raise InputError(f"discount is {discount}: it must lie in [0, 1].")


def check_rule(rule: Any) -> None:
    """Refuse what is no rule."""
    if not isinstance(rule, Rule):
        raise InputError(f"rule is {rule!r}: give a rule, such as PTD().")


def check_features_finite(x: NDArray[Any], x_next: NDArray[Any]) -> None:
    """Refuse features that are not finite, when what was computed from them is not."""
    for name, given in (("features", x), ("next_features", x_next)):
        if not np.isfinite(given).all():
            raise InputError(f"{name} holds something that is not finite: leave the step out.")


def not_finite(x: NDArray[Any], x_next: NDArray[Any], reward: float = 0.0) -> InputError:
    """Why a TD error is not finite."""
    check_features_finite(x, x_next)
    if not np.isfinite(reward):
        return InputError(f"reward is {reward}: leave the step out.")
    return DivergedError("the prediction is not finite: lower the step size.")


def as_vector(x: NDArray[Any], size: int) -> Vector:
    """One vector of features, from a vector or from indices as `as_features` gives them."""
    if x.dtype.char == "d":
        return x
    vector = np.zeros(size)
    np.add.at(vector, x, 1.0)  # indices may repeat (two tilings hashed to one): they add up
    return vector
