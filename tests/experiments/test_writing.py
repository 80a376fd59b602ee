"""Results are written while learning goes on, in order, and failures are reported."""

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import polars as pl
import pytest

from experiments.small_studies import Told, computed, manifest, run_here, small, stored_files
from preftd._src.experiments import jobs
from preftd._src.experiments.jobs import Job, JobResult, compute
from preftd._src.experiments.runner import FILES, StoredRun
from preftd._src.experiments.store import Store, encoded
from preftd.experiments import CellsFailedError, Here, run

CELLS = 8
"""Of the small study."""


def refuse(_: Store, __: pl.DataFrame, ___: object) -> Path:
    raise OSError(errno.ENOSPC, "full", "x")


def test_a_file_is_written_while_the_next_job_is_computed_and_reported_when_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SECONDS", 1e-9)  # each seed is a job
    computed_next, told, save = Event(), Told(), Store.save

    def wait_and_save(store: Store, rows: pl.DataFrame, file: Any) -> Path:
        assert computed_next.wait(timeout=10)
        assert told.stored <= 4 * len(list(store.cells.iterdir()))
        return save(store, rows, file)

    class InTurn:
        def run(self, jobs: Sequence[Job]) -> Iterator[JobResult]:
            first, *others = map(compute, jobs)
            yield first
            assert stored_files(tmp_path) == {}
            computed_next.set()
            yield from others

    monkeypatch.setattr(Store, "save", wait_and_save)
    run(small(seeds=3), tmp_path, executor=InTurn(), progress=told)
    assert told.stored == 12
    assert len(stored_files(tmp_path)) == 3


def test_files_that_workers_encode_are_those_of_this_process(tmp_path: Path) -> None:
    class Encoding:
        def run(self, jobs: Sequence[Job]) -> Iterator[JobResult]:
            for job in jobs:
                result = encoded(job, compute(job))
                assert not result.measured
                yield result

    study, told = small(measures=("error", "updated")), list[StoredRun]()
    results = {}
    for name, executor in (("here", Here()), ("workers", Encoding())):
        results[name] = run(
            study, tmp_path / name, executor=executor, progress=Told(), callback=told.append
        )
    assert stored_files(tmp_path / "workers") == stored_files(tmp_path / "here")
    assert results["workers"].runs.equals(results["here"].runs)
    assert len(told) == 2 * CELLS
    for one, other in zip(told[:CELLS], told[CELLS:], strict=True):
        np.testing.assert_equal(one._asdict(), other._asdict())


def test_what_could_not_be_written_is_raised_and_counts_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told()
    with monkeypatch.context() as full:
        full.setattr(Store, "save", refuse)
        with pytest.raises(OSError, match="full"):
            run_here(small(), tmp_path, told)
    found = manifest(tmp_path)
    assert (found["state"], found["computed"], told.stored) == ("failed", 0, 0)
    assert told.ended >= len(told.begun) == 1
    assert computed(small(), tmp_path) == CELLS


def test_one_file_that_cannot_be_written_stops_a_long_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if those after it can be."""
    monkeypatch.setattr(jobs, "SECONDS", 1e-9)
    save, told = Store.save, Told()

    def refuse_first(store: Store, rows: pl.DataFrame, file: Any) -> Path:
        return refuse(store, rows, file) if rows["seed"][0] == 0 else save(store, rows, file)

    monkeypatch.setattr(Store, "save", refuse_first)
    with pytest.raises(OSError, match="full"):
        run_here(small(seeds=4 * FILES), tmp_path, told)
    assert told.said == []
    assert told.stored == 4 * len(stored_files(tmp_path)) <= 4 * (FILES + 1)
    assert manifest(tmp_path)["state"] == "failed"


def test_a_run_that_breaks_off_says_also_what_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class First:
        def run(self, jobs: Sequence[Job]) -> Iterator[JobResult]:
            yield next(iter(Here().run(jobs)))
            raise ValueError("nothing more")

    monkeypatch.setattr(jobs, "SECONDS", 1e-9)
    monkeypatch.setattr(Store, "save", refuse)
    told = Told()
    with pytest.raises(ValueError, match="nothing more"):
        run(small(), tmp_path, executor=First(), progress=told)
    (said,) = told.said
    assert "full" in said
    assert manifest(tmp_path)["state"] == "failed"


def test_ctrl_c_while_a_file_is_written_keeps_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, told = Store.save, Told()
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def stopped(store: Store, rows: pl.DataFrame, file: Any) -> Path:
        Event().wait(1.0)  # until the other thread waits for this one
        os.kill(os.getpid(), signal.SIGINT)
        Event().wait(0.1)
        return save(store, rows, file)

    with monkeypatch.context() as stopping:
        stopping.setattr(Store, "save", stopped)
        with pytest.raises(KeyboardInterrupt) as raised:
            run(small(), tmp_path, executor=Here(), progress=told)
    assert len(raised.value.__notes__) == len(told.said) == 1
    assert manifest(tmp_path)["state"] == "interrupted"
    assert computed(small(), tmp_path) == 0


def test_failed_cells_are_reported_only_if_the_others_could_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only_the_first(seed: int) -> Any:
        if seed:
            raise ValueError("there is one task only")
        return small().axes.tasks[0][1]

    study = small(tasks={"mine": only_the_first}, seeds=2)
    with pytest.raises(CellsFailedError):
        run_here(study, tmp_path / "enough")
    monkeypatch.setattr(Store, "save", refuse)
    with pytest.raises(OSError, match="full"):
        run_here(study, tmp_path / "full")
    assert manifest(tmp_path / "full")["state"] == "failed"


def test_how_a_run_ended_is_written_down_even_if_nobody_listens(tmp_path: Path) -> None:
    class Gone(Told):
        def advance(self, *_: object) -> None:
            raise BrokenPipeError

        def end(self) -> None:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_here(small(), tmp_path, Gone())
    assert manifest(tmp_path)["state"] == "failed"
    assert computed(small(), tmp_path) == 0
