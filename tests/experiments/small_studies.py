"""Studies that take no time, and what tests of the engine look at."""

import itertools
import json
import os
import subprocess
import sys
import time
from collections.abc import Collection, Generator, Sequence
from pathlib import Path
from typing import IO, Any, final

from preftd import PTD, TD, tasks
from preftd._src.experiments.cells import Expansion, StudyCell
from preftd._src.experiments.jobs import Job, JobResult, compute, jobs
from preftd._src.experiments.store import Store, rows_of
from preftd._src.files import RECORD
from preftd.experiments import Here, Results, Study, run
from preftd.preferences import Observability

CORRIDOR = tasks.make("corridor", length=3)
MARK = f"PREFTD_TEST_{os.getpid()}"
"""A variable of the environment by which all processes of a command are known."""
_COUNT = itertools.count()
_MARKS: dict[int, str] = {}


def small(**changes: Any) -> Study:
    """A study of 8 cells, or what the changes make of it."""
    given: dict[str, Any] = {
        "name": "small",
        "tasks": CORRIDOR,
        "rules": [TD(), PTD()],
        "preferences": Observability(),
        "step_sizes": [0.1, 0.3],
        "episodes": 5,
        "seeds": 2,
    }
    return Study(**(given | changes))


def the_job(study: Study) -> Job:
    """The only job of a small study without a search."""
    (job,) = jobs(Expansion(study).report({}))
    return job


def report_cells(study: Study) -> list[StudyCell]:
    """All cells of a study without a search."""
    return [cell for group in Expansion(study).report({}) for cell in group.cells]


def search_cells(study: Study) -> list[StudyCell]:
    """The cells of a study's search."""
    return [cell for group in Expansion(study).search for cell in group.cells]


class Told:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.begun: list[tuple[str, int, int]] = []
        self.stored = self.ended = 0

    def begin(self, title: str, cells: int, stored: int, work: float) -> None:
        assert work >= 0
        self.begun.append((title, cells, stored))

    def advance(self, cells: int, work: float, seconds: float) -> None:
        assert work >= 0
        assert seconds >= 0
        self.stored += cells

    def say(self, text: str) -> None:
        self.said.append(text)

    def end(self) -> None:
        self.ended += 1


@final
class Counting:
    """Computes here, and remembers which jobs it was given."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []

    @property
    def cells(self) -> int:
        """How many cells were computed."""
        return sum(job.size for job in self.jobs)

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        """Compute the jobs in order."""
        self.jobs += jobs
        return Here().run(jobs)


def run_here(study: Study, out: Path, told: Told | None = None) -> Results:
    """Run a study in this process."""
    return run(study, out, executor=Here(), progress=told or Told())


def computed(study: Study, out: Path) -> int:
    """Run a study; how many cells had to be computed."""
    counting = Counting()
    run(study, out, executor=counting, progress=Told())
    return counting.cells


def only(job: Job, ids: Collection[str]) -> Job:
    """Some cells of a job."""
    left = job.only([cell in ids for cell in job.ids])
    assert left is not None
    return left


def keep(store: Store, job: Job, result: JobResult | None = None) -> Path:
    """Save the result of a job, which by default is computed."""
    store.prepare()
    return store.save(rows_of(job, result or compute(job)))


def the_file(out: Path) -> Path:
    """The only file of cells in a folder of results."""
    (path,) = (out / "cells").glob("*.parquet")
    return path


def stored_files(out: Path) -> dict[str, bytes]:
    """Everything in the folder of cells, hidden or not, by name."""
    return {path.name: path.read_bytes() for path in (out / "cells").iterdir()}


def hidden_files(out: Path) -> list[Path]:
    """What is half written, or was left so, anywhere among the results."""
    return [path for path in out.rglob(".*") if path.is_file() and path.name != RECORD]


def manifest(out: Path) -> dict[str, Any]:
    """Of the last run in a folder."""
    last = sorted((out / "runs").glob("*.json"))[-1]
    found: dict[str, Any] = json.loads(last.read_text())
    return found


def command(
    *arguments: str | Path, errors_to: IO[str] | int = subprocess.PIPE, **environment: str
) -> subprocess.Popen[str]:
    """`preftd` with these arguments, begun in a process group of its own, as in a terminal."""
    mark = {MARK: str(next(_COUNT))}
    process = subprocess.Popen(
        [sys.executable, "-m", "preftd", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if errors_to == subprocess.PIPE else subprocess.DEVNULL,
        stderr=errors_to,
        encoding="utf-8",
        start_new_session=True,
        env=os.environ | mark | environment,
    )
    _MARKS[process.pid] = f"{MARK}={mark[MARK]}"
    return process


def finished(process: subprocess.Popen[str], seconds: float = 120) -> tuple[int, str, str]:
    """The exit code of a command, and what it wrote to standard output and error."""
    try:
        out, err = process.communicate(timeout=seconds)
    finally:
        process.kill()
    return process.returncode, out, err


def still_there(process: subprocess.Popen[str], seconds: float = 30) -> list[str]:
    """What a command started and has not ended some time after it; Linux tells.

    Workers that are still loading notice only then, which takes a while on a busy machine.
    """
    until = time.monotonic() + seconds
    while (found := _marked(_MARKS[process.pid])) and time.monotonic() < until:
        time.sleep(0.05)
    return found


def _marked(mark: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            # That of a process that has ended, but nobody has asked how, is empty.
            if mark in (process / "environ").read_text(errors="replace").split("\0"):
                found.append((process / "cmdline").read_text().replace("\0", " "))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue  # it has just ended, or is somebody else's
    return found
