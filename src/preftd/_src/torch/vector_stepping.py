"""One step of a batch of streams with shared weights; the formulas are those of `stepping`.

A stream that has no step now keeps its trace, and adds nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from preftd._src.arrays import Vector
from preftd._src.learners.steps import Steps
from preftd._src.learners.transition import DivergedError, check_features_finite
from preftd._src.torch.held_sgd import HeldSGD
from preftd._src.torch.inputs import as_tensor
from preftd._src.torch.parts import Parts
from preftd._src.torch.trace_sgd import TraceSGD
from preftd._src.torch.values import stream_values, values_of


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
        optimiser.amend(now.discount_t * v)
        optimiser.release(_seen(now.beta, arrives))
        optimiser.amend((now.decay - now.discount_t * (1 - now.beta)) * v)
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


def _finite(numbers: Vector) -> Vector:
    if not np.isfinite(numbers).all():
        raise DivergedError("the prediction is not finite: lower the step size.")
    return numbers
