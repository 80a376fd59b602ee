"""The overhead of the experiment engine: the time of a study beyond learning.

First, studies run in this process. The time that is not spent learning is the engine's: describing
cells, choosing step sizes, combining results, and waiting for the thread that writes files (also
while that thread interrupts the learning). The CPU time of the engine in all threads is measured
separately, because it delays learning when all cores learn. Then studies run with a process per
core, and once more when all results are stored. Everything is compiled beforehand, but each round
builds its studies again. Every number is the best of several rounds, because other programs on the
machine only add time.
"""

import gc
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, final

from benchmarks.timing import ROUNDS, digits, head, row
from preftd._src.experiments.executors import Executor, Here, Processes
from preftd._src.experiments.inputs import as_workers
from preftd._src.experiments.jobs import Job, JobResult, compute
from preftd._src.experiments.progress import Lines
from preftd._src.experiments.runner import run
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study
from preftd._src.paper.corridors.studies import STUDIES as CORRIDORS
from preftd._src.paper.walk.studies import STUDIES as WALKS
from preftd.learners import Network
from preftd.preferences import Observability
from preftd.rules import ETD, PTD, TD
from preftd.tasks import make

RULES = {"TD(λ)": TD(), "ETD": ETD(interest=Observability(0.5, 0.0)), "PTD": PTD()}
STEP_SIZES = [10 ** (-i / 6) for i in range(18)]


def studies(scale: float = 1.0) -> dict[str, list[Study]]:
    """Return studies by name: many small cells, few large ones, and the paper's short studies."""
    lengths = (5, 10, 15, 20, 25)
    many = Study(
        name="linear",
        tasks=[make("corridor", length=length) for length in lengths],
        rules=RULES,
        preferences=Observability(),
        step_sizes=STEP_SIZES,
        episodes=100,
        seeds=max(1, round(400 * scale)),
    )
    few = Study(
        name="networks",
        tasks=make("cross_grid", size=8),
        rules=RULES,
        preferences=Observability(),
        step_sizes=STEP_SIZES[::3],
        episodes=50,
        seeds=max(1, round(40 * scale)),
        learners=[Network(units) for units in (4, 16)],
    )
    seeds = None if scale == 1 else max(1, round(25 * scale))
    paper = [made if seeds is None else made.with_seeds(seeds) for made in _paper_studies()]
    return {"linear": [many], "networks": [few], "the paper's": paper}


def table(scale: float = 1.0) -> Iterator[str]:
    """Yield the lines of a Markdown table: seconds, and the engine's share."""
    cores = as_workers(None)
    yield from head(
        ["studies", "cells", "learning s", "engine s", "engine, % of learning", "its CPU s",
         f"{cores} processes s", f"learning / {cores} s", "run again s"]
    )  # fmt: skip
    with Processes() as processes:
        for name, some in studies(scale).items():
            with TemporaryDirectory() as folder:
                _run(some, Path(folder), _Timed())  # compiles
            rounds = [_round(studies(scale)[name]) for _ in range(ROUNDS)]
            learning, engine, computing = (min(times) for times in zip(*rounds, strict=True))
            with TemporaryDirectory() as folder:
                _run(some, Path(folder) / "first", processes)  # starts and compiles
                outs = [Path(folder) / f"{i}" for i in range(ROUNDS)]
                together = min(_run(studies(scale)[name], out, processes) for out in outs)
                again = min(_run(studies(scale)[name], out, Here()) for out in outs)
                cells = len(Store(outs[0]).stored())
            yield row([
                name, f"{cells:,}", digits(learning), digits(engine),
                f"{100 * engine / learning:.1f}", digits(computing),
                digits(together), digits(learning / cores), digits(again),
            ])  # fmt: skip


def _paper_studies() -> list[Study]:
    return [study.study() for study in (*WALKS, *CORRIDORS)]


class _Round(NamedTuple):
    """Seconds of a run."""

    learning: float
    engine: float
    computing: float
    """CPU time of all threads, except for learning."""


@final
class _Timed:
    """Runs jobs in this process, and measures the CPU time of their thread."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Run the jobs in order."""
        for job in jobs:
            began = time.thread_time()
            done = compute(job)
            self.seconds += time.thread_time() - began
            yield done


def _round(some: Sequence[Study]) -> _Round:
    timed = _Timed()
    gc.collect()  # garbage of earlier rounds and of compiling is not counted
    with TemporaryDirectory() as folder:
        began = time.process_time()
        seconds = _run(some, Path(folder), timed)
        computed = time.process_time() - began
    return _Round(timed.seconds, seconds - timed.seconds, computed - timed.seconds)


def _run(some: Sequence[Study], out: Path, executor: Executor) -> float:
    """Run studies one after the other and return the seconds that it takes."""
    out.mkdir(exist_ok=True)
    store = Store(out)
    began = time.perf_counter()
    with (out / "progress.txt").open("w") as lines:
        for study in some:
            run(study, store, executor=executor, progress=Lines(lines))
    return time.perf_counter() - began
