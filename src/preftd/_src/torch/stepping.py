"""A module and its optimiser, which learn one transition at a time, or one of each stream.

In the held view, on arriving in x with the value v before what is pending is applied,

    P ← P + γ v e,   w ← w + α β P,   P ← (1 − β) P + (decay − γ (1 − β)) v e

and then the step on r − v' with the value v' after it. The last term is 0 if ρ = 1. If β and gain
are 0, x has no part in it. This is the held view of `preftd._src.learners.network.held`.

A batch of streams shares its weights, and its gradients are taken for all at once. A stream that
has no step now keeps its trace, and adds nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from preftd._src.arrays import Vector
from preftd._src.learners.steps import Steps
from preftd._src.learners.transition import (
    DivergedError,
    Transition,
    check_features_finite,
    not_finite,
)
from preftd._src.torch.modules import Parts, as_tensor, stream_values, values_of
from preftd._src.torch.sgd import HeldSGD, TraceSGD

Number = TypeVar("Number", float, Vector)


@final
class Stepper:
    """Learns transitions; what changes is in its parts, and in `ahead` and `known`."""

    def __init__(self, parts: Parts) -> None:
        self.module, self.optimiser, self._weights = parts.module, parts.optimiser, parts.weights
        self.ahead, self.known = 0.0, False
        """γ v(x') as the last step saw it, in the held view; whether it was a number."""

    def value(self, x: Any) -> float:
        """The value of one input."""
        with torch.no_grad():
            return float(values_of(self.module, self._row(x))[0])

    def step(self, now: Transition) -> float:
        """Learn from a transition; returns δ."""
        optimiser = self.optimiser
        delta = (
            self._hold(optimiser, now)
            if isinstance(optimiser, HeldSGD)
            else self._follow(optimiser, now)
        )
        if now.end_share is not None:
            self._empty()
        return delta

    def leave(self) -> None:
        """Leave an episode that was not finished, as if it were truncated."""
        if isinstance(self.optimiser, HeldSGD):
            self._end(self.optimiser, float(self.known), self.ahead)
        self._empty()

    def _empty(self) -> None:
        """Empty traces: another stream may begin in the midst of an episode."""
        for p in self._weights:
            self.optimiser._kept(p, "trace").zero_()

    def _end(self, optimiser: HeldSGD, share: float, ahead: float) -> None:
        """Apply a share of what is pending, and drop the rest."""
        if share != 0 and ahead != 0:
            optimiser.amend(ahead)
        optimiser.release(share, last=True)
        self.ahead, self.known = 0.0, False

    def _follow(self, optimiser: TraceSGD, now: Transition) -> float:
        """The backward view."""
        v, slopes = self._slope(now.x, now.gain)
        ahead = now.discount * self.value(now.x_next) if now.discount != 0 else 0.0
        delta = now.reward + ahead - v
        if not math.isfinite(delta):
            raise not_finite(now.x, now.x_next, now.reward)
        optimiser.step(delta, now.decay, now.gain, slopes)
        return delta

    def _hold(self, optimiser: HeldSGD, now: Transition) -> float:
        """The held view."""
        share, used = now.end_share, now.x if now.has_weight else np.zeros(0)
        looks = now.discount != 0 and bool(share)
        check_features_finite(used, now.x_next if looks else used, True)
        if now.has_weight:
            if now.discount_t != 0:
                _arrive(optimiser, now, _finite(self.value(now.x)), now.beta)
            v, slopes = self._slope(now.x, now.gain)
            optimiser.step(now.reward - _finite(v), now.decay, now.gain, slopes)
        else:
            v = self.value(now.x)
            optimiser.step(now.reward, now.decay, 0.0)
        ahead = now.discount * self.value(now.x_next) if now.discount != 0 else 0.0
        if share is not None:
            self._end(optimiser, share, _finite(ahead) if looks else ahead)
        else:
            self.known = math.isfinite(ahead)
            self.ahead = ahead if self.known else 0.0
        return now.reward + ahead - v

    def _slope(self, x: Any, gain: float) -> tuple[float, Any]:
        """The value of an input, and its gradient if it has a part."""
        if gain == 0:
            return self.value(x), None
        v = values_of(self.module, self._row(x))[0]
        learned = [p for p in self._weights if p.requires_grad]
        slopes = iter(torch.autograd.grad(v, learned, allow_unused=True))
        return float(v.detach()), [next(slopes) if p.requires_grad else None for p in self._weights]

    def _row(self, x: Any) -> Tensor:
        return as_tensor(x, self._weights[0])[None]


class VectorTransition(NamedTuple):
    """One step of all streams; arrays have an entry or a row for each."""

    x: NDArray[Any]
    reward: Vector
    x_next: NDArray[Any]
    discount: Vector
    beta: Vector
    decay: Vector
    gain: Vector
    discount_t: Vector
    last: NDArray[np.bool_]
    """Where an episode ends with this step."""
    end: Vector
    """β of what an episode shows last; 1 if it terminates."""
    active: NDArray[np.bool_]
    """Where a stream has a step now."""

    @classmethod
    def at(cls, streams: Sequence[Steps], t: int, shape: tuple[int, ...]) -> VectorTransition:
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
            x=rows("features"),
            reward=column("reward"),
            x_next=rows("next_features"),
            discount=column("discount_tp1"),
            beta=column("beta"),
            decay=column("decay"),
            gain=column("gain"),
            discount_t=column("discount_t"),
            last=(column("is_last") != 0) & active,
            end=column("final_beta"),
            active=active,
        )


