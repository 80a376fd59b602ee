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

from preftd.arrays import InputError, as_flag, short
from preftd.learners.returns import ORDER, common_shape, refuse_wrong, time_axis
from preftd.learners.returns_layout import Array
from preftd.torch.returns_autograd import compiled_returns
from preftd.torch.returns_operations import as_tensors, by_operations, is_traced

COMPILED = (torch.float32, torch.float64)
LARGEST = 2**63
"""Whole numbers are smaller, as those of tensors are."""


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
        observation of the episode, not of the first one of the next.
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
    given = {"reward": reward, "value_tp1": value_tp1, "beta_tp1": beta_tp1, "discount": discount}
    return _computed(given, {"terminated": terminated, "truncated": truncated}, axis)


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
        v(x_t), the value of the state that the step starts from.

    Returns
    -------
    tensor of shape (steps, ...)

    Examples
    --------
    >>> reward, value_tp1 = torch.tensor([0.0, 1.0]), torch.tensor([4.0, 5.0])
    >>> beta_advantages(reward, torch.tensor([1.0, 4.0]), value_tp1, 0.5, discount=0.5)
    tensor([ 0.8750, -0.5000])

    """
    given = {
        "reward": reward,
        "value_t": value_t,
        "value_tp1": value_tp1,
        "beta_tp1": beta_tp1,
        "discount": discount,
    }
    return _computed(given, {"terminated": terminated, "truncated": truncated}, axis)


def _computed(given: Mapping[str, Any], flags: Mapping[str, Any], axis: int) -> Tensor:
    plain = [given.get(name, 0.0) for name in ORDER[:5]] + list(flags.values())
    if _is_plain(plain):
        return compiled_returns(plain, time_axis(axis, plain[0].shape))
    ready = {name: _floats(name, one) for name, one in given.items()}
    ready |= {name: _flags(name, one) for name, one in flags.items()}
    tensors = {name: one for name, one in ready.items() if isinstance(one, Tensor)}
    shapes = {name: tuple(one.shape) for name, one in tensors.items()}
    shape = common_shape(shapes or {"reward": ()})
    at, device, kind = time_axis(axis, shape), _device(tensors), _kind(tensors)
    for name, one in tensors.items():
        alike = one.to(device, kind if name in given else torch.bool)
        ready[name] = alike if alike.shape == shape else alike.expand(shape)
    if not tensors.keys() & given.keys():
        ready["reward"] = torch.tensor(ready["reward"], dtype=kind, device=device).expand(shape)
    ready.setdefault("value_t", 0.0)
    ordered = [ready[name] for name in ORDER]
    traced = is_traced()
    if kind in COMPILED and device.type == "cpu" and not traced:
        return compiled_returns(ordered, at)
    wide = as_tensors(ordered, shape, kind, device)
    out = by_operations(wide, at)
    if not traced and not _is_fine(wide, out):
        refuse_wrong({name: _numbers(ready[name]) for name in given})
    return out


def _is_plain(given: Sequence[Any]) -> bool:
    """Whether the kernels can take all as it is, as is usual: what follows would take longer."""
    reward = given[0]
    if type(reward) is not Tensor or reward.dtype not in COMPILED or is_traced():
        return False
    shape, kinds = reward.shape, [reward.dtype] * 5 + [torch.bool] * 2
    return bool(shape) and all(
        type(one) is (float if kind.is_floating_point else bool)
        or (
            isinstance(one, Tensor)
            and one.dtype is kind
            and one.shape == shape
            and one.is_cpu
            and one.layout is torch.strided
        )
        for one, kind in zip(given, kinds, strict=True)
    )


def _floats(name: str, given: Any) -> Tensor | float:
    if isinstance(given, Tensor) and given.is_floating_point() and given.layout is torch.strided:
        return given
    if isinstance(given, Tensor):
        raise InputError(
            f"{name} is a tensor of {given.dtype}, {given.layout}: give floating-point numbers in "
            f"a dense tensor, such as {name}.float()."
        )
    is_whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if isinstance(given, float | np.floating) or (is_whole and abs(given) < LARGEST):
        return float(given)
    raise InputError(f"{name} is {short(given)}: give a tensor, or one number.")


def _flags(name: str, given: Any) -> Tensor | bool:
    if not isinstance(given, Tensor):
        return as_flag(name, given)
    if given.dtype == torch.bool and given.layout is torch.strided:
        return given
    raise InputError(f"{name} is a tensor of {given.dtype}: give booleans, such as {name}.bool().")


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
    """Whether all is finite and in range: one look at the device."""
    fine = out.isfinite().all()
    for tensor in wide[3:5]:
        fine = fine & ((tensor >= 0) & (tensor <= 1)).all()
    return bool(fine)


def _numbers(one: Tensor | float) -> Array:
    return one.detach().double().cpu().numpy() if isinstance(one, Tensor) else np.array(one)
