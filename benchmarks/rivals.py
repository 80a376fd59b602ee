"""Other ways to learn a preference, compared with an oracle, β ≡ 1, TD(λ) and `Learned()`.

Each method is given the step size that is best on other seeds, and errors are averaged over all
episodes, as in the benchmark of learned preferences. All steps are bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from benchmarks.published import RIVALS
from preftd import PTD
from preftd._src.arrays import Vector
from preftd._src.experience.stream import Flags
from preftd._src.experiments.study import FIRST_SEARCH_SEED
from preftd._src.learners.custom import Specification
from preftd._src.learners.steps import Steps
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.quick_look import look
from preftd._src.paper.learned.scores import Scores
from preftd._src.paper.learned.studies import GROUPS, LEARNED, LINEAR_SIZES, ONE, ORACLE, TD_LAMBDA
from preftd._src.tasks.scored import Scored
from preftd.preferences import Constant
from preftd.rules import stream_coefficients

SHOWN = (
    "corridor 5",
    "corridor 5, aliased",
    "double corridor 5",
    "cross grid 8",
    "random walk 19",
)
METHODS = (LEARNED, ORACLE, ONE, TD_LAMBDA)
DIVERGED = 1e6
"""The largest error that counts."""


class Drawn(NamedTuple):
    """A case of a seed, as learners of studies take it; they do not look at its β."""

    steps: Steps
    scored: Scored
    observable: Flags

    @classmethod
    def of(cls, name: str, seed: int, episodes: int | None = None) -> "Drawn":
        """So many episodes of a case (default: those of its study)."""
        case = CASES[name]
        task = case.source(seed)
        drawn = task.sampler(seed).episodes(episodes or GROUPS[case.group].episodes)
        signals = stream_coefficients(PTD(), Constant(1.0), drawn)
        return cls(Steps.of(drawn, signals), task.scored, np.asarray(drawn.observable))


def rival_errors(rival: Specification, drawn: Drawn, seed: int) -> Vector:
    """The error of a method on a case, averaged over episodes, by step size."""
    batch = rival.start(drawn.scored.dense.shape[1], list(LINEAR_SIZES), seed)
    found = batch.learn(drawn.steps, drawn.scored)
    return np.asarray(found.clip(max=DIVERGED).mean(axis=0))


class Found(NamedTuple):
    """What a method reaches on a case."""

    errors: Vector
    """Shape (seeds,)."""
    trust: tuple[float, float]
    """Mean trust in observable and in hidden states (NaN: there are none), over the last half."""


def rival_score(
    rival: Specification, searched: Mapping[int, Drawn], reported: Mapping[int, Drawn]
) -> Found:
    """What is found on the seeds that are reported, with the step size chosen on others."""
    tried = [rival_errors(rival, drawn, seed) for seed, drawn in searched.items()]
    best = int(np.mean(tried, axis=0).argmin())
    errors = [rival_errors(rival, drawn, seed)[best] for seed, drawn in reported.items()]
    trust = np.mean(
        [_trust(rival, drawn, seed, LINEAR_SIZES[best]) for seed, drawn in reported.items()], axis=0
    )
    return Found(np.array(errors), (float(trust[0]), float(trust[1])))


def _trust(rival: Specification, drawn: Drawn, seed: int, step_size: float) -> list[float]:
    batch: Any = rival.start(drawn.scored.dense.shape[1], [step_size], seed)
    found = []
    for which in drawn.steps.episodes():
        batch.learn(drawn.steps.part(which), drawn.scored)
        found.append(batch.trust[:, 0])
    late = np.repeat(np.arange(len(found)), [len(t) for t in found]) >= len(found) // 2
    trust, places = np.concatenate(found), (late & drawn.observable, late & ~drawn.observable)
    return [float(trust[place].mean()) if place.any() else np.nan for place in places]


def table(
    names: Sequence[str] = SHOWN,
    rivals: Mapping[str, Specification] = RIVALS,
    searched: int = 5,
    seeds: int = 10,
) -> Iterator[str]:
    """Two tables with a row per method: error ± its standard error; trust, observable / hidden."""
    with TemporaryDirectory() as folder:
        known = {name: look(CASES[name], Path(folder), seeds) for name in names}
    tried = {name: _drawn(name, FIRST_SEARCH_SEED, searched) for name in names}
    reported = {name: _drawn(name, 0, seeds) for name in names}
    head = ("| method | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names))
    yield from head
    for method in METHODS:
        yield _row(method, [_error_text(_errors(known[name], method)) for name in names])
    trusted = []
    for label, rival in rivals.items():
        found = [rival_score(rival, tried[name], reported[name]) for name in names]
        yield _row(label, [_error_text(f.errors) for f in found])
        trusted.append(_row(label, [f"{f.trust[0]:.2f} / {f.trust[1]:.2f}" for f in found]))
    yield from ("", *head, *trusted)


def _drawn(name: str, first: int, count: int) -> dict[int, Drawn]:
    """A case by seed."""
    return {seed: Drawn.of(name, seed) for seed in range(first, first + count)}


def _errors(known: Scores, method: str) -> Vector:
    return known.learned() if method == LEARNED else known.best(method)


def _row(label: str, entries: Sequence[str]) -> str:
    return f"| {label} | " + " | ".join(entries).replace("nan", "–") + " |"


def _error_text(errors: Vector) -> str:
    return f"{errors.mean():.3f} ± {errors.std(ddof=1) / np.sqrt(len(errors)):.3f}"
