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
    arrays = dict(zip(ORDER, _arrays(given), strict=True))
    some = next(array for array in arrays.values() if array.ndim)
    layout = layout_of(some.shape, axis, arrays.values())
    out = np.empty(layout.inner, arrays["reward"].dtype)
    if out.size and not run_forward(layout, arrays, out):
        refuse_wrong({name: arrays[name] for name in ORDER[:5]})
    return torch.from_numpy(layout.restored(out))


def gradients(
    above: Tensor, out: Tensor, given: Given, axis: int, wanted: Sequence[bool]
) -> list[Tensor]:
    """Those for reward, next value, β and discount; of the last two, empty if not wanted."""
    arrays = _arrays([out, *given[1:]])
    layout = layout_of(arrays[0].shape, axis, arrays)
    kind, nothing = arrays[0].dtype, (0,) * len(layout.inner)
    found = [np.empty(layout.inner if one else nothing, kind) for one in (True, True, *wanted)]
    if found[0].size:
        run = gradients_by_streams if layout.time_is_last else gradients_by_rows
        run(layout.read(above.detach().numpy()), *map(layout.read, arrays), *found)
    return [torch.from_numpy(layout.restored(one) if one.size else one) for one in found]


def _arrays(given: Given) -> list[Array]:
    """The same memory as arrays of NumPy; single numbers in the dtype of the tensors."""
    arrays = [one.detach().numpy() if isinstance(one, Tensor) else one for one in given]
    kind = next(a.dtype for a in arrays if isinstance(a, np.ndarray) and a.dtype != np.bool_)
    kinds = {float: kind, bool: np.dtype(np.bool_)}
    return [a if isinstance(a, np.ndarray) else np.array(a, kinds[type(a)]) for a in arrays]


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
            found = [reward, -above, value, beta, discount]
        return None, *(g if one else None for g, one in zip(found, needs, strict=False)), None, None


def _differentiable(
    above: Tensor, given: Given, axis: int, needs: Sequence[bool]
) -> list[Tensor | None]:
    """The same gradients by operations, which torch differentiates again."""
    wide = as_tensors(given, above.shape, above.dtype, above.device)
    wanted = [one for one, needed in zip(wide, needs, strict=True) if needed]
    found = iter(torch.autograd.grad(by_operations(wide, axis), wanted, above, create_graph=True))
    return [next(found) if needed else None for needed in needs[:5]]
