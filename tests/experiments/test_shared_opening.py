"""Several runs in one opening of a store: the next begins while the last file is written."""

import errno
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from threading import Event
from typing import BinaryIO

import pytest

from experiments.small_studies import (
    CORRIDOR,
    Counting,
    Told,
    computed,
    manifest,
    report_cells,
    small,
)
from preftd import Task
from preftd.experiments import CellsFailedError, Here, Results, run
from preftd.experiments.jobs import Job
from preftd.experiments.manifest import read_manifests
from preftd.experiments.plan import Plan
from preftd.experiments.store import Store, Taken
from preftd.experiments.work import Done

CELLS = 8
"""Of the small study."""


def refuse(_: Store, taken: Taken) -> Path:
    raise OSError(errno.ENOSPC, "full", taken.cells)


class Fails:
    """Breaks off."""

    def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
        raise ValueError(f"no room for {len(jobs)} jobs")


def states(out: Path) -> list[str]:
    return [found["state"] for found in read_manifests(out / "runs")]


def test_a_run_returns_before_its_last_file_is_safe_and_the_opening_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    returned, save, store, told = Event(), Store.save, Store(tmp_path), Told()

    def late(store: Store, taken: Taken) -> Path:
        assert returned.wait(timeout=10)
        return save(store, taken)

    monkeypatch.setattr(Store, "save", late)
    with store.open():
        found = run(small(), store, executor=Here(), progress=told)
        assert (found.runs.height, told.stored) == (CELLS, 0)
        returned.set()
        store.wait()
        assert told.stored == CELLS
    assert states(tmp_path) == ["finished"]
    assert computed(small(), tmp_path) == 0


def test_what_a_run_could_not_save_is_told_when_the_opening_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, told, more = Store(tmp_path), Told(), small(seeds=[5])
    run(more, store, executor=Here(), progress=Told())

    def both() -> None:
        with store.open():
            for study, height in ((small(), CELLS), (more, 4)):
                found = run(study, store, executor=Here(), progress=told)
                assert found.runs.height == height

    with monkeypatch.context() as full:
        full.setattr(Store, "save", refuse)
        with pytest.raises(OSError, match="full"):
            both()
    assert told.stored == 0, "of what was not saved nothing was told"
    assert told.ended == len(told.begun) == 2
    assert states(tmp_path) == ["finished", "failed", "finished"], "each is written down for itself"
    assert computed(small(), tmp_path) == CELLS


def test_a_run_is_not_finished_by_what_another_could_not_save(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, told = Store(tmp_path), Told()

    def both() -> None:
        with store.open():
            run(small(), store, executor=Here(), progress=Told())
            found = run(small(name="same"), store, executor=Here(), progress=told)
            assert found.runs.height == CELLS

    with monkeypatch.context() as full:
        full.setattr(Store, "save", refuse)
        with pytest.raises(OSError, match="full"):
            both()
    assert told.begun == [], "of what was not saved nothing was told"
    assert states(tmp_path) == ["failed", "failed"]
    both()
    assert told.begun == [("same", CELLS, CELLS)]
    assert states(tmp_path)[2:] == ["finished", "finished"]


def test_what_could_not_be_written_counts_as_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: object, file: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, "full", file.name)

    counting, warnings = Counting(), list[str]()
    store = Store(tmp_path, warnings.append)
    with monkeypatch.context() as writing:
        writing.setattr("preftd.experiments.store.write_rows", full)
        with pytest.raises(OSError, match="full"):
            run(small(), store, executor=Here(), progress=Told())
    written = manifest(tmp_path)
    assert (written["state"], written["computed"]) == ("failed", 0)
    run(small(), store, executor=counting, progress=Told())
    assert counting.cells == CELLS
    assert warnings == [], "nobody looks for a file that was never there"


@pytest.mark.parametrize("caught", [True, False])
def test_it_is_told_also_if_another_run_breaks_off_for_another_reason(
    caught: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings = list[str]()
    store = Store(tmp_path, warnings.append)

    def both() -> None:
        with store.open():
            run(small(), store, executor=Here(), progress=Told())
            try:
                run(small(seeds=[5]), store, executor=Fails(), progress=Told())
            except ValueError:
                if not caught:
                    raise

    with monkeypatch.context() as full:
        full.setattr(Store, "save", refuse)
        with pytest.raises(OSError if caught else ValueError):
            both()
    assert len(warnings) == (0 if caught else 1)
    assert all("full" in said for said in warnings)
    assert states(tmp_path) == ["failed", "failed"]
    counting = Counting()
    run(small(), store, executor=counting, progress=Told())
    assert counting.cells == CELLS


def test_what_was_refused_is_computed_again_by_who_asks_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preftd.experiments.jobs.SECONDS", 1e-9)  # each seed is a job
    store, counting, more = Store(tmp_path), Counting(), small(seeds=3)
    with store.open():
        with monkeypatch.context() as full:
            full.setattr(Store, "save", refuse)
            with pytest.raises(OSError, match="full"):
                run(more, store, executor=Here(), progress=Told())
        run(more, store, executor=counting, progress=Told())
    assert counting.cells == 12
    assert Store(tmp_path).stored() == {cell.id for cell in report_cells(more)}


@pytest.mark.parametrize("shared", [False, True])
def test_a_run_of_which_cells_fail_tells_first_what_could_not_be_saved(
    shared: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def only_the_first(seed: int) -> Task:
        if seed:
            raise ValueError("there is one task only")
        return CORRIDOR

    study = small(tasks={"mine": only_the_first}, seeds=2)
    with pytest.raises(CellsFailedError):
        run(study, tmp_path / "roomy", executor=Here(), progress=Told())
    monkeypatch.setattr(Store, "save", refuse)
    store = Store(tmp_path / "full")
    with store.open() if shared else nullcontext(), pytest.raises(OSError, match="full"):
        run(study, store, executor=Here(), progress=Told())
    assert manifest(tmp_path / "full")["state"] == "failed"


def test_a_stop_while_the_last_file_of_a_run_is_written_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, put_together, told, there = Store.save, Plan.results, Told(), Event()

    def results(plan: Plan, store: Store) -> Results:
        found = put_together(plan, store)
        there.set()
        return found

    def stopped(store: Store, taken: Taken) -> Path:
        assert there.wait(timeout=10)
        Event().wait(0.1)  # until all that is left is to wait
        os.kill(os.getpid(), signal.SIGINT)
        Event().wait(0.1)
        return save(store, taken)

    with monkeypatch.context() as stopping:
        stopping.setattr(Plan, "results", results)
        stopping.setattr(Store, "save", stopped)
        with pytest.raises(KeyboardInterrupt) as raised:
            run(small(), tmp_path, executor=Here(), progress=told)
    assert len(raised.value.__notes__) == len(told.said) == 1
    assert told.ended >= len(told.begun) == 1
    assert manifest(tmp_path)["state"] == "interrupted"
    assert computed(small(), tmp_path) == 0


def test_a_run_that_breaks_off_ends_what_it_tells_and_tells_of_both_reasons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class First:
        def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
            yield next(iter(Here().run(jobs)))
            raise ValueError("nothing more")

    monkeypatch.setattr("preftd.experiments.jobs.SECONDS", 1e-9)
    monkeypatch.setattr(Store, "save", refuse)
    told = Told()
    with pytest.raises(ValueError, match="nothing more"):
        run(small(), tmp_path, executor=First(), progress=told)
    assert told.ended == len(told.begun) == 1
    assert len(told.said) == 1
    assert "full" in told.said[0]
    assert manifest(tmp_path)["state"] == "failed"
