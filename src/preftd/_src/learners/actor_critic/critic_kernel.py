"""The critic: values and one step of learning, compiled.

Features are vectors of numbers, or the indices of a few ones (tile coding). A trace over indices
lists those that it touches, so that a step costs as much as the episode has touched, however many
features there are. The views:

    backward     e ← decay e + gain x
                 w ← w + α δ e
    true online  e ← decay e + α gain (1 − decay e·x) x
                 w ← w + δ e + α gain (v − w·x) x
    held         w ← w + α β (p + γ v e)
                 p ← (1 − β) p + decay (v − v') e − gain v' x,  e ← decay e + gain x
                 p ← p + r e, and at the end all is applied: w ← w + α (p + γ' w·x' e)

with δ = r + γ' w·x' − v, where v is w·x, in the true online view with the weights of the step
before. In the held view, v and v' are w·x before and after the first update.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.buffers import Features, Whole
from preftd._src.learners.bounding import compiled_bounded_gain

BACKWARD, TRUE_ONLINE, HELD = range(3)


class Trace(NamedTuple):
    """What one stream of experience adds to the critic; weights are shared."""

    trace: Vector
    """Shape (size,)."""
    pending: Vector
    """Shape (size,): p of the held view."""
    old: Vector
    """Shape (1,): v of the true online view."""
    touched: Whole
    """Shape (size,): the indices that the trace touches, as far as `touches` says."""
    is_touched: NDArray[np.bool_]
    """Shape (size,)."""
    touches: Whole
    """Shape (1,)."""

    @classmethod
    def empty(cls, size: int) -> "Trace":
        """That of a stream which starts."""
        return cls(
            np.zeros(size),
            np.zeros(size),
            np.zeros(1),
            np.zeros(size, np.int64),
            np.zeros(size, np.bool_),
            np.zeros(1, np.int64),
        )


class Now(NamedTuple):
    """One step, with the coefficients of the rule."""

    t: int
    """Its row among the features; the next row is what it leads to."""
    reward: float
    discount_t: float
    """γ_t and γ_{t+1}."""
    discount: float
    beta: float
    decay: float
    gain: float
    ends: bool
    """Whether the episode ends with it."""


@kernel
def bounded_by(features: Features, t: int, alpha: float, gain: float) -> float:
    """The gain of a bounded step: min(gain, 1 / (α |x_t|²))."""
    square = 0.0
    if features.sparse:
        ones = features.active.shape[1]
        for k in range(ones):
            for j in range(ones):  # indices may repeat: they add up
                square += 1.0 if features.active[t, j] == features.active[t, k] else 0.0
    else:
        for i in range(features.dense.shape[1]):
            square += features.dense[t, i] * features.dense[t, i]
    return compiled_bounded_gain(gain, alpha * square)


@kernel
def clear(stream: Trace) -> None:
    """Forget the episode that a stream is in."""
    stream.trace[:] = 0.0
    stream.pending[:] = 0.0
    stream.is_touched[:] = False
    stream.touches[0] = 0


@kernel
def value_of(weights: Vector, features: Features, t: int) -> float:
    """v(x_t)."""
    value = 0.0
    if features.sparse:
        for k in range(features.active.shape[1]):
            value += weights[features.active[t, k]]
    else:
        for i in range(weights.size):
            value += weights[i] * features.dense[t, i]
    return value


@kernel
def _add(vector: Vector, factor: float, features: Features, t: int) -> None:
    """Let vector ← vector + factor · x_t."""
    if features.sparse:
        for k in range(features.active.shape[1]):
            vector[features.active[t, k]] += factor
    else:
        for i in range(vector.size):
            vector[i] += factor * features.dense[t, i]


@kernel
def _follow(vector: Vector, scale: float, factor: float, stream: Trace, sparse: bool) -> None:
    """Let vector ← scale · vector + factor · trace, where the trace is not 0."""
    if sparse:
        for k in range(stream.touches[0]):
            i = stream.touched[k]
            vector[i] = scale * vector[i] + factor * stream.trace[i]
    else:
        for i in range(vector.size):
            vector[i] = scale * vector[i] + factor * stream.trace[i]


@kernel
def _decay(stream: Trace, decay: float, features: Features, t: int) -> None:
    """Let trace ← decay · trace, and list the indices of x_t among those that are touched."""
    if not features.sparse:
        for i in range(stream.trace.size):
            stream.trace[i] *= decay
        return
    for k in range(stream.touches[0]):
        i = stream.touched[k]
        stream.trace[i] *= decay
        if decay == 0.0:
            stream.is_touched[i] = False
    if decay == 0.0:
        stream.touches[0] = 0
    for k in range(features.active.shape[1]):
        i = features.active[t, k]
        if not stream.is_touched[i]:
            stream.is_touched[i] = True
            stream.touched[stream.touches[0]] = i
            stream.touches[0] += 1


@kernel
def extent(weights: Vector, stream: Trace, features: Features, t: int) -> float:
    """No number that a step from x_t to x_{t+1} works on is larger."""
    total, sparse = abs(stream.old[0]), features.sparse
    for k in range(stream.touches[0] if sparse else stream.trace.size):
        i = stream.touched[k] if sparse else k
        total += abs(weights[i]) + abs(stream.trace[i]) + abs(stream.pending[i])
    for row in (t, t + 1):
        if sparse:
            for k in range(features.active.shape[1]):
                total += abs(weights[features.active[row, k]]) + 1.0
        else:
            for i in range(weights.size):
                total += abs(features.dense[row, i])
    return float(total)


@kernel(inline="always")
def step(
    weights: Vector, stream: Trace, features: Features, view: int, alpha: float, now: Now
) -> float:
    """Learn from a step; nothing is changed if δ, which is returned, is not finite."""
    # The paper's case is written out: to hand over that many arrays would take longer than it does.
    if view == BACKWARD and not features.sparse:
        x, trace, t = features.dense, stream.trace, now.t
        value, ahead = 0.0, 0.0
        for i in range(weights.size):
            value += weights[i] * x[t, i]
            ahead += weights[i] * x[t + 1, i]
        delta = now.reward + (now.discount * ahead if now.discount != 0.0 else 0.0) - value
        if math.isfinite(delta):
            for i in range(weights.size):
                trace[i] = now.decay * trace[i] + now.gain * x[t, i]
                weights[i] += alpha * delta * trace[i]
    else:
        delta = _step(weights, stream, features, view, alpha, now)
    return delta


@kernel
def _step(
    weights: Vector, stream: Trace, features: Features, view: int, alpha: float, now: Now
) -> float:
    """The same in any view, with features of both kinds."""
    if view == HELD:
        return _step_held(weights, stream, features, alpha, now)
    t = now.t
    value = value_of(weights, features, t)
    value_next = value_of(weights, features, t + 1) if now.discount != 0.0 else 0.0
    before = stream.old[0] if view == TRUE_ONLINE and now.discount_t != 0.0 else value
    delta = now.reward + now.discount * value_next - before
    if not (math.isfinite(delta) and math.isfinite(value)):
        return np.nan
    _decay(stream, now.decay, features, t)
    if view == BACKWARD:
        _add(stream.trace, now.gain, features, t)
        _follow(weights, 1.0, alpha * delta, stream, features.sparse)
    else:
        overlap = value_of(stream.trace, features, t)
        _add(stream.trace, now.gain * (1 - overlap) * alpha, features, t)
        _follow(weights, 1.0, delta, stream, features.sparse)
        _add(weights, now.gain * (before - value) * alpha, features, t)
        stream.old[0] = value_next
    return delta


@kernel
def _step_held(weights: Vector, stream: Trace, features: Features, alpha: float, now: Now) -> float:
    """The held view; δ is that of the weights once what was pending is applied."""
    sparse, needed = features.sparse, now.beta != 0.0 or now.gain != 0.0
    before = value_of(weights, features, now.t)
    # What is applied on arriving in x_t: w ← w + of_pending p + of_trace e.
    of_pending = alpha * now.beta if needed else 0.0
    of_trace = of_pending * now.discount_t * before if needed else 0.0
    value = _value_after(weights, stream, features, now.t, of_pending, of_trace)
    ahead = 0.0
    if now.discount != 0.0:
        seen = _value_after(weights, stream, features, now.t + 1, of_pending, of_trace)
        ahead = now.discount * seen
    delta = now.reward + ahead - value
    if not math.isfinite(delta):
        return np.nan
    if needed:
        _follow(weights, 1.0, of_trace, stream, sparse)
        _apply(weights, of_pending, stream, sparse)
        _follow(stream.pending, 1 - now.beta, now.decay * (before - value), stream, sparse)
        _decay(stream, now.decay, features, now.t)
        _add(stream.pending, -now.gain * value, features, now.t)
        _add(stream.trace, now.gain, features, now.t)
    else:
        for k in range(stream.touches[0] if sparse else stream.trace.size):
            stream.trace[stream.touched[k] if sparse else k] *= now.decay
    _follow(stream.pending, 1.0, now.reward, stream, sparse)
    if now.ends:
        _follow(weights, 1.0, alpha * ahead, stream, sparse)
        _apply(weights, alpha, stream, sparse)
        for k in range(stream.touches[0] if sparse else stream.trace.size):
            stream.pending[stream.touched[k] if sparse else k] = 0.0
    return delta


@kernel
def _value_after(
    weights: Vector, stream: Trace, features: Features, t: int, of_pending: float, of_trace: float
) -> float:
    """v(x_t) with the weights w + of_pending · p + of_trace · e."""
    value = value_of(weights, features, t)
    if of_pending != 0.0:
        value += of_pending * value_of(stream.pending, features, t)
        value += of_trace * value_of(stream.trace, features, t)
    return value


@kernel
def _apply(weights: Vector, factor: float, stream: Trace, sparse: bool) -> None:
    """Let w ← w + factor · p."""
    for k in range(stream.touches[0] if sparse else stream.trace.size):
        i = stream.touched[k] if sparse else k
        weights[i] += factor * stream.pending[i]
