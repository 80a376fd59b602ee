"""One step of many predictions: their signals are numbers for all, or one for each."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Vector, as_array, check_unit_interval
from preftd.learners.linear.state import LinearState
from preftd.learners.transition import not_finite
from preftd.rules import Rule
from preftd.rules.rule import broadcast

_SIGNALS = ("reward", "discount", "beta", "interest", "rho")
Given: TypeAlias = tuple[Any, Any, Any, Any, Any]
"""Reward, discount, β, interest and ρ as the user gave them."""


def step_predictions(
    state: LinearState,
    rule: Rule,
    x: NDArray[Any],
    y: NDArray[Any],
    given: Given,
    step_size: float,
    true_online: bool,
) -> tuple[Vector, Vector, Vector]:
    """δ, what is carried, and discounts; arrays of shape (predictions,)."""
    shape = state.value.shape
    signals = {
        name: broadcast(name, as_array(name, signal), shape)
        for name, signal in zip(_SIGNALS, given, strict=True)
        if name != "interest" or signal is not None  # the rule's own if it is not given
    }
    reward, discount = signals.pop("reward"), signals.pop("discount")
    check_unit_interval("discount", discount)
    if not discount.any():
        y = x
    discount_t = np.asarray(state.discount_t)
    (decay, gain), carried = rule.stream(state.follow_on, discount_t=discount_t[None], **signals)
    alpha = np.full(shape, step_size)
    numbers = np.stack([reward, discount, discount_t, decay[0], gain[0], alpha])
    delta = state.step_many(x, y, numbers, true_online)
    if delta is None:
        raise not_finite(x, y)
    return delta, carried, discount
