"""Results are written and told of beside the learning, in order; alone, a run ends when that is."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Event

import pytest

from experiments.small_studies import Told, computed, manifest, run_here, small, stored_files
from preftd.experiments import Results, Search, jobs, run
from preftd.experiments.jobs import Job
from preftd.experiments.plan import Plan
from preftd.experiments.store import Store, Taken
from preftd.experiments.work import Done, compute


def test_a_file_is_written_while_the_next_job_is_computed_and_told_of_when_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "SECONDS", 1e-9)  # each seed is a job
    computed_next, told, save = Event(), Told(), Store.save

    def wait_and_save(store: Store, taken: Taken) -> Path:
        assert computed_next.wait(timeout=10)
        assert told.stored == 4 * len(list(store.cells.iterdir())), "and of nothing else"
        return save(store, taken)

    class InTurn:
        def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
            first, *others = map(compute, jobs)
            yield first
            assert stored_files(tmp_path) == {}
            computed_next.set()
            yield from others

    monkeypatch.setattr(Store, "save", wait_and_save)
    run(small(seeds=3), tmp_path, executor=InTurn(), progress=told)
    assert told.stored == 12
    assert len(stored_files(tmp_path)) == 3


def test_what_a_search_found_is_at_hand_before_it_is_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the report need not wait, and what it says is the same."""
    study = small(search=Search(seeds=2))
    wanted = run_here(study, tmp_path / "wanted").runs
    reporting, save, out, told = Event(), Store.save, tmp_path / "out", Told()

    def late(store: Store, taken: Taken) -> Path:
        assert reporting.wait(timeout=10)
        stages = 1 if told.stored == 0 else 2
        assert len(told.begun) == stages, "nothing is told of the next before this is safe"
        return save(store, taken)

    class Reports:
        def run(self, jobs: Sequence[Job]) -> Iterator[Done]:
            if jobs[0].strands[0].stage == "report":
                assert stored_files(out) == {}
                reporting.set()
            return map(compute, jobs)

    monkeypatch.setattr(Store, "save", late)
    found = run(study, out, executor=Reports(), progress=told).runs
    assert found.equals(wanted)
    assert stored_files(out) == stored_files(tmp_path / "wanted")


def test_a_run_that_is_stopped_while_its_results_are_put_together_has_kept_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> Results:
        raise KeyboardInterrupt

    told = Told()
    with monkeypatch.context() as stopping:
        stopping.setattr(Plan, "results", stop)
        with pytest.raises(KeyboardInterrupt):
            run_here(small(), tmp_path, told)
    found = manifest(tmp_path)
    assert (found["state"], found["computed"], told.stored) == ("interrupted", 8, 8)
    assert len(told.said) == 1
    assert computed(small(), tmp_path) == 0


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
