"""The forward view: what each step aims at.

    G_t = r_{t+1} + γ_{t+1} (β_{t+1} v(x_{t+1}) + (1 − β_{t+1}) G_{t+1})          β-return
    A_t = G_t − v(x_t)                                                             advantage

β_{t+1} is the preference of the *next* state. Nothing follows a step that terminates. A step that
is truncated, and the last one of the arrays, bootstraps in full from the value of the state it
leads to, whatever β is there.

v(x_{t+1}) is not read where β_{t+1} = 0, unless the step bootstraps in full, and may be NaN there.
v(x_t) may be NaN where it is not known; then so is A_t, and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    as_array,
    as_flags,
    check_finite,
    check_unit_interval,
    whole,
)
from preftd._src.learners.returns_kernel import by_rows, by_streams
from preftd._src.learners.returns_layout import Layout, layout_of

Array = NDArray[Any]
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ORDER = ("reward", "value_t", "value_tp1", "beta_tp1", "discount", "terminated", "truncated")
"""In which the kernels take them."""


def beta_returns(
    reward: ArrayLike,
    value_tp1: ArrayLike,
    beta_tp1: ArrayLike,
    *,
    discount: ArrayLike,
    terminated: ArrayLike = False,
    truncated: ArrayLike = False,
    axis: int = 0,
) -> Array:
    """β-returns G_t of streams, any number of them side by side.

    Arguments are arrays whose shapes broadcast against each other, or single numbers. If all arrays
    are of float32, so is the result; otherwise it is of float64.

    Parameters
    ----------
    reward : array of shape (steps, ...)
        r_{t+1}.
    value_tp1 : array of shape (steps, ...)
        v(x_{t+1}), the value of the state that the step leads to: at a truncated step, of the last
        observation of the episode, not of the first one of the next. Where β is 0 it is not read,
        and may be NaN, unless the step is truncated or the last one.
    beta_tp1 : array of shape (steps, ...)
        β of that state, from 0 to 1.
    discount : array of shape (steps, ...)
        γ_{t+1}, from 0 to 1.
    terminated, truncated : array of shape (steps, ...)
        True where an episode ends by itself, and where it is cut short. Terminated takes precedence
        where both are true.
    axis : int
        The axis of time.

    Returns
    -------
    array of shape (steps, ...)

    Examples
    --------
    >>> beta_returns([0, 1], [4, 5], beta_tp1=1, discount=0.5, terminated=[False, True])
    array([2., 1.])
    >>> beta_returns([0, 1], [4, 5], beta_tp1=0, discount=0.5, terminated=[False, True])
    array([0.5, 1. ])
    >>> beta_returns([0, 1], [4, 5], beta_tp1=0, discount=0.5, truncated=[False, True])
    array([1.75, 3.5 ])

    """
    given = (reward, 0.0, value_tp1, beta_tp1, discount, terminated, truncated)
    return _computed(given, axis)


def beta_advantages(
    reward: ArrayLike,
    value_t: ArrayLike,
    value_tp1: ArrayLike,
    beta_tp1: ArrayLike,
    *,
    discount: ArrayLike,
    terminated: ArrayLike = False,
    truncated: ArrayLike = False,
    axis: int = 0,
) -> Array:
    """Advantages A_t = G_t − v(x_t): how far β-returns are from the values they update.

    Parameters
    ----------
    reward, value_tp1, beta_tp1, discount, terminated, truncated, axis
        As for `beta_returns`.
    value_t : array of shape (steps, ...)
        v(x_t), the value of the state that the step starts from. Where it is NaN, so is the result.

    Returns
    -------
    array of shape (steps, ...)

    Examples
    --------
    >>> beta_advantages([0, 1], [1, 4], [4, 5], 1, discount=0.5, terminated=[False, True])
    array([ 1., -3.])

    """
    given = (reward, value_t, value_tp1, beta_tp1, discount, terminated, truncated)
    return _computed(given, axis)


def _computed(given: Sequence[ArrayLike], axis: int) -> Array:
    """G_t − v(x_t), of arguments in `ORDER` as users give them."""
    pairs = list(zip(ORDER, given, strict=True))
    floats = {name: _floats(name, array) for name, array in pairs[:5]}
    arrays = [array for array in floats.values() if array.ndim]
    kind = SINGLE if arrays and all(array.dtype == SINGLE for array in arrays) else DOUBLE
    ready = [array.astype(kind, copy=False) for array in floats.values()]
    ready += [as_flags(name, array) for name, array in pairs[5:]]
    shape = common_shape(dict(zip(ORDER, (array.shape for array in ready), strict=True)))
    layout = layout_of(shape, time_axis(axis, shape), ready)
    out = np.empty(layout.inner, kind)
    if out.size and not run_forward(layout, [layout.read(array) for array in ready], out):
        refuse_wrong(dict(zip(ORDER, (*floats.values(), *ready[5:]), strict=True)), axis)
    return layout.restored(out)


def run_forward(layout: Layout, read: Sequence[Array], out: Array) -> bool:
    """Write G_t − v(x_t); return whether all is finite and in range.

    Arrays are those of `ORDER`, as the layout reads them.
    """
    run: Any = by_streams if layout.time_is_last else by_rows
    fine: bool = run(*read, out)
    return fine


def refuse_wrong(given: Mapping[str, Array], axis: int) -> None:
    """Name what is not finite or out of range, if there is any that is read.

    A result may also be infinite because it overflowed, and NaN because `value_t` is.
    """
    reward, value_t, value_tp1, beta, discount, terminated, truncated = given.values()
    check_finite("reward", reward)
    check_finite("value_t", np.where(np.isnan(value_t), 0.0, value_t) if value_t.ndim else value_t)
    for name, array in (("beta_tp1", beta), ("discount", discount)):
        check_finite(name, array)
        check_unit_interval(name, array)
    shape = common_shape({name: array.shape for name, array in given.items()})
    at = np.arange(shape[axis]).reshape(-1, *[1] * (len(shape) - 1 - axis % len(shape)))
    is_read = (beta != 0) | ((truncated | (at == shape[axis] - 1)) & ~terminated)
    is_one_number = value_tp1.ndim == 0 and is_read.any()
    check_finite("value_tp1", value_tp1 if is_one_number else np.where(is_read, value_tp1, 0.0))


def time_axis(axis: int, shape: tuple[int, ...]) -> int:
    """Return the time axis, counted from 0."""
    at = whole("axis", axis)
    if not -len(shape) <= at < len(shape):
        raise InputError(
            f"axis is {at} but the arrays have {len(shape)} axes: name the axis of time."
        )
    return at % len(shape)


def common_shape(shapes: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that all are broadcast to."""
    different = {shape for shape in shapes.values() if shape}
    if not different:
        raise InputError(f"{next(iter(shapes))} is one number: give one for each step.")
    if len(different) == 1:
        return different.pop()
    try:
        return np.broadcast_shapes(*different)
    except ValueError:
        told = ", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape)
        raise InputError(
            f"shapes do not fit together ({told}): give one number for each step of each stream."
        ) from None


def _floats(name: str, given: Any) -> Array:
    """An array of float32 or float64, not copied if it is one.

    Whether all is finite is seen afterwards, in the one array that comes out: looking at each that
    goes in would take longer than the computation.
    """
    # Not a subclass: a masked array is one.
    if type(given) is np.ndarray and given.dtype in (SINGLE, DOUBLE):
        return given
    if isinstance(given, float):
        return np.array(given)
    return as_array(name, given, finite=not name.startswith("value"))
