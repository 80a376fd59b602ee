"""Learned preferences: the time of a step, compared with a plain linear update.

How well they do is a benchmark of its own: `preftd reproduce learned`.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.timing import Contender, compete, digits, head, row
from preftd import tasks
from preftd.experience import Experience
from preftd.learners import LinearLearner
from preftd.preferences import Constant, Learned
from preftd.rules import PTD
from preftd.tasks import Task, jittered

SECONDS = 1.0
"""How long each stream is repeated."""
FIRST, LATER = 1000, 10_000
"""Steps that are timed: the first ones, and those after them."""
GOALS = {3: 2.0, 64: 10.0}
"""µs per step that are aimed at, by the number of features."""


class Halves(NamedTuple):
    """The first steps of a stream, and later ones."""

    first: Experience
    later: Experience

    @classmethod
    def of(cls, task: Task) -> "Halves":
        """Those of a task."""
        sampler = task.sampler(seed=0)
        return cls(sampler.steps(FIRST), sampler.steps(LATER))


def streams() -> dict[str, Task]:
    """Streams by name: the corridor and the grid of the paper, without jitter and with it."""
    corridor, grid = tasks.make("corridor", length=10), tasks.make("cross_grid", size=8)
    return {
        "corridor": corridor,
        "corridor, jitter 0.05": jittered(corridor, 0.05),
        "grid": grid,
        "grid, jitter 0.05": jittered(grid, 0.05),
    }


def contenders(halves: Halves) -> dict[str, Contender]:
    """Learned preferences at the start of a stream and later, and linear updates."""
    memory = Learned().stream(halves.first)[1]

    def learn(_: Any) -> None:
        learner = LinearLearner(halves.later.size, PTD(), 0.01)
        learner.learn(halves.later, Constant(1.0))

    return {
        "first": Contender(lambda _: Learned().stream(halves.first), FIRST),
        "later": Contender(lambda _: Learned().stream(halves.later, memory), LATER),
        "linear": Contender(learn, LATER),
    }


def table(seconds: float = SECONDS) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    columns = ["stream", "features", f"µs, first {FIRST:,} steps", "µs, later", "at most"]
    yield from head([*columns, "linear update, µs", "later, in updates"])
    for name, task in streams().items():
        times = compete(contenders(Halves.of(task)), seconds)
        size = task.features.size
        first, later, linear = (digits(times.ns[one] / 1e3) for one in ("first", "later", "linear"))
        ratio = times.ratio("later", "linear")
        yield row([name, str(size), first, later, digits(GOALS[size]), linear, ratio])
