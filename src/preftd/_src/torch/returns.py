"""β-returns and advantages on tensors: G_t and A_t of `preftd.learners.beta_returns`.

On the CPU, float32 and float64 are computed by compiled kernels, with compiled gradients; other
dtypes and devices by operations of torch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from preftd._src.arrays import InputError, as_flag, common_shape, short, time_axis
from preftd._src.learners.returns import ORDER, Array, refuse_wrong
from preftd._src.torch.returns_autograd import (
    KINDS,
    as_tensors,
    by_operations,
    compiled_returns,
    is_traced,
)

FLOATS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
FLAGS = frozenset(ORDER[5:])
PLAIN = (Tensor, torch.nn.Parameter)
"""Subclasses of tensors use operations of torch."""
LARGEST = 2**63
"""The bound of integers, as in tensors."""


def beta_returns(
    reward: Tensor | float,
    value_tp1: Tensor | float,
    beta_tp1: Tensor | float,
    *,
    discount: Tensor | float,
    terminated: Tensor | bool = False,
    truncated: Tensor | bool = False,
    axis: int = 0,
) -> Tensor:
    """β-returns G_t of streams, differentiable in rewards, values, β and discounts.

    Arguments are tensors whose shapes broadcast against each other, or single numbers.

    Parameters
    ----------
    reward : tensor of shape (steps, ...)
        r_{t+1}.
    value_tp1 : tensor of shape (steps, ...)
        v(x_{t+1}), the value of the state that the step leads to: at a truncated step, of the last
        observation of the episode, not of the first one of the next. Where β is 0 it is not read,
        and may be NaN, unless the step is truncated or the last one.
    beta_tp1 : tensor of shape (steps, ...)
        β of that state, from 0 to 1.
    discount : tensor of shape (steps, ...)
        γ_{t+1}, from 0 to 1.
    terminated, truncated : tensor of bool of shape (steps, ...)
        True where an episode ends by itself, and where it is cut short. Terminated takes precedence
        where both are true.
    axis : int
        The axis of time.

    Returns
    -------
    tensor of shape (steps, ...)

    Examples
    --------
    >>> reward, value_tp1 = torch.tensor([0.0, 1.0]), torch.tensor([4.0, 5.0])
    >>> beta_returns(reward, value_tp1, 0.5, discount=0.5, terminated=torch.tensor([False, True]))
    tensor([1.2500, 1.0000])

    """
    given = (reward, 0.0, value_tp1, beta_tp1, discount, terminated, truncated)
    return _computed(given, axis)


def beta_advantages(
    reward: Tensor | float,
    value_t: Tensor | float,
    value_tp1: Tensor | float,
    beta_tp1: Tensor | float,
    *,
    discount: Tensor | float,
    terminated: Tensor | bool = False,
    truncated: Tensor | bool = False,
    axis: int = 0,
) -> Tensor:
    """Advantages A_t = G_t − v(x_t): how far β-returns are from the values they update.

    Parameters
    ----------
    reward, value_tp1, beta_tp1, discount, terminated, truncated, axis
        As for `beta_returns`.
    value_t : tensor of shape (steps, ...)
        v(x_t), the value of the state that the step starts from. Where it is NaN, so is the result.

    Returns
    -------
    tensor of shape (steps, ...)

    Examples
    --------
    >>> reward, value_tp1 = torch.tensor([0.0, 1.0]), torch.tensor([4.0, 5.0])
    >>> beta_advantages(reward, torch.tensor([1.0, 4.0]), value_tp1, 0.5, discount=0.5)
    tensor([ 0.8750, -0.5000])

    """
    given = (reward, value_t, value_tp1, beta_tp1, discount, terminated, truncated)
    return _computed(given, axis)


def _computed(given: Sequence[Any], axis: int) -> Tensor:
    """G_t − v(x_t), from user arguments in `ORDER`."""
    if _is_plain(given):
        return compiled_returns(given, time_axis(axis, given[0].shape))
    pairs = zip(ORDER, given, strict=True)
    ready = {name: (_flags if name in FLAGS else _floats)(name, one) for name, one in pairs}
    tensors = {name: one for name, one in ready.items() if isinstance(one, Tensor)}
    shape = common_shape(
        {name: tuple(one.shape) for name, one in tensors.items()} or {"reward": ()}
    )
    at, device, kind = time_axis(axis, shape), _device(tensors), _kind(tensors)
    for name, one in tensors.items():
        alike = one.to(device, torch.bool if name in FLAGS else kind)
        ready[name] = alike if alike.shape == shape else alike.expand(shape)
    if tensors.keys() <= FLAGS:
        ready["reward"] = torch.tensor(ready["reward"], dtype=kind, device=device).expand(shape)
    ordered, traced = list(ready.values()), is_traced()
    are_plain = all(type(one) in PLAIN for one in tensors.values())
    if kind in KINDS and device.type == "cpu" and are_plain and not traced:
        return compiled_returns(ordered, at)
    wide = as_tensors(ordered, shape, kind, device)
    out = by_operations(wide, at)
    if not (traced or out.is_meta or _is_fine(wide, out)):
        refuse_wrong({name: _numbers(one) for name, one in ready.items()}, at)
    return out


def _is_plain(given: Sequence[Any]) -> bool:
    """Whether the kernels can use all arguments unchanged, the fast path for usual input."""
    reward = given[0]
    if type(reward) is not Tensor or reward.dtype not in KINDS or reward.is_nested or is_traced():
        return False
    kind, shape = reward.dtype, reward.shape
    for one in given[:5]:
        if type(one) is not float and not _is_alike(one, kind, shape):
            return False
    for one in given[5:]:
        if type(one) is not bool and not _is_alike(one, torch.bool, shape):
            return False
    return len(shape) > 0


def _is_alike(one: Any, kind: torch.dtype, shape: torch.Size) -> bool:
    return (
        type(one) in PLAIN
        and one.dtype is kind
        and one.shape == shape
        and one.is_cpu
        and one.layout is torch.strided
    )


def _floats(name: str, given: Any) -> Tensor | float:
    if isinstance(given, Tensor):
        if given.dtype in FLOATS and _is_dense(given):
            return given
        kind = "nested" if given.is_nested else f"{given.dtype}, {given.layout}"
        raise InputError(
            f"{name} is a tensor of {kind}: give floating-point numbers of 16 bits or more in a "
            f"dense tensor, such as {name}.float()."
        )
    is_whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if isinstance(given, float | np.floating) or (is_whole and abs(given) < LARGEST):
        return float(given)
    raise InputError(f"{name} is {short(given)}: give a tensor, or one number.")


def _flags(name: str, given: Any) -> Tensor | bool:
    if not isinstance(given, Tensor):
        return as_flag(name, given)
    if given.dtype == torch.bool and _is_dense(given):
        return given
    raise InputError(f"{name} is a tensor of {given.dtype}: give booleans, such as {name}.bool().")


def _is_dense(given: Tensor) -> bool:
    return given.layout is torch.strided and not given.is_nested


def _device(tensors: Mapping[str, Tensor]) -> torch.device:
    """The device of all tensors; single numbers may be elsewhere."""
    found = {one.device: name for name, one in tensors.items() if one.ndim}
    if len(found) > 1:
        (one, first), (other, second) = list(found.items())[:2]
        raise InputError(
            f"{first} is on {one} but {second} is on {other}: move them to one device."
        )
    return next(iter(found))


def _kind(tensors: Mapping[str, Tensor]) -> torch.dtype:
    """The dtype of the result: the widest of all tensors; single numbers adapt to it."""
    kinds = [one.dtype for one in tensors.values() if one.ndim and one.dtype != torch.bool]
    return reduce(torch.promote_types, kinds or [torch.get_default_dtype()])


def _is_fine(wide: list[Tensor], out: Tensor) -> bool:
    """Whether all is finite and in range, with one synchronisation of the device."""
    fine = out.isfinite().all()
    for tensor in wide[3:5]:
        fine = fine & ((tensor >= 0) & (tensor <= 1)).all()
    return bool(fine)


def _numbers(one: Tensor | float) -> Array:
    if not isinstance(one, Tensor):
        return np.array(one)
    wide = one if one.dtype == torch.bool else one.double()
    return wide.detach().cpu().numpy()
