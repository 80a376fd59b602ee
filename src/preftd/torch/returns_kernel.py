"""Gradients of β-returns, compiled: arrays as the kernels of `preftd.learners` read them.

L_t = ∂/∂G_t, the sum of what comes from above and of kept_{t−1} L_{t−1}, goes forward in time. From
it follow the gradients: L_t for the reward, and the rest as

    value_tp1   L_t γ β                        (β = 1 where the step is cut, γ = 0 where it stops)
    beta_tp1    L_t γ (v(x_{t+1}) − G_{t+1})   (0 where it is cut or stops)
    discount    L_t (β v(x_{t+1}) + (1 − β) G_{t+1})

Gradients that nobody wants are given as arrays without entries.
"""

from typing import Any

import numpy as np
from numba import boolean, float32, float64, types, void

from preftd.kernels import kernel
from preftd.learners.returns_kernel import (
    TOGETHER,
    Flags,
    Floats,
    kept_from,
    read,
    row_of,
    stream_of,
)


def _signature(kind: Any, axes: int) -> Any:
    floats, flags = [read(kind, axes)] * 6, [read(boolean, axes)] * 2
    return void(*floats, *flags, *[types.Array(kind, axes, "C")] * 4)


@kernel(fastmath={"contract"})
def inner_gradients(  # noqa: PLR0913, PLR0917  (arrays, not options)
    L: Floats,
    v: Floats,
    G: Floats,
    base: Floats,
    b: Floats,
    g: Floats,
    stops: Flags,
    cut: Flags,
    for_value: Floats,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Steps that others follow; G + base is the return of the next step."""
    zero, one = L.dtype.type(0), L.dtype.type(1)
    for k in range(L.size):
        share = one if cut[k] else b[k]
        for_value[k] = L[k] * (zero if stops[k] else g[k] * share)
    for k in range(for_beta.size):
        going = zero if stops[k] | cut[k] else g[k]
        for_beta[k] = L[k] * going * (v[k] - (G[k] + base[k]))
    for k in range(for_discount.size):
        share = one if cut[k] else b[k]
        aim = share * v[k] + (one - share) * (G[k] + base[k])
        for_discount[k] = zero if stops[k] else L[k] * aim


@kernel
def last_gradients(
    L: Floats,
    v: Floats,
    g: Floats,
    stops: Flags,
    for_value: Floats,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """The last step of each stream, where β has no effect."""
    zero = L.dtype.type(0)
    for k in range(L.size):
        for_value[k] = zero if stops[k] else L[k] * g[k]
    for_beta[:] = zero
    for k in range(for_discount.size):
        for_discount[k] = zero if stops[k] else L[k] * v[k]


@kernel(fastmath={"contract"})
def add_earlier(kept: Floats, L: Floats) -> None:
    """L_t ← L_t + kept_{t−1} L_{t−1} in each row, from the first to the last."""
    rows, steps = L.shape
    if rows == TOGETHER:
        a, b, c, d = L[0, 0], L[1, 0], L[2, 0], L[3, 0]
        for t in range(1, steps):
            L[0, t] = a = L[0, t] + kept[0, t - 1] * a
            L[1, t] = b = L[1, t] + kept[1, t - 1] * b
            L[2, t] = c = L[2, t] + kept[2, t - 1] * c
            L[3, t] = d = L[3, t] + kept[3, t - 1] * d
    else:
        for i in range(rows):
            for t in range(1, steps):
                L[i, t] += kept[i, t - 1] * L[i, t - 1]


@kernel(signature=[_signature(float32, 3), _signature(float64, 3)], fastmath={"contract"})
def gradients_by_rows(  # noqa: PLR0913, PLR0917  (arrays, not options)
    above: Floats,
    out: Floats,
    value_t: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    for_reward: Floats,
    for_value: Floats,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Write the gradients, all streams of a step at once."""
    before, steps, after = for_reward.shape
    zero, one = for_reward.dtype.type(0), for_reward.dtype.type(1)
    carried = np.empty(after, for_reward.dtype)
    for i in range(before):
        carried[:] = zero
        for t in range(steps):
            L, u, v = for_reward[i, t], row_of(above, i, t), row_of(value_tp1, i, t)
            b, g = row_of(beta, i, t), row_of(discount, i, t)
            stops, cut = row_of(terminated, i, t), row_of(truncated, i, t)
            for s in range(after):
                L[s] = u[s] + carried[s]
            for s in range(after):
                carried[s] = zero if stops[s] | cut[s] else L[s] * (g[s] * (one - b[s]))
            by_value, nothing = for_value[i, t], L[:0]
            by_beta = for_beta[i, t] if for_beta.size else nothing
            by_discount = for_discount[i, t] if for_discount.size else nothing
            if t + 1 == steps:
                last_gradients(L, v, g, stops, by_value, by_beta, by_discount)
            else:
                G, base = row_of(out, i, t + 1), row_of(value_t, i, t + 1)
                inner_gradients(L, v, G, base, b, g, stops, cut, by_value, by_beta, by_discount)


@kernel(signature=[_signature(float32, 2), _signature(float64, 2)], fastmath={"contract"})
def gradients_by_streams(  # noqa: PLR0913, PLR0917  (arrays, not options)
    above: Floats,
    out: Floats,
    value_t: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    for_reward: Floats,
    for_value: Floats,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Write the gradients, a stream after the other."""
    streams, steps = for_reward.shape
    kept = np.empty((TOGETHER, steps), for_reward.dtype)
    end = steps - 1
    for first in range(0, streams, TOGETHER):
        some = min(TOGETHER, streams - first)
        for i in range(first, first + some):
            for_reward[i] = stream_of(above, i)
            b, g = stream_of(beta, i), stream_of(discount, i)
            kept_from(b, g, stream_of(terminated, i), stream_of(truncated, i), kept[i - first])
        add_earlier(kept[:some], for_reward[first : first + some])
        for i in range(first, first + some):
            L, v, G = for_reward[i], stream_of(value_tp1, i), stream_of(out, i)
            b, g, base = stream_of(beta, i), stream_of(discount, i), stream_of(value_t, i)
            stops, cut = stream_of(terminated, i), stream_of(truncated, i)
            by_value, nothing = for_value[i], L[:0]
            by_beta = for_beta[i] if for_beta.size else nothing
            by_discount = for_discount[i] if for_discount.size else nothing
            inner_gradients(
                L[:end],
                v[:end],
                G[1:],
                base[1:],
                b[:end],
                g[:end],
                stops[:end],
                cut[:end],
                by_value[:end],
                by_beta[:end],
                by_discount[:end],
            )
            last_gradients(
                L[end:],
                v[end:],
                g[end:],
                stops[end:],
                by_value[end:],
                by_beta[end:],
                by_discount[end:],
            )
