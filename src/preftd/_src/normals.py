"""Standard normal numbers as NumPy draws them, to the bit, in half the time.

The ziggurat of Marsaglia and Tsang covers the bell curve with 256 layers of equal area. Of a random
word, 8 bits choose a layer, 1 the sign, and 52 a position in the layer, which in 99 of 100 cases is
certainly under the curve. NumPy branches on the sign, and processors mispredict half of these
branches. Here the sign is looked up together with the layer.
"""

from functools import cache
from math import exp, log1p
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel

FEW = 1000
"""Up to this many numbers, NumPy is as fast."""
BLOCK = 8192
"""How many words are drawn at a time: few enough to stay in the cache."""
SPARE = 50
"""How many more words than numbers are drawn, because some numbers need several."""
POSITIONS = 2**52
"""The number of positions in a layer."""
TAIL = 3.6541528853610087963519472518
"""Where the layers end and the tail starts."""


class Layers(NamedTuple):
    """The layers: the lowest, which includes the tail, then the others from the top."""

    signed: Vector
    """Shape (512,): the width of a position in each layer, then the negative widths."""
    inside: NDArray[np.int64]
    """Shape (256,): positions below this are certainly under the curve."""
    height: Vector
    """Shape (256,): the curve at the outer end of each layer; for the lowest, at its top."""


@cache
def layers() -> Layers:
    """Return the tables of NumPy's ziggurat (wi, ki and fi in its source), from `normals.npy`.

    They are stored because recomputed ones would differ in the last digits.
    """
    width, inside, height = np.load(Path(__file__).with_suffix(".npy"), allow_pickle=False)
    return Layers(np.concatenate([width, -width]), inside.astype(np.int64), height)


def fill_normal(generator: np.random.Generator, out: Dense) -> None:
    """Fill an array with the standard normal numbers that the generator would give next.

    Parameters
    ----------
    generator : numpy.random.Generator
        A PCG64 is faster than NumPy, others are as fast.
    out : array of any shape

    Examples
    --------
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
    """Whether this version of NumPy draws the same numbers."""
    ours = np.empty(20_000)
    _fill_from(np.random.PCG64(0), ours)
    return bool((ours == np.random.Generator(np.random.PCG64(0)).standard_normal(ours.size)).all())


def _fits(words: np.random.PCG64, out: Dense) -> bool:
    """Whether the fast way works for this generator and array, and is worth it."""
    # Advancing a PCG64 would lose the half word that it keeps for the next 32 bits.
    return out.size > FEW and out.flags.c_contiguous and not words.state["has_uint32"]


def _fill_from(words: np.random.PCG64, out: Vector) -> None:
    """Fill from blocks of words, and return unused words to the generator."""
    filled = 0
    while filled < out.size:
        drawn = words.random_raw(min(out.size - filled + SPARE, BLOCK)).view(np.int64)
        filled, used = _fill(drawn, out, filled, layers())
        if used < drawn.size:
            words.advance(used - drawn.size)  # back to the first that was not used


@kernel
def _fill(words: NDArray[np.int64], out: Vector, begin: int, layers: Layers) -> tuple[int, int]:
    """Fill from `begin` on; returns where the words ran out and how many were used."""
    used = 0
    for i in range(begin, out.size):
        if used == words.size:
            return i, used
        layer, position = words[used] & 255, (words[used] >> 9) & (POSITIONS - 1)
        if position < layers.inside[layer]:
            out[i] = position * layers.signed[words[used] & 511]
            used += 1
            continue
        out[i], after = _draw(words, used, layers)
        if after < 0:
            return i, used
        used = after
    return out.size, used


@kernel
def _draw(words: NDArray[np.int64], at: int, layers: Layers) -> tuple[float, int]:
    """One number by the full method, and the index of the next word; −1 if words run out."""
    while at < words.size:
        layer, position = words[at] & 255, (words[at] >> 9) & (POSITIONS - 1)
        x = position * layers.signed[words[at] & 511]
        at += 1
        if position < layers.inside[layer]:
            return x, at
        if layer == 0:
            return _draw_tail(words, at, (position >> 8) & 1)
        if at < words.size:
            low, high = layers.height[layer], layers.height[layer - 1]
            y, at = (high - low) * _uniform(words[at]) + low, at + 1
            if y < exp(-0.5 * x * x):
                return x, at
    return 0.0, -1


@kernel
def _draw_tail(words: NDArray[np.int64], at: int, negative: int) -> tuple[float, int]:
    """One number in the tail, and the index of the next word; −1 if words run out."""
    while at + 1 < words.size:
        over = -1 / TAIL * log1p(-_uniform(words[at]))
        level, at = -log1p(-_uniform(words[at + 1])), at + 2
        if level + level > over * over:
            return (-(TAIL + over) if negative else TAIL + over), at
    return 0.0, -1


@kernel
def _uniform(word: int) -> float:
    """A uniform number in [0, 1) from a word."""
    return ((word >> 11) & (2**53 - 1)) * 2.0**-53
