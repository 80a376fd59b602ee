"""Streams with continuous observations, for which there is no table of outcomes.

Episodes are simulated by a fixed policy. The values of the walk are exact; those of rides are means
over rollouts, and `MonteCarlo.error` says how precise these are.
"""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import ClassVar, NamedTuple, Protocol, final

import numpy as np
from scipy.special import ndtr

from preftd._src.arrays import Dense, Vector
from preftd._src.experience.encoders import Encoder
from preftd._src.paper.learned.rides import CART_POLE, MOUNTAIN_CAR, lengths_from, rides
from preftd._src.randomness import generator
from preftd._src.tasks.control import SPREAD
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Fourier, TileCoding

SCORED, ROLLOUTS, DISCOUNT = 50, 4000, 0.99
"""States of a ride that are scored, rollouts from each, and its discount."""


class Stream(Protocol):
    """A task whose episodes are simulated."""

    @property
    def name(self) -> str:
        """Its name with its parameters."""

    @property
    def size(self) -> int:
        """The number of features."""

    @property
    def scored(self) -> Scored:
        """States on which predictions are scored, and their values."""

    def episodes(self, seed: int, count: int) -> Experience:
        """So many episodes of a seed."""


@final
@dataclass(frozen=True)
class ContinuousWalk:
    """A walk from 0.5 in normal steps until it leaves [0, 1], shown by 16 radial features.

    It pays +1 above and −1 below. All of it is observable.
    """

    name: ClassVar[str] = "continuous_walk"
    size: ClassVar[int] = 16
    deviation: float = 0.1

    @cached_property
    def scored(self) -> Scored:
        """19 places and their values."""
        places = np.linspace(0.05, 0.95, 19)
        return _scored(self._features(places), self.values(places))

    def values(self, places: Vector) -> Vector:
        """The values of places, from the integral equation that they solve, to rounding."""
        nodes, weights = np.polynomial.legendre.leggauss(200)
        nodes, weights = (nodes + 1) / 2, weights / 2
        known = np.linalg.solve(
            np.eye(200) - self._to(nodes, nodes) * weights, self._leaving(nodes)
        )
        return np.asarray(self._leaving(places) + self._to(places, nodes) * weights @ known)

    def _to(self, places: Vector, others: Vector) -> Dense:
        """The density of steps from places to others."""
        z = (others - places[:, None]) / self.deviation
        return np.asarray(np.exp(-0.5 * z**2) / (np.sqrt(2 * np.pi) * self.deviation))

    def _leaving(self, places: Vector) -> Vector:
        """What the next step pays on average."""
        below, above = ndtr(-places / self.deviation), ndtr((places - 1) / self.deviation)
        return np.asarray(above - below)

    def episodes(self, seed: int, count: int) -> Experience:
        """So many episodes of a seed."""
        rng, places, rewards = generator(self.name, seed), list[float](), list[float]()
        for _ in range(count):
            place = 0.5
            while 0.0 <= place <= 1.0:
                places.append(place)
                place += self.deviation * float(rng.standard_normal())
                rewards.append(float(place > 1.0) - float(place < 0.0))
        paid = np.array(rewards)
        log = Experience.from_log(
            self._features(np.array(places)), paid, discount=1.0, terminated=paid != 0.0
        )
        return replace(log, observable=np.ones(len(log), np.bool_))

    def _features(self, places: Vector) -> Dense:
        centres = np.linspace(0.0, 1.0, self.size)
        return np.asarray(np.exp(-0.5 * ((places[:, None] - centres) / 0.07) ** 2))


class MonteCarlo(NamedTuple):
    """Values by rollouts.

    states  scored states, shape (scored, numbers of a state)
    values  their values, shape (scored,)
    error   the mean square of the standard errors: part of every mean squared error
    """

    states: Dense
    values: Vector
    error: float


@lru_cache(maxsize=2)
def monte_carlo(kind: int) -> MonteCarlo:
    """The values of states that a ride visits, by rollouts from each."""
    rng = generator("values of rides", kind)
    visited, _ = rides(kind, SCORED, rng)
    states = visited[rng.choice(len(visited), SCORED, replace=False)]
    lengths = np.array([lengths_from(kind, state, ROLLOUTS, rng) for state in states])
    returns = (1 - DISCOUNT**lengths) / (1 - DISCOUNT) * (-1 if kind == MOUNTAIN_CAR else 1)
    error = float((returns.var(axis=1, ddof=1) / ROLLOUTS).mean())
    return MonteCarlo(states, returns.mean(axis=1), error)


ENCODERS: dict[str, Encoder] = {
    "mountain car, cosines": Fourier([-1.2, -0.07], [0.6, 0.07], 5),
    "mountain car, tiles": TileCoding([-1.2, -0.07], [0.6, 0.07], [6, 6], 8),
    "cart pole": Fourier([-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0], 2),
}
"""What turns the numbers of a state into features."""


@final
@dataclass(frozen=True)
class Ride:
    """A ride by a fixed policy; each step pays −1 (mountain car) or +1 (cart pole).

    Parameters
    ----------
    encoder
        A name in `ENCODERS`. Preferences see the numbers of a state, learners its features.
    dropped
        The probability that an observation is dropped: noise about as large is seen in its stead.
    """

    encoder: str
    dropped: float = 0.0

    @property
    def kind(self) -> int:
        """Which policy and physics."""
        return CART_POLE if self.encoder.startswith("cart pole") else MOUNTAIN_CAR

    @property
    def name(self) -> str:
        """The name with its parameters."""
        return f"ride({self.encoder}, dropped={self.dropped:g})"

    @property
    def size(self) -> int:
        """The number of features."""
        return ENCODERS[self.encoder].size

    @cached_property
    def scored(self) -> Scored:
        """States that rides visit, and their values by rollouts."""
        found = monte_carlo(self.kind)
        return _scored(self._features(found.states), found.values)

    def episodes(self, seed: int, count: int) -> Experience:
        """So many episodes of a seed."""
        rng = generator(self.name, seed)
        seen, lengths = rides(self.kind, count, rng)
        shown = rng.random(len(seen)) >= self.dropped
        if not shown.all():
            seen[~shown] = np.array(SPREAD) * rng.standard_normal((int((~shown).sum()), 4))
        last = np.isin(np.arange(len(seen)), lengths.cumsum() - 1)
        reward = np.full(len(seen), -1.0 if self.kind == MOUNTAIN_CAR else 1.0)
        log = Experience.from_log(self._features(seen), reward, discount=DISCOUNT, terminated=last)
        return replace(log, observable=shown, observation=seen)

    def _features(self, states: Dense) -> Dense:
        """Features of states, shape (states, features)."""
        encode = ENCODERS[self.encoder]
        found = np.zeros((len(states), encode.size))
        for row, state in zip(found, states, strict=True):
            given = encode(state)
            if isinstance(given, np.ndarray):
                row[:] = given
            else:
                row[given.array] = 1.0
        return found


def _scored(features: Dense, values: Vector) -> Scored:
    """Scored states with these features and values."""
    return Scored(-1 - np.arange(len(features), dtype=np.int32), features, values)
