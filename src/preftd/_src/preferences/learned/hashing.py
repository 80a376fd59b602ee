"""Hash tables in rows of numbers: keys of 52 bits, open addressing, 0 where a slot is free."""

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel

_START, _FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_BITS, _FOLD, _ONE = np.uint64(12), np.uint64(29), np.uint64(1)


@kernel(inline="always")
def _mixed(hashed: np.uint64, word: np.uint64) -> np.uint64:
    hashed = (hashed ^ word) * _FACTOR
    return hashed ^ (hashed >> _FOLD)


@kernel
def fingerprint(x: Vector) -> float:
    """A key of an observation, shape (n,): the same for the same numbers."""
    hashed = _START
    for word in x.view(np.uint64):
        hashed = _mixed(hashed, word)
    return np.float64((_mixed(hashed, _ONE) >> _BITS) + _ONE)


@kernel
def key_of(a: float, b: float, c: float, d: float) -> float:
    """A key of four whole numbers of 0 or more."""
    hashed = _START
    for number in (float(a), float(b), float(c), float(d)):
        hashed = _mixed(hashed, np.uint64(np.int64(number)))
    return np.float64((_mixed(hashed, _ONE) >> _BITS) + _ONE)


@kernel
def slot_of(keys: Vector, key: float) -> int:
    """The slot of a key, or the free one where it belongs."""
    mask = keys.size - 1
    at = np.int64(key) & mask
    while keys[at] != 0.0 and keys[at] != key:
        at = (at + 1) & mask
    return int(at)
