"""The held view of every rule, for any module: weights move when a target completes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, final

from torch import Tensor

from preftd._src.arrays import InputError, as_flag
from preftd._src.torch.optimiser import Part, TraceOptimiser, eager
from preftd._src.torch.scaling import Factor, add, move, scale


@final
class HeldSGD(TraceOptimiser):
    """Updates that are held back until a state is reached that is trusted.

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
        """Apply a share of what is held back, on arriving in a state.

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
        """What is left of P."""
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
