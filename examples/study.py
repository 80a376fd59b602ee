"""A custom study: a new task, a new preference, two rules.

    preftd run examples/study.py

A robot moves through a row of rooms, left or right at random, until it leaves at either end; only
the right exit pays. Some rooms are foggy, and its sensor shows noise there. What is the value of
each clear room? The preference uses only the observation, as a real robot would have to: a clear
room sets one entry, fog sets many.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from preftd import PTD, TD, Features, Task, tasks
from preftd.experience import Experience, Visit
from preftd.experiments import Search, Study
from preftd.preferences import Constant, Signal


def foggy_rooms(rooms: int, every: int) -> Task:
    """A row of rooms, every `every`-th of them foggy; leaving to the right pays 1."""
    room = np.arange(rooms)
    foggy = room % every == every - 1
    left, right = room - 1, np.where(room == rooms - 1, -1, room + 1)
    pays = np.stack([np.zeros(rooms), room == rooms - 1], axis=1)
    return Task(
        f"foggy rooms ({rooms}, fog in every {every})",
        tasks.Outcomes.deterministic(np.stack([left, right], axis=1), pays),
        Features(np.where(foggy[:, None], 0.3, np.eye(rooms)), covariance=np.where(foggy, 0.3, 0)),
        discount=1.0,
        start=room == rooms // 2,
        observable=~foggy,
    )


@dataclass(frozen=True)
class Clarity(Signal):
    """1 if the largest entry dominates an observation, otherwise 0."""

    most: float = 0.9

    def at(self, visit: Visit, memory: None) -> tuple[float, None]:
        """Return β for one observation."""
        return float(self._of(visit.observation[None, :])[0]), None

    def along(self, experience: Experience, memory: None) -> tuple[NDArray[np.float64], None]:
        """Return β for many observations at once; optional, but faster."""
        return self._of(experience.observations()), None

    def _of(self, observations: NDArray[np.float64]) -> NDArray[np.float64]:
        squares = observations**2
        return np.where(squares.max(axis=1) > self.most * squares.sum(axis=1), 1.0, 0.0)


study = Study(
    name="foggy rooms",
    tasks={"little fog": foggy_rooms(9, every=5), "much fog": foggy_rooms(9, every=3)},
    rules=[TD(), PTD()],
    preferences={"clarity": Clarity(), "all alike": Constant(0.5)},
    step_sizes=[0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
    episodes=200,
    seeds=20,
    search=Search(seeds=10),
)
