"""The backward view of every rule, for any module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

from torch import Tensor

from preftd._src.arrays import InputError, number
from preftd._src.torch.optimiser import Part, TraceOptimiser
from preftd._src.torch.scaling import Factor, fitting, move, sizes


@final
class TraceSGD(TraceOptimiser):
    """Traces of gradients, and a step along them: the backward view of every rule.

    ::

        e ← decay e + gain ∇v(x)          w ← w + lr δ e

    It takes the gradient of the *value*, not of a loss: call ``v.backward()``. Parameters without
    a gradient have one of 0. There is nothing to reset: a rule gives a decay of 0 where an episode
    starts.

    Parameters
    ----------
    params : iterable
        What `torch.optim.Optimizer` takes; a group may have its own `lr`.
    lr : float
        The step size α.
    bounded : bool
        Whether gains are at most ``1 / (lr |∇v|²)``, as those of the learners in this library.
    kappa : float, optional
        Scales a whole step down by ``lr κ max(|δ|, 1) |e|₁`` if that is above 1, as ObGD does;
        κ is 2 or 3 there.
    streams : int, optional
        How many streams share the parameters, each with its own trace. Numbers of a step are then
        tensors of shape (streams,), and what streams add to the weights is summed.

    Examples
    --------
    >>> import torch
    >>> module = torch.nn.Linear(2, 1, bias=False)
    >>> _ = torch.nn.init.zeros_(module.weight)
    >>> optimiser = TraceSGD(module.parameters(), lr=0.5)
    >>> for x, td_error, decay in (([1.0, 0.0], 2.0, 0.0), ([0.0, 1.0], 1.0, 0.5)):
    ...     optimiser.zero_grad()
    ...     module(torch.tensor(x)).backward()
    ...     optimiser.step(td_error, decay, gain=1.0)
    >>> module.weight.tolist()
    [[1.25, 0.5]]

    """

    _options = ("bounded", "streams", "kappa")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        *,
        bounded: bool = False,
        kappa: float | None = None,
        streams: int | None = None,
    ) -> None:
        self.kappa = None if kappa is None else number("kappa", kappa)
        if self.kappa is not None and not self.kappa > 0:
            raise InputError(f"kappa is {self.kappa:g}: give a number above 0, such as 2.")
        super().__init__(params, lr, bounded, streams)

    def _check_error(self, delta: Factor) -> None:
        largest = abs(delta) if isinstance(delta, float) else float(delta.abs().max())
        for group in self.param_groups:
            fitting(group["lr"] * largest, group["params"][0])

    def _use(self, delta: Factor, parts: Sequence[Part]) -> None:
        """Move weights along their traces."""
        share = self._share(delta, parts)
        for part in parts:
            move(part.weights, part.traces, part.lr * share, delta)

    def _share(self, delta: Factor, parts: Sequence[Part]) -> float:
        """How much of a step is taken."""
        if self.kappa is None:
            return 1.0
        along: Any = sum(part.lr * sizes(part.traces, self.streams) for part in parts)
        if isinstance(delta, Tensor):
            reach = float(self.kappa * (delta.abs().clamp(min=1) * along).sum())
        else:
            reach = self.kappa * max(abs(delta), 1.0) * along
        return 1 / reach if reach > 1 else 1.0
