"""Other ways to learn a preference, beside an oracle, β ≡ 1, TD(λ) and `Learned()`.

Each method is given the step size that is best on other seeds, and errors are averaged over all
episodes, as in the benchmark of learned preferences. All steps are bounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from preftd import PTD
from preftd.arrays import Vector
from preftd.bench.learned import DIVERGED, METHODS, score
from preftd.bench.learned_cases import Case, Maker, cases
from preftd.bench.learned_errors import STEP_SIZES
from preftd.learners.custom import Specification
from preftd.learners.steps import Steps
from preftd.paper.learned.rivals import RIVALS
from preftd.preferences import Constant
from preftd.rules import stream_coefficients
from preftd.tasks.scored import Scored

SHOWN = (
    "corridor 5",
    "corridor 5, aliased",
    "double corridor 5",
    "cross grid 8",
    "random walk",
)


def prepared(case: Case) -> tuple[Steps, Scored]:
    """A case as learners of studies take it; they do not look at its β."""
    signals = stream_coefficients(PTD(), Constant(1.0), case.experience)
    codes = -1 - np.arange(len(case.values), dtype=np.int32)
    scored = Scored(codes, case.scored, case.values)
    return Steps.of(case.experience, signals), scored


def rival_errors(rival: Specification, case: Case, seed: int) -> Vector:
    """The error of a method on a case, averaged over episodes, by step size."""
    batch = rival.start(case.scored.shape[1], STEP_SIZES.tolist(), seed)
    found = batch.learn(*prepared(case))
    return np.asarray(found.clip(max=DIVERGED).mean(axis=0))


class Found(NamedTuple):
    """What a method reaches on a case."""

    errors: Vector
    """Shape (seeds,)."""
    trust: tuple[float, float]
    """Mean trust in observable and in hidden states (NaN: there are none), over the last half."""


def rival_score(
    rival: Specification, make: Maker, searched: Sequence[int], seeds: Sequence[int]
) -> Found:
    """What is found on `seeds`, with the step size chosen on `searched`."""
    best = int(np.mean([rival_errors(rival, make(s), s) for s in searched], axis=0).argmin())
    errors = np.array([rival_errors(rival, make(s), s)[best] for s in seeds])
    trust = np.mean([_trust(rival, make(s), s, STEP_SIZES[best]) for s in seeds], axis=0)
    return Found(errors, (float(trust[0]), float(trust[1])))


def _trust(rival: Specification, case: Case, seed: int, step_size: float) -> list[float]:
    steps, scored = prepared(case)
    batch: Any = rival.start(case.scored.shape[1], [step_size], seed)
    found = []
    for which in steps.episodes():
        batch.learn(steps.part(which), scored)
        found.append(batch.trust[:, 0])
    late = np.repeat(np.arange(len(found)), [len(t) for t in found]) >= len(found) // 2
    trust, places = np.concatenate(found), (late & case.observable, late & ~case.observable)
    return [float(trust[place].mean()) if place.any() else np.nan for place in places]


def table(
    names: Sequence[str] = SHOWN,
    rivals: Mapping[str, Specification] = RIVALS,
    searched: int = 5,
    seeds: int = 10,
) -> Iterator[str]:
    """Two tables with a row per method: error ± its standard error; trust, observable / hidden."""
    every, chosen, reported = cases(), range(searched), range(100, 100 + seeds)
    known = {name: score(every[name], chosen, reported).errors for name in names}
    head = ("| method | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names))
    yield from head
    for method in METHODS[:-1]:
        yield _row(method, [_error_text(known[name][method]) for name in names])
    trusted = []
    for label, rival in rivals.items():
        found = [rival_score(rival, every[name], chosen, reported) for name in names]
        yield _row(label, [_error_text(f.errors) for f in found])
        trusted.append(_row(label, [f"{f.trust[0]:.2f} / {f.trust[1]:.2f}" for f in found]))
    yield from ("", *head, *trusted)


def _row(label: str, entries: Sequence[str]) -> str:
    return f"| {label} | " + " | ".join(entries).replace("nan", "–") + " |"


def _error_text(errors: Vector) -> str:
    return f"{errors.mean():.3f} ± {errors.std(ddof=1) / np.sqrt(len(errors)):.3f}"
