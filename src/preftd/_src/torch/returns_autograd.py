"""The compiled β-returns as a function that torch differentiates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from preftd._src.learners.returns import DOUBLE, ORDER, SINGLE, refuse_wrong, run_forward
from preftd._src.learners.returns_layout import Array, Layout, layout_of
from preftd._src.torch.returns_kernel import (
    gradients_by_rows,
    gradients_by_streams,
    more_by_rows,
    more_by_streams,
)
from preftd._src.torch.returns_operations import as_tensors, by_operations, is_batched

KINDS: dict[torch.dtype, np.dtype[Any]] = {torch.float32: SINGLE, torch.float64: DOUBLE}
"""The dtypes that have kernels."""
FLAG = np.dtype(np.bool_)
KERNELS: tuple[tuple[Any, Any], ...] = (
    (gradients_by_rows, more_by_rows),
    (gradients_by_streams, more_by_streams),
)
"""For reward and value, and for β and discount; first where time is not the last axis."""

Given = Sequence[Tensor | float]
"""Tensors of one shape on the CPU and single numbers, in the order of `ORDER`."""


class Prepared(NamedTuple):
    """What was given, in the same memory, as the kernels read it."""

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
    run, run_more = KERNELS[layout.time_is_last]
    found = list(np.empty((2, *layout.inner), kind))
    if above.numel():
        run(layout.read(above.numpy(force=True)), *read[3:], *found)
    if needs[3] or needs[4]:
        G, *more = np.empty((3, *layout.inner), kind)
        if above.numel():
            run_forward(layout, [read[0], layout.repeated(0.0, kind), *read[2:]], G)
            run_more(found[0], G, *read[2:], *more)
        found.extend(more)
    for_reward, *others = (torch.from_numpy(layout.restored(one)) for one in found)
    return [for_reward, -above if needs[1] else None, *others]


def _by_operations(
    above: Tensor, given: Given, axis: int, needs: Sequence[bool]
) -> list[Tensor | None]:
    """The same gradients, which torch differentiates again or computes for many at once."""
    again = torch.is_grad_enabled()
    with torch.enable_grad():
        wide = as_tensors(given, above.shape, above.dtype, above.device)
        wanted = [one for one, needed in zip(wide, needs, strict=True) if needed]
        returns = by_operations(wide, axis)
    found = iter(torch.autograd.grad(returns, wanted, above, create_graph=again))
    return [next(found) if needed else None for needed in needs[:5]]
