"""The critic: its features, its values, and one step of learning, compiled.

Features are the observation itself, tiles, cosines, or those of the user's encoder: vectors of
numbers, or the indices of a few ones. A trace over indices lists its nonzero indices, so the cost
of a step does not depend on the number of features. The views:

    backward     e ← decay e + gain x
                 w ← w + α δ e
    true online  e ← decay e + α gain (1 − decay e·x) x
                 w ← w + δ e + α gain (v − w·x) x
    held         w ← w + α β (p + γ v e)
                 p ← (1 − β) p + decay (v − v') e − gain v' x,  e ← decay e + gain x
                 p ← p + r e, and at the end all is applied: w ← w + α (p + γ' w·x' e)

with δ = r + γ' w·x' − v, where v is w·x, in the true online view with the weights of the previous
step. In the held view, v and v' are w·x before and after the first update.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector, as_array, whole
from preftd._src.experience.indices import as_indices
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.options import Critic
from preftd._src.learners.bounding import compiled_bounded_gain
from preftd.experience import Encoder, Fourier, Identity, Indices, TileCoding

BACKWARD, TRUE_ONLINE, HELD = range(3)
SAME, TILES, COSINES = range(3)
"""How observations are encoded."""
Whole = NDArray[np.int64]


class FeatureRows(NamedTuple):
    """The features of the observations of an episode, row t those of x_t."""

    sparse: bool
    """Whether they are indices."""
    dense: Dense
    """Shape (steps + 1, size), if they are dense."""
    active: Whole
    """Shape (steps + 1, ones), if they are indices."""


class Encoding(NamedTuple):
    """The encoding of an observation."""

    kind: int
    bias: bool
    low: Vector
    """Shape (entries,), like the next three; empty if unused."""
    high: Vector
    width: Vector
    shape: Whole
    table: Dense
    """The shifts of grids, shape (tilings, entries), or the waves of cosines, (size, entries)."""

    @classmethod
    def of(cls, encoder: Any, bias: bool) -> Encoding | None:
        """The compiled form of an encoder; None if it has none."""
        nothing, none = np.zeros(1), np.zeros(1, np.int64)
        if encoder is None or type(encoder) is Identity:
            return cls(SAME, bias, nothing, nothing, nothing, none, np.zeros((1, 1)))
        if type(encoder) is TileCoding:
            low, high, width, shape, shifts = encoder.grid
            corners = np.array(low), np.array(high), np.array(width)
            return cls(TILES, bias, *corners, np.array(shape), np.array(shifts))
        if type(encoder) is Fourier:
            low, high = np.array(encoder.low), np.array(encoder.high)
            return cls(COSINES, bias, low, high, high - low, none, encoder.waves)
        return None


@kernel(inline="always")
def encode(encoding: Encoding, x: Dense, t: int, features: FeatureRows) -> None:
    """Write the features of observation x[t] into row t."""
    if encoding.kind == SAME:
        for i in range(x.shape[1]):
            features.dense[t, i] = x[t, i]
        if encoding.bias:
            features.dense[t, x.shape[1]] = 1.0
    else:
        _encode(encoding, x, t, features)


@kernel
def _encode(encoding: Encoding, x: Dense, t: int, features: FeatureRows) -> None:
    """The same where features are tiles or cosines."""
    count, tiles = encoding.table.shape[0], 1
    for side in encoding.shape:
        tiles *= side
    for k in range(count):
        flat, angle = 0, 0.0
        for i in range(x.shape[1]):
            inside = min(max(x[t, i], encoding.low[i]), encoding.high[i])
            scaled = (inside - encoding.low[i]) / encoding.width[i]
            if encoding.kind == COSINES:
                angle += encoding.table[k, i] * scaled
            else:
                tile = math.floor(scaled + encoding.table[k, i])
                flat = flat * encoding.shape[i] + min(tile, encoding.shape[i] - 1)
        if encoding.kind == COSINES:
            features.dense[t, k] = math.cos(np.pi * angle)
        else:
            features.active[t, k] = k * tiles + flat
    if encoding.bias and features.sparse:
        features.active[t, count] = count * tiles
    elif encoding.bias:
        features.dense[t, count] = 1.0


@final
class CriticFeatures:
    """Turns observations into rows of features of the critic."""

    def __init__(self, inputs: int, critic: Critic) -> None:
        self._bias = critic.bias
        encoder: Encoder | None = critic.features
        self._compiled = Encoding.of(encoder, critic.bias)
        self._encoder = encoder
        own = inputs if encoder is None else whole("size of the encoder", encoder.size)
        self.size = own + critic.bias
        self._own = own
        first = None if encoder is None else encoder(np.zeros(inputs))
        self.ones = first.array.size + critic.bias if isinstance(first, Indices) else 0
        """The number of ones of an observation if features are indices; 0 otherwise."""

    def write(self, x: Dense, t: int, into: FeatureRows) -> None:
        """Write the features of observation x[t] into row t."""
        if self._compiled is not None:
            encode(self._compiled, x, t, into)
            return
        assert self._encoder is not None
        found = self._encoder(np.array(x[t]))
        if isinstance(found, Indices) != into.sparse:
            raise InputError(
                "the encoder gives Indices for some observations and numbers for others: "
                "let it return the same kind for all."
            )
        if isinstance(found, Indices):
            indices = as_indices("features", found, self._own)
            if indices.size + self._bias != self.ones:
                raise InputError(
                    f"the encoder returned {indices.size} indices, but {self.ones - self._bias} "
                    "earlier: let it return the same number for all observations."
                )
            into.active[t, : indices.size] = indices
            into.active[t, indices.size :] = self._own
            return
        numbers = as_array("features", found)
        if numbers.shape != (self._own,):
            raise InputError(
                f"the encoder gives features of shape {numbers.shape}: let it give {self._own} "
                "numbers."
            )
        into.dense[t, : self._own], into.dense[t, self._own :] = numbers, 1.0


class Trace(NamedTuple):
    """The state of the critic for one stream of experience; weights are shared."""

    trace: Vector
    """Shape (size,)."""
    pending: Vector
    """Shape (size,): p of the held view."""
    old: Vector
    """Shape (1,): v of the true online view."""
    touched: Whole
    """Shape (size,): the nonzero indices of the trace; the first `touches` are valid."""
    is_touched: NDArray[np.bool_]
    """Shape (size,)."""
    touches: Whole
    """Shape (1,)."""

    @classmethod
    def empty(cls, size: int) -> Trace:
        """The state at the start of a stream."""
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
    """Its row of features; the next row is the next state's."""
    reward: float
    discount_t: float
    """γ_t and γ_{t+1}."""
    discount: float
    beta: float
    decay: float
    gain: float
    ends: bool
    """Whether the episode ends with this step."""


