"""A run that stops, or is cut in other pieces, ends in the same bytes."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from experiments.small_studies import (
    Counting,
    Told,
    computed,
    manifest,
    run_here,
    small,
    stored_files,
)
from preftd import PTD, Linear, Network
from preftd._src.experiments import jobs
from preftd._src.experiments.jobs import Job, JobResult, compute
from preftd._src.experiments.store import Store
from preftd.experiments import Here, Search, run
from preftd.failures import FailedError


@pytest.fixture
def a_job_for_each_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small studies would otherwise be a single job."""
    monkeypatch.setattr(jobs, "SECONDS", 1e-9)


@pytest.mark.usefixtures("a_job_for_each_seed")
def test_two_workers_write_the_same_bytes_as_this_process(tmp_path: Path) -> None:
    study = small(seeds=5, search=Search(seeds=3), learners=[Linear(), Network(units=2)])
    run(study, tmp_path / "here", executor=Here(), progress=Told())
    run(study, tmp_path / "workers", workers=2, progress=Told())
    assert stored_files(tmp_path / "workers") == stored_files(tmp_path / "here")
    assert len(stored_files(tmp_path / "here")) == 8


@pytest.mark.usefixtures("a_job_for_each_seed")
@pytest.mark.parametrize("jobs_done", range(5))
def test_a_run_that_stopped_goes_on_to_the_same_bytes(jobs_done: int, tmp_path: Path) -> None:
    study = small(seeds=3, search=Search(seeds=2))
    run_here(study, tmp_path / "whole")
    told = Told()
    with pytest.raises(KeyboardInterrupt) as stopped:
        run(study, tmp_path / "cut", executor=Interrupted(jobs_done), progress=told)
    assert stopped.value.__notes__, "by which the command knows that it was said"
    cut, whole = stored_files(tmp_path / "cut"), stored_files(tmp_path / "whole")
    assert len(cut) == jobs_done
    assert cut.items() <= whole.items()
    assert told.said == [
        f"stopped; finished results are in {tmp_path / 'cut'}: "
        "run the same command again to resume."
    ]
    assert manifest(tmp_path / "cut")["state"] == "interrupted"
    run_here(study, tmp_path / "cut")
    assert stored_files(tmp_path / "cut") == whole


@dataclass
class Interrupted:
    """Computes some jobs; then the user presses Ctrl-C."""

    left: int

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        for job in jobs:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= 1
            yield compute(job)


def test_pieces_do_not_depend_on_what_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two seeds each; what is left of a piece is not filled up from the next."""
    monkeypatch.setattr(jobs, "SECONDS", 2.2e-3)  # such small seeds count as a millisecond each
    study = small(seeds=5, rules=PTD(), step_sizes=[0.1, 0.2, 0.3])
    run_here(replace(study, seeds=[1]), tmp_path)
    run_here(replace(study, seeds=[2], step_sizes=[0.2]), tmp_path)
    counting = Counting()
    run(study, tmp_path, executor=counting, progress=Told())
    pieces = [
        [group.trial.seed for group in job.groups for _ in group.settings] for job in counting.jobs
    ]
    assert pieces == [[0, 0, 0], [2, 2, 3, 3, 3], [4, 4, 4]]


class Twice:
    """Gives everything back twice."""

    def run(self, jobs: Sequence[Job]) -> Generator[JobResult, None, None]:
        for job in jobs:
            yield from [compute(job)] * 2


def test_an_executor_that_gives_something_twice_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="returned a result twice, or for an unknown job"):
        run(small(), tmp_path, executor=Twice(), progress=Told())
    assert computed(small(), tmp_path) == 0


@pytest.mark.usefixtures("a_job_for_each_seed")
def test_nothing_is_told_to_be_finished_before_it_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, ahead = Told(), list[int]()
    advance = Told.advance

    def look(self: Told, cells: int, work: float, seconds: float) -> None:
        advance(self, cells, work, seconds)
        ahead.append(len(Store(tmp_path).stored()) - self.stored)

    monkeypatch.setattr(Told, "advance", look)
    run_here(small(seeds=3), tmp_path, told)
    assert len(ahead) == 3
    assert min(ahead) == ahead[-1] == 0, "other files may be there already"
