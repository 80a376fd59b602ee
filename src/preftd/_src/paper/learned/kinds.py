"""Kinds of streams: worlds in which nothing is wrong, and what goes wrong with observations.

A `Kind` is a world and a fault. Features of a world are x_t, and values are v_t = w·x_t exactly: each
step pays v_t − γ E[v_{t+1} | state at t], and noise. So a linear learner can be right, whatever the
world is, and no value is estimated.

A fault says what is seen in place of x_t, and at which steps x_t is not to be trusted. An oracle is
told these steps. Preferences and learners see the same, unless a world shows other numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.randomness import generator
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Fourier, TileCoding

Flags = NDArray[np.bool_]
DISCOUNT, LONG, NOISE = 0.9, 40, 0.5
"""The discount, the mean length of episodes, and the standard deviation of what is paid besides."""
SCORED = 200
"""States that are scored, from a stream of their own."""


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
        noise = (
            rng.standard_t(self.freedom, (len(is_first), self.size))
            / np.sqrt(self.freedom / (self.freedom - 2))
            if self.freedom
            else rng.standard_normal((len(is_first), self.size))
        )
        x, scale = noise.copy(), np.sqrt(1 - np.array(self.memory) ** 2)
        for t in np.flatnonzero(~is_first):
            x[t] = self._onward @ x[t - 1] + scale * noise[t]
        return Rows(x, x @ self._onward.T, x)


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


def _plane(side: int) -> tuple[Dense, Dense]:
    """Three moves of a fine line in both directions at a time, and places in [0, 1]²."""
    line = np.linalg.matrix_power(_line(side, 1 / 3), 3)
    at = np.linspace(0.0, 1.0, side)
    return np.kron(line, line), np.stack(np.meshgrid(at, at, indexing="ij"), -1).reshape(-1, 2)


def _encoded(encode: Callable[[Vector], object], size: int, places: Dense) -> Dense:
    """Features of places."""
    found = np.zeros((len(places), size))
    for row, place in zip(found, places, strict=True):
        given = encode(place)
        row[given if isinstance(given, np.ndarray) else given.array] = 1.0  # type: ignore[attr-defined]
    return found


def _image(side: int, pixels: int) -> Dense:
    """A bright spot at each place of a grid, before a dim picture."""
    at, grid = np.linspace(0.5, pixels - 1.5, side), np.arange(pixels)
    spot = np.exp(-0.5 * (grid - at[:, None]) ** 2)
    return np.einsum("ai,bj->abij", spot, spot).reshape(side**2, -1)


@cache
def _chains(name: str) -> tuple[tuple[Chain, ...], Dense | None]:
    """The chains of a world, which move on independently, and what they show if not features."""
    rng = generator("chains", name)
    if name == "walk":
        return (Chain(_line(15), np.eye(15)),), None
    if name == "patterns":
        return (Chain(_line(12), rng.standard_normal((12, 6))),), None
    if name == "ring":
        return (Chain(_ring(20), np.eye(20)),), None
    if name == "grid":
        return (Chain(_line(6), np.eye(6)), Chain(_line(6), np.eye(6))), None
    if name == "categories":
        return tuple(Chain(rng.dirichlet(np.ones(n), n), np.eye(n)) for n in (3, 4, 5, 8)), None
    if name == "counts":
        return tuple(Chain(_line(n, 0.2), np.arange(n)[:, None] / 4) for n in (6, 9, 12, 20)), None
    if name == "images":
        line = _line(6, 0.2)
        return (Chain(np.kron(line, line), _image(6, 8)),), None
    onward, places = _plane(24)
    if name == "tiles":
        tiles = TileCoding([0.0, 0.0], [1.0, 1.0], [5, 5], 4)
        return (Chain(onward, _encoded(tiles, tiles.size, places)),), None
    cosines = Fourier([0.0, 0.0], [1.0, 1.0], 3)
    features = np.array([cosines(place) for place in places])
    return (Chain(onward, features),), places


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
        return sum(chain.features.shape[1] for chain in _chains(self.name)[0])

    def rows(self, rng: np.random.Generator, is_first: Flags) -> Rows:
        """Rows of episodes that start where `is_first`."""
        chains, places = _chains(self.name)
        features, ahead = [], []
        states = np.empty(len(is_first), np.int64)
        for chain in chains:
            follow(chain.onward.cumsum(axis=1), is_first, rng.random(len(is_first)), states)
            features.append(chain.features[states])
            ahead.append((chain.onward @ chain.features)[states])
        x = np.concatenate(features, axis=1)
        shown = x if places is None else places[states]
        return Rows(x, np.concatenate(ahead, axis=1), shown)


World = Numbers | States


# Faults.


def _bursts(rng: np.random.Generator, steps: int, into: float, out: float) -> Flags:
    """Steps at which a sensor fails, which it does and recovers with these probabilities."""
    bad, now, chance = np.zeros(steps, np.bool_), False, rng.random(steps)
    for t in range(steps):
        now = chance[t] >= out if now else chance[t] < into
        bad[t] = now
    return bad


def _replaced(rng: np.random.Generator, x: Dense, bad: Flags, by: Dense) -> Dense:
    """Rows of `by` where bad, as large as the entries of x are."""
    return np.where(bad[:, None], x.mean(axis=0) + x.std() * by, x)


def _autoregressive(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    noise = rng.standard_normal(x.shape)
    for t in range(1, len(x)):
        noise[t] = 0.9 * noise[t - 1] + np.sqrt(1 - 0.9**2) * noise[t]
    return _replaced(rng, x, bad, noise)


def _drifting(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    """What is seen leaves the truth in small steps, until the sensor is set right."""
    seen, away = x.copy(), np.zeros(x.shape[1])
    for t in range(len(x)):
        away = (away + 0.5 * x.std() * rng.standard_normal(x.shape[1])) * bad[t]
        seen[t] += away
    return seen


def _stuck(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    good = np.where(bad, -1, np.arange(len(x)))
    last = np.maximum.accumulate(good)
    return x[np.where(last < 0, 0, last)]


def _hand(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    """A dark hand comes from below: it covers one row of pixels more or fewer at each step."""
    side = round(np.sqrt(x.shape[1]))
    seen, covered = x.reshape(-1, side, side).copy(), side // 2
    for t in np.flatnonzero(bad):
        covered = int(np.clip(covered + rng.integers(-1, 2), side // 2, side))
        left = rng.integers(0, 2)
        seen[t, side - covered :, left : left + side - 1] = 0.0
    return seen.reshape(x.shape)


def _texture(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    """A patch with a texture of its own, anywhere, that covers half of each side or more."""
    side = round(np.sqrt(x.shape[1]))
    seen = x.reshape(-1, side, side).copy()
    for t in np.flatnonzero(bad):
        high, wide = rng.integers(side // 2, side + 1, 2)
        i, j = rng.integers(0, side - high + 1), rng.integers(0, side - wide + 1)
        seen[t, i : i + high, j : j + wide] = rng.random((high, wide))
    return seen.reshape(x.shape)


def _blob(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    """A bright blob that moves on by itself."""
    side = round(np.sqrt(x.shape[1]))
    seen, at, grid = x.reshape(-1, side, side).copy(), rng.random(2) * side, np.arange(side)
    for t in np.flatnonzero(bad):
        at = np.clip(at + rng.standard_normal(2), 0, side)
        near = np.exp(-0.5 * ((grid - at[:, None]) / 1.5) ** 2)
        seen[t] += 2 * np.outer(near[0], near[1])
    return seen.reshape(x.shape)


def _few(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    return _replaced(rng, x, bad, rng.integers(-1, 2, x.shape).astype(np.float64))


def _uniform(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    return _replaced(rng, x, bad, rng.uniform(-2, 2, x.shape))


def _normal(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    return _replaced(rng, x, bad, rng.standard_normal(x.shape))


def _heavy(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    return _replaced(rng, x, bad, rng.standard_t(1.5, x.shape))


def _zeros(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    return np.where(bad[:, None], 0.0, x)


def _sentinel(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    """−999 in the third column."""
    seen = x.copy()
    seen[bad, 2] = -999.0
    return seen


def _all_sentinel(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    return np.where(bad[:, None], -999.0, x)


def _one_bad(rng: np.random.Generator, x: Dense, bad: Flags) -> Dense:
    """Noise in the third entry."""
    seen = x.copy()
    seen[bad, 2] = 3 * x.std() * rng.standard_normal(int(bad.sum()))
    return seen


FAULTS: Mapping[str, Callable[[np.random.Generator, Dense, Flags], Dense]] = {
    "uniform": _uniform,
    "normal": _normal,
    "heavy tails": _heavy,
    "autoregressive": _autoregressive,
    "drifting": _drifting,
    "stuck": _stuck,
    "zeros": _zeros,
    "few values": _few,
    "sentinel": _sentinel,
    "row of sentinels": _all_sentinel,
    "one feature": _one_bad,
    "hand": _hand,
    "texture": _texture,
    "blob": _blob,
}
"""What is seen, from what there is and where it fails."""


@final
@dataclass(frozen=True)
class Fault:
    """What goes wrong, and when.

    Parameters
    ----------
    name
        One of `FAULTS`.
    when
        The probabilities that the sensor fails and that it recovers, in each step.
    between
        Or: it fails between these shares of the stream.
    entries
        Whether each entry fails by itself.
    place
        Whether it fails in a region of the plane instead.
    """

    name: str
    when: tuple[float, float] = (0.2, 0.2)
    between: tuple[float, float] | None = None
    entries: bool = False
    place: bool = False

    def seen(self, rng: np.random.Generator, x: Dense, shown: Dense) -> tuple[Dense, Flags]:
        """What is seen, and which steps are good."""
        steps, apply = len(x), FAULTS[self.name]
        if self.entries:
            bad = np.stack([_bursts(rng, steps, *self.when) for _ in x.T], axis=1)
            noise = apply(rng, x, np.ones(steps, np.bool_))
            return np.where(bad, noise, x), ~bad.any(axis=1)
        if self.place:
            bad = ((shown > 0.3) & (shown < 0.9)).all(axis=1)
        elif self.between is not None:
            share = np.arange(steps) / steps
            bad = (share >= self.between[0]) & (share < self.between[1])
        else:
            bad = _bursts(rng, steps, *self.when)
        return apply(rng, x, bad), ~bad


# Kinds.


@final
@dataclass(frozen=True)
class Kind:
    """A world and its fault, as a stream that a study can learn from.

    Parameters
    ----------
    world, fault
        What there is, and what goes wrong with it.
    ends
        Whether episodes end; else there are pieces of ten times the length, cut where they end.
    irrelevant
        Standard deviation of one more entry that preferences see; 0 means that there is none.
    """

    world: World
    fault: Fault | None = None
    ends: bool = True
    irrelevant: float = 0.0

    @property
    def name(self) -> str:
        """All that it consists of."""
        return repr(self)

    @property
    def size(self) -> int:
        """The number of features."""
        return self.world.size

    @cached_property
    def _weights(self) -> Vector:
        """w, for which values have variance 1."""
        rng = generator("weights", self.world.__class__.__name__, self.size)
        x = self._rows(rng, np.arange(20_000) % LONG == 0).features
        w = rng.standard_normal(self.size)
        return np.asarray(w / (x @ w).std())

    @cached_property
    def scored(self) -> Scored:
        """States where the sensor does not fail, and their values."""
        rng = generator("scored", self.name)
        rows = self._rows(rng, np.arange(20_000) % LONG == 0)
        good = np.ones(len(rows.features), np.bool_)
        if self.fault is not None:
            good = self.fault.seen(rng, rows.features, rows.shown)[1]
        chosen = rows.features[rng.choice(np.flatnonzero(good), SCORED)]
        return Scored(-1 - np.arange(SCORED, dtype=np.int32), chosen, chosen @ self._weights)

    def _rows(self, rng: np.random.Generator, is_first: Flags) -> Rows:
        return self.world.rows(rng, is_first)

    def episodes(self, seed: int, count: int) -> Experience:
        """So many episodes of a seed."""
        rng = generator(self.name, seed)
        lengths = rng.geometric(1 / LONG, count) if self.ends else np.full(count, 10 * LONG)
        steps = int(lengths.sum())
        last = np.zeros(steps + 1, np.bool_)
        last[lengths.cumsum() - 1] = True
        is_first = np.concatenate([[True], last[:-1]]) & (self.ends | (np.arange(steps + 1) == 0))
        rows = self._rows(rng, is_first)
        x, w = rows.features, self._weights
        going = DISCOUNT * (1 - 1 / LONG if self.ends else 1.0)
        reward = (x - going * rows.ahead) @ w + NOISE * rng.standard_normal(len(x))
        jitter = getattr(self.world, "jitter", 0.0)
        x = x + jitter * rng.standard_normal(x.shape) if jitter else x
        seen, shown, good = x, rows.shown, np.ones(len(x), np.bool_)
        if self.fault is not None:
            seen, good = self.fault.seen(rng, x, rows.shown)
            shown = seen
            if rows.shown is not rows.features:
                shown = np.where(good[:, None], rows.shown, rng.random(rows.shown.shape))
        final = None if self.ends else x[1:][last[:-1]]
        log = Experience.from_log(
            seen[:steps],
            reward[:steps],
            discount=DISCOUNT,
            terminated=last[:-1] & self.ends,
            truncated=last[:-1],
            final=final,
        )
        observed = shown[:steps]
        if self.irrelevant:
            more = self.irrelevant * rng.standard_normal((steps, 1))
            observed = np.concatenate([observed, more], axis=1)
        given = None if observed is seen else observed
        return replace(log, observable=good[:steps], observation=given)


FAST = Numbers((0.6, 0.5, 0.4, 0.3, 0.3, 0.2, 0.1, 0.0))
PATTERNS, PLANE, IMAGES = States("patterns"), States("plane"), States("images", jitter=0.03)

NOTHING_WRONG = {
    "contexts": Kind(Numbers((0.0,) * 6), ends=False),
    "rows of fast numbers": Kind(FAST),
    "rows of fast numbers, continuing": Kind(FAST, ends=False),
    "rows with memory": Kind(Numbers((0.95,) * 6)),
    "four dimensions": Kind(Numbers((0.98,) * 4, (0.3, 0.1))),
    "eight dimensions": Kind(Numbers((0.97,) * 8, (0.5, 0.2, 0.1, 0.05)), ends=False),
    "slow drift": Kind(Numbers((0.999, 0.999, 0.3, 0.3, 0.3, 0.3)), ends=False),
    "seasons": Kind(Numbers((1.0, 1.0, 0.5, 0.5, 0.5), (2 * np.pi / 24,)), ends=False),
    "heavy-tailed numbers": Kind(Numbers((0.3,) * 6, freedom=2.5)),
    "walk": Kind(States("walk")),
    "patterns": Kind(PATTERNS),
    "jittered patterns": Kind(States("patterns", jitter=0.1)),
    "ring": Kind(States("ring"), ends=False),
    "recurring grid": Kind(States("grid"), ends=False),
    "categories": Kind(States("categories")),
    "counts": Kind(States("counts"), ends=False),
    "images": Kind(IMAGES),
    "plane": Kind(PLANE),
    "tiled plane": Kind(States("tiles")),
}
"""Streams in which there is nothing to distrust."""

WRONG = {
    "uniform noise": Kind(PATTERNS, Fault("uniform")),
    "normal noise": Kind(PATTERNS, Fault("normal")),
    "heavy-tailed noise": Kind(PATTERNS, Fault("heavy tails")),
    "noise with memory": Kind(PATTERNS, Fault("autoregressive")),
    "noise with memory, fast numbers": Kind(FAST, Fault("autoregressive")),
    "noise of few values": Kind(PATTERNS, Fault("few values")),
    "drifting sensor": Kind(PATTERNS, Fault("drifting")),
    "stuck at the last value": Kind(PATTERNS, Fault("stuck")),
    "zeros": Kind(PATTERNS, Fault("zeros")),
    "breaks for good": Kind(PATTERNS, Fault("normal", between=(0.5, 1.0))),
    "breaks for a while": Kind(PATTERNS, Fault("normal", between=(0.3, 0.6))),
    "salt and pepper": Kind(PATTERNS, Fault("few values", (0.1, 0.9), entries=True)),
    "one of six features": Kind(PATTERNS, Fault("one feature")),
    "some of six features": Kind(PATTERNS, Fault("normal", (0.03, 0.2), entries=True)),
    "irrelevant entry": Kind(PATTERNS, Fault("uniform"), irrelevant=10.0),
    "ring with noise": Kind(States("ring"), Fault("uniform"), ends=False),
    "fog in a plane": Kind(PLANE, Fault("normal", place=True)),
    "images, dark hand": Kind(IMAGES, Fault("hand")),
    "images, texture": Kind(IMAGES, Fault("texture")),
    "images, blob": Kind(IMAGES, Fault("blob")),
    "one column at −999": Kind(FAST, Fault("sentinel", (0.06, 0.25))),
    "rows at −999": Kind(FAST, Fault("row of sentinels", (0.06, 0.25))),
}
"""Streams in which observations fail, as an oracle knows."""
