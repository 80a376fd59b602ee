"""Features of the critic, compiled: the observation itself, tiles, or cosines, and a bias."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.actor_critic.buffers import Features
from preftd.experience import Fourier, Identity, TileCoding

SAME, TILES, COSINES = range(3)


class Encoding(NamedTuple):
    """How an observation becomes features."""

    kind: int
    bias: bool
    low: Vector
    """Shape (entries,), as the next three, where it has a meaning."""
    high: Vector
    width: Vector
    shape: NDArray[np.int64]
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
def encode(encoding: Encoding, x: Dense, t: int, features: Features) -> None:
    """Write the features of observation x[t] into row t."""
    if encoding.kind == SAME:
        for i in range(x.shape[1]):
            features.dense[t, i] = x[t, i]
        if encoding.bias:
            features.dense[t, x.shape[1]] = 1.0
    else:
        _encode(encoding, x, t, features)


@kernel
def _encode(encoding: Encoding, x: Dense, t: int, features: Features) -> None:
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
