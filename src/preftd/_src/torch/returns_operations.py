"""β-returns by operations of torch: for any device and dtype, and for derivatives of gradients."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.autograd import forward_ad


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
    """Whether operations are recorded or transformed: tensors may hold no numbers then.

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
    """Whether it stands for many, as in `torch.autograd.grad(..., is_grads_batched=True)`."""
    functorch = torch._C._functorch
    return functorch.is_batchedtensor(tensor) or functorch.is_legacy_batchedtensor(tensor)


def as_tensors(
    given: Sequence[Tensor | float], shape: tuple[int, ...], kind: torch.dtype, device: torch.device
) -> list[Tensor]:
    """Single numbers become tensors of that shape; tensors stay as they are."""
    return [
        one
        if isinstance(one, Tensor)
        else torch.tensor(
            one, dtype=torch.bool if isinstance(one, bool) else kind, device=device
        ).expand(shape)
        for one in given
    ]
