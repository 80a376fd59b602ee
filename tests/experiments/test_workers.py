"""Workers know what a study's file knows; the death of one is reported at once."""

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import cast

import pytest

from experiments.small_studies import (
    Told,
    command,
    finished,
    run_here,
    small,
    still_there,
    stored_files,
)
from preftd import ETD, TD, tasks
from preftd._src.experiments.executors import COMPILING, STARTS, Worker, WorkerLostError
from preftd._src.experiments.jobs import Job, JobResult
from preftd._src.experiments.study import load_studies
from preftd.experiments import CellsFailedError, Processes, Search, results, run
from preftd.preferences import Observability

BEGIN = """
import os
import shutil
import signal
import time
from dataclasses import dataclass

import numpy as np

from preftd import PTD, TD, Linear, Rule, tasks
from preftd.experiments import Search, Study
from preftd.preferences import Function, Observability, Signal
"""

OWN = (
    BEGIN
    + """
from beside_it import trust

FACTOR = 0.5


class Half(Rule):
    name = "half"
    interest = 1.0

    def gain(self, beta, interest, follow_on):
        return FACTOR * beta


@dataclass(frozen=True)
class Wrapped:
    label = "wrapped"

    def start(self, inputs, step_sizes, seed):
        return Linear("backward").start(inputs, step_sizes, seed)


study = Study(
    name="own",
    tasks={"grid": lambda seed: tasks.make("random_grid", seed=seed, size=3)},
    rules=[Half(), PTD()],
    preferences={
        "lambda": Function(lambda x: x.max() > FACTOR, compiled=True),
        "beside": Function(trust),
    },
    learners=[Wrapped(), Linear()],
    step_sizes=[0.1, 0.2],
    episodes=5,
    seeds=3,
)
"""
)

BESIDE = """
LEAST = 0.5


def trust(x):
    return float(x.max() > LEAST)
"""


def study_file(folder: Path, text: str) -> Path:
    path = folder / "study.py"
    path.write_text(text)
    return path


