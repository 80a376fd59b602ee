"""Other ways to learn a preference, beside an oracle, β ≡ 1, TD(λ) and `Learned()`.

Each method is given the step size that is best on other seeds, and errors are averaged over all
episodes, as in the benchmark of learned preferences. All steps are bounded.
"""

from collections.abc import Iterator, Mapping, Sequence

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


def rival_errors(rival: Specification, case: Case, seed: int) -> Vector:
    """The error of a method on a case, averaged over episodes, by step size."""
    signals = stream_coefficients(PTD(), Constant(1.0), case.experience)
    steps = Steps.of(case.experience, signals)
    codes = -1 - np.arange(len(case.values), dtype=np.int32)
    batch = rival.start(case.scored.shape[1], STEP_SIZES.tolist(), seed)
    found = batch.learn(steps, Scored(codes, case.scored, case.values))
    return np.asarray(found.clip(max=DIVERGED).mean(axis=0))


def rival_score(
    rival: Specification, make: Maker, searched: Sequence[int], seeds: Sequence[int]
) -> Vector:
    """Errors on `seeds`, shape (seeds,), with the step size chosen on `searched`."""
    best = np.mean([rival_errors(rival, make(s), s) for s in searched], axis=0).argmin()
    return np.array([rival_errors(rival, make(s), s)[best] for s in seeds])


def table(
    names: Sequence[str] = SHOWN,
    rivals: Mapping[str, Specification] = RIVALS,
    searched: int = 5,
    seeds: int = 20,
) -> Iterator[str]:
    """The lines of a table with one row per method: mean error ± its standard error."""
    every, chosen, reported = cases(), range(searched), range(100, 100 + seeds)
    known = {name: score(every[name], chosen, reported).errors for name in names}
    yield "| method | " + " | ".join(names) + " |"
    yield "|---|" + "---:|" * len(names)
    for method in METHODS[:-1]:
        yield _row(method, [known[name][method] for name in names])
    for label, rival in rivals.items():
        yield _row(label, [rival_score(rival, every[name], chosen, reported) for name in names])


def _row(label: str, errors: Sequence[Vector]) -> str:
    of_mean = [e.std(ddof=1) / np.sqrt(len(e)) for e in errors]
    shown = [f"{e.mean():.3f} ± {s:.3f}" for e, s in zip(errors, of_mean, strict=True)]
    return f"| {label} | " + " | ".join(shown) + " |"
