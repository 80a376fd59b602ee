"""β-returns as functions that torch differentiates: by its operations, or compiled.

The operations are for any device and dtype, and for derivatives of gradients. Kernels read arrays
like those of `preftd.learners`. L_t = ∂/∂G_t, the sum of the incoming gradient and kept_{t−1}
L_{t−1}, is computed forward in time. From it follow the gradients: L_t for the reward, and the rest
as

    value_tp1   L_t γ β                        (β = 1 where the step is cut, γ = 0 where it stops)
    beta_tp1    L_t γ (v(x_{t+1}) − G_{t+1})   (0 where it is cut or stops)
    discount    L_t (β v(x_{t+1}) + (1 − β) G_{t+1})

The last two are rarely needed, so another kernel computes them from L_t and G afterwards.
A value that is not finite was not read: its return replaces it, so its gradient for β is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numba import boolean, float32, float64, types, void
from torch import Tensor
from torch.autograd import forward_ad

from preftd._src.kernels import kernel
from preftd._src.learners.returns import (
    DOUBLE,
    ORDER,
    SINGLE,
    TOGETHER,
    Array,
    Flags,
    Floats,
    Layout,
    kept_from,
    layout_of,
    read,
    refuse_wrong,
    row_of,
    run_forward,
    stream_of,
)


def by_operations(given: Sequence[Tensor], axis: int) -> Tensor:
    """G_t − v(x_t) in log₂(steps) rounds: after k of them, G_t = found_t + kept_t G_{t + 2ᵏ}.

    Parameters
    ----------
    given : sequence of 7 tensors of one shape
        In the order of `preftd._src.learners.returns.ORDER`.
    axis : int
        The axis of time.

    """
    r, base, v, b, g, stops, cut = (tensor.movedim(axis, 0) for tensor in given)
    steps = r.shape[0]
    last = torch.arange(1, steps + 1, device=r.device) == steps
    cut = cut | last.reshape(steps, *[1] * (r.ndim - 1))
    share, onwards = torch.where(cut, 1.0, b), torch.where(stops, 0.0, g)
    unknown = ~v.isfinite() & (b == 0) & (stops | ~cut)  # and not read
    share, v = torch.where(unknown, 0.0, share), torch.where(unknown, 0.0, v)
    found, kept = r + onwards * share * v, onwards * (1 - share)
    ahead = 1
    while ahead < steps:
        found = torch.cat([found[:-ahead] + kept[:-ahead] * found[ahead:], found[-ahead:]])
        kept = torch.cat([kept[:-ahead] * kept[ahead:], kept[-ahead:]])
        ahead *= 2
    return (found - base).movedim(0, axis)


def is_traced() -> bool:
    """Whether operations are traced or transformed: tensors may then have no numbers.

    `torch.compile`, `torch.func`, forward-mode differentiation, `torch.jit.trace`, and modes such
    as that of `make_fx` do so.
    """
    return (
        torch.compiler.is_compiling()
        or torch._C._are_functorch_transforms_active()
        or torch._C._len_torch_dispatch_stack() > 0
        or forward_ad._current_level >= 0
        or torch.jit.is_tracing()
    )


def is_batched(tensor: Tensor) -> bool:
    """Whether it is a batch, as in `torch.autograd.grad(..., is_grads_batched=True)`."""
    functorch = torch._C._functorch
    return functorch.is_batchedtensor(tensor) or functorch.is_legacy_batchedtensor(tensor)


def as_tensors(
    given: Sequence[Tensor | float], shape: tuple[int, ...], kind: torch.dtype, device: torch.device
) -> list[Tensor]:
    """Single numbers become tensors of that shape; tensors do not change."""
    return [
        one
        if isinstance(one, Tensor)
        else torch.tensor(
            one, dtype=torch.bool if isinstance(one, bool) else kind, device=device
        ).expand(shape)
        for one in given
    ]


def _signatures(floats: int, axes: int) -> list[Any]:
    """The signature of a kernel that reads arrays of floats and two of flags, and writes two."""
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
    """Write the gradients for reward and value, stream by stream."""
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


@kernel(signature=_signatures(5, 3), fastmath={"contract"})
def gradients_for_shares(  # noqa: PLR0913, PLR0917  (arrays, not options)
    L: Floats,
    later: Floats,
    value_tp1: Floats,
    beta: Floats,
    discount: Floats,
    terminated: Flags,
    ends: Flags,
    for_beta: Floats,
    for_discount: Floats,
) -> None:
    """Write the gradients for β and discount; `later` is G_{t+1}, and `ends` where nothing is."""
    zero, one = L.dtype.type(0), L.dtype.type(1)
    for i in range(L.shape[0]):
        for t in range(L.shape[1]):
            v, b, g = row_of(value_tp1, i, t), row_of(beta, i, t), row_of(discount, i, t)
            stops, cut = row_of(terminated, i, t), ends[i, t]
            for k in range(L.shape[2]):
                share, following = one if cut[k] else b[k], later[i, t, k]
                onwards = zero if stops[k] | cut[k] else g[k]
                value = v[k] if v[k] - v[k] == zero else following
                for_beta[i, t, k] = L[i, t, k] * onwards * (value - following)
                found = L[i, t, k] * (share * value + (one - share) * following)
                for_discount[i, t, k] = zero if stops[k] else found


KINDS: dict[torch.dtype, np.dtype[Any]] = {torch.float32: SINGLE, torch.float64: DOUBLE}
"""The dtypes that have kernels."""
FLAG = np.dtype(np.bool_)
Given = Sequence[Tensor | float]
"""Tensors of one shape on the CPU and single numbers, in the order of `ORDER`."""


class Prepared(NamedTuple):
    """The arguments in the same memory, in the layout of the kernels."""

    layout: Layout
    kind: np.dtype[Any]
    read: list[Array]
    axis: int


def compiled_returns(given: Given, axis: int) -> Tensor:
    """G_t − v(x_t), with the axis of time counted from 0."""
    if torch.is_grad_enabled():
        for one in given:
            if isinstance(one, Tensor) and one.requires_grad:
                apply: Callable[..., Tensor] = _Returns.apply
                return apply(axis, *given)
    prepared = _prepared(given, axis)
    return _written(given, prepared)


def _prepared(given: Given, axis: int) -> Prepared:
    some = next(one for one in given if isinstance(one, Tensor) and one.dtype in KINDS)
    kind = KINDS[some.dtype]
    arrays = [one.numpy(force=True) if isinstance(one, Tensor) else one for one in given]
    layout = layout_of(
        tuple(some.shape), axis, (one for one in arrays if isinstance(one, np.ndarray))
    )
    read = [
        layout.read(one)
        if isinstance(one, np.ndarray)
        else layout.repeated(one, FLAG if isinstance(one, bool) else kind)
        for one in arrays
    ]
    return Prepared(layout, kind, read, axis)


def _written(given: Given, prepared: Prepared) -> Tensor:
    """G_t − v(x_t), which the kernels write."""
    out = np.empty(prepared.layout.inner, prepared.kind)
    if out.size and not run_forward(prepared.layout, prepared.read, out):
        arrays = (
            one.numpy(force=True) if isinstance(one, Tensor) else np.array(one) for one in given
        )
        refuse_wrong(dict(zip(ORDER, arrays, strict=True)), prepared.axis)
    return torch.from_numpy(prepared.layout.restored(out))


class _Returns(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, axis: int, *given: Tensor | float) -> Tensor:
        ctx.prepared = _prepared(given, axis)
        ctx.numbers = [None if isinstance(one, Tensor) else one for one in given]
        ctx.save_for_backward(*[one for one in given if isinstance(one, Tensor)])
        return _written(given, ctx.prepared)

    @staticmethod
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        saved = iter(ctx.saved_tensors)  # torch refuses them if they have been changed since
        needs = ctx.needs_input_grad[1:]
        if torch.is_grad_enabled() or is_batched(above):
            given = [next(saved) if one is None else one for one in ctx.numbers]
            found = _by_operations(above, given, ctx.prepared.axis, needs)
        else:
            found = _compiled(above, ctx.prepared, needs)
        kept = (one if needed else None for one, needed in zip(found, needs, strict=False))
        return None, *kept, *[None] * (7 - len(found))


def _compiled(above: Tensor, prepared: Prepared, needs: Sequence[bool]) -> list[Tensor | None]:
    """Gradients for all but the flags, None where they are not needed."""
    layout, kind, read, _ = prepared
    run: Any = gradients_by_streams if layout.time_is_last else gradients_by_rows
    found = list(np.empty((2, *layout.inner), kind))
    if above.numel():
        run(layout.read(above.numpy(force=True)), *read[3:], *found)
    if needs[3] or needs[4]:
        G, later, *more = np.zeros((4, *layout.inner), kind)
        if above.numel():
            run_forward(layout, [read[0], layout.repeated(0.0, kind), *read[2:]], G)
            later[:, :-1] = G[:, 1:]
            ends = np.zeros(layout.inner, FLAG) | read[6]
            ends[:, -1] = True
            arrays = (found[0], later, *read[2:6], ends, *more)
            rows = (one[:, None] if layout.time_is_last else one for one in arrays)
            gradients_for_shares(*rows)
        found.extend(more)
    for_reward, *others = (torch.from_numpy(layout.restored(one)) for one in found)
    return [for_reward, -above if needs[1] else None, *others]


def _by_operations(
    above: Tensor, given: Given, axis: int, needs: Sequence[bool]
) -> list[Tensor | None]:
    """The same gradients, for second derivatives and batches."""
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        wide = as_tensors(given, above.shape, above.dtype, above.device)
        wanted = [one for one, needed in zip(wide, needs, strict=True) if needed]
        returns = by_operations(wide, axis)
    found = iter(torch.autograd.grad(returns, wanted, above, create_graph=again))
    return [next(found) if needed else None for needed in needs[:5]]