@kernel
def bounded_by(features: FeatureRows, t: int, alpha: float, gain: float) -> float:
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
    """Clear the episode of a stream."""
    stream.trace[:] = 0.0
    stream.pending[:] = 0.0
    stream.is_touched[:] = False
    stream.touches[0] = 0


@kernel
def value_of(weights: Vector, features: FeatureRows, t: int) -> float:
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
def _add(vector: Vector, factor: float, features: FeatureRows, t: int) -> None:
    """Compute vector ← vector + factor · x_t."""
    if features.sparse:
        for k in range(features.active.shape[1]):
            vector[features.active[t, k]] += factor
    else:
        for i in range(vector.size):
            vector[i] += factor * features.dense[t, i]


@kernel
def _mix(
    target: Vector, kept: float, factor: float, source: Vector, stream: Trace, sparse: bool
) -> None:
    """Compute target ← kept · target + factor · source, where the trace is not 0."""
    if sparse:
        for k in range(stream.touches[0]):
            i = stream.touched[k]
            target[i] = kept * target[i] + factor * source[i]
    else:
        for i in range(target.size):
            target[i] = kept * target[i] + factor * source[i]


@kernel
def _decay(stream: Trace, decay: float, sparse: bool) -> None:
    """Compute trace ← decay · trace; where that is 0, the trace is empty."""
    if not sparse:
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


