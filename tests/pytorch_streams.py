"""Streams of random episodes as tensors, for tests of `preftd.torch`."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from preftd.torch import beta_advantages
from returns_reference import returns_by_recursion

LAYOUTS = [((9,), 0), ((9, 5), 0), ((5, 9), 1), ((3, 9, 4), 1), ((6, 9, 1), -2), ((4, 1), 1)]
"""Shapes, and the axis of time in each."""


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


def advantages(given: Streams, axis: int = 0) -> Tensor:
    return beta_advantages(**given._asdict(), axis=axis)


def of_floats(given: Streams, axis: int = 0) -> Callable[..., Tensor]:
    """The advantages as a function of all that has gradients."""
    return lambda *floats: advantages(given.with_floats(floats), axis)


def by_recursion(given: Streams, axis: int = 0) -> Any:
    order = ("reward", "value_tp1", "beta_tp1", "discount", "terminated", "truncated")
    arrays = [np.moveaxis(getattr(given, name).numpy(), axis, 0) for name in order]
    return np.moveaxis(returns_by_recursion(*arrays), 0, axis) - given.value_t.numpy()


def gradients_of(given: Streams, axis: int, names: Any) -> tuple[Tensor, ...]:
    """Of the sum of cubes: the gradient from above is not the same everywhere."""
    leaves = {name: getattr(given, name).clone().requires_grad_() for name in names}
    out = advantages(given._replace(**leaves), axis)
    return torch.autograd.grad(out.pow(3).sum(), list(leaves.values()))
