"""One transition in the held view, of one prediction or of many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import InputError
from preftd.learners.bounding import bounded_gain, bounded_gains
from preftd.learners.linear.held_state import HeldState
from preftd.learners.linear.predictions import signals_of
from preftd.learners.transition import (
    DivergedError,
    Given,
    check_features_finite,
    check_follow_on,
    numbers_of,
)
from preftd.rules import Rule


def update_held(
    state: HeldState,
    rule: Rule,
    pair: tuple[NDArray[Any], NDArray[Any]],
    given: Given,
    step_size: float,
    reach: float,
    end_share: Any,
) -> tuple[Any, Any, Any]:
    """δ, what is carried, and the discount: numbers if there is one prediction, else arrays.

    Parameters
    ----------
    state : HeldState
    rule : Rule
    pair : (x_t, x_{t+1})
    given : tuple
        Reward, discount, β, interest and ρ as the user gave them.
    step_size : float
    reach : float
        Bounds the gain (`bounding.py`); 0 if it is not to be bounded.
    end_share : float, array or None
        β of x_{t+1} where the episode is truncated after this step, None where it is not.

    """
    discount_t, many = state.discount_t, isinstance(state.discount_t, np.ndarray)
    reward: Any
    discount: Any
    beta: Any
    decay: Any
    gain: Any
    parts: tuple[Any, ...]
    carried: Any
    if many:
        signals = signals_of(given, state.value.shape)
        reward, discount = signals.pop("reward"), signals.pop("discount")
        (decay, gain), carried = rule.stream(
            state.follow_on, discount_t=discount_t[None], **signals
        )
        check_follow_on(carried)
        parts = (reward, discount, discount_t, decay[0], bounded_gains(gain[0], reach))
        beta = signals["beta"]
    else:
        reward, discount, beta, decay, gain, carried = numbers_of(
            rule, state.follow_on, discount_t, given
        )
        parts = (reward, discount, discount_t, decay, bounded_gain(gain, reach))
    share = -1.0 if end_share is None else end_share
    numbers = np.empty((8, state.value.size))
    for row, part in enumerate((*parts, step_size, beta, np.where(discount == 0, 1.0, share))):
        numbers[row] = part
    delta = state.step(*pair, numbers)
    if delta is None:
        used = bool(np.any(beta) or np.any(parts[-1]))
        raise _why_not(pair, used, discount, end_share)
    return (delta, carried, discount) if many else (float(delta[0]), carried, discount)


def _why_not(
    pair: tuple[NDArray[Any], NDArray[Any]], used: bool, discount: Any, end_share: Any
) -> InputError:
    """Why a step could not be used; `used` says whether x_t has a part in it."""
    looks_ahead = end_share is not None and np.any(end_share * discount)
    x, y = pair[0][: None if used else 0], pair[1][: None if looks_ahead else 0]
    check_features_finite(x, y, waits=True)
    return DivergedError("the prediction is not finite: lower the step size.")
