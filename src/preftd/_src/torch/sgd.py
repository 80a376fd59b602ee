"""The backward and the held view of every rule, as optimisers for any module."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

from torch import Tensor

from preftd._src.arrays import InputError, as_flag, number
from preftd._src.torch.optimiser import (
    Factor,
    Part,
    TraceOptimiser,
    add,
    eager,
    fitting,
    move,
    scale,
    sizes,
)


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
        Parameters or groups, as for `torch.optim.Optimizer`; a group may have its own `lr`.
    lr : float
        The step size α.
    bounded : bool
        Whether gains are at most ``1 / (lr |∇v|²)``, as in the learners of this library.
    kappa : float, optional
        Scales a whole step down by ``lr κ max(|δ|, 1) |e|₁`` if that is above 1, as ObGD does;
        κ is 2 or 3 there.
    streams : int, optional
        The number of streams that share the parameters, each with its own trace. Numbers of a step
        are then tensors of shape (streams,), and the updates of streams are summed.

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
        """The share of a step that is taken."""
        if self.kappa is None:
            return 1.0
        along: Any = sum(part.lr * sizes(part.traces, self.streams) for part in parts)
        if isinstance(delta, Tensor):
            reach = float(self.kappa * (delta.abs().clamp(min=1) * along).sum())
        else:
            reach = self.kappa * max(abs(delta), 1.0) * along
        return 1 / reach if reach > 1 else 1.0


@final
class HeldSGD(TraceOptimiser):
    """Updates that are held back until a trusted state is reached.

    ::

        step        e ← decay e + gain ∇v(x)          P ← P + δ e
        release     w ← w + lr β P                    P ← (1 − β) P

    Call `release` with the β of each state as it is reached, then compute its value and gradient,
    then call `step`; where an episode ends, call ``release(1.0, last=True)``. As for `TraceSGD`,
    the gradient is that of the value.

    Parameters
    ----------
    params, lr, bounded, streams
        As for `TraceSGD`.

    Examples
    --------
    >>> import torch
    >>> module = torch.nn.Linear(2, 1, bias=False)
    >>> _ = torch.nn.init.zeros_(module.weight)
    >>> optimiser = HeldSGD(module.parameters(), lr=0.5)
    >>> module(torch.tensor([1.0, 0.0])).backward()
    >>> optimiser.step(td_error=2.0, decay=0.0, gain=1.0)
    >>> optimiser.release(0.0)  # on arriving in a state that is not trusted
    >>> module.weight.tolist()
    [[0.0, 0.0]]
    >>> optimiser.step(td_error=1.0, decay=1.0, gain=0.0)
    >>> optimiser.release(1.0, last=True)  # the end
    >>> module.weight.tolist()
    [[1.5, 0.0]]

    """

    _kinds = ("trace", "pending")

    def __init__(
        self,
        params: Iterable[Any],
        lr: float,
        *,
        bounded: bool = False,
        streams: int | None = None,
    ) -> None:
        super().__init__(params, lr, bounded, streams)

    def _use(self, delta: Factor, parts: Sequence[Part]) -> None:
        """Hold the update back."""
        for part in parts:
            add(self._pending(part.weights), part.traces, delta)

    @eager
    def amend(self, change: Any) -> None:
        """Add to the TD error of the last step: P ← P + change · e.

        So ``γ v(x_{t+1})`` can wait until it is known whether x_{t+1} is trusted at all.

        Parameters
        ----------
        change : float, or array of shape (streams,)

        """
        factor = self._factor("change", change)
        for group in self.param_groups:
            weights = group["params"]
            add(self._pending(weights), [self._kept(p, "trace") for p in weights], factor)

    @eager
    def release(self, beta: Any, last: Any = False) -> None:
        """Apply a share of the pending updates, on arriving in a state.

        Parameters
        ----------
        beta : float, or array of shape (streams,)
            β of the state reached; 1 where the episode terminates.
        last : bool, or array of shape (streams,)
            Whether the episode ends here: the rest is then dropped.

        """
        share = self._factor("beta", beta)
        _check_share(share)
        keep = self._keep(share, last)
        for group in self.param_groups:
            pending = self._pending(group["params"])
            if isinstance(share, Tensor) or share != 0:
                move(group["params"], pending, group["lr"], share)
            if isinstance(keep, Tensor) or keep != 1:
                scale(pending, keep)

    def _keep(self, share: Factor, last: Any) -> Factor:
        """The rest of P."""
        if isinstance(share, Tensor):
            return (1 - share) * (1 - self._factor("last", last))
        return 0.0 if as_flag("last", last) else 1 - share

    def _pending(self, weights: list[Tensor]) -> list[Tensor]:
        return [self._kept(p, "pending") for p in weights]


def _check_share(share: Factor) -> None:
    least, most = (share, share) if isinstance(share, float) else (share.min(), share.max())
    if not 0 <= least <= most <= 1:
        wrong = float(least if least < 0 else most)
        raise InputError(f"beta is {wrong:.6g}: it must lie in [0, 1].")
