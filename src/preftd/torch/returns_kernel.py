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


@kernel(inline="always")
def write_for_value(
    L: Floats, b: Floats, g: Floats, stops: Flags, cut: Flags, last: bool, out: Floats
) -> None:
    """The gradient for v(x_{t+1})."""
    zero, one = L.dtype.type(0), L.dtype.type(1)
    for k in range(L.size):
        share = one if cut[k] | last else b[k]
        out[k] = zero if stops[k] else L[k] * (g[k] * share)


@kernel(inline="always")
def write_for_beta(
    L: Floats, v: Floats, G: Floats, g: Floats, stops: Flags, cut: Flags, last: bool, out: Floats
) -> None:
    """The gradient for β; G is the return of the next step."""
    zero = L.dtype.type(0)
    for k in range(L.size):
        onwards = zero if stops[k] | cut[k] | last else g[k]
        out[k] = L[k] * onwards * (v[k] - G[k])


@kernel(inline="always")
def write_for_discount(
    L: Floats, v: Floats, G: Floats, b: Floats, stops: Flags, cut: Flags, last: bool, out: Floats
) -> None:
    """The gradient for the discount; G is the return of the next step."""
    zero, one = L.dtype.type(0), L.dtype.type(1)
    for k in range(L.size):
        share = one if cut[k] | last else b[k]
        out[k] = zero if stops[k] else L[k] * (share * v[k] + (one - share) * G[k])


@kernel(inline="always")
def add(first: Floats, second: Floats, out: Floats) -> None:
    """Write the sum of two rows."""
    for k in range(out.size):
        out[k] = first[k] + second[k]


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
    carried, G = np.zeros((2, after), for_reward.dtype)
    for i in range(before):
        carried[:] = zero
        for t in range(steps):
            L, u, v = for_reward[i, t], row_of(above, i, t), row_of(value_tp1, i, t)
            b, g = row_of(beta, i, t), row_of(discount, i, t)
            stops, cut = row_of(terminated, i, t), row_of(truncated, i, t)
            last = t + 1 == steps
            for s in range(after):
                L[s] = u[s] + carried[s]
            for s in range(after):
                carried[s] = zero if stops[s] | cut[s] else L[s] * (g[s] * (one - b[s]))
            write_for_value(L, b, g, stops, cut, last, for_value[i, t])
            if not last and for_beta.size + for_discount.size > 0:
                add(row_of(out, i, t + 1), row_of(value_t, i, t + 1), G)
            if for_beta.size:
                write_for_beta(L, v, G, g, stops, cut, last, for_beta[i, t])
            if for_discount.size:
                write_for_discount(L, v, G, b, stops, cut, last, for_discount[i, t])


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
    G, end = np.zeros(steps, for_reward.dtype), steps - 1
    for first in range(0, streams, TOGETHER):
        some = min(TOGETHER, streams - first)
        for i in range(first, first + some):
            for_reward[i] = stream_of(above, i)
            b, g = stream_of(beta, i), stream_of(discount, i)
            kept_from(b, g, stream_of(terminated, i), stream_of(truncated, i), kept[i - first])
        add_earlier(kept[:some], for_reward[first : first + some])
        for i in range(first, first + some):
            L, v = for_reward[i], stream_of(value_tp1, i)
            b, g = stream_of(beta, i), stream_of(discount, i)
            stops, cut = stream_of(terminated, i), stream_of(truncated, i)
            if for_beta.size + for_discount.size > 0:
                add(stream_of(out, i)[1:], stream_of(value_t, i)[1:], G[:end])
            for of, last in ((slice(0, end), False), (slice(end, steps), True)):
                write_for_value(L[of], b[of], g[of], stops[of], cut[of], last, for_value[i, of])
                if for_beta.size:
                    into = for_beta[i, of]
                    write_for_beta(L[of], v[of], G[of], g[of], stops[of], cut[of], last, into)
                if for_discount.size:
                    into = for_discount[i, of]
                    write_for_discount(L[of], v[of], G[of], b[of], stops[of], cut[of], last, into)
