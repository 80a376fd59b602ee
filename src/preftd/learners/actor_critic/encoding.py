"""Features of the critic, compiled: the observation itself, tiles, or cosines, and a bias."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.experience import Fourier, Identity, TileCoding
from preftd.learners.actor_critic.critic_kernel import Features

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
            return cls(TILES, bias, *map(np.array, (low, high, width, shape, shifts)))
        if type(encoder) is Fourier:
            low, high, waves = map(np.array, (encoder.low, encoder.high, encoder.waves))
            return cls(COSINES, bias, low, high, high - low, none, waves)
        return None


@njit(cache=True, nogil=True)
def encode(encoding: Encoding, x: Dense, t: int, features: Features) -> None:
    """Write the features of observation x[t] into row t."""
    size = 0
    if encoding.kind == SAME:
        size = x.shape[1]
        for i in range(size):
            features.dense[t, i] = x[t, i]
    elif encoding.kind == COSINES:
        size = encoding.table.shape[0]
        for k in range(size):
            angle = 0.0
            for i in range(x.shape[1]):
                inside = min(max(x[t, i], encoding.low[i]), encoding.high[i])
                angle += encoding.table[k, i] * ((inside - encoding.low[i]) / encoding.width[i])
            features.dense[t, k] = math.cos(np.pi * angle)
    else:
        for k in range(encoding.table.shape[0]):
            flat = 0
            for i in range(x.shape[1]):
                inside = min(max(x[t, i], encoding.low[i]), encoding.high[i])
                scaled = (inside - encoding.low[i]) / encoding.width[i] + encoding.table[k, i]
                tile = min(int(math.floor(scaled)), encoding.shape[i] - 1)
                flat = flat * encoding.shape[i] + tile
            features.active[t, k] = flat + size
            size += _product(encoding.shape)
    if encoding.bias:
        if features.sparse:
            features.active[t, encoding.table.shape[0]] = size
        else:
            features.dense[t, size] = 1.0


@njit(cache=True, nogil=True)
def _product(shape: NDArray[np.int64]) -> int:
    product = 1
    for count in shape:
        product *= count
    return product
