"""The experiment engine: what a study takes beyond the learning itself.

Each study is computed job by job with nothing around it, then by `run` in this process, by `run`
with a process for each core, and then asked for again when all is stored. Everything is compiled
beforehand, and processes are started anew.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from preftd.bench.contest import digits, head, row
from preftd.experiments.cells import Job, jobs, report_cells
from preftd.experiments.executors import Executor, Here, Processes, first_episodes
from preftd.experiments.inputs import as_workers
from preftd.experiments.progress import Lines
from preftd.experiments.runner import run
from preftd.experiments.study import Study
from preftd.experiments.work import compute
from preftd.learners import Network
from preftd.preferences import Observability
from preftd.rules import ETD, PTD, TD
from preftd.tasks import make

RULES = {"TD(λ)": TD(), "ETD": ETD(interest=Observability(0.5, 0.0)), "PTD": PTD()}
STEP_SIZES = [10 ** (-i / 6) for i in range(18)]


def studies(scale: float = 1.0) -> list[Study]:
    """Many cells of little work, and few of much."""
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
    return [many, few]


def table(scale: float = 1.0) -> Iterator[str]:
    """Seconds, and how much longer a study takes than its learning, in a Markdown table."""
    cores = as_workers(None)
    yield from head(
        ["study", "cells", "learning s", "run here s", "more, %", f"{cores} processes s",
         f"learning / {cores} s", "more, %", "run again s"]
    )  # fmt: skip
    for study in studies(scale):
        pieces = jobs(report_cells(study, {}))
        _seconds_of(first_episodes(pieces))  # compiles
        with TemporaryDirectory() as here, TemporaryDirectory() as there:
            learning = _seconds_of(pieces)
            alone = _run(study, Path(here), Here())
            again = _run(study, Path(here), Here())
            with Processes() as processes:
                together = _run(study, Path(there), processes)
        share = learning / cores
        cells = sum(len(job.cells) for job in pieces)
        yield row([
            study.name, f"{cells:,}", digits(learning), digits(alone), _more(alone, learning),
            digits(together), digits(share), _more(together, share), digits(again),
        ])  # fmt: skip


def _seconds_of(pieces: Sequence[Job]) -> float:
    began = time.perf_counter()
    for job in pieces:
        compute(job)
    return time.perf_counter() - began


def _run(study: Study, out: Path, executor: Executor) -> float:
    with (out / "progress.txt").open("w") as told:
        began = time.perf_counter()
        run(study, out, executor=executor, progress=Lines(told))
        return time.perf_counter() - began


def _more(taken: float, least: float) -> str:
    return f"{100 * (taken / least - 1):.1f}"
