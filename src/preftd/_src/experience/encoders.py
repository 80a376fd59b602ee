"""Encoders turn observations into features: identity, one-hot, tiles, polynomials, cosines.

An encoder returns a vector of features, or `Indices`: the positions of ones in a vector of zeros.
"""

from __future__ import annotations

from itertools import combinations_with_replacement, product
from typing import Any, NamedTuple, Protocol, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import InputError, Vector, as_array, as_count, whole
from preftd._src.experience.indices import LARGEST, Indices

MOST_NUMBERS = 1_000_000
"""The most numbers in an encoder: with more, each observation would take too long."""


class Encoder(Protocol):
    """Any callable with a `size` that turns an observation into features."""

    @property
    def size(self) -> int:
        """The number of features."""

    def __call__(self, observation: Any) -> NDArray[np.float64] | Indices:
        """Return the features, shape (size,), or the indices of their ones."""


@final
class Identity:
    """Use the observation itself as features, flattened.

    Parameters
    ----------
    size : int
        The number of entries of an observation.

    Examples
    --------
    >>> Identity(size=3)([1, 2, 3])
    array([1., 2., 3.])

    """

    def __init__(self, size: int) -> None:
        self.size = as_count("size", size, 1, LARGEST)

    def __call__(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the entries of the observation, shape (size,); NaN where they are missing."""
        return _entries(observation, self.size, finite=False)


@final
class OneHot:
    """Put a 1 at the index that an integer observation gives.

    Parameters
    ----------
    size : int
        The number of possible observations, 0 to size − 1.

    Examples
    --------
    >>> OneHot(size=4)(2)
    Indices([2])

    """

    def __init__(self, size: int) -> None:
        self.size = as_count("size", size, 1, LARGEST)

    def __call__(self, observation: Any) -> Indices:
        """Return the index of the 1."""
        index = whole("observation", observation)
        if not 0 <= index < self.size:
            raise InputError(f"observation is {index} but size is {self.size}: give a larger size.")
        return Indices([index])


class TileGrid(NamedTuple):
    """The parameters of a tile coding, for compiled code; grids are the rows of `shifts`."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    width: NDArray[np.float64]
    """Of a tile, shape (entries,)."""
    shape: NDArray[np.int64]
    """The number of tiles of each grid along each entry, shape (entries,)."""
    shifts: NDArray[np.float64]
    """In tiles, shape (tilings, entries)."""


@final
class TileCoding:
    """Cover a box with several shifted grids of tiles; an observation is in one tile of each.

    Parameters
    ----------
    low, high : array of shape (entries,)
        Corners of the box. Observations outside are clipped to its edge.
    tiles : array of integers, shape (entries,)
        The number of tiles along each entry.
    tilings : int
        The number of grids. The first is not shifted. The others are shifted by fractions of a tile
        that differ between entries, so that the grids do not line up.

    Examples
    --------
    >>> coder = TileCoding(low=[0, 0], high=[1, 1], tiles=[4, 4], tilings=2)
    >>> coder.size, coder([0.1, 0.9])
    (50, Indices([3, 29]))

    """

    def __init__(self, low: ArrayLike, high: ArrayLike, tiles: ArrayLike, tilings: int) -> None:
        self._low, self._high = _box(low, high)
        counts = as_array("tiles", tiles)
        if counts.shape != self._low.shape:
            raise InputError(
                f"tiles has shape {counts.shape} but low has {self._low.shape}: "
                "give one number for each entry in both."
            )
        wrong = (counts < 1) | (counts != np.floor(counts))
        if wrong.any():
            entry = int(np.argmax(wrong))
            raise InputError(
                f"tiles[{entry}] is {counts[entry]:g}: give whole numbers of 1 or more."
            )
        tilings = as_count("tilings", tilings, 1, MOST_NUMBERS // counts.size)
        # Shifts are smaller than one tile, so each grid needs one more tile than the box.
        with np.errstate(over="ignore"):
            total = tilings * np.prod(counts + 1)
        if total > LARGEST:
            raise InputError(
                f"the grids have {total:.4g} tiles, more than {LARGEST:.4g}: "
                "give fewer tiles or tilings."
            )
        self._shape = tuple(int(n) + 1 for n in counts)
        self.size = int(total)
        self._width = (self._high - self._low) / counts
        if not self._width.all():
            raise InputError("low and high are too close to be divided: rescale the observations.")
        entries = np.arange(counts.size)
        self._shifts = (np.arange(tilings)[:, None] * (2 * entries + 1) % tilings) / tilings
        self._first = np.arange(tilings) * (self.size // tilings)

    @property
    def grid(self) -> TileGrid:
        """Its parameters, for compiled code."""
        shape = np.array(self._shape, dtype=np.int64)
        return TileGrid(self._low, self._high, self._width, shape, self._shifts)

    def __call__(self, observation: ArrayLike) -> Indices:
        """Return the index of the tile in each grid, shape (tilings,)."""
        x = _entries(observation, self._low.size)
        inside = np.clip(x, self._low, self._high)
        tile = np.floor((inside - self._low) / self._width + self._shifts).astype(np.intp)
        tile = np.minimum(tile, np.array(self._shape) - 1)
        flat = np.ravel_multi_index(tuple(tile.T), self._shape)
        return Indices(np.asarray(self._first + flat, dtype=np.int32))


@final
class Polynomial:
    """Use all products of up to `degree` entries as features, the constant 1 first.

    Parameters
    ----------
    entries : int
        The number of entries of an observation.
    degree : int
        The largest number of factors in a product.

    Examples
    --------
    >>> Polynomial(entries=2, degree=2)([2, 3])
    array([1., 2., 3., 4., 6., 9.])

    """

    def __init__(self, entries: int, degree: int) -> None:
        self._entries = entries = as_count("entries", entries, 1, MOST_NUMBERS)
        degree = as_count("degree", degree, 0, MOST_NUMBERS)
        count = 1
        for order in range(1, min(entries, degree) + 1):
            count = count * (max(entries, degree) + order) // order
            _check_size(count * degree, "entries, or a lower degree")
        self.products = [
            list(chosen)
            for order in range(degree + 1)
            for chosen in combinations_with_replacement(range(entries), order)
        ]
        """The entries of each product."""
        self.size = len(self.products)

    def __call__(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the products, shape (size,)."""
        x = _entries(observation, self._entries)
        with np.errstate(over="ignore"):
            features = np.array([x[chosen].prod() for chosen in self.products])
        if not np.isfinite(features).all():
            raise InputError("the products of an observation overflow: rescale the observations.")
        return features


@final
class Fourier:
    """Use cosines as features: cos(π c·z) for all whole c from 0 to `order`, the constant 1 first.

    z is the observation, scaled so that the box becomes [0, 1] in each entry.

    Parameters
    ----------
    low, high : array of shape (entries,)
        Corners of the box. Observations outside are clipped to its edge.
    order : int
        The largest number of half waves along an entry.

    Examples
    --------
    >>> Fourier(low=[0], high=[2], order=2)([2])
    array([ 1., -1.,  1.])

    """

    def __init__(self, low: ArrayLike, high: ArrayLike, order: int) -> None:
        self.low, self.high = _box(low, high)
        order = as_count("order", order, 0, MOST_NUMBERS)
        entries = self.low.size
        # 2²⁰ are too many already, and a higher power takes long to compute.
        _check_size(entries * (order + 1) ** min(entries, 20), "entries, or a lower order")
        waves = product(range(order + 1), repeat=entries)
        self.waves = np.array(list(waves), dtype=np.float64)
        """c, shape (size, entries)."""
        self.size = len(self.waves)

    def __call__(self, observation: ArrayLike) -> NDArray[np.float64]:
        """Return the cosines, shape (size,)."""
        x = np.clip(_entries(observation, self.low.size), self.low, self.high)
        return np.asarray(np.cos(np.pi * (self.waves @ ((x - self.low) / (self.high - self.low)))))


def _entries(observation: ArrayLike, count: int, *, finite: bool = True) -> Vector:
    """Check that an observation has `count` numbers, all of them finite unless told otherwise."""
    x = as_array("observation", observation, finite=finite).ravel()
    if x.size != count:
        raise InputError(f"observation has {x.size} entries, not {count}: use another encoder.")
    return x


def _box(low: ArrayLike, high: ArrayLike) -> tuple[Vector, Vector]:
    """The corners of a box, checked."""
    below, above = as_array("low", low), as_array("high", high)
    if below.ndim != 1 or below.shape != above.shape or not below.size:
        raise InputError(
            f"low has shape {below.shape} and high {above.shape}: "
            "give one number for each entry in both."
        )
    wrong = below >= above
    if wrong.any():
        entry = int(np.argmax(wrong))
        raise InputError(
            f"low[{entry}] is {below[entry]:g}, which is not below high[{entry}], "
            f"{above[entry]:g}: swap the two."
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(above - below).all():
            raise InputError("high − low overflows: rescale the observations.")
    return below, above


def _check_size(numbers: int, fewer: str) -> None:
    """Refuse an encoder that would hold too many numbers, before it is built."""
    if numbers > MOST_NUMBERS:
        raise InputError(
            f"the encoder would hold over {MOST_NUMBERS:,} numbers: give fewer {fewer}."
        )
