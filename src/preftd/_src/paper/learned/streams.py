"""Streams with continuous observations, for which there is no table of outcomes.

Episodes are simulated by a fixed policy: a walk on a line, a mountain car and a pendulum that swing
up, and a cart that balances a pole. The values of the walk are exact; those of rides are means over
rollouts, and `MonteCarlo.error` says how precise these are.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from preftd._src.arrays import Dense, Vector
from preftd._src.experience.encoders import Encoder
from preftd._src.kernels import kernel
from preftd._src.learners.custom import Specification
from preftd._src.learners.steps import Steps
from preftd._src.paper.learned.kinds import Kind
from preftd._src.randomness import generator
from preftd._src.tasks import cartpole_kernel
from preftd._src.tasks.control import SPREAD
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Fourier, TileCoding
from preftd.preferences import Signal
from preftd.rules import Rule, stream_coefficients

MOUNTAIN_CAR, CART_POLE, PENDULUM = 0, 1, 2
NUMBERS = {MOUNTAIN_CAR: 2, CART_POLE: 4, PENDULUM: 2}
"""Numbers in a state: position and velocity, and for the pole angle and angular velocity."""
MOST = 2000
"""Steps after which a ride is cut; both policies come to an end long before."""
RANDOM = {MOUNTAIN_CAR: 0.3, CART_POLE: 0.5, PENDULUM: 0.3}
"""The share of actions that are drawn at random."""
SPREADS = {CART_POLE: np.array(SPREAD), PENDULUM: np.array([1.0, 2.0])}
"""The deviation of noise in place of dropped observations."""
SCORED, ROLLOUTS, DISCOUNT = 50, 4000, 0.99
"""States of a ride that are scored, rollouts from each, and its discount."""


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
        """The mean reward of the next step."""
        below, above = ndtr(-places / self.deviation), ndtr((places - 1) / self.deviation)
        return np.asarray(above - below)

    def episodes(self, seed: int, count: int) -> Experience:
        """Episodes of a seed."""
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


# Rides, compiled.


@kernel
def move(kind: int, state: Vector, chance: float, generator: np.random.Generator) -> bool:
    """Change `state` by an action of the policy; return whether the episode ends.

    Car and pendulum are pushed the way they move, the cart the way its pole leans.
    """
    if kind == CART_POLE:
        action = 1 if state[2] + 0.5 * state[3] > 0 else 0
        if generator.random() < chance:
            action = 1 if generator.random() < 0.5 else 0
        return bool(cartpole_kernel.step(state, action))
    push = 1.0 if state[1] >= 0 else -1.0
    if generator.random() < chance:
        push = math.floor(3 * generator.random()) - 1.0
    if kind == PENDULUM:
        state[1] += 0.1 * (push - 5.0 * math.sin(state[0]))
        state[0] += 0.1 * state[1]
        return bool(abs(state[0]) >= 2.5)
    velocity = state[1] + 0.001 * push - 0.0025 * math.cos(3 * state[0])
    velocity = min(max(velocity, -0.07), 0.07)
    state[0] = min(max(state[0] + velocity, -1.2), 0.6)
    state[1] = 0.0 if state[0] == -1.2 and velocity < 0 else velocity
    return bool(state[0] >= 0.5)


@kernel
def ride_from(
    kind: int, starts: Dense, chance: float, generator: np.random.Generator, out: Dense
) -> NDArray[np.int64]:
    """The length of a ride from each start; its states are written as far as there is room.

    `starts` has shape (rides, numbers), `out` (steps, numbers).
    """
    lengths, written = np.zeros(len(starts), dtype=np.int64), 0
    for i in range(len(starts)):
        state, ended = starts[i].copy(), False
        while not ended and lengths[i] < MOST:
            if written < len(out):
                out[written] = state
                written += 1
            ended = move(kind, state, chance, generator)
            lengths[i] += 1
    return lengths


def starts(kind: int, count: int, generator: np.random.Generator) -> Dense:
    """`count` first states, shape (count, numbers)."""
    if kind == CART_POLE:
        return generator.uniform(-0.05, 0.05, (count, 4))
    if kind == PENDULUM:
        return generator.uniform(-0.5, 0.5, (count, 2))
    return np.stack([generator.uniform(-0.6, -0.4, count), np.zeros(count)], axis=1)


def rides(kind: int, count: int, generator: np.random.Generator) -> tuple[Dense, NDArray[np.int64]]:
    """The states of consecutive rides, and their lengths."""
    out = np.empty((count * MOST, NUMBERS[kind]))
    first = starts(kind, count, generator)
    lengths = ride_from(kind, first, RANDOM[kind], generator, out)
    return out[: lengths.sum()].copy(), lengths


def lengths_from(
    kind: int, state: Vector, count: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """The lengths of rides from a state."""
    nowhere = np.empty((0, state.size))
    found = ride_from(kind, np.tile(state, (count, 1)), RANDOM[kind], generator, nowhere)
    return np.asarray(found)


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
    returns = (1 - DISCOUNT**lengths) / (1 - DISCOUNT) * (1 if kind == CART_POLE else -1)
    error = float((returns.var(axis=1, ddof=1) / ROLLOUTS).mean())
    return MonteCarlo(states, returns.mean(axis=1), error)


ENCODERS: dict[str, Encoder] = {
    "mountain car, cosines": Fourier([-1.2, -0.07], [0.6, 0.07], 5),
    "mountain car, tiles": TileCoding([-1.2, -0.07], [0.6, 0.07], [6, 6], 8),
    "pendulum": Fourier([-2.5, -5.0], [2.5, 5.0], 4),
    "cart pole": Fourier([-2.4, -3.0, -0.21, -3.0], [2.4, 3.0, 0.21, 3.0], 2),
}
"""The encoding of a state as features."""


@final
@dataclass(frozen=True)
class Ride:
    """A ride by a fixed policy; each step pays −1, or +1 (cart pole).

    Parameters
    ----------
    encoder
        A name in `ENCODERS`. Preferences see the numbers of a state, learners its features.
    dropped
        The probability that an observation is dropped: similarly large noise is shown instead.
    """

    encoder: str
    dropped: float = 0.0

    @property
    def kind(self) -> int:
        """Which policy and physics."""
        kinds = {"cart pole": CART_POLE, "pendulum": PENDULUM}
        return kinds.get(self.encoder, MOUNTAIN_CAR)

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
        """Episodes of a seed."""
        rng = generator(self.name, seed)
        seen, lengths = rides(self.kind, count, rng)
        shown = rng.random(len(seen)) >= self.dropped
        if not shown.all():
            noise = rng.standard_normal((int((~shown).sum()), seen.shape[1]))
            seen[~shown] = SPREADS[self.kind] * noise
        last = np.isin(np.arange(len(seen)), lengths.cumsum() - 1)
        reward = np.full(len(seen), 1.0 if self.kind == CART_POLE else -1.0)
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


# Learners on streams.

Stream: TypeAlias = ContinuousWalk | Ride | Kind
"""A task whose episodes are simulated."""


@final
@dataclass(frozen=True)
class Streamed:
    """The specification of a learner that learns from a `Stream`.

    A study draws experience from tables of outcomes alone. So here a learner draws its own, like an
    algorithm that acts; all else is from the library.
    """

    learner: Specification

    takes_step_size: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """That of the learner."""
        return self.learner.label

    def run(
        self,
        task: Stream,
        rule: Rule,
        preference: Signal,
        step_sizes: Sequence[Any],
        episodes: int,
        seed: int,
    ) -> dict[str, Dense]:
        """Mean squared errors after each episode, step sizes × episodes."""
        steps = _steps(task, rule, preference, seed, episodes)
        batch = self.learner.start(task.size, step_sizes, seed)
        return {"error": batch.learn(steps, task.scored).T}


@lru_cache(maxsize=8)
def _steps(task: Stream, rule: Rule, preference: Signal, seed: int, episodes: int) -> Steps:
    """The coefficients of a rule and a preference on a `Stream`, shared by several learners."""
    experience = drawn(task, seed, episodes)
    return Steps.of(experience, stream_coefficients(rule, preference, experience))


@lru_cache(maxsize=2)
def drawn(task: Stream, seed: int, episodes: int) -> Experience:
    """Episodes of a seed, cached."""
    return task.episodes(seed, episodes)
