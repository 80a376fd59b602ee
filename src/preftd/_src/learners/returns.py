"""The forward view: the targets of steps.

    G_t = r_{t+1} + γ_{t+1} (β_{t+1} v(x_{t+1}) + (1 − β_{t+1}) G_{t+1})          β-return
    A_t = G_t − v(x_t)                                                             advantage

β_{t+1} is the preference of the *next* state. Nothing follows a step that terminates. A truncated
step, and the last one of the arrays, bootstraps in full from the value of the next state, whatever
its β.

v(x_{t+1}) is not read where β_{t+1} = 0, unless the step bootstraps in full, and may be NaN there.
v(x_t) may be NaN where it is not known; then only A_t is NaN.

Kernels process parallel streams backward in time, compiled for float32 and float64. An array is
(before, steps, after), or (streams, steps) where time is the last axis. Its last axis is complete;
the others are complete, or of length 1 if entries are the same along them. Each loop reads few
arrays; otherwise, the compiler would not vectorise it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numba import boolean, float32, float64, types
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    as_array,
    as_flags,
    check_finite,
    check_unit_interval,
    common_shape,
    time_axis,
)
from preftd._src.kernels import kernel

Array = NDArray[Any]
Flags = NDArray[np.bool_]
Floats = NDArray[Any]
"""All of float32, or all of float64."""
TOGETHER = 4
"""The number of streams whose recursions run in parallel where time is the last axis."""
SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
ORDER = ("reward", "value_t", "value_tp1", "beta_tp1", "discount", "terminated", "truncated")
"""The order of the kernels' arguments."""


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
    """β-returns G_t of any number of parallel streams.

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
    """G_t − v(x_t), from user arguments in `ORDER`."""
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

    Arrays are in `ORDER`, viewed by the layout.
    """
    run: Any = by_streams if layout.time_is_last else by_rows
    fine: bool = run(*read, out)
    return fine


