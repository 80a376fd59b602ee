"""Faults of observations, and their times."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, final

import numpy as np

from preftd._src.arrays import Dense
from preftd._src.paper.learned.worlds import Flags

Generator: TypeAlias = np.random.Generator


def bursts(rng: Generator, steps: int, into: float, out: float) -> Flags:
    """Steps at which a sensor fails, which it does and recovers with these probabilities."""
    bad, now, chance = np.zeros(steps, np.bool_), False, rng.random(steps)
    for t in range(steps):
        now = chance[t] >= out if now else chance[t] < into
        bad[t] = now
    return bad


def _autoregressive(rng: Generator, shape: tuple[int, ...]) -> Dense:
    noise = rng.standard_normal(shape)
    for t in range(1, len(noise)):
        noise[t] = 0.9 * noise[t - 1] + np.sqrt(1 - 0.9**2) * noise[t]
    return noise


NOISES: Mapping[str, Callable[[Generator, tuple[int, ...]], Dense]] = {
    "uniform": lambda rng, shape: rng.uniform(-2.0, 2.0, shape),
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "wide": lambda rng, shape: 4.0 * rng.standard_normal(shape),
    "heavy-tailed": lambda rng, shape: rng.standard_t(3.0, shape),
    "very heavy-tailed": lambda rng, shape: rng.standard_t(1.5, shape),
    "extremes": lambda rng, shape: 4.0 * rng.choice([-1.0, 1.0], shape),
    "few values": lambda rng, shape: rng.integers(-1, 2, shape).astype(np.float64),
    "autoregressive": _autoregressive,
}
"""Noise by name: in units of the deviation of all entries, around the mean of each."""


# What else can be seen.


def _drifting(rng: Generator, x: Dense, bad: Flags) -> Dense:
    """The observation drifts from the truth step by step, until the sensor is corrected."""
    seen, away, step = x.copy(), np.zeros(x.shape[1]), x.std()
    for t in range(len(x)):
        away = (away + step * rng.standard_normal(x.shape[1])) * bad[t]
        seen[t] += away
    return seen


def _stuck(_: Generator, x: Dense, bad: Flags) -> Dense:
    """The last value that was good, or the first value."""
    return x[np.maximum.accumulate(np.where(bad, 0, np.arange(len(x))))]


def _images(x: Dense) -> Dense:
    side = round(np.sqrt(x.shape[1]))
    return x.reshape(-1, side, side).copy()


def _hand(rng: Generator, x: Dense, bad: Flags) -> Dense:
    """A dark hand from below, which moves by a pixel or none at each step."""
    seen = _images(x)
    side = seen.shape[1]
    high, wide, left = side // 2, side - 3, 0
    for t in np.flatnonzero(bad):
        high = int(np.clip(high + rng.integers(-1, 2), side // 2, side))
        left = int(np.clip(left + rng.integers(-1, 2), 0, side - wide))
        seen[t, side - high :, left : left + wide] = -1.0
    return seen.reshape(x.shape)


def _texture(rng: Generator, x: Dense, bad: Flags) -> Dense:
    """A patch with a texture of its own, anywhere, that covers half of each side or more."""
    seen = _images(x)
    side = seen.shape[1]
    for t in np.flatnonzero(bad):
        high, wide = rng.integers(side // 2, side + 1, 2)
        i, j = rng.integers(0, side - high + 1), rng.integers(0, side - wide + 1)
        seen[t, i : i + high, j : j + wide] = rng.random((high, wide))
    return seen.reshape(x.shape)


def _blob(rng: Generator, x: Dense, bad: Flags) -> Dense:
    """A bright blob that moves on by itself."""
    seen = _images(x)
    side = seen.shape[1]
    at, grid = rng.random(2) * side, np.arange(side)
    for t in np.flatnonzero(bad):
        at = np.clip(at + rng.standard_normal(2), 0, side)
        near = np.exp(-0.5 * ((grid - at[:, None]) / 1.5) ** 2)
        seen[t] += 2 * np.outer(near[0], near[1])
    return seen.reshape(x.shape)


CHANGES: Mapping[str, Callable[[Generator, Dense, Flags], Dense]] = {
    "drifting": _drifting,
    "stuck": _stuck,
    "zeros": lambda _, x, bad: np.where(bad[:, None], 0.0, x),
    "−999": lambda _, x, bad: np.where(bad[:, None], -999.0, x),
    "hand": _hand,
    "texture": _texture,
    "blob": _blob,
}
"""Makes observations from true ones and the steps that fail."""


@final
@dataclass(frozen=True)
class Fault:
    """A fault, and its times.

    Parameters
    ----------
    name
        One of `NOISES` or `CHANGES`.
    when
        The probabilities that the sensor fails and that it recovers, in each step.
    between
        Or: it fails between these shares of the stream.
    inside
        Or: it fails where all numbers that are shown are between these.
    alone
        Entries that fail by themselves, from one to before another (default: all fail together).
    """

    name: str
    when: tuple[float, float] = (0.2, 0.2)
    between: tuple[float, float] | None = None
    inside: tuple[float, float] | None = None
    alone: tuple[int, int] | None = None

    def seen(self, rng: Generator, x: Dense, shown: Dense) -> tuple[Dense, Flags]:
        """The observation in place of x, and which entries are good; both have the shape of x."""
        bad = np.zeros(x.shape, np.bool_)
        if self.alone is None:
            bad[self._fails(rng, shown)] = True
        else:
            for entry in range(*self.alone):
                bad[:, entry] = self._fails(rng, shown)
        if self.name in CHANGES:
            return np.where(
                bad, CHANGES[self.name](rng, x, np.asarray(np.any(bad, axis=1))), x
            ), ~bad
        noise = x.mean(axis=0) + x.std() * NOISES[self.name](rng, x.shape)
        return np.where(bad, noise, x), ~bad

    def _fails(self, rng: Generator, shown: Dense) -> Flags:
        if self.inside is not None:
            return np.asarray(((shown > self.inside[0]) & (shown < self.inside[1])).all(axis=1))
        if self.between is not None:
            share = np.arange(len(shown)) / len(shown)
            return (share >= self.between[0]) & (share < self.between[1])
        return bursts(rng, len(shown), *self.when)
