"""Jobs in parts: as many as keep all processes busy, and together what the job is."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.small_studies import Told, run_here, small, stored_files
from preftd import TD, tasks
from preftd.experiments import Processes, Search, run
from preftd.experiments.executors import GETTING_READY
from preftd.experiments.expansion import Expansion
from preftd.experiments.jobs import Job, jobs
from preftd.experiments.parts import LEAST, SHARES, Parts
from preftd.experiments.work import Done, compute
from preftd.experiments.worker import Worker
from preftd.preferences import Function

STRANDS = tuple(Expansion(small(seeds=160)).report({}))


def _trust(x: Any) -> float:
    if x[0] > 2.5:  # a hidden state shows that at some seeds, at others it does not
        raise ZeroDivisionError("too large")
    return 1.0


STUDIES = {
    "two tasks": small(tasks=[tasks.make("corridor", length=n) for n in (2, 3)], seeds=7),
    "some cells fail": small(rules=TD(), preferences=Function(_trust), seeds=9),
}


def _fields(done: Done) -> dict[str, Any]:
    """All but for how long it took."""
    found = {name: np.asarray(value).tolist() for name, value in asdict(done).items()}
    assert found.pop("seconds") > 0
    return found


def _as_whole(some: list[Job], processes: int, order: Random) -> Mapping[str, Done]:
    parts = Parts(some, processes)
    left = list(parts.all)
    order.shuffle(left)
    found = [done for part in left if (done := parts.whole(compute(part))) is not None]
    assert len(found) == len(some)
    return {done.job: done for done in found}


@pytest.mark.parametrize("name", STUDIES)
@settings(max_examples=30)
@given(processes=st.integers(1, 9), order=st.randoms(use_true_random=False))
def test_what_comes_of_the_parts_in_any_order_is_what_comes_of_the_job(
    name: str, processes: int, order: Random
) -> None:
    some = [Job(job.strands, 9.0) for job in jobs(Expansion(STUDIES[name]).report({}))]
    expected = {job.id: compute(job) for job in some}
    assert any(done.failures for done in expected.values()) == (name == "some cells fail")
    assert all(done.rows.size for done in expected.values())
    found = _as_whole(some, processes, order)
    assert found.keys() == expected.keys()
    for job, done in expected.items():
        assert _fields(found[job]) == _fields(done)


@given(works=st.lists(st.floats(1e-3, 10), min_size=1, max_size=16), processes=st.integers(1, 64))
def test_parts_are_whole_seeds_and_take_about_as_long_as_they_should(
    works: list[float], processes: int
) -> None:
    some = [Job(STRANDS[i::16], work) for i, work in enumerate(works)]
    each = max(LEAST, sum(works) / (SHARES * processes))
    parts = Parts(some, processes).all
    assert [s for part in parts for s in part.strands] == [s for job in some for s in job.strands]
    assert sum(part.work for part in parts) == pytest.approx(sum(works))
    for part in parts:
        seed = part.work / len(part.strands)
        assert part.work <= max(1.5 * each, seed) + seed
        assert part.work >= 0.75 * each - seed or part in some


def test_where_there_are_enough_jobs_none_is_cut() -> None:
    some = [Job(STRANDS[i::16], 0.5) for i in range(16)]
    assert Parts(some, 4).all == some
    assert len(Parts(some, 8).all) == 2 * len(some)
    assert len(Parts([Job(job.strands, LEAST) for job in some], 8).all) == len(some)


def test_a_job_that_is_computed_in_parts_is_stored_as_if_it_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preftd.experiments.parts.LEAST", 1e-9)
    study, sent, send = small(seeds=7, search=Search(seeds=5)), list[Job](), Worker.send

    def noted(worker: Worker, job: Job) -> None:
        sent.append(job)
        send(worker, job)

    monkeypatch.setattr(Worker, "send", noted)
    monkeypatch.setattr("preftd.experiments.executors.PATIENCE", 0.01)
    said: list[str] = []
    with Processes(3, said.append) as processes:
        run(study, tmp_path / "parts", executor=processes, progress=Told())
    alone = [job for job in sent if len(job.strands) == 1 and job.work]
    assert len(alone) == 5 + 7  # each seed of the two jobs
    assert said == [GETTING_READY]  # and not again for the report, for which all is ready
    run_here(study, tmp_path / "here")
    assert stored_files(tmp_path / "parts") == stored_files(tmp_path / "here")
