"""One transition: user input, and checked numbers.

Features are vectors of numbers, or `Indices` of ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    DETACH,
    InputError,
    Vector,
    as_array,
    check_unit_interval,
    short,
    unit,
)
from preftd._src.experience.indices import Indices, as_indices
from preftd._src.learners.steps import Steps, has_weight
from preftd._src.rules.rule import broadcast
from preftd.rules import Rule

Given: TypeAlias = tuple[Any, Any, Any, Any, Any]
"""Reward, discount, β, interest and ρ from the user."""
Pair: TypeAlias = tuple[NDArray[Any], NDArray[Any]]
"""x_t and x_{t+1}: vectors, or indices."""
MOST_FEATURES = 2**29
"""The square of a larger size exceeds the address space."""
_SIGNALS = ("reward", "discount", "beta", "interest", "rho")
_FLOAT, _INFINITY = np.dtype(np.float64), float("inf")


class Transition(NamedTuple):
    """One step, with the coefficients of the rule."""

    x: Vector
    reward: float
    x_next: Vector
    discount: float
    beta: float
    decay: float
    gain: float
    discount_t: float
    """0 if x is the first of an episode."""
    end: float | None
    """After the last step of an episode, the β of x_next; None if the episode continues."""

    @classmethod
    def of(cls, steps: Steps, t: int) -> Transition:
        """Step t of a stream."""
        now = slice(t, t + 1)
        return cls(
            x=steps.features(now)[0],
            reward=float(steps.reward[t]),
            x_next=steps.next_features(now)[0],
            discount=float(steps.discount_tp1[t]),
            beta=float(steps.beta[t]),
            decay=float(steps.decay[t]),
            gain=float(steps.gain[t]),
            discount_t=float(steps.discount_t[t]),
            end=float(steps.final_beta[t]) if steps.is_last[t] else None,
        )

    @property
    def has_weight(self) -> bool:
        """Whether the update reads x, if updates are held back."""
        return self.beta != 0 or self.gain != 0

    @property
    def end_share(self) -> float | None:
        """The share of pending updates that is applied after the step.

        None if the episode continues.
        """
        return 1.0 if self.discount == 0 else self.end


class DivergedError(InputError):
    """Predictions or weights are no longer finite; the learner is as it was before the step."""


NOT_A_NUMBER = (TypeError, ValueError, OverflowError)
"""Exceptions of conversions to numbers."""


def plain(given: Any) -> float:
    """Return a Python float, or raise one of `NOT_A_NUMBER`."""
    if isinstance(given, np.ma.MaskedArray) and given.mask.any():
        raise TypeError("a masked number")  # NumPy would warn, and go on with NaN
    if getattr(given, "requires_grad", False):
        raise TypeError("a tensor that needs a gradient")  # torch would warn
    return float(+given)  # float() alone would read text


def numbers_of(
    rule: Rule, follow_on: float, discount_t: float, given: Given
) -> tuple[float, float, float, float, float, float]:
    """The numbers of one transition, as Python floats: others are less precise.

    Parameters
    ----------
    rule : Rule
    follow_on, discount_t : float
        The state of the rule from the previous step, and γ_t.
    given : tuple
        Reward, discount, β, interest and ρ.

    Returns
    -------
    tuple of float
        Reward, discount, bootstrap(β), decay, gain, and the state of the rule for the next step.

    """
    reward, discount, beta, interest, rho = given
    try:
        reward = reward if type(reward) is float else plain(reward)
        discount = discount if type(discount) is float else plain(discount)
        beta = beta if type(beta) is float else plain(beta)
        rho = rho if type(rho) is float else plain(rho)
        own = None if interest is None else plain(interest)
        share, decay, gain, carried = rule.advance(follow_on, discount_t, beta, own, rho)
    except NOT_A_NUMBER as error:
        raise _not_numbers(error, given) from None
    check_discount(discount)
    if not -_INFINITY < reward < _INFINITY:
        raise InputError(f"reward is {reward}: leave the step out.")
    if not carried < _INFINITY:
        check_follow_on(carried)
    return reward, discount, share, decay, gain, carried


def _not_numbers(error: Exception, given: Given) -> InputError:
    """The error for a number of a step that could not be converted, or was refused."""
    if isinstance(error, InputError):
        return error
    for name, one in zip(_SIGNALS, given, strict=True):
        try:
            _ = None if name == "interest" and one is None else plain(one)
        except NOT_A_NUMBER:
            if getattr(one, "requires_grad", False):
                return InputError(f"{name} needs a gradient, which is not tracked here: {DETACH}.")
            return InputError(f"{name} is {short(one)}: give a number.")
    return InputError(f"the rule cannot compute with these numbers: {error}.")


def refuse_unknown(method: str, unknown: Mapping[str, Any]) -> None:
    """Refuse unknown arguments of a method; λ must be given as β."""
    if "lambda_" in unknown:
        raise InputError(f"{method} does not take lambda_: give beta, which is 1 − λ.")
    if unknown:
        raise TypeError(f"{method}() got an unexpected keyword argument {next(iter(unknown))!r}")


def after_the_end(features: ArrayLike | Indices, discount: Any) -> ArrayLike | Indices:
    """Placeholder for missing next features, which are ignored after the end."""
    if np.any(discount):
        raise InputError("next_features is missing: it may be None only where discount is 0.")
    return features


def end_share(
    next_beta: Any, truncated: bool, shape: tuple[int, ...] = (), holds: bool = True
) -> Any:
    """β of the final observation of a truncated episode (default: 1); None if it is not truncated.

    holds whether the learner holds updates back; others always bootstrap in full
    """
    if next_beta is None:
        return 1.0 if truncated else None
    check_holds("next_beta", next_beta, holds)
    if not truncated:
        raise InputError("next_beta is for truncated episodes: leave it out, or give truncated.")
    share = as_array("next_beta", next_beta)
    check_unit_interval("next_beta", share)
    return broadcast("next_beta", share, shape)


def check_holds(name: str, given: Any, holds: bool) -> None:
    """Refuse the β of a final observation if the learner does not wait for it."""
    if given is not None and not holds:
        raise InputError(f"{name} is for the held view: leave it out.")


def as_discounts(given: Any, like: Any) -> Any:
    """Discounts in [0, 1]: a number, or an array with one for each prediction."""
    if not isinstance(like, np.ndarray):
        return unit("discount_t", given)
    array = as_array("discount_t", given)
    check_unit_interval("discount_t", array)
    return np.array(broadcast("discount_t", array, like.shape))


def check_follow_on(carried: float | Vector) -> None:
    """Refuse a follow-on that is not finite."""
    if not np.isfinite(carried).all():
        raise DivergedError(
            "the follow-on is not finite: give smaller importance ratios or less interest."
        )


def check_discount(discount: float) -> None:
    """Refuse one outside [0, 1]."""
    if not 0 <= discount <= 1:
        raise InputError(f"discount is {discount}: it must lie in [0, 1].")


def check_features_finite(x: NDArray[Any], x_next: NDArray[Any], waits: bool = False) -> None:
    """Refuse features that are not finite, after a result was not finite.

    waits  whether the learner waits for β, and ignores features where it is 0
    """
    remedies = ["leave the step out", "leave the step out"]
    if waits:
        remedies = ["give β = 0 there, with a rule whose gain is then 0", "give next_beta=0 there"]
    for name, given, remedy in zip(
        ("features", "next_features"), (x, x_next), remedies, strict=True
    ):
        if not np.isfinite(given).all():
            raise InputError(f"{name} holds something that is not finite: {remedy}.")


def not_finite(x: NDArray[Any], x_next: NDArray[Any], reward: float = 0.0) -> InputError:
    """The error for a TD error that is not finite."""
    check_features_finite(x, x_next)
    if not np.isfinite(reward):
        return InputError(f"reward is {reward}: leave the step out.")
    return DivergedError("the prediction is not finite: lower the step size.")


def refused_step(steps: Steps, t: int, everywhere: bool) -> InputError:
    """The error for learning that stopped at step t of a stream.

    everywhere whether the learner also reads features where β and gain are 0
    """
    nothing = "nothing of this stream was learned."

    def is_used(s: int) -> bool:
        return everywhere or steps.beta[s] != 0 or steps.gain[s] != 0

    if is_used(t) and not np.isfinite(steps.features(slice(t, t + 1))).all():
        return InputError(
            f"features of step {t} are not finite, where β is {steps.beta[t]:g} and the gain "
            f"{steps.gain[t]:g}: let both be 0 there, with a learner that then ignores features, "
            f"such as the held view; {nothing}"
        )
    ahead = (
        steps.discount_tp1[t] != 0 and not np.isfinite(steps.next_features(slice(t, t + 1))).all()
    )
    if ahead and steps.is_last[t] and steps.final_beta[t] != 0:
        return InputError(
            f"the final observation of the episode that is truncated at step {t} is not finite: "
            f"give final_beta=0 for it, with a learner that holds updates back; {nothing}"
        )
    if ahead and t + 1 < steps.beta.size and is_used(t + 1):
        return refused_step(steps, t + 1, everywhere)
    if ahead and everywhere:
        return InputError(
            f"features of step {t + 1} are not finite: use a learner that ignores them where "
            f"β and gain are 0, such as the held view; {nothing}"
        )
    return DivergedError(
        f"the prediction is not finite at step {t}: lower the step size; {nothing}"
    )


def refused_stream(steps: Steps, everywhere: bool) -> InputError:
    """The error for infinite weights after a stream; `everywhere` as for `refused_step`."""
    for t in np.flatnonzero(has_weight(steps) | steps.is_last | everywhere).tolist():
        error = refused_step(steps, t, everywhere)
        if not isinstance(error, DivergedError):
            return error
    return DivergedError(
        "weights are not finite: lower the step size; nothing of this stream was learned."
    )


def as_features(
    name: str,
    given: ArrayLike | Indices,
    size: int,
    rows: bool = False,
    finite: bool = True,
) -> NDArray[Any]:
    """A vector of floats, or indices of ones as int32; or rows of floats, if allowed.

    Vectors that need no conversion are not checked to be finite, which would take longer than
    learning: learners check their results.
    """
    if type(given) is np.ndarray and given.dtype is _FLOAT and given.shape == (size,):
        return given if given.flags.carray else np.array(given)
    if type(given) is Indices:
        if not given.array.size:
            raise InputError(f"{name} has no indices: give at least one.")
        indices = as_indices(name, given, size)
        return indices if indices.flags.carray else np.array(indices)
    x = np.array(as_array(name, given, finite=finite))
    if x.shape != (size,) and not (rows and x.ndim == 2 and x.shape[1] == size):
        raise InputError(
            f"{name} has shape {x.shape}: give {size} numbers, or Indices([...]) for a few ones."
        )
    return x


def as_pair(
    features: ArrayLike | Indices,
    next_features: ArrayLike | Indices,
    size: int,
    finite: bool = True,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Features of two states, both vectors or both indices; `finite` as for `as_features`."""
    if type(features) is np.ndarray and type(next_features) is np.ndarray:
        # What can be used as it is, most often: nothing is looked at twice.
        shape = (size,)
        if features.dtype is _FLOAT is next_features.dtype and (
            features.shape == shape == next_features.shape
            and features.flags.carray
            and next_features.flags.carray
        ):
            return features, next_features
    x = as_features("features", features, size, finite=finite)
    y = as_features("next_features", next_features, size, finite=finite)
    if x.dtype != y.dtype:
        raise InputError("features and next_features differ in kind: give vectors or Indices.")
    return x, y


def as_vector(x: NDArray[Any], size: int) -> Vector:
    """One vector of features, from a vector or from indices as `as_features` gives them."""
    if x.dtype.char == "d":
        return x
    vector = np.zeros(size)
    np.add.at(vector, x, 1.0)  # indices may repeat (two tilings hashed to one): they add up
    return vector
