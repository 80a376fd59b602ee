"""A module and its optimiser, which learn one transition at a time, or one of each stream.

In the held view, on arriving in x with the value v before pending updates are applied,

    P ← P + γ v e,   w ← w + α β P,   P ← (1 − β) P + (decay − γ (1 − β)) v e

and then the step on r − v' with the value v' after it. The last term is 0 if ρ = 1. If β and gain
are 0, x is ignored. This is the held view of `preftd._src.learners.network.held`.

A batch of streams shares its weights, and its gradients are taken for all at once. A stream that
has no step now keeps its trace, and adds nothing. Steps are written once, for numbers of one stream
and for arrays of many.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np
import torch
from numpy.typing import NDArray

from preftd._src.learners.steps import Steps
from preftd._src.learners.transition import DivergedError, Transition, check_features_finite
from preftd._src.torch.modules import Parts, as_tensor, stream_values, values_of
from preftd._src.torch.optimiser import scale
from preftd._src.torch.sgd import HeldSGD, TraceSGD

Numbers: TypeAlias = Any
"""A float; with many streams, an array of shape (streams,)."""
Where: TypeAlias = Any
"""A bool; with many streams, an array of shape (streams,)."""
_DIVERGED = "the prediction is not finite: lower the step size."


class Moment(NamedTuple):
    """A transition, or one of each stream; arrays have an entry or a row for each."""

    x: NDArray[Any]
    reward: Numbers
    x_next: NDArray[Any]
    discount: Numbers
    beta: Numbers
    decay: Numbers
    gain: Numbers
    discount_t: Numbers
    last: Where
    """Where an episode ends with this step."""
    end: Numbers
    """β of the final observation of an episode; 1 if it terminates."""
    active: Where = True
    """Where a stream has a step now."""

    @classmethod
    def of(cls, now: Transition) -> Moment:
        """The transition of the only stream."""
        share = now.end_share
        last, end = share is not None, 1.0 if share is None else share
        return cls(*now[:8], last=last, end=end)

    @classmethod
    def at(cls, streams: Sequence[Steps], t: int, shape: tuple[int, ...]) -> Moment:
        """Step t of each stream; a shorter one has no step then."""
        active = np.array([t < s.code_t.size for s in streams])

        def column(name: str) -> NDArray[Any]:
            return np.array([getattr(s, name)[t] if t < s.code_t.size else 0.0 for s in streams])

        def rows(name: str) -> NDArray[Any]:
            found = np.zeros((len(streams), *shape))
            for i in np.flatnonzero(active).tolist():
                found[i] = getattr(streams[i], name)(slice(t, t + 1))[0].reshape(shape)
            return found

        return cls(
            rows("features"), column("reward"), rows("next_features"), column("discount_tp1"),
            column("beta"), column("decay"), column("gain"), column("discount_t"),
            (column("is_last") != 0) & active, column("final_beta"), active,
        )  # fmt: skip


@final
class Stepper:
    """Learns transitions; its state is in its parts, and in `ahead`."""

    def __init__(self, parts: Parts) -> None:
        self._parts, self._optimiser = parts, parts.optimiser
        self._is_one = parts.optimiser.streams is None
        self.ahead: Numbers = np.nan
        """γ v(x') as the last step saw it, in the held view; NaN if an episode begins."""

    def step(self, now: Moment) -> Numbers:
        """Learn from a transition; returns δ, 0 where a stream is not active."""
        optimiser = self._optimiser
        step: Any = self._hold if isinstance(optimiser, HeldSGD) else self._follow
        delta = step(optimiser, now)
        if np.any(now.last):
            self._empty(now.last)
        return delta

    def leave(self) -> None:
        """Leave an episode that was not finished, as if it were truncated."""
        if isinstance(self._optimiser, HeldSGD):
            known = bool(np.isfinite(self.ahead))
            self._end(self._optimiser, self.ahead if known else 0.0, float(known), True)
        self._empty(True)

    def _empty(self, last: Where) -> None:
        """Empty traces: another stream may begin in the midst of an episode."""
        traces = [self._optimiser._kept(p, "trace") for p in self._parts.weights]
        scale(traces, self._optimiser._factor("last", 1.0 - last))

    def _end(self, optimiser: HeldSGD, ahead: Numbers, share: Numbers, last: Where) -> None:
        """Apply a share of the pending updates, and drop the rest."""
        if np.any(ahead):
            optimiser.amend(ahead)
        optimiser.release(share, last)
        self.ahead = np.nan

    def _follow(self, optimiser: TraceSGD, now: Moment) -> Numbers:
        """The backward view."""
        looks = now.active & (now.discount != 0)
        v, slopes = self._slopes(now, now.active)
        ahead = now.discount * self._values(now.x_next, looks)
        delta = _seen(now.reward + ahead - v, now.active)
        if not np.isfinite(delta).all():
            check_features_finite(now.x[now.active], now.x_next[looks])
            raise DivergedError(_DIVERGED)
        gain = _seen(now.gain, now.active)
        optimiser.step(delta, _seen(now.decay, now.active, 1.0), gain, slopes)
        return delta

    def _hold(self, optimiser: HeldSGD, now: Moment) -> Numbers:
        """The held view."""
        used = now.active & ((now.beta != 0) | (now.gain != 0))
        looks = now.last & (now.end * now.discount != 0)
        check_features_finite(now.x[used], now.x_next[looks], True)
        arrives = used & (now.discount_t != 0)
        if np.any(arrives):
            v = _finite(self._values(now.x, arrives))
            optimiser.amend(now.discount_t * v)
            optimiser.release(_seen(now.beta, arrives))
            rest = now.decay - now.discount_t * (1 - now.beta)
            if np.any(rest):
                optimiser.amend(rest * v)
        v, slopes = self._slopes(now, used)
        target = _finite(_seen(now.reward - v, now.active))
        gain = _seen(now.gain, used)
        optimiser.step(target, _seen(now.decay, now.active, 1.0), gain, slopes)
        if used is not True:  # v is that of all streams
            v = self._values(now.x, now.active)
        ahead = now.discount * self._values(now.x_next, now.discount != 0)
        self.ahead = ahead
        if np.any(now.last):
            end = _seen(now.end, now.last)
            self._end(optimiser, _finite(_seen(ahead, looks)), end, now.last)
        return _seen(now.reward + ahead - v, now.active)

    def _values(self, x: NDArray[Any], where: Where) -> Numbers:
        """Values of inputs that have a part, 0 elsewhere."""
        if self._is_one:
            return self._parts.value(x) if where else 0.0
        return _seen(self._parts.values(_seen(x, where)), where)

    def _slopes(self, now: Moment, where: Where) -> tuple[Numbers, Any]:
        """The same values, and gradients in the order of the optimiser, if one has a part."""
        module, weights = self._parts.module, self._parts.weights
        if not self._is_one:
            values, slopes = stream_values(module, as_tensor(_seen(now.x, where), weights[0]))
            named = {id(p): s for p, s in zip(module.parameters(), slopes, strict=True)}
            found = values.detach().cpu().double().numpy()
            return _seen(found, where), [named[id(p)] for p in weights]
        if now.gain == 0:
            return self._values(now.x, where), None
        v = values_of(module, as_tensor(now.x, weights[0])[None])[0]
        learned = [p for p in weights if p.requires_grad]
        gradients = iter(torch.autograd.grad(v, learned, allow_unused=True))
        return float(v.detach()), [next(gradients) if p.requires_grad else None for p in weights]


def _seen(rows: Any, where: Where, other: float = 0.0) -> Any:
    """Rows where they are read, else 0 or another number."""
    if isinstance(where, bool):
        return rows if where else other
    return np.where(where.reshape(-1, *(1 for _ in rows.shape[1:])), rows, other)


def _finite(numbers: Numbers) -> Numbers:
    if not np.isfinite(numbers).all():
        raise DivergedError(_DIVERGED)
    return numbers