def values_in(parts: Parts, x: NDArray[Any]) -> Vector:
    """The values of inputs in rows, shape (n,)."""
    with torch.no_grad():
        found = values_of(parts.module, as_tensor(x, parts.weights[0]))
    return found.cpu().double().numpy()


def vector_step(parts: Parts, now: VectorTransition) -> Vector:
    """Learn from a transition of each stream; returns δ, 0 where a stream is not active."""
    optimiser = parts.optimiser
    delta = (
        _hold(parts, optimiser, now)
        if isinstance(optimiser, HeldSGD)
        else _follow(parts, optimiser, now)
    )
    if now.last.any():  # another stream may begin in the midst of an episode
        for p in parts.weights:
            optimiser._kept(p, "trace")[torch.from_numpy(now.last)] = 0.0
    return delta


def _follow(parts: Parts, optimiser: TraceSGD, now: VectorTransition) -> Vector:
    """The backward view."""
    looks = now.active & (now.discount != 0)
    check_features_finite(now.x[now.active], now.x_next[looks])
    v, slopes = _slopes(parts, _seen(now.x, now.active))
    ahead = now.discount * _seen(values_in(parts, _seen(now.x_next, looks)), looks)
    delta = _finite(_seen(now.reward + ahead - v, now.active))
    decay, gain = np.where(now.active, now.decay, 1.0), _seen(now.gain, now.active)
    optimiser.step(delta, decay, gain, slopes)
    return delta


def _hold(parts: Parts, optimiser: HeldSGD, now: VectorTransition) -> Vector:
    """The held view."""
    used = now.active & ((now.beta != 0) | (now.gain != 0))
    looks = now.last & (now.end * now.discount != 0)
    check_features_finite(now.x[used], now.x_next[looks], True)
    x = _seen(now.x, used)
    arrives = used & (now.discount_t != 0)
    if arrives.any():
        v = _finite(_seen(values_in(parts, x), arrives))
        _arrive(optimiser, now, v, _seen(now.beta, arrives))
    v, slopes = _slopes(parts, x)
    target = _finite(_seen(now.reward - _seen(v, used), now.active))
    decay, gain = np.where(now.active, now.decay, 1.0), _seen(now.gain, used)
    optimiser.step(target, decay, gain, slopes)
    before, after = values_in(parts, now.x), values_in(parts, now.x_next)
    ahead = now.discount * _seen(after, now.discount != 0)
    if now.last.any():
        optimiser.amend(_finite(_seen(ahead, looks)))
        optimiser.release(_seen(now.end, now.last), now.last)
    return _seen(now.reward + ahead - before, now.active)


def _slopes(parts: Parts, x: NDArray[Any]) -> tuple[Vector, Any]:
    """Values, and gradients in the order of the optimiser."""
    values, slopes = stream_values(parts.module, as_tensor(x, parts.weights[0]))
    by_weight = {id(p): s for p, s in zip(parts.module.parameters(), slopes, strict=True)}
    return (
        values.detach().cpu().double().numpy(),
        [by_weight[id(p)] for p in parts.weights],
    )


def _seen(rows: NDArray[Any], where: NDArray[np.bool_]) -> NDArray[Any]:
    """Rows as they are where they have a part, else 0."""
    return np.where(where.reshape(-1, *(1 for _ in rows.shape[1:])), rows, 0.0)


def _arrive(
    optimiser: HeldSGD, now: Transition | VectorTransition, value: Number, share: Number
) -> None:
    """Apply what completes in x."""
    optimiser.amend(now.discount_t * value)
    optimiser.release(share)
    rest = now.decay - now.discount_t * (1 - now.beta)
    if np.any(rest):
        optimiser.amend(rest * value)


def _finite(numbers: Number) -> Number:
    if not np.isfinite(numbers).all():
        raise DivergedError("the prediction is not finite: lower the step size.")
    return numbers
