"""Backward passes over streams side by side, compiled for float32 and float64.

An array is (before, steps, after), or (streams, steps) where time is the last axis. Its last axis
is whole, the others are whole or of length 1, for what is the same all along them. Loops read few
arrays each: with more, the compiler would not vectorise them.
"""

from typing import Any

import numpy as np
from numba import boolean, float32, float64, types
from numpy.typing import NDArray

from preftd._src.kernels import kernel

Flags = NDArray[np.bool_]
Floats = NDArray[Any]
"""All of float32, or all of float64."""
TOGETHER = 4
"""Streams whose recursions run side by side where time is the last axis: one waits for itself."""


def read(kind: Any, axes: int) -> types.Array:
    """The type of an array that may be read-only: said outright, it needs no copy."""
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
    """Write G_t − v(x_t), all streams of a step at once; true if all is finite and in range."""
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
    """Write G_t − v(x_t), a stream after the other; true if all is finite and in range."""
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
