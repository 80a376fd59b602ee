"""Gradients of β-returns, compiled: arrays as the kernels of `preftd.learners` read them.

L_t = ∂/∂G_t, the sum of what comes from above and of kept_{t−1} L_{t−1}, goes forward in time. From
it follow the gradients: L_t for the reward, and the rest as

    value_tp1   L_t γ β                        (β = 1 where the step is cut, γ = 0 where it stops)
    beta_tp1    L_t γ (v(x_{t+1}) − G_{t+1})   (0 where it is cut or stops)
    discount    L_t (β v(x_{t+1}) + (1 − β) G_{t+1})

The last two are seldom wanted, so that kernels of their own compute them from L_t and G afterwards.
A value that is not finite was not read: its return takes its place, so that it pulls β nowhere.
"""

from typing import Any

import numpy as np
from numba import boolean, float32, float64, types, void

from preftd._src.kernels import kernel
from preftd._src.learners.returns_kernel import (
    TOGETHER,
    Flags,
    Floats,
    kept_from,
    read,
    row_of,
    stream_of,
)


def _signatures(floats: int, axes: int) -> list[Any]:
    """Of a kernel that reads so many arrays of floats and two of flags, and writes two."""
    return [
        void(
            *[read(kind, axes)] * floats,
            *[read(boolean, axes)] * 2,
            *[types.Array(kind, axes, "C")] * 2,
        )
        for kind in (float32, float64)
    ]


@kernel(signature=_signatures(3, 3), fastmath={"contract"})
def gradients_by_rows(
    above: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    for_reward: Floats,
    for_value: Floats,
) -> None:
    """Write the gradients for reward and value, all streams of a step at once."""
    before, steps, after = for_reward.shape
    zero, one = for_reward.dtype.type(0), for_reward.dtype.type(1)
    carried = np.empty(after, for_reward.dtype)
    for i in range(before):
        carried[:] = zero
        for t in range(steps):
            u, b, g = row_of(above, i, t), row_of(beta, i, t), row_of(discount, i, t)
            stops, cut = row_of(terminated, i, t), row_of(truncated, i, t)
            L, into, last = for_reward[i, t], for_value[i, t], t + 1 == steps
            for s in range(after):
                here = u[s] + carried[s]
                onwards = zero if stops[s] else g[s] * here
                share = one if cut[s] | last else b[s]
                L[s] = here
                into[s] = onwards * share
                carried[s] = onwards - onwards * share


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


@kernel(signature=_signatures(3, 2), fastmath={"contract"})
def gradients_by_streams(
    above: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    for_reward: Floats,
    for_value: Floats,
) -> None:
    """Write the gradients for reward and value, a stream after the other."""
    streams, steps = for_reward.shape
    zero, one = for_reward.dtype.type(0), for_reward.dtype.type(1)
    kept = np.empty((TOGETHER, steps), for_reward.dtype)
    for first in range(0, streams, TOGETHER):
        some = min(TOGETHER, streams - first)
        for i in range(first, first + some):
            for_reward[i] = stream_of(above, i)
            b, g = stream_of(beta, i), stream_of(discount, i)
            kept_from(b, g, stream_of(terminated, i), stream_of(truncated, i), kept[i - first])
        add_earlier(kept[:some], for_reward[first : first + some])
        for i in range(first, first + some):
            L, into = for_reward[i], for_value[i]
            b, g = stream_of(beta, i), stream_of(discount, i)
            stops, cut = stream_of(terminated, i), stream_of(truncated, i)
            for t in range(steps):
                share = one if cut[t] | (t + 1 == steps) else b[t]
                into[t] = zero if stops[t] else L[t] * (g[t] * share)


@kernel(fastmath={"contract"})
def write_more(  # noqa: PLR0913, PLR0917  (arrays, not options)
    L: Floats,
    G: Floats,
    v: Floats,
    b: Floats,
    g: Floats,
    stops: Flags,
    cut: Flags,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Write the gradients for β and discount of some steps; G is the return of the next of each."""
    zero, one = L.dtype.type(0), L.dtype.type(1)
    for k in range(L.size):
        share = one if cut[k] else b[k]
        onwards = zero if stops[k] | cut[k] else g[k]
        value = v[k] if v[k] - v[k] == zero else G[k]
        for_beta[k] = L[k] * onwards * (value - G[k])
        for_discount[k] = zero if stops[k] else L[k] * (share * value + (one - share) * G[k])


@kernel(signature=_signatures(5, 3), fastmath={"contract"})
def more_by_rows(  # noqa: PLR0913, PLR0917  (arrays, not options)
    L: Floats,
    G: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Write the gradients for β and discount, all streams of a step at once."""
    before, steps, after = L.shape
    nothing, is_end = np.zeros(after, L.dtype), np.ones(after, np.bool_)
    for i in range(before):
        for t in range(steps):
            v, b, g = row_of(value_tp1, i, t), row_of(beta, i, t), row_of(discount, i, t)
            stops, last = row_of(terminated, i, t), t + 1 == steps
            cut = is_end if last else row_of(truncated, i, t)
            later = nothing if last else G[i, t + 1]
            write_more(L[i, t], later, v, b, g, stops, cut, for_beta[i, t], for_discount[i, t])


@kernel(signature=_signatures(5, 2), fastmath={"contract"})
def more_by_streams(  # noqa: PLR0913, PLR0917  (arrays, not options)
    L: Floats,
    G: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    truncated: Flags,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Write the gradients for β and discount, a stream after the other."""
    streams, steps = L.shape
    later, ends = np.zeros(steps, L.dtype), np.empty(steps, np.bool_)
    for i in range(streams if steps else 0):
        v, b, g = stream_of(value_tp1, i), stream_of(beta, i), stream_of(discount, i)
        later[: steps - 1] = G[i, 1:steps]
        ends[:] = stream_of(truncated, i)
        ends[steps - 1] = True
        stops = stream_of(terminated, i)
        write_more(L[i], later, v, b, g, stops, ends, for_beta[i], for_discount[i])
