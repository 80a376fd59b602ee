"""What a learner around a module computes with, by name: to be copied, put back and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, final

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from preftd._src.arrays import InputError
from preftd._src.learners.transition import DivergedError
from preftd._src.torch.held_sgd import HeldSGD
from preftd._src.torch.inputs import as_tensor
from preftd._src.torch.trace_sgd import TraceSGD


@final
class Parts:
    """Weights, buffers, traces and what is pending."""

    def __init__(self, module: nn.Module, optimiser: TraceSGD | HeldSGD) -> None:
        self.module, self.optimiser = module, optimiser
        self.weights: list[Tensor] = optimiser._all()
        names = {id(p): name for name, p in module.named_parameters()}
        self._names = [names.get(id(p), "") for p in self.weights]
        if not all(self._names):
            raise InputError(
                "the optimiser has parameters that are not the module's: make it with "
                "module.parameters()."
            )

    def tensors(self) -> dict[str, Tensor]:
        """All of them as they are."""
        found: dict[str, Tensor] = {}
        for name, tensor in (*self.module.named_parameters(), *self.module.named_buffers()):
            found[f"module.{name}"] = tensor
        for name, p in zip(self._names, self.weights, strict=True):
            for kind in self.optimiser._kinds:
                found[f"{kind}.{name}"] = self.optimiser._kept(p, kind)
        return found

    def copies(self) -> dict[str, Tensor]:
        """All of them, copied."""
        return {name: tensor.detach().clone() for name, tensor in self.tensors().items()}

    @torch.no_grad()
    def put(self, copies: Mapping[str, Tensor]) -> None:
        """Write back what `copies` gave."""
        for name, tensor in self.tensors().items():
            tensor.copy_(copies[name])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of them as arrays, for a state."""
        return {name: copy.cpu().numpy() for name, copy in self.copies().items()}

    def put_arrays(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write back what `arrays` gave."""
        self.put({name: as_tensor(arrays[name], kept) for name, kept in self.tensors().items()})

    def check_finite(self) -> None:
        """Refuse numbers that are not finite."""
        floats = [t.detach() for t in self.tensors().values() if t.is_floating_point()]
        if not all(bool(t.isfinite().all()) for t in floats):
            raise DivergedError("weights are not finite: lower the step size.")

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Put everything back if something is raised, or is not finite afterwards."""
        before = self.copies()
        try:
            yield
            self.check_finite()
        except BaseException:
            self.put(before)
            raise
