"""A module and its optimiser, which learn one transition at a time.

In the held view, on arriving in x with the value v before what is pending is applied,

    P ← P + γ v e,   w ← w + α β P,   P ← (1 − β) P + (decay − γ (1 − β)) v e

and then the step on r − v' with the value v' after it. The last term is 0 if ρ = 1. If β and gain
are 0, x has no part in it. This is the held view of `preftd._src.learners.network.reference`.
"""

from __future__ import annotations

import math
from typing import Any, final

import numpy as np
import torch
from torch import Tensor

from preftd._src.learners.network.reference import Transition
from preftd._src.learners.transition import DivergedError, check_features_finite, not_finite
from preftd._src.torch.held_sgd import HeldSGD
from preftd._src.torch.inputs import as_tensor
from preftd._src.torch.parts import Parts
from preftd._src.torch.trace_sgd import TraceSGD
from preftd._src.torch.values import values_of


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
        if now.end is not None or now.discount == 0:
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
        ends = now.end is not None or now.discount == 0
        share = 1.0 if now.discount == 0 or now.end is None else now.end
        used = now.x if now.has_weight else np.zeros(0)
        looks = now.discount != 0 and ends and share != 0
        check_features_finite(used, now.x_next if looks else used, True)
        if now.has_weight:
            self._arrive(optimiser, now)
            v, slopes = self._slope(now.x, now.gain)
            _check(v)
            optimiser.step(now.reward - v, now.decay, now.gain, slopes)
        else:
            v = self.value(now.x)
            optimiser.step(now.reward, now.decay, 0.0)
        ahead = now.discount * self.value(now.x_next) if now.discount != 0 else 0.0
        if ends:
            if looks:
                _check(ahead)
            self._end(optimiser, share, ahead)
        else:
            self.known = math.isfinite(ahead)
            self.ahead = ahead if self.known else 0.0
        return now.reward + ahead - v

    def _arrive(self, optimiser: HeldSGD, now: Transition) -> None:
        """Apply what completes in x."""
        if now.discount_t == 0:
            return
        v = self.value(now.x)
        _check(v)
        optimiser.amend(now.discount_t * v)
        optimiser.release(now.beta)
        rest = now.decay - now.discount_t * (1 - now.beta)
        if rest != 0:
            optimiser.amend(rest * v)

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


def _check(value: float) -> None:
    if not math.isfinite(value):
        raise DivergedError("the prediction is not finite: lower the step size.")