@kernel
def _enter(stream: Trace, factor: float, features: FeatureRows, t: int) -> None:
    """Compute trace ← trace + factor · x_t; indices of x_t then belong to the trace."""
    if features.sparse:
        for k in range(features.active.shape[1]):
            i = features.active[t, k]
            if not stream.is_touched[i]:
                stream.is_touched[i] = True
                stream.touched[stream.touches[0]] = i
                stream.touches[0] += 1
    _add(stream.trace, factor, features, t)


@kernel
def extent(weights: Vector, stream: Trace, features: FeatureRows, t: int) -> float:
    """A bound of all numbers in a step from x_t to x_{t+1}."""
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
    weights: Vector, stream: Trace, features: FeatureRows, view: int, alpha: float, now: Now
) -> float:
    """Learn from a step and return δ; if it is not finite, nothing changes."""
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
    weights: Vector, stream: Trace, features: FeatureRows, view: int, alpha: float, now: Now
) -> float:
    """Learn from a step in any view, with dense features or indices."""
    if view == HELD:
        return _step_held(weights, stream, features, alpha, now)
    t = now.t
    value = value_of(weights, features, t)
    value_next = value_of(weights, features, t + 1) if now.discount != 0.0 else 0.0
    old_value = stream.old[0] if view == TRUE_ONLINE and now.discount_t != 0.0 else value
    delta = now.reward + now.discount * value_next - old_value
    if not (math.isfinite(delta) and math.isfinite(value)):
        return np.nan
    trace, sparse = stream.trace, features.sparse
    _decay(stream, now.decay, sparse)
    if view == BACKWARD:
        _enter(stream, now.gain, features, t)
        _mix(weights, 1.0, alpha * delta, trace, stream, sparse)
    else:
        overlap = value_of(trace, features, t)
        _enter(stream, now.gain * (1 - overlap) * alpha, features, t)
        _mix(weights, 1.0, delta, trace, stream, sparse)
        _add(weights, now.gain * (old_value - value) * alpha, features, t)
        stream.old[0] = value_next
    return delta


@kernel
def _step_held(
    weights: Vector, stream: Trace, features: FeatureRows, alpha: float, now: Now
) -> float:
    """The held view; δ uses the weights after pending updates are applied."""
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
    trace, pending = stream.trace, stream.pending
    if needed:
        _mix(weights, 1.0, of_trace, trace, stream, sparse)
        _mix(weights, 1.0, of_pending, pending, stream, sparse)
        _mix(pending, 1 - now.beta, now.decay * (before - value), trace, stream, sparse)
    _decay(stream, now.decay, sparse)
    if needed:
        _add(pending, -now.gain * value, features, now.t)
        _enter(stream, now.gain, features, now.t)
    _mix(pending, 1.0, now.reward, trace, stream, sparse)
    if now.ends:
        _mix(weights, 1.0, alpha * ahead, trace, stream, sparse)
        _mix(weights, 1.0, alpha, pending, stream, sparse)
        for k in range(stream.touches[0] if sparse else pending.size):
            pending[stream.touched[k] if sparse else k] = 0.0
    return delta


@kernel
def _value_after(
    weights: Vector,
    stream: Trace,
    features: FeatureRows,
    t: int,
    of_pending: float,
    of_trace: float,
) -> float:
    """v(x_t) with the weights w + of_pending · p + of_trace · e."""
    value = value_of(weights, features, t)
    if of_pending != 0.0:
        value += of_pending * value_of(stream.pending, features, t)
        value += of_trace * value_of(stream.trace, features, t)
    return value
