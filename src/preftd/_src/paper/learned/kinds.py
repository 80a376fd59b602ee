"""Kinds of streams: worlds without faults, and faults of observations.

A `Kind` is a world and a fault. Features of a world are x_t, and values are v_t = w·x_t exactly:
each step pays v_t − γ E[v_{t+1} | state at t], and noise. So a linear learner can be right,
whatever the world is, and no value is estimated.

A fault defines the observation in place of x_t, and the steps at which x_t is not to be trusted. An
oracle knows these steps. Preferences and learners see the same, unless a world shows other numbers.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, final

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.paper.learned.faults import Fault
from preftd._src.paper.learned.worlds import Both, Flags, Numbers, Rows, Sparse, States, World
from preftd._src.randomness import generator
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience

DISCOUNT, LONG, NOISE = 0.9, 40, 0.5
"""The discount, the mean length of episodes, and the standard deviation of the noise of rewards."""
SCORED, DRAWN = 200, 20_000
"""States that are scored, and steps of the stream that they are from."""


class Seen(NamedTuple):
    """Episodes of a kind.

    experience  what learners and preferences see
    good        which entries of features are good, shape (steps, size)
    features    x_t, shape (steps, size)
    """

    experience: Experience
    good: Flags
    features: Dense


@final
@dataclass(frozen=True)
class Kind:
    """A world and its fault, as a stream that a study can learn from.

    Parameters
    ----------
    world, fault
        The world, and the fault of its sensor.
    ends
        Whether episodes end; else pieces of ten times the length are cut from one stream.
    irrelevant
        Standard deviation of one more entry that preferences see; 0 means that there is none.
    """

    world: World
    fault: Fault | None = None
    ends: bool = True
    irrelevant: float = 0.0

    @property
    def name(self) -> str:
        """All its parts."""
        return repr(self)

    @property
    def size(self) -> int:
        """The number of features."""
        return self.world.size

    @cached_property
    def weights(self) -> Vector:
        """w, for which values have variance 1."""
        rng = generator("weights", repr(self.world))
        x = self.world.rows(rng, np.arange(DRAWN) % LONG == 0).features
        w = rng.standard_normal(self.size)
        return np.asarray(w / (x @ w).std())

    @cached_property
    def scored(self) -> Scored:
        """States where the sensor does not fail, and their values."""
        rng = generator("scored", self.name)
        rows = self.world.rows(rng, np.arange(DRAWN) % LONG == 0)
        good = np.all(self._seen(rng, rows)[1], axis=1)
        chosen = rows.features[rng.choice(np.flatnonzero(good), SCORED)]
        return Scored(-1 - np.arange(SCORED, dtype=np.int32), chosen, chosen @ self.weights)

    def episodes(self, seed: int, count: int) -> Experience:
        """Return `count` episodes of a seed."""
        return self.draw(seed, count).experience

    def draw(self, seed: int, count: int) -> Seen:
        """Also return which rows are good, and the true observations."""
        rng = generator(self.name, seed)
        lengths = rng.geometric(1 / LONG, count) if self.ends else np.full(count, 10 * LONG)
        steps = int(lengths.sum())
        last = np.isin(np.arange(steps), lengths.cumsum() - 1)
        is_first = np.concatenate([[True], last & self.ends])  # one row more: what is seen finally
        rows = self.world.rows(rng, is_first)
        going = DISCOUNT * (1 - 1 / LONG if self.ends else 1.0)
        paid = (rows.features - going * rows.ahead) @ self.weights
        x, good = self._seen(rng, rows)
        log = Experience.from_log(
            x[:-1],
            paid[:-1] + NOISE * rng.standard_normal(steps),
            discount=DISCOUNT,
            terminated=last & self.ends,
            truncated=last,
            final=None if self.ends else x[1:][last],
        )
        is_good = np.asarray(np.all(good, axis=1))
        shown = x if rows.shown is rows.features else rows.shown
        if shown is not x:  # what it is instead tells no more than features do
            shown = np.where(is_good[:, None], shown, rng.random(shown.shape))
        if self.irrelevant:
            more = self.irrelevant * rng.standard_normal((len(x), 1))
            shown = np.concatenate([shown, more], axis=1)
        other = None if shown is x else shown[:-1]
        experience = replace(log, observable=is_good[:-1], observation=other)
        return Seen(experience, good[:-1], rows.features[:-1])

    def _seen(self, rng: np.random.Generator, rows: Rows) -> tuple[Dense, Flags]:
        """The observation, with jitter, and which entries are good."""
        x = rows.features + self.world.jitter * rng.standard_normal(rows.features.shape)
        if self.fault is None:
            return x, np.ones(x.shape, np.bool_)
        return self.fault.seen(rng, x, rows.shown)


FAST, SLOW = Numbers((0.6, 0.5, 0.4, 0.3, 0.3, 0.2, 0.1, 0.0)), Numbers((0.95,) * 6)
PATTERNS, PLANE, IMAGES = States("patterns"), States("plane"), States("images", jitter=0.03)

NOTHING_WRONG = {
    "contexts": Kind(Numbers((0.0,) * 6), ends=False),
    "fast rows": Kind(FAST),
    "fast rows, continuing": Kind(FAST, ends=False),
    "slow rows": Kind(SLOW),
    "four dimensions": Kind(Numbers((0.98,) * 4, (0.3, 0.1))),
    "eight dimensions": Kind(Numbers((0.97,) * 8, (0.5, 0.2, 0.1, 0.05)), ends=False),
    "slow drift": Kind(Numbers((0.999, 0.999, 0.3, 0.3, 0.3, 0.3)), ends=False),
    "seasons": Kind(Numbers((1.0, 1.0, 0.5, 0.5, 0.5), (2 * np.pi / 24,)), ends=False),
    "heavy-tailed rows": Kind(Numbers((0.3,) * 6, freedom=2.5)),
    "sparse rows": Kind(Sparse(6, 0.85)),
    "categories and numbers": Kind(Both(States("categories"), Numbers((0.3, 0.6, 0.9)))),
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
    "wide noise": Kind(PATTERNS, Fault("wide")),
    "heavy-tailed noise": Kind(PATTERNS, Fault("heavy-tailed")),
    "very heavy-tailed noise": Kind(PATTERNS, Fault("very heavy-tailed")),
    "noise with memory": Kind(PATTERNS, Fault("autoregressive")),
    "noise of few values": Kind(PATTERNS, Fault("few values")),
    "drifting sensor": Kind(PATTERNS, Fault("drifting")),
    "stuck at the last value": Kind(PATTERNS, Fault("stuck")),
    "stuck at zero": Kind(PATTERNS, Fault("zeros")),
    "breaks for good": Kind(PATTERNS, Fault("wide", between=(0.5, 1.0))),
    "breaks for a while": Kind(PATTERNS, Fault("wide", between=(0.3, 0.6))),
    "salt and pepper": Kind(PATTERNS, Fault("extremes", (0.1, 0.9), alone=(0, 6))),
    "one of six features": Kind(PATTERNS, Fault("wide", alone=(2, 3))),
    "some of six features": Kind(PATTERNS, Fault("wide", (0.03, 0.2), alone=(0, 6))),
    "irrelevant entry": Kind(PATTERNS, Fault("uniform"), irrelevant=10.0),
    "jittered patterns, noise": Kind(States("patterns", jitter=0.1), Fault("uniform")),
    "ring with noise": Kind(States("ring"), Fault("uniform"), ends=False),
    "ring, stuck": Kind(States("ring"), Fault("stuck"), ends=False),
    "four dimensions, stuck": Kind(Numbers((0.98,) * 4, (0.3, 0.1)), Fault("stuck")),
    "categories, wide noise": Kind(States("categories"), Fault("wide")),
    "fog in a plane": Kind(PLANE, Fault("normal", inside=(0.3, 0.9))),
    "plane with noise": Kind(PLANE, Fault("normal")),
    "plane, breaks for a while": Kind(PLANE, Fault("normal", between=(0.3, 0.6))),
    "images, dark hand": Kind(IMAGES, Fault("hand")),
    "images, texture": Kind(IMAGES, Fault("texture")),
    "images, blob": Kind(IMAGES, Fault("blob")),
    "slow rows, noise": Kind(SLOW, Fault("wide")),
    "slow rows, drifting sensor": Kind(SLOW, Fault("drifting")),
    "fast rows, wide noise": Kind(FAST, Fault("wide")),
    "fast rows, noise with memory": Kind(FAST, Fault("autoregressive")),
    "fast rows, one column at −999": Kind(FAST, Fault("−999", (0.06, 0.25), alone=(2, 3))),
    "fast rows, all at −999": Kind(FAST, Fault("−999", (0.06, 0.25))),
}
"""Streams in which observations fail, as an oracle knows."""
