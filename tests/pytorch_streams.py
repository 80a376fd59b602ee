"""Streams of random episodes as tensors, for tests of `preftd.torch`."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor


class Streams(NamedTuple):
    """Streams whose episodes terminate, are cut short, or both; tensors of one shape."""

    reward: Tensor
    value_t: Tensor
    value_tp1: Tensor
    beta_tp1: Tensor
    discount: Tensor
    terminated: Tensor
    truncated: Tensor

    def floats(self) -> tuple[Tensor, ...]:
        """All but the flags, as leaves that require gradients."""
        return tuple(one.detach().clone().requires_grad_() for one in self[:5])

    def with_floats(self, floats: Iterable[Tensor]) -> "Streams":
        """Other tensors, with the same flags."""
        return self._replace(**dict(zip(self._fields[:5], floats, strict=True)))


def streams(shape: tuple[int, ...], kind: Any = torch.float64, seed: int = 0) -> Streams:
    """Draw streams of a shape."""
    draw = np.random.default_rng(seed)
    floats = [*draw.normal(size=(3, *shape)), *draw.random((2, *shape))]
    ends: Any = draw.random((2, *shape)) < 0.2
    return Streams(
        *(torch.from_numpy(one).to(kind) for one in floats),
        *(torch.from_numpy(one.copy()) for one in ends),
    )
