"""One step of one prediction, or of many: signals are numbers for all, or one for each."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Vector, as_array, check_unit_interval
from preftd.learners.bounding import bounded_gain, bounded_gains
from preftd.learners.linear.online_kernel import step_one
from preftd.learners.linear.state import LinearState
from preftd.learners.transition import (
    NOT_A_NUMBER,
    Given,
    check_discount,
    check_follow_on,
    not_finite,
    not_numbers,
    plain,
)
from preftd.rules import Rule
from preftd.rules.rule import broadcast

_INFINITY = float("inf")
_SIGNALS = ("reward", "discount", "beta", "interest", "rho")


def signals_of(given: Given, shape: tuple[int, ...]) -> dict[str, Vector]:
    """The signals as arrays of shape (predictions,); the rule's own interest if it is not given."""
    signals = {
        name: broadcast(name, as_array(name, signal), shape)
        for name, signal in zip(_SIGNALS, given, strict=True)
        if name != "interest" or signal is not None
    }
    check_unit_interval("discount", signals["discount"])
    return signals


def step_one_prediction(
    state: LinearState,
    rule: Rule,
    pair: tuple[NDArray[Any], NDArray[Any]],
    given: Given,
    step_size: float,
    reach: float,
    true_online: bool,
) -> tuple[float, float, float]:
    """δ, what is carried, and the discount, of the only prediction.

    reach  bounds the gain (`bounding.py`); 0 if it is not to be bounded
    """
    (x, y), discount_t = pair, state.discount_t
    reward, discount, beta, interest, rho = given
    try:
        # Plain floats throughout: others are less precise, and the kernel is for these.
        paid = reward if type(reward) is float else plain(reward)
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
    if discount == 0:
        y = x  # what comes after the end has no part, whatever was given
    if reach:
        gain = bounded_gain(gain, reach)
    numbers = (paid, discount, discount_t, decay, gain, step_size)
    delta: float | None = None
    if x.dtype.char != "d":
        found = state.step(x, y, np.array(numbers)[:, None], true_online)
        delta = None if found is None else float(found[0])
    elif state.sparse is None:
        delta = step_one(x, y, *numbers, true_online, state.memory, state.column)
    if delta is None or not -_INFINITY < delta < _INFINITY:
        delta = _step_carefully(state, x, y, numbers, true_online)
    return delta, carried, discount


def _step_carefully(
    state: LinearState,
    x: Vector,
    y: Vector,
    numbers: tuple[float, float, float, float, float, float],
    true_online: bool,
) -> float:
    """δ of a step that was refused, or that is the first from vectors."""

    def step() -> float | None:
        state.for_vectors()
        delta = float(step_one(x, y, *numbers, true_online, state.memory, state.column))
        return delta if np.isfinite(delta) else None

    found = state.carefully(step) if x.dtype.char == "d" else None
    if found is None:
        raise not_finite(x, y, numbers[0])
    return found


def step_predictions(
    state: LinearState,
    rule: Rule,
    pair: tuple[NDArray[Any], NDArray[Any]],
    given: Given,
    step_size: float,
    reach: float,
    true_online: bool,
) -> tuple[Vector, Vector, Vector]:
    """δ, what is carried, and discounts; arrays of shape (predictions,). `reach` is as above."""
    x, y = pair
    shape = state.value.shape
    signals = signals_of(given, shape)
    reward, discount = signals.pop("reward"), signals.pop("discount")
    if not discount.any():
        y = x
    discount_t = np.asarray(state.discount_t)
    (decay, gain), carried = rule.stream(state.follow_on, discount_t=discount_t[None], **signals)
    check_follow_on(carried)
    alpha, entering = np.full(shape, step_size), bounded_gains(gain[0], reach)
    numbers = np.stack([reward, discount, discount_t, decay[0], entering, alpha])
    delta = state.step(x, y, numbers, true_online)
    if delta is None:
        raise not_finite(x, y)
    return delta, carried, discount
