"""One transition of one prediction, or of many: signals are numbers for all, or one for each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, as_array, check_unit_interval
from preftd._src.learners.bounding import bounded_gain, bounded_gains
from preftd._src.learners.linear.online_kernel import step_one
from preftd._src.learners.linear.state import LinearState
from preftd._src.learners.transition import (
    NOT_A_NUMBER,
    DivergedError,
    Given,
    check_discount,
    check_features_finite,
    check_follow_on,
    not_finite,
    not_numbers,
    plain,
)
from preftd._src.rules.rule import broadcast
from preftd.rules import Rule

_INFINITY = float("inf")
_SIGNALS = ("reward", "discount", "beta", "interest", "rho")
Pair = tuple[NDArray[Any], NDArray[Any]]
"""x_t and x_{t+1}."""


def update_one(
    state: LinearState,
    rule: Rule,
    pair: Pair,
    given: Given,
    step_size: float,
    reach: float,
    end_share: Any,
) -> tuple[float, float, float]:
    """Return δ, what is carried, and the discount, of the only prediction.

    Parameters
    ----------
    state : LinearState
    rule : Rule
    pair : (x_t, x_{t+1})
    given : tuple
        Reward, discount, β, interest and ρ as the user gave them.
    step_size : float
    reach : float
        Bounds the gain (`bounding.py`); 0 if it is not to be bounded.
    end_share : float or None
        β of x_{t+1} where the episode is truncated after this step, None where it is not.

    """
    (x, y), discount_t = pair, state.discount_t
    reward, discount, beta, interest, rho = given
    try:
        # Plain floats throughout: others are less precise, and the kernel is for these.
        reward = reward if type(reward) is float else plain(reward)
        discount = discount if type(discount) is float else plain(discount)
        beta = beta if type(beta) is float else plain(beta)
        rho = rho if type(rho) is float else plain(rho)
        own = None if interest is None else plain(interest)
        decay, gain, carried = rule.advance(state.follow_on, discount_t, beta, own, rho)
    except NOT_A_NUMBER as error:
        raise not_numbers(error) from None
    check_discount(discount)
    if not carried < _INFINITY:
        check_follow_on(carried)
    end = -1.0 if end_share is None else float(end_share)
    if discount == 0:
        y, end = x, 1.0  # what comes after the end has no part, whatever was given
    if reach:
        gain = bounded_gain(gain, reach)
    numbers = (reward, discount, discount_t, decay, gain, step_size, beta, end)
    delta: float | None = None
    if -_INFINITY < reward < _INFINITY:
        if x.dtype.char == "d" and state.sparse is None:
            delta = step_one(x, y, *numbers, *state.code, state.memory, state.work)
        if delta is None:
            found = state.step(x, y, np.array(numbers)[:, None])
            delta = None if found is None else float(found[0])
    if delta is None:
        raise _why_not(state, pair, numbers)
    return delta, carried, discount


def update_many(
    state: LinearState,
    rule: Rule,
    pair: Pair,
    given: Given,
    step_size: float,
    reach: float,
    end_share: Any,
) -> tuple[Vector, Vector, Vector]:
    """Return δ, what is carried, and discounts; arrays of shape (predictions,)."""
    x, y = pair
    shape = state.value.shape
    signals = {
        name: broadcast(name, as_array(name, signal), shape)
        for name, signal in zip(_SIGNALS, given, strict=True)
        if name != "interest" or signal is not None  # the rule has its own
    }
    check_unit_interval("discount", signals["discount"])
    reward, discount = signals.pop("reward"), signals.pop("discount")
    if not discount.any():
        y = x
    discount_t = np.asarray(state.discount_t)
    (decay, gain), carried = rule.stream(state.follow_on, discount_t=discount_t[None], **signals)
    check_follow_on(carried)
    end = np.where(discount == 0, 1.0, -1.0 if end_share is None else end_share)
    gain = bounded_gains(gain[0], reach)
    numbers = (reward, discount, discount_t, decay[0], gain, step_size, signals["beta"], end)
    delta = state.step(x, y, np.array(np.broadcast_arrays(*numbers)))
    if delta is None:
        raise _why_not(state, pair, numbers)
    return delta, carried, discount


def _why_not(state: LinearState, pair: Pair, numbers: tuple[Any, ...]) -> InputError:
    """Why a step could not be used."""
    reward, discount, _, _, gain, _, beta, end = numbers
    if isinstance(reward, float) and not np.isfinite(reward):
        return InputError(f"reward is {reward}: leave the step out.")
    if not state.holds:
        return not_finite(*pair)
    used, looks_ahead = np.any(beta) or np.any(gain), np.any(np.maximum(end, 0) * discount)
    x, y = pair[0][: None if used else 0], pair[1][: None if looks_ahead else 0]
    check_features_finite(x, y, waits=True)
    return DivergedError("the prediction is not finite: lower the step size.")
