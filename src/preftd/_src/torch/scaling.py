"""Lists of tensors times a number, or times one number for each stream; in place and fused.

A factor is a float, or for N streams a tensor of shape (N,). Then each tensor that is not a weight
has a first axis of N.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from preftd._src.arrays import InputError, Vector, as_array, number
from preftd._src.learners.transition import DivergedError

Factor: TypeAlias = float | Tensor


def as_factor(name: str, given: Any, streams: int | None, like: Tensor) -> Factor:
    """A finite number as a float; or for N streams, N of them as a tensor beside another one."""
    if streams is None:
        one = given if type(given) is float else number(name, _on_cpu(given))
        if not math.isfinite(one):
            raise InputError(f"{name} is {one}: give a finite number.")
        return fitting(one, like)
    array = per_stream(name, _on_cpu(given), streams)
    fitting(float(np.abs(array).max()), like)
    return torch.tensor(array, dtype=like.dtype, device=like.device)


def per_stream(name: str, given: Any, streams: int) -> Vector:
    """Finite numbers of shape (streams,), from one for all or one for each."""
    array = as_array(name, given)
    if array.shape not in ((), (streams,)):
        raise InputError(f"{name} has shape {array.shape}: give one number, or {streams}.")
    return np.broadcast_to(array, (streams,))


def fitting(factor: float, like: Tensor) -> float:
    """The factor, if it is a number in the type of a tensor."""
    if abs(factor) > torch.finfo(like.dtype).max:
        raise DivergedError(f"{factor:.3g} is too large for {like.dtype}: lower the step size.")
    return factor


def _on_cpu(given: Any) -> Any:
    """A tensor as what NumPy takes; one number as a number, whatever its axes."""
    if not isinstance(given, Tensor):
        return given
    return given.detach().reshape(()).cpu() if given.numel() == 1 else given.detach().cpu()


def scale(tensors: list[Tensor], factor: Factor) -> None:
    """Multiply tensors by the factor; 0 empties them, whatever they hold."""
    if isinstance(factor, Tensor):
        torch._foreach_mul_(tensors, [leading(factor, t) for t in tensors])
        for t in tensors:
            t[factor == 0] = 0.0
    elif factor == 0:
        torch._foreach_zero_(tensors)
    else:
        torch._foreach_mul_(tensors, factor)


def add(tensors: list[Tensor], others: list[Tensor], factor: Factor) -> None:
    """Add the factor times others."""
    if isinstance(factor, Tensor):
        torch._foreach_addcmul_(tensors, others, [leading(factor, t) for t in tensors])
    else:
        torch._foreach_add_(tensors, others, alpha=factor)


def move(weights: list[Tensor], along: list[Tensor], step: float, factor: Factor) -> None:
    """Add step times the factor times others to weights: the sum of what streams add."""
    if isinstance(factor, Tensor):
        sums = [torch.tensordot(factor, t, 1) for t in along]
        torch._foreach_add_(weights, sums, alpha=step)
    else:
        torch._foreach_add_(weights, along, alpha=fitting(step * factor, weights[0]))


def squares(tensors: list[Tensor], streams: int | None) -> Factor:
    """The sum of the squares of all entries."""
    if streams is None:
        return sum(torch.dot(t.reshape(-1), t.reshape(-1)).item() for t in tensors)
    return sum((t.reshape(streams, -1).square().sum(1) for t in tensors), _zeros(tensors, streams))


def sizes(tensors: list[Tensor], streams: int | None) -> Factor:
    """The sum of the absolute values of all entries."""
    if streams is None:
        return sum(t.abs().sum().item() for t in tensors)
    return sum((t.reshape(streams, -1).abs().sum(1) for t in tensors), _zeros(tensors, streams))


def _zeros(tensors: list[Tensor], streams: int) -> Tensor:
    return tensors[0].new_zeros(streams) if tensors else torch.zeros(streams)


def leading(factor: Tensor, like: Tensor) -> Tensor:
    """The factor with as many axes as a tensor, along its first."""
    return factor.to(like.dtype).reshape(-1, *(1 for _ in like.shape[1:]))
