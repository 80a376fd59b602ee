"""The experiment engine: what a study takes beyond the learning itself.

Studies are run in this process, and of each run it is measured how much of it was spent learning;
all else is the engine's: describing cells, choosing step sizes, putting results together, and
waiting for files to be written, which a thread does while the next job learns: that it takes turns
with the learning is waiting too. What the engine computes altogether, also in threads for which
nobody waits, is measured apart: where all cores learn, it takes the place of learning. Then studies
are run with a process for each core, and asked for again when all is stored. Everything is compiled
beforehand, but studies are built anew for each round. Of every number the best of some rounds
counts: what else runs on the machine, or beside it, only adds to them.
"""

import gc
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, final

from preftd.bench.timing import ROUNDS, digits, head, row
from preftd.experiments.executors import Executor, Here, Processes
from preftd.experiments.inputs import as_workers
from preftd.experiments.jobs import Job
from preftd.experiments.progress import Lines
from preftd.experiments.runner import run
from preftd.experiments.store import Store
from preftd.experiments.study import Study
from preftd.experiments.work import JobResult, compute
from preftd.learners import Network
from preftd.paper.contents import STUDIES
from preftd.preferences import Observability
from preftd.rules import ETD, PTD, TD
from preftd.tasks import make

RULES = {"TD(λ)": TD(), "ETD": ETD(interest=Observability(0.5, 0.0)), "PTD": PTD()}
STEP_SIZES = [10 ** (-i / 6) for i in range(18)]


def studies(scale: float = 1.0) -> dict[str, list[Study]]:
    """Many cells of little work, few of much, and the paper's walks and corridors."""
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
    paper = [made if seeds is None else made.with_seeds(seeds) for made in _of_the_paper()]
    return {"linear": [many], "networks": [few], "the paper's": paper}


def table(scale: float = 1.0) -> Iterator[str]:
    """Seconds, and the engine's share, in a Markdown table."""
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
                rooms = [Path(folder) / f"{i}" for i in range(ROUNDS)]
                together = min(_run(studies(scale)[name], room, processes) for room in rooms)
                again = min(_run(studies(scale)[name], room, Here()) for room in rooms)
                cells = len(Store(rooms[0]).stored())
            yield row([
                name, f"{cells:,}", digits(learning), digits(engine),
                f"{100 * engine / learning:.1f}", digits(computing),
                digits(together), digits(learning / cores), digits(again),
            ])  # fmt: skip


def _of_the_paper() -> list[Study]:
    return [study.study() for study in STUDIES if not study.long_search]


class _Round(NamedTuple):
    """Seconds of a run."""

    learning: float
    engine: float
    computing: float
    """What all threads computed beside the learning."""


@final
class _Timed:
    """Computes here, and measures for how long, less what this thread waits for another."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Compute the jobs in order."""
        for job in jobs:
            began = time.thread_time()
            done = compute(job)
            self.seconds += time.thread_time() - began
            yield done


def _round(some: Sequence[Study]) -> _Round:
    timed = _Timed()
    gc.collect()  # what is left of other rounds, and of compiling, is not this one's
    with TemporaryDirectory() as folder:
        began = time.process_time()
        seconds = _run(some, Path(folder), timed)
        computed = time.process_time() - began
    return _Round(timed.seconds, seconds - timed.seconds, computed - timed.seconds)


def _run(some: Sequence[Study], out: Path, executor: Executor) -> float:
    """Run studies one after the other; seconds."""
    out.mkdir(exist_ok=True)
    store = Store(out)
    began = time.perf_counter()
    with (out / "progress.txt").open("w") as told:
        for study in some:
            run(study, store, executor=executor, progress=Lines(told))
    return time.perf_counter() - began
