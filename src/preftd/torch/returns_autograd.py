"""The compiled β-returns as a function that torch differentiates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from preftd.learners.returns import ORDER, refuse_wrong, run_forward
from preftd.learners.returns_layout import Array, layout_of
from preftd.torch.returns_kernel import gradients_by_rows, gradients_by_streams
from preftd.torch.returns_operations import as_tensors, by_operations

Given = Sequence[Tensor | float]
"""Tensors of one shape on the CPU and single numbers, in the order of `ORDER`."""


def compiled_returns(given: Given, axis: int) -> Tensor:
    """G_t − v(x_t), with the axis of time counted from 0."""
    tensors = [one for one in given if isinstance(one, Tensor)]
    if torch.is_grad_enabled() and any(one.requires_grad for one in tensors):
        apply: Callable[..., Tensor] = _Returns.apply
        return apply(axis, *given)
    return forward(given, axis)


def forward(given: Given, axis: int) -> Tensor:
    """G_t − v(x_t), not differentiable."""
    arrays, shape, kind = _arrays(given)
    layout = layout_of(shape, axis, arrays)
    out = np.empty(layout.inner, kind)
    if out.size and not run_forward(layout, arrays, out):
        refuse_wrong(dict(zip(ORDER[:5], arrays, strict=False)))
    return torch.from_numpy(layout.restored(out))


def gradients(
    above: Tensor, out: Tensor, given: Given, axis: int, wanted: Sequence[bool]
) -> list[Tensor]:
    """Those for reward, next value, β and discount; of the last two, empty if not wanted."""
    arrays, shape, kind = _arrays([above, out, *given[1:]])
    layout = layout_of(shape, axis, arrays)
    nothing = (0,) * len(layout.inner)
    sizes = [layout.inner, layout.inner, *(layout.inner if one else nothing for one in wanted)]
    found = [np.empty(size, kind) for size in sizes]
    if found[0].size:
        run: Any = gradients_by_streams if layout.time_is_last else gradients_by_rows
        run(*map(layout.read, arrays), *found)
    return [torch.from_numpy(layout.restored(one) if one.size else one) for one in found]


def _arrays(given: Given) -> tuple[list[Array], tuple[int, ...], np.dtype[Any]]:
    """The same memory as arrays of NumPy, their shape, and the dtype of those that hold floats."""
    arrays: list[Any] = [one.detach().numpy() if isinstance(one, Tensor) else one for one in given]
    first = next(one for one in arrays if type(one) is np.ndarray and one.dtype != np.bool_)
    kinds = {float: first.dtype, bool: np.bool_}
    ready = [one if type(one) is np.ndarray else np.array(one, kinds[type(one)]) for one in arrays]
    return ready, first.shape, first.dtype


class _Returns(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, axis: int, *given: Tensor | float) -> Tensor:
        out = forward(given, axis)
        ctx.axis = axis
        ctx.numbers = [None if isinstance(one, Tensor) else one for one in given]
        ctx.save_for_backward(*(one for one in given if isinstance(one, Tensor)), out)
        return out

    @staticmethod
    def backward(ctx: Any, above: Tensor) -> tuple[Tensor | None, ...]:
        *saved, out = ctx.saved_tensors
        tensors = iter(saved)
        given = [next(tensors) if one is None else one for one in ctx.numbers]
        needs = ctx.needs_input_grad[1:]
        if torch.is_grad_enabled():  # derivatives of these gradients are wanted
            found = _differentiable(above, given, ctx.axis, needs)
        else:
            reward, value, beta, discount = gradients(above, out, given, ctx.axis, needs[3:5])
            found = [reward, -above if needs[1] else None, value, beta, discount]
        return None, *(g if one else None for g, one in zip(found, needs, strict=False)), None, None


def _differentiable(
    above: Tensor, given: Given, axis: int, needs: Sequence[bool]
) -> list[Tensor | None]:
    """The same gradients by operations, which torch differentiates again."""
    wide = as_tensors(given, above.shape, above.dtype, above.device)
    wanted = [one for one, needed in zip(wide, needs, strict=True) if needed]
    found = iter(torch.autograd.grad(by_operations(wide, axis), wanted, above, create_graph=True))
    return [next(found) if needed else None for needed in needs[:5]]
