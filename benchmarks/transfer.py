"""Transfer of learned preferences: what one task has taught, used in a larger one.

The larger task is learned twice, with a fresh `Learned()` and with the memory of one that has seen
the smaller task. The share is that of the oracle's gain over TD(λ), as in `preftd reproduce
learned`, over all episodes and over the first ones. All steps are bounded, and each method has the
step size that is best on other seeds. Grids are observed as a row and a column, one-hot each.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from preftd import PTD, TD, Experience, Linear, tasks
from preftd._src.arrays import Dense
from preftd._src.learners.steps import Steps
from preftd._src.paper.learned.studies import LINEAR_SIZES
from preftd.preferences import Learned, Observability
from preftd.rules import Carried, Rule, stream_coefficients
from preftd.tasks import Task, aliased, jittered

SEARCHED, SEEDS = range(1000, 1005), range(20)
FEW = 20
"""First episodes."""
LARGEST, DIVERGED = 16, 1e6


class Pair(NamedTuple):
    """A task that teaches, a larger one that is learned, and how many episodes of each."""

    small: Task
    large: Task
    episodes: tuple[int, int]
    observe: Callable[[Experience, np.random.Generator], Experience] = lambda e, _: e


def pairs() -> dict[str, Pair]:
    """Pairs by name."""
    short, long = (tasks.make("corridor", length=length) for length in (5, 25))
    doubles = [tasks.make("double_corridor", length=length) for length in (5, 15)]
    small, large = (tasks.make("cross_grid", size=size) for size in (8, LARGEST))
    found = {"corridor 5 to 25": Pair(short, long, (200, 200))}
    found["the same, aliased"] = Pair(aliased(short), _looks_like(aliased(short), long), (200, 200))
    for jitter in (0.05, 0.1):
        noisy = (jittered(short, jitter), jittered(long, jitter))
        found[f"the same, jitter {jitter}"] = Pair(*noisy, (200, 200))
    noisy = (jittered(doubles[0], 0.1), jittered(doubles[1], 0.1))
    found["double corridor 5 to 15, jitter 0.1"] = Pair(*noisy, (200, 200))
    for jitter in (0.0, 0.05, 0.1):
        name = f"cross grid 8 to {LARGEST}, jitter {jitter}"
        found[name] = Pair(small, large, (100, 40), _by_row_and_column(jitter))
    return found


def _looks_like(small: Task, large: Task) -> Task:
    """The large task, with hidden states that look as in the small one."""
    mean = large.features.rows(np.arange(large.features.states))
    mean[~large.observable] = small.features.rows(np.flatnonzero(~small.observable))[0]
    return Task(
        f"{large.name}, alike",
        large.outcomes,
        mean,
        large.discount,
        start=large.process.start,
        observable=large.observable,
    )


def _by_row_and_column(jitter: float) -> Callable[[Experience, np.random.Generator], Experience]:
    def observe(e: Experience, rng: np.random.Generator) -> Experience:
        states, shown = np.asarray(e.state), np.asarray(e.observable)
        side = int(np.sqrt(e.size))
        seen = rng.standard_normal((len(e), 2 * LARGEST))
        seen[shown] = np.eye(LARGEST)[np.stack([states // side, states % side], 1)[shown]].reshape(
            -1, 2 * LARGEST
        )
        return replace(e, observation=seen + jitter * rng.standard_normal(seen.shape))

    return observe


def curves(pair: Pair, seed: int) -> dict[str, Dense]:
    """Errors by method, each of shape (episodes, step sizes)."""
    rng = np.random.default_rng(seed)
    drawn = [
        pair.observe(task.sampler(seed).episodes(episodes), rng)
        for task, episodes in zip((pair.small, pair.large), pair.episodes, strict=True)
    ]
    taught = Carried(preference=Learned().stream(drawn[0])[1])
    methods: dict[str, tuple[Rule, Any, Carried, str]] = {
        "fresh": (PTD(), Learned(), Carried(), "held"),
        "transferred": (PTD(), Learned(), taught, "held"),
        "oracle": (PTD(), Observability(), Carried(), "held"),
        "TD(λ)": (TD(), Observability(), Carried(), "true_online"),
    }
    found = {}
    for name, (rule, preference, carried, view) in methods.items():
        steps = Steps.of(drawn[1], stream_coefficients(rule, preference, drawn[1], carried=carried))
        batch = Linear(view, bounded=True).start(drawn[1].size, list(LINEAR_SIZES), seed)
        found[name] = batch.learn(steps, pair.large.scored).clip(max=DIVERGED)
    return found


def table() -> Iterator[str]:
    """A row for each pair."""
    yield f"| | share, fresh | transferred | first {FEW} episodes, fresh | transferred |"
    yield "|---|---:|---:|---:|---:|"
    for name, pair in pairs().items():
        tried = [curves(pair, seed) for seed in SEARCHED]
        best = {m: int(np.mean([c[m].mean(0) for c in tried], 0).argmin()) for m in tried[0]}
        found = [curves(pair, seed) for seed in SEEDS]
        shares = []
        for some in (slice(None), slice(FEW)):
            error = {m: np.mean([c[m][some, best[m]] for c in found]) for m in best}
            gain = error["TD(λ)"] - error["oracle"]
            shares += [(error["TD(λ)"] - error[m]) / gain for m in ("fresh", "transferred")]
        yield f"| {name} | " + " | ".join(f"{100 * share:.1f} %" for share in shares) + " |"
