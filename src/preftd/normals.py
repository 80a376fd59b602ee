"""Standard normal numbers as NumPy draws them, to the bit, in half the time.

Under the bell curve lie 256 layers of equal area (the ziggurat of Marsaglia and Tsang). Of a random
word, 8 bits choose a layer, one the sign, and 52 a place in the layer, which in 99 of 100 cases is
under the curve for sure. NumPy turns the number round if the sign is negative, and processors guess
wrong in half of the cases whether it is. Here the sign is looked up together with the layer.
"""

from functools import cache
from math import exp, log1p
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector

FEW = 1000
"""So many numbers are no faster to draw this way."""
AT_ONCE = 8192
"""How many words are drawn at once: few enough to stay in the cache."""
SPARE = 50
"""How many more words than numbers are drawn, as some numbers take more than one."""
PLACES = 2**52
TAIL = 3.6541528853610087963519472518
"""Where the layers end, and the tail begins."""


class Layers(NamedTuple):
    """The lowest, which has the tail beside it, and then the others from the top."""

    signed: Vector
    """The width of a place in each, then the same with a minus."""
    inside: NDArray[np.int64]
    """From which place on it may lie outside of the curve."""
    height: Vector
    """Of the curve, at the outer end of each; for the lowest, at its top."""


@cache
def layers() -> Layers:
    """The tables of NumPy's ziggurat (wi, ki and fi in its source); `normals.npy` holds them.

    Computed anew, they would differ in the last digits.
    """
    width, inside, height = np.load(Path(__file__).with_suffix(".npy"), allow_pickle=False)
    return Layers(np.concatenate([width, -width]), inside.astype(np.int64), height)


def fill_normal(generator: np.random.Generator, out: Dense) -> None:
    """Fill with the standard normal numbers that the generator gives next; faster if a PCG64.

    >>> out = np.empty((100, 100))
    >>> fill_normal(np.random.default_rng(7), out)
    >>> bool((out == np.random.default_rng(7).standard_normal((100, 100))).all())
    True
    """
    words = generator.bit_generator
    if isinstance(words, np.random.PCG64) and _as_numpy() and _fits(words, out):
        _fill_from(words, out.reshape(-1))
    else:
        generator.standard_normal(out=out)


@cache
def _as_numpy() -> bool:
    """Whether this NumPy still draws as the tables say, which others may not."""
    ours = np.empty(20_000)
    _fill_from(np.random.PCG64(0), ours)
    return bool((ours == np.random.Generator(np.random.PCG64(0)).standard_normal(ours.size)).all())


def _fits(words: np.random.PCG64, out: Dense) -> bool:
    # Going back would forget the half of a word that is kept for the next 32 bits.
    return out.size > FEW and out.flags.c_contiguous and not words.state["has_uint32"]


def _fill_from(words: np.random.PCG64, out: Vector) -> None:
    filled = 0
    while filled < out.size:
        drawn = words.random_raw(min(out.size - filled + SPARE, AT_ONCE)).view(np.int64)
        filled, used = _fill(drawn, out, filled, layers())
        if used < drawn.size:
            words.advance(used - drawn.size)  # back to the first that was not used


@njit(cache=True, nogil=True)
def _fill(words: NDArray[np.int64], out: Vector, begin: int, layers: Layers) -> tuple[int, int]:
    """Fill from `begin` on; up to where there were words enough, and how many it took."""
    used = 0
    for i in range(begin, out.size):
        if used == words.size:
            return i, used
        layer, place = words[used] & 255, (words[used] >> 9) & (PLACES - 1)
        if place < layers.inside[layer]:
            out[i] = place * layers.signed[words[used] & 511]
            used += 1
            continue
        out[i], after = _draw(words, used, layers)
        if after < 0:
            return i, used
        used = after
    return out.size, used


@njit(cache=True, nogil=True)
def _draw(words: NDArray[np.int64], at: int, layers: Layers) -> tuple[float, int]:
    """A number, wherever it lies, and where it ended; −1 if there are too few words."""
    while at < words.size:
        layer, place = words[at] & 255, (words[at] >> 9) & (PLACES - 1)
        x = place * layers.signed[words[at] & 511]
        at += 1
        if place < layers.inside[layer]:
            return x, at
        if layer == 0:
            return _draw_tail(words, at, (place >> 8) & 1)
        if at < words.size:
            low, high = layers.height[layer], layers.height[layer - 1]
            y, at = (high - low) * _uniform(words[at]) + low, at + 1
            if y < exp(-0.5 * x * x):
                return x, at
    return 0.0, -1


@njit(cache=True, nogil=True)
def _draw_tail(words: NDArray[np.int64], at: int, negative: int) -> tuple[float, int]:
    """A number beyond the layers."""
    while at + 1 < words.size:
        over = -1 / TAIL * log1p(-_uniform(words[at]))
        level, at = -log1p(-_uniform(words[at + 1])), at + 2
        if level + level > over * over:
            return (-(TAIL + over) if negative else TAIL + over), at
    return 0.0, -1


@njit(cache=True, nogil=True)
def _uniform(word: int) -> float:
    return ((word >> 11) & (2**53 - 1)) * 2.0**-53
