"""Preferences that only the benchmark needs: by chance, and learned from other units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.randomness import generator
from preftd.experience import Experience, Visit
from preftd.preferences import Learned, Signal


@final
@dataclass(frozen=True)
class AtRandom(Signal):
    """β is 1 by chance, as often as states were observable so far.

    An oracle is asked how often, but not where. Each step has its own random number, the same for
    every stream.
    """

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """1 or 0; the memory is how many steps there were, and how many were observable."""
        steps, shown = (0.0, 0.0) if memory is None else memory
        steps, shown = steps + 1, shown + bool(visit.observable)
        return float(_uniform(np.array([steps]))[0] * steps < shown), np.array([steps, shown])

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The same for a stream."""
        before, shown_before = (0.0, 0.0) if memory is None else memory
        steps = before + np.arange(1.0, len(experience) + 1)
        shown = shown_before + np.cumsum(np.asarray(experience.observable, np.float64))
        last = np.array([steps[-1], shown[-1]]) if steps.size else memory
        return (_uniform(steps) * steps < shown).astype(np.float64), last


def _uniform(steps: Vector) -> Vector:
    """A random number in [0, 1) for each step: the finaliser of SplitMix64."""
    z = steps.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ (z >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), np.float64) * 2.0**-53


@final
@dataclass(frozen=True)
class LearnedThrough(Signal):
    """`Learned()` where observations are shown to it in other units; learners see them as before.

    Parameters
    ----------
    units
        "rotated": by a random orthogonal matrix; "scaled": each entry times a number from 10⁻³ to
        10³; "widened": with constant entries and a copy of each entry, some of them scaled.
    """

    units: str
    learned: Learned = Learned()  # noqa: RUF009  (it cannot be changed)

    @property
    def largest(self) -> float:
        """1."""
        return 1.0

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """What is learned from the other units."""
        seen = self._shown(np.asarray(visit.observation)[None])[0]
        return self.learned.at(visit._replace(observation=seen), memory)

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """The same for a stream."""
        seen = self._shown(experience.observations())
        return self.learned.along(replace(experience, observation=seen), memory)

    def _shown(self, observations: Dense) -> Dense:
        """Observations in other units, shape (steps, entries)."""
        size = observations.shape[1]
        rng = generator("units", self.units, size)
        scales = rng.permutation(10 ** np.linspace(-3.0, 3.0, size))
        if self.units == "rotated":
            return np.asarray(observations @ np.linalg.qr(rng.standard_normal((size, size)))[0])
        if self.units == "scaled":
            return np.asarray(observations * scales)
        constant = np.tile([0.0, 7.0], (len(observations), 1))
        return np.concatenate([constant, observations, 3.0 - scales * observations], axis=1)
