"""Streams to test learned preferences on: the paper's tasks, made harder, and some more.

aliased    all hidden states show the same fixed features
jitter     noise of this standard deviation is added to every observation
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.experience.stream import Flags
from preftd.experience import Experience
from preftd.tasks import Task


class Case(NamedTuple):
    """A stream, what an oracle knows about it, and the states on which predictions are scored."""

    experience: Experience
    observable: Flags
    scored: Dense
    """Shape (states, features)."""
    values: Vector
    """Shape (states,)."""


Maker = Callable[[int], Case]


def of_task(task: Task, episodes: int, *, aliased: bool = False, jitter: float = 0.0) -> Maker:
    """Cases from a task of the library, by seed."""
    states = np.flatnonzero(task.observable)
    scored, values = task.features.rows(states), np.array(task.values[states])

    def make(seed: int) -> Case:
        drawn = task.sampler(seed).episodes(episodes)
        assert drawn.observable is not None
        x, shown = drawn.features(), np.array(drawn.observable)
        rng = np.random.default_rng([seed, 1])
        if aliased:
            x[~shown] = task.features.rows(np.flatnonzero(~task.observable)).mean(axis=0)
            x[~shown] += rng.standard_normal(x.shape[1])
        x += jitter * rng.standard_normal(x.shape)
        log = Experience.from_log(
            x, drawn.reward, discount=drawn.discount_tp1, terminated=drawn.is_last
        )
        return Case(log, shown, scored, values)

    return make


def geometric(episodes: int, *, aliased: bool = False, jitter: float = 0.0) -> Maker:
    """Corridors of random length, 10 on average: no clock tells where they end."""

    def make(seed: int) -> Case:
        rng = np.random.default_rng([seed, 2])
        lengths, up = rng.geometric(0.1, episodes), rng.random(episodes) < 0.5
        states = np.concatenate(
            [[0, *[3] * n, 1 if u else 2] for n, u in zip(lengths, up, strict=True)]
        )
        ends = np.isin(states, (1, 2))
        hidden = 0.5 + rng.standard_normal((1 if aliased else len(states), 3))
        shown = states < 3
        x = np.where(shown[:, None], np.eye(4, 3)[states], hidden)
        x += jitter * rng.standard_normal(x.shape)
        reward = np.where(states == 1, 2.0, np.where(states == 2, -1.0, 0.0))
        log = Experience.from_log(x, reward, discount=1.0, terminated=ends)
        return Case(log, shown, np.eye(3), np.array([0.5, 2.0, -1.0]))

    return make


def continuous_walk(episodes: int) -> Maker:
    """A walk on the line in normal steps, shown by 16 radial features: all of it is observable."""
    centres = np.linspace(0.0, 1.0, 16)

    def features(places: Vector) -> Dense:
        return np.asarray(np.exp(-0.5 * ((places[:, None] - centres) / 0.07) ** 2))

    def make(seed: int) -> Case:
        rng = np.random.default_rng([seed, 3])
        places: list[float] = []
        reward: list[float] = []
        for _ in range(episodes):
            place = 0.5
            while 0.0 <= place <= 1.0:
                places.append(place)
                place += 0.1 * rng.standard_normal()
                reward.append(float(place > 1.0) - float(place < 0.0))
        rewards = np.array(reward)
        log = Experience.from_log(
            features(np.array(places)), rewards, discount=1.0, terminated=rewards != 0.0
        )
        grid = np.linspace(0.05, 0.95, 19)
        return Case(log, np.ones(len(places), np.bool_), features(grid), 2.0 * grid - 1.0)

    return make


def two_in_one(steps: int) -> Maker:
    """Two states too near each other to be told apart for sure; what came before tells which.

    From C to A, which is left at once; from D to B, which is mostly stayed in. A and B are three
    deviations of the jitter apart.
    """

    def make(seed: int) -> Case:
        rng = np.random.default_rng([seed, 3])
        places, state = [], 2
        for _ in range(steps):
            places.append(state)
            if state == 2:
                state = 0
            elif state == 3 or (state == 1 and rng.random() < 0.6):
                state = 1
            else:
                state = 2 + int(rng.random() < 0.5)
        where = np.array([[0.0, 0.0], [0.15, 0.0], [3.0, 0.0], [0.0, 3.0]])
        x = where[places] + 0.05 * rng.standard_normal((steps, 2))
        log = Experience.from_log(
            x, np.zeros(steps), discount=0.9, terminated=np.arange(steps) == steps - 1
        )
        return Case(log, np.ones(steps, np.bool_), where, np.zeros(4))

    return make
