"""Calls from Python, one step at a time; the first call in a new process; memory of large studies.

The time of a first call is that of the whole Python process, including imports, after an earlier
process has filled the cache of compiled code.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.processes import PEAK, run_program
from benchmarks.timing import Contender, compete, digits, head, row
from preftd.experience import Indices
from preftd.learners import LeastSquaresLearner, LinearLearner, beta_returns
from preftd.rules import PTD

SECONDS = 1.0
"""How long each call is repeated."""
PREDICTIONS, FEATURES = 10_000, 100
CALLS = 200
"""The number of short calls that are timed together."""


def _update(learner: str, x: str) -> str:
    """The source of a program that makes one update."""
    return (
        "import numpy as np, preftd\n"
        f"learner, x = preftd.{learner}, {x}\n"
        "learner.update(x, 1.0, x, discount=0.9, beta=0.5)"
    )


def _study(learner: str, task: str, step_sizes: Sequence[float], episodes: int) -> str:
    """The source of a program that evaluates a method on two seeds."""
    return (
        "import preftd; from preftd.preferences import Observability\n"
        f"task, learner = preftd.tasks.make({task}), preftd.{learner}\n"
        f"preftd.evaluate(task, preftd.PTD(), Observability(), {step_sizes!r}, "
        f"episodes={episodes}, seeds=2, learner=learner)"
    )


_METHODS = (
    "Linear()",
    "Linear(view='true_online')",
    "Network(units=16)",
    "Network(units=16, view='forward')",
    "Network(units=16, view='held')",
)
FIRST_CALLS = {
    "`import preftd`, for comparison": "import preftd",
    "`LinearLearner.update`, vectors": _update("LinearLearner(9, preftd.PTD(), 0.1)", "np.ones(9)"),
    "`LinearLearner.update`, indices": _update(
        "LinearLearner(9, preftd.PTD(), 0.1)", "preftd.experience.Indices([3])"
    ),
    "`LeastSquaresLearner.update`": _update("LeastSquaresLearner(9, preftd.PTD())", "np.ones(9)"),
    **{f"`evaluate`, `{m}`": _study(m, "'corridor', length=5", [0.01], 2) for m in _METHODS},
}
STUDIES = {
    f"`{method}`": _study(method, "'cross_grid', size=16", [10.0**-k for k in range(4, 11)], 10)
    for method in _METHODS[2:]
}


def table(
    seconds: float = SECONDS,
    first_calls: Mapping[str, str] = FIRST_CALLS,
    studies: Mapping[str, str] = STUDIES,
) -> Iterator[str]:
    """Yield the lines of three Markdown tables: calls, first calls, memory."""
    yield from head(["call", "µs", "at most"])
    for name, (contender, most) in calls().items():
        ns = compete({name: contender}, seconds).ns[name]
        yield row([name, digits(ns / 1e3), most])
    yield ""
    yield from head(["first call in a new process", "s", "at most"])
    for name, program in first_calls.items():
        run_program(program)
        taken = min(run_program(program)[0] for _ in range(3))
        yield row([name, f"{taken:.2f}", "1.5"])
    yield ""
    yield from head(["study of the 16 × 16 grid, 7 step sizes, 2 seeds", "peak GiB", "at most"])
    for name, program in studies.items():
        _, printed = run_program(f"{program}\n{PEAK}")
        yield row([name, f"{float(printed):.2f}", "2"])


def calls() -> dict[str, tuple[Contender, str]]:
    """Return contenders by name, each with its target in µs (empty: no target)."""
    draw = np.random.default_rng(0)
    vectors = draw.standard_normal((2, FEATURES))
    found: dict[str, tuple[Contender, str]] = {}

    def learner(size: int, predictions: int | None = None, **given: Any) -> Callable[[], Any]:
        x, y = given.get("indices", vectors)
        learner = LinearLearner(size, PTD(), 1e-4, predictions=predictions)
        return lambda: learner.update(x, 1.0, y, discount=0.9, beta=0.5)

    found[f"`LinearLearner.update`, {FEATURES} features"] = _repeated(learner(FEATURES)), "3"
    for size in (1_000, 1_000_000):
        indices = [Indices(some) for some in draw.integers(0, size, (2, 8))]
        name = f"`LinearLearner.update`, 8 ones among {size:,}"
        found[name] = _repeated(learner(size, indices=indices)), ""
    name = f"`LinearLearner.update`, {PREDICTIONS:,} predictions × {FEATURES} features"
    found[name] = _repeated(learner(FEATURES, PREDICTIONS), 1), ""
    reward, value, beta = draw.uniform(0, 1, (3, 512, 32))
    returns = _repeated(lambda: beta_returns(reward, value, beta, discount=0.99))
    found["`beta_returns`, 512 steps × 32 streams"] = returns, "100"
    squares = LeastSquaresLearner(32, PTD())
    x, y = draw.standard_normal((2, 32))
    found["`LeastSquaresLearner.update`, 32 features"] = (
        _repeated(lambda: squares.update(x, 1.0, y, discount=0.9, beta=0.5)),
        "",
    )
    return found


def _repeated(call: Callable[[], Any], times: int = CALLS) -> Contender:
    def run(_: Any) -> None:
        for _ in range(times):
            call()

    return Contender(run, times)
