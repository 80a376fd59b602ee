"""Worlds: rows of features that move on by known rules, so that values are known exactly."""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import ClassVar, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.randomness import generator
from preftd.experience import Fourier, TileCoding

Flags: TypeAlias = NDArray[np.bool_]


class Rows(NamedTuple):
    """Rows of a world.

    features  x_t, shape (steps, size)
    ahead     E[x_{t+1} | state at t] if no episode ends, shape (steps, size)
    shown     what preferences see, shape (steps, numbers)
    """

    features: Dense
    ahead: Dense
    shown: Dense


# Worlds of real numbers.


@final
@dataclass(frozen=True)
class Numbers:
    """Pairs of numbers that turn and forget: x ← ρ R(turn) x + noise, of variance 1 on average.

    Parameters
    ----------
    memory
        ρ of each number.
    turns
        By how much a pair turns in each step, in radians, one for each pair.
    freedom
        Degrees of freedom of the noise, which is Student's; 0 means normal.
    """

    memory: tuple[float, ...]
    turns: tuple[float, ...] = ()
    freedom: float = 0.0
    jitter: ClassVar[float] = 0.0

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return len(self.memory)

    @cached_property
    def _onward(self) -> Dense:
        """The matrix of a step, shape (size, size)."""
        turned = np.eye(self.size)
        for pair, turn in enumerate(self.turns):
            at = slice(2 * pair, 2 * pair + 2)
            turned[at, at] = [[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]
        return np.asarray(np.array(self.memory)[:, None] * turned)

    def rows(self, rng: np.random.Generator, is_first: Flags) -> Rows:
        """Rows of episodes that start where `is_first`."""
        noise = rng.standard_normal((len(is_first), self.size))
        if self.freedom:
            noise *= np.sqrt((self.freedom - 2) / rng.chisquare(self.freedom, noise.shape))
        x, scale = noise.copy(), np.sqrt(1 - np.array(self.memory) ** 2)
        for t in np.flatnonzero(~is_first):
            x[t] = self._onward @ x[t - 1] + scale * noise[t]
        return Rows(x, x @ self._onward.T, x)


@final
@dataclass(frozen=True)
class Sparse:
    """Numbers of which most are 0, all new in each step.

    Parameters
    ----------
    size
        How many there are.
    zeros
        The share that is 0.
    """

    size: int
    zeros: float
    jitter: ClassVar[float] = 0.0

    def rows(self, rng: np.random.Generator, is_first: Flags) -> Rows:
        """Rows of episodes that start where `is_first`."""
        x = rng.standard_normal((len(is_first), self.size))
        x *= rng.random(x.shape) >= self.zeros
        return Rows(x, np.zeros_like(x), x)


# Worlds of states.


class Chain(NamedTuple):
    """Transition probabilities, shape (states, states), and features, shape (states, features)."""

    onward: Dense
    features: Dense


def _line(count: int, stays: float = 0.0) -> Dense:
    """One state up or down, or stay at an end."""
    onward = (np.eye(count, k=1) + np.eye(count, k=-1)) * (1 - stays) / 2
    return np.asarray(onward + np.diag(1 - onward.sum(axis=1)))


def _ring(count: int) -> Dense:
    """One state on, or one back, in a circle."""
    return np.asarray(0.8 * np.roll(np.eye(count), 1, 1) + 0.2 * np.roll(np.eye(count), -1, 1))


def _both(line: Dense) -> Dense:
    """Moves along two lines at a time."""
    return np.asarray(np.kron(line, line), np.float64)


@cache
def _plane(side: int) -> tuple[Dense, Dense]:
    """Three moves of a fine line in both directions at a time, and places in [0, 1]²."""
    line = np.linalg.matrix_power(_line(side, 1 / 3), 3)
    at = np.linspace(0.0, 1.0, side)
    return _both(line), np.stack(np.meshgrid(at, at, indexing="ij"), -1).reshape(-1, 2)


def _images(side: int, pixels: int, rng: np.random.Generator) -> Dense:
    """A bright spot at each place of a grid, before a faint picture; 0 is grey."""
    at, grid = np.linspace(0.5, pixels - 1.5, side), np.arange(pixels)
    spot = np.exp(-0.5 * (grid - at[:, None]) ** 2)
    spots = np.asarray(np.einsum("ai,bj->abij", spot, spot).reshape(side**2, -1))
    return np.asarray(0.1 * rng.standard_normal(pixels**2) + spots)


@cache
def _chains(name: str) -> tuple[Chain, ...]:
    """The chains of a world, which move on independently."""
    rng = generator("chains", name)
    if name in ("tiles", "plane"):
        onward, places = _plane(24)
        tiles, cosines = TileCoding([0, 0], [1, 1], [5, 5], 4), Fourier([0, 0], [1, 1], 3)
        found = {
            "tiles": np.stack([np.bincount(tiles(p).array, minlength=tiles.size) for p in places]),
            "plane": np.array([cosines(place) for place in places], np.float64),
        }
        return (Chain(onward, np.asarray(found[name], np.float64)),)
    worlds: dict[str, tuple[Chain, ...]] = {
        "walk": (Chain(_line(15), np.eye(15)),),
        "patterns": (Chain(_line(12), rng.standard_normal((12, 6))),),
        "ring": (Chain(_ring(20), np.eye(20)),),
        "grid": (Chain(_line(6), np.eye(6)), Chain(_line(6), np.eye(6))),
        "categories": (*(Chain(rng.dirichlet(np.ones(n), n), np.eye(n)) for n in (3, 4, 5, 8)),),
        "counts": (
            *(Chain(_line(n, 0.2), np.linspace(0, n / 4, n)[:, None]) for n in (6, 9, 12, 20)),
        ),
        "images": (Chain(_both(_line(6, 0.2)), _images(6, 8, rng)),),
    }
    return worlds[name]


@kernel
def follow(onward: Dense, is_first: Flags, chance: Vector, states: NDArray[np.int64]) -> None:
    """States of a chain from cumulative probabilities; an episode starts anywhere."""
    for t in range(len(states)):
        if is_first[t]:
            states[t] = int(chance[t] * len(onward))
        else:
            row, k = onward[states[t - 1]], 0
            while k < len(row) - 1 and row[k] <= chance[t]:
                k += 1
            states[t] = k


@final
@dataclass(frozen=True)
class States:
    """Chains by name, whose features are put side by side.

    Parameters
    ----------
    name
        One that `_chains` knows.
    jitter
        The standard deviation of noise in each feature.
    """

    name: str
    jitter: float = 0.0

    @property
    def size(self) -> int:
        """The number of features."""
        return sum(chain.features.shape[1] for chain in _chains(self.name))

    def rows(self, rng: np.random.Generator, is_first: Flags) -> Rows:
        """Rows of episodes that start where `is_first`."""
        chains = _chains(self.name)
        features, ahead = [], []
        states = np.empty(len(is_first), np.int64)
        for chain in chains:
            follow(chain.onward.cumsum(axis=1), is_first, rng.random(len(is_first)), states)
            features.append(chain.features[states])
            ahead.append((chain.onward @ chain.features)[states])
        x = np.concatenate(features, axis=1)
        shown = _plane(24)[1][states] if self.name == "plane" else x
        return Rows(x, np.concatenate(ahead, axis=1), shown)


@final
@dataclass(frozen=True)
class Both:
    """Two worlds that move on independently, side by side."""

    first: Numbers | States
    second: Numbers | States
    jitter: ClassVar[float] = 0.0

    @property
    def size(self) -> int:
        """The number of features."""
        return self.first.size + self.second.size

    def rows(self, rng: np.random.Generator, is_first: Flags) -> Rows:
        """Rows of episodes that start where `is_first`."""
        one, other = self.first.rows(rng, is_first), self.second.rows(rng, is_first)
        return Rows(*(np.concatenate(parts, axis=1) for parts in zip(one, other, strict=True)))


World: TypeAlias = Numbers | Sparse | States | Both