def refuse_wrong(given: Mapping[str, Array], axis: int) -> None:
    """Raise an error that names a value that is read, but not finite or out of range.

    A result may also be infinite after an overflow, and NaN where `value_t` is.
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


def _floats(name: str, given: Any) -> Array:
    """An array of float32 or float64, not copied if it is one.

    Finiteness is checked afterwards in the result: checking each argument would take longer than
    the computation.
    """
    # Not a subclass: a masked array is one.
    if type(given) is np.ndarray and given.dtype in (SINGLE, DOUBLE):
        return given
    if isinstance(given, float):
        return np.array(given)
    return as_array(name, given, finite=not name.startswith("value"))


def read(kind: Any, axes: int) -> types.Array:
    """The type of an array that may be read-only, declared to avoid a copy."""
    return types.Array(kind, axes, "C", readonly=True)


def _signature(kind: Any, axes: int) -> Any:
    floats, flags = [read(kind, axes)] * 5, [read(boolean, axes)] * 2
    return boolean(*floats, *flags, types.Array(kind, axes, "C"))


@kernel
def row_of(array: Any, i: int, t: int) -> Any:
    """Row t of block i, where either axis may have length 1."""
    return array[i if array.shape[0] > 1 else 0, t if array.shape[1] > 1 else 0]


@kernel
def stream_of(array: Any, i: int) -> Any:
    """Row i, or the only row."""
    return array[i if array.shape[0] > 1 else 0]


@kernel(fastmath={"contract"})
def kept_from(b: Floats, g: Floats, stops: Flags, cut: Flags, kept: Floats) -> None:
    """Write γ_{t+1} (1 − β_{t+1}), the part of G_{t+1} in G_t; 0 where an episode ends."""
    zero, one = kept.dtype.type(0), kept.dtype.type(1)
    for t in range(kept.size):
        kept[t] = zero if stops[t] | cut[t] else g[t] * (one - b[t])


@kernel(fastmath={"contract"})
def add_later(kept: Floats, out: Floats) -> None:
    """out_t ← out_t + kept_t out_{t+1} in each row, from the last to the first."""
    rows, steps = out.shape
    if rows == TOGETHER:
        a = b = c = d = out.dtype.type(0)
        for t in range(steps - 1, -1, -1):
            out[0, t] = a = out[0, t] + kept[0, t] * a
            out[1, t] = b = out[1, t] + kept[1, t] * b
            out[2, t] = c = out[2, t] + kept[2, t] * c
            out[3, t] = d = out[3, t] + kept[3, t] * d
    else:
        for i in range(rows):
            for t in range(steps - 2, -1, -1):
                out[i, t] += kept[i, t] * out[i, t + 1]


@kernel(signature=[_signature(float32, 3), _signature(float64, 3)], fastmath={"contract"})
def by_rows(
    reward: Floats,
    value_t: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    out: Floats,
) -> bool:
    """Write G_t − v(x_t), all streams of a step at once.

    Returns whether all is finite and in range.
    """
    before, steps, after = out.shape
    zero, one = out.dtype.type(0), out.dtype.type(1)
    G = np.empty(after, out.dtype)
    wrong = False
    for i in range(before):
        G[:] = zero
        for t in range(steps - 1, -1, -1):
            r, v = row_of(reward, i, t), row_of(value_tp1, i, t)
            b, g = row_of(beta, i, t), row_of(discount, i, t)
            stops, cut = row_of(terminated, i, t), row_of(truncated, i, t)
            last = t + 1 == steps
            for s in range(after):
                wrong |= not ((b[s] >= zero) & (b[s] <= one) & (g[s] >= zero) & (g[s] <= one))
                share = one if cut[s] | last else b[s]
                onwards = zero if stops[s] else g[s]
                aim = share * v[s] + (one - share) * G[s]
                is_read = (b[s] != zero) | (cut[s] | last) & (not stops[s])  # else v may be NaN
                aim = aim if is_read else G[s]
                G[s] = r[s] + onwards * aim
            found, base = out[i, t], row_of(value_t, i, t)
            for s in range(after):
                found[s] = G[s] - base[s]
                wrong |= found[s] - found[s] != zero
    return not wrong


@kernel(signature=[_signature(float32, 2), _signature(float64, 2)], fastmath={"contract"})
def by_streams(
    reward: Floats,
    value_t: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    out: Floats,
) -> bool:
    """Write G_t − v(x_t), stream by stream; returns whether all is finite and in range."""
    streams, steps = out.shape
    zero, one = out.dtype.type(0), out.dtype.type(1)
    kept = np.empty((TOGETHER, steps), out.dtype)
    wrong = False
    for first in range(0, streams, TOGETHER):
        some = min(TOGETHER, streams - first)
        for i in range(first, first + some):
            r, v, found = stream_of(reward, i), stream_of(value_tp1, i), out[i]
            b, g = stream_of(beta, i), stream_of(discount, i)
            stops, cut = stream_of(terminated, i), stream_of(truncated, i)
            for t in range(steps):
                wrong |= not ((b[t] >= zero) & (b[t] <= one) & (g[t] >= zero) & (g[t] <= one))
                ends, value = cut[t] | (t + 1 == steps), v[t]
                share, onwards = one if ends else b[t], zero if stops[t] else g[t]
                is_read = (b[t] != zero) | ends & (not stops[t])  # else v may be NaN
                found[t] = r[t] + onwards * share * (value if is_read else zero)
            kept_from(b, g, stops, cut, kept[i - first])
        add_later(kept[:some], out[first : first + some])
        for i in range(first, first + some):
            base, found = stream_of(value_t, i), out[i]
            for t in range(steps):
                found[t] -= base[t]
                wrong |= found[t] - found[t] != zero
    return not wrong


class Layout:
    """The memory layout of streams: axes before time, time, axes after it.

    Parameters
    ----------
    shape : tuple of int
        The shape of all arrays after broadcasting.
    axis : int
        The time axis, from 0.
    order : tuple of int
        The axes, from the largest stride to the smallest.

    """

    def __init__(self, shape: tuple[int, ...], axis: int, order: tuple[int, ...]) -> None:
        self.shape, self.order = shape, order
        self.ordered, at = tuple(shape[k] for k in order), order.index(axis)
        before, after = math.prod(self.ordered[:at]), math.prod(self.ordered[at + 1 :])
        self.time_is_last = after == 1
        """Whether to use the kernels by streams rather than those by rows."""
        self.inner = (before, shape[axis]) if self.time_is_last else (before, shape[axis], after)
        """The shape in which the kernels see all entries."""
        self.row = (1,) * (len(self.inner) - 1) + self.inner[-1:]
        """The shape of an array that is the same in all rows."""
        self._is_plain = order == tuple(range(len(order)))

    def read(self, array: Array) -> Array:
        """Return an array as the kernels read it; one number becomes a row that they read often."""
        if self._is_plain and array.shape == self.shape and array.flags.c_contiguous:
            return array.reshape(self.inner)
        if array.size == 1 or not any(array.strides):
            return self.repeated(array.item(0), array.dtype)
        whole = np.broadcast_to(array, self.shape).transpose(self.order)
        return np.ascontiguousarray(whole).reshape(self.inner)

    def repeated(self, number: float, kind: np.dtype[Any]) -> Array:
        """Return one number as the kernels read it."""
        return _row(self.row, number, kind)

    def restored(self, array: Array) -> Array:
        """Return the output of a kernel in the shape for users."""
        if self._is_plain:
            return array.reshape(self.shape)
        return array.reshape(self.ordered).transpose(np.argsort(self.order))


def layout_of(shape: tuple[int, ...], axis: int, arrays: Iterable[Array]) -> Layout:
    """Return the layout of arrays before broadcasting: that of the first one of full size."""
    order = tuple(range(len(shape)))
    for array in arrays:
        if array.shape == shape and 0 not in array.strides:
            if not array.flags.c_contiguous:
                steps = array.strides
                order = tuple(sorted(order, key=lambda k: -abs(steps[k])))
            break
    return _layout(shape, axis, order)


_layout = lru_cache(maxsize=64)(Layout)
"""Recently used layouts: making one takes longer than returns of a few steps."""


@lru_cache(maxsize=32)
def _row(shape: tuple[int, ...], number: float, kind: np.dtype[Any]) -> Array:
    """One number many times, cached."""
    row = np.full(shape, number, kind)
    row.setflags(write=False)
    return row