def test_workers_know_what_a_studys_file_defines_and_imports(tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text(BESIDE)
    (study,) = load_studies(study_file(tmp_path, OWN))
    told = Told()
    found = run(study, tmp_path / "processes", workers=2, progress=told)
    assert told.stored == found.runs.height == 3 * 2 * 2 * 2 * 2
    run_here(study, tmp_path / "here")
    assert stored_files(tmp_path / "processes") == stored_files(tmp_path / "here")


def test_what_is_compiled_once_is_said_and_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a study prints is not printed for every stage and study of a command."""
    sent, said, compute = list[Job](), list[str](), Worker.compute

    def noted(worker: Worker, job: Job) -> JobResult:
        sent.append(job)
        return compute(worker, job)

    monkeypatch.setattr(Worker, "compute", noted)
    monkeypatch.setattr("preftd._src.experiments.executors.PATIENCE", 0.01)
    monkeypatch.setattr("preftd._src.experiments.jobs.SECONDS", 1e-9)
    with Processes(2, said.append) as processes:
        for study in (small(search=Search(seeds=2)), small(rules=[ETD(), TD()])):
            run(study, tmp_path, executor=processes, progress=Told())
    compiled = [job for job in sent if job.groups[0].trial.episodes == 1]
    rules = [job.groups[0].settings[0].labels.rule for job in compiled]
    assert rules == ["TD(λ)", "PTD", "ETD"]
    assert set(said) == {COMPILING}


DEADLY = (
    BEGIN
    + """
@dataclass(frozen=True)
class Deadly(Signal):
    '''Ends the process that computes it, but for the single episode by which code is compiled.'''

    def at(self, visit, memory):
        return 1.0, None

    def along(self, experience, memory):
        if len(experience) > 100:
            DEATH
        return np.ones(len(experience)), None


study = Study(
    name="deadly",
    tasks=tasks.make("corridor", length=3),
    rules=PTD(),
    preferences={"deadly": Deadly(), "harmless": Observability()},
    step_sizes=[0.1],
    episodes=500,
    seeds=1,
)
"""
)


def test_a_cell_that_kills_its_worker_is_found_and_the_others_go_on(tmp_path: Path) -> None:
    death = "os.kill(os.getpid(), signal.SIGKILL)"
    (deadly,) = load_studies(study_file(tmp_path, DEADLY.replace("DEATH", death)))
    with pytest.raises(CellsFailedError) as failed:
        run(deadly, tmp_path / "out", workers=2, progress=Told())
    assert [one.cell.setting.labels.preference for one in failed.value.failed] == ["deadly"]
    assert "the process that computed it ended with code -9, in this cell:" in str(failed.value)
    found = results(deadly, tmp_path / "out").runs
    assert found["preference"].to_list() == ["harmless"]
    alone = replace(deadly, preferences=Observability())
    assert run_here(alone, tmp_path / "alone").runs["error"].to_list() == found["error"].to_list()
    # The next study has workers again.
    assert run(small(seeds=3), tmp_path / "out", progress=Told()).runs.height == 12


@pytest.mark.slow
def test_a_dead_worker_is_reported_with_exit_code_1_on_the_command_line(tmp_path: Path) -> None:
    path = study_file(tmp_path, DEADLY.replace("DEATH", "os._exit(3)"))
    code, shown, said = finished(command("run", path, "--out", tmp_path / "out", "--workers", "2"))
    assert code == 1
    assert "1 cell failed; all others are stored." in said
    assert "the process that computed it ended with code 3, in this cell:" in said
    assert said.splitlines()[-1] == "preftd: cells failed in deadly: see above."
    assert "PTD" in shown


def test_workers_that_cannot_start_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    started = list[Worker]()
    start = Worker.__init__

    def counted(worker: Worker) -> None:
        started.append(worker)
        start(worker)

    monkeypatch.setattr(Worker, "__init__", counted)
    with pytest.raises(WorkerLostError, match=r"ended at once \(code 1\), and so did 2 more"):
        run(small(), tmp_path, workers=1, progress=Told())
    assert len(started) == STARTS


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_that_is_killed_while_it_starts_is_replaced(
    workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, started = Worker.__init__, list[Worker]()

    def killed(worker: Worker) -> None:
        start(worker)
        if len(started) < STARTS - 1:
            worker._process.kill()
        started.append(worker)

    monkeypatch.setattr(Worker, "__init__", killed)
    run(small(), tmp_path / "processes", workers=workers, progress=Told())
    run_here(small(), tmp_path / "here")
    assert stored_files(tmp_path / "processes") == stored_files(tmp_path / "here")


@pytest.mark.parametrize("executable", ["missing", "folder", "text", ""])
def test_an_interpreter_that_cannot_be_executed_is_called_so(
    executable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "text").write_text("not a program")
    (tmp_path / "text").chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / executable) if executable else "")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkerLostError, match=r"the interpreter '.*' cannot be executed \(.*: rep"):
        run(small(), tmp_path / "out", workers=1, progress=Told())


FRAGILE = (
    BEGIN
    + """
def trust(x):
    if x.size > WIDEST:
        raise ZeroDivisionError("too wide")
    return 1.0


study = Study(
    name="fragile",
    tasks={"grid": lambda seed: tasks.make("cross_grid", size=4 if seed == 1 else 3)},
    rules=[TD(), PTD()],
    preferences=Function(trust),
    step_sizes=[0.001, 0.01],
    episodes=5,
    seeds=3,
)
"""
)


def test_cells_that_raise_are_reported_and_the_exit_code_is_1(tmp_path: Path) -> None:
    widest = str(tasks.make("cross_grid", size=3).features.size)
    path, out = study_file(tmp_path, FRAGILE.replace("WIDEST", widest)), tmp_path / "out"
    process = command("run", path, "--out", out, "--workers", "1")
    code, shown, said = finished(process)
    assert code == 1
    assert still_there(process) == []
    for part in ("4 cells failed", "ZeroDivisionError: too wide", "seed        1", "in trust"):
        assert part in said
    assert "all others are stored" in said
    assert "PTD" in shown  # what there is, is shown
    assert said.splitlines()[-1] == "preftd: cells failed in fragile: see above."
    (study,) = load_studies(path)
    assert results(study, out).runs.height == 8
    with pytest.raises(CellsFailedError):
        run_here(study, out)


@pytest.mark.slow
def test_if_all_cells_raise_the_exit_code_is_1_too(tmp_path: Path) -> None:
    path = study_file(tmp_path, FRAGILE.replace("WIDEST", "0"))
    code, _, said = finished(command("run", path, "--out", tmp_path / "out"))
    assert code == 1
    assert "12 cells failed" in said
    assert said.splitlines()[-1] == "preftd: cells failed in fragile: see above."


def test_a_worker_can_be_ended_while_a_job_is_on_its_way_to_it() -> None:
    """A job that does not fit into a pipe, while the worker is still loading."""
    worker, lost = Worker(), list[Exception]()

    def send() -> None:
        try:
            worker.compute(cast("Job", "x" * 1_000_000))
        except WorkerLostError as error:
            lost.append(error)

    sending = Thread(target=send)
    sending.start()
    time.sleep(0.2)
    worker.end()
    sending.join(10)
    assert len(lost) == 1


CURIOUS = (
    BEGIN
    + """
import subprocess
import sys

@dataclass(frozen=True)
class Curious(Signal):
    def at(self, visit, memory):
        return 1.0, None

    def along(self, experience, memory):
        if len(experience) > 100:
            print("hello", sys.stdin.read(), subprocess.run(["cat"], check=True), flush=True)
        return np.ones(len(experience)), None


study = Study(
    name="curious",
    tasks=tasks.make("corridor", length=3),
    rules=TD(),
    preferences=Curious(),
    step_sizes=[0.1],
    episodes=500,
    seeds=4,
)
"""
)


def test_what_a_study_prints_and_reads_does_not_get_between_parent_and_worker(
    tmp_path: Path,
) -> None:
    path = study_file(tmp_path, CURIOUS)
    code, shown, said = finished(command("run", path, "--out", tmp_path / "out", "--workers", "1"))
    assert code == 0, said
    assert "hello" in said
    assert "hello" not in shown
