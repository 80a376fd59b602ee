"""The schedule, on clusters that are made up: whatever happens there, every job has one result."""

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from benchmarks.simulated_cluster import SimulatedCluster, simulated_seconds
from experiments.small_studies import small
from preftd._src.experiments.cells import Expansion
from preftd._src.experiments.jobs import Job, JobResult, compute, jobs
from preftd._src.experiments.store import decoded, encoded
from preftd._src.ray import schedule as module
from preftd._src.ray.schedule import AHEAD, ATTEMPTS, LOSSES, SECONDS, Answer, Lost, Schedule

DIED, NODE_LOST = Lost("it was killed", with_node=False), Lost("its node was lost", with_node=True)


class MadeUp:
    """Computes tasks one after the other; `fate` may lose one, or say how long it takes."""

    def __init__(
        self, cpus: int = 2, fate: Callable[[Sequence[Job], str | None], Any] = lambda *_: 0.1
    ) -> None:
        self.count, self._fate = cpus, fate
        self.most: int | None = None
        self.tasks: list[tuple[Sequence[Job], str | None]] = []
        self.cancelled: list[int] = []
        self.at_once, self.dies_after = 0, 0.1
        self._time, self._ends, self._numbers = 0.0, list[tuple[float, int]](), count()

    def cpus(self) -> int:
        return self.count

    def now(self) -> float:
        return self._time

    def submit(self, jobs: Sequence[Job], node: str | None) -> int:
        number = next(self._numbers)
        self.tasks.append((jobs, node))
        fate = self._fate(jobs, node)
        takes = self.dies_after if isinstance(fate, Lost) else fate
        heapq.heappush(self._ends, (self._time + takes, number))
        self.at_once = max(self.at_once, len(self._ends))
        return number

    def wait(self, refs: Sequence[int], seconds: float) -> list[tuple[int, Answer | Lost]]:
        assert set(refs) <= {number for _, number in self._ends}
        if self._ends[0][0] > self._time + seconds:
            self._time += seconds
            return []
        self._time, number = heapq.heappop(self._ends)
        jobs, node = self.tasks[number]
        fate = self._fate(jobs, node)
        if isinstance(fate, Lost):
            return [(number, fate)]
        results = [replace(encoded(job, compute(job)), seconds=fate / len(jobs)) for job in jobs]
        return [(number, Answer(results, node or "usual"))]

    def cancel(self, refs: Sequence[int]) -> None:
        self.cancelled += refs
        self._ends = [(time, number) for time, number in self._ends if number not in refs]
        heapq.heapify(self._ends)


@pytest.fixture
def some(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Six jobs of four cells."""
    monkeypatch.setattr("preftd._src.experiments.jobs.SECONDS", 1e-9)
    return jobs(Expansion(small(seeds=6)).report({}))


def same(found: JobResult, wanted: JobResult) -> bool:
    """Whether two results hold the same bytes."""
    found = decoded(found)
    return (
        found.job == wanted.job
        and np.array_equal(found.rows, wanted.rows)
        and all(
            np.array_equal(found.measured[name], wanted.measured[name]) for name in wanted.measured
        )
        and np.array_equal(found.diverged, wanted.diverged)
    )


def check(found: Sequence[JobResult], some: Sequence[Job]) -> None:
    """Every job has its result, once."""
    wanted = {job.id: compute(job) for job in some}
    assert Counter(result.job for result in found) == Counter(wanted.keys())
    assert all(same(result, wanted[result.job]) for result in found)


def test_every_job_has_one_result(some: list[Job]) -> None:
    cluster = MadeUp()
    check(list(Schedule(cluster, some).run()), some)
    assert cluster.at_once == AHEAD * cluster.count


def test_no_more_tasks_are_submitted_than_may_be(some: list[Job]) -> None:
    cluster = MadeUp(cpus=4)
    cluster.most = 3
    check(list(Schedule(cluster, some).run()), some)
    assert cluster.at_once == 3


@pytest.mark.parametrize("lost", [DIED, NODE_LOST])
def test_tasks_that_are_lost_are_computed_again(lost: Lost, some: list[Job]) -> None:
    chance = np.random.default_rng(0)

    def fate(*_: object) -> Any:
        return lost if chance.random() < 0.3 else 0.1

    cluster = MadeUp(fate=fate)
    check(list(Schedule(cluster, some).run()), some)
    assert len(cluster.tasks) > len(some)


@pytest.mark.parametrize("seconds", [0.1, 10.0])
@pytest.mark.parametrize("lost", [DIED, NODE_LOST])
def test_a_cell_that_ends_its_process_is_named_and_the_others_go_on(
    lost: Lost, seconds: float, some: list[Job]
) -> None:
    """Also one that ends its whole node, and one that takes so long that it is started twice."""
    deadly = some[3].ids[2]
    cluster = MadeUp(fate=lambda jobs, _: lost if any(deadly in job.ids for job in jobs) else 0.1)
    cluster.dies_after = seconds
    found = {result.job: result for result in Schedule(cluster, some).run()}
    guilty = found.pop(some[3].id)
    check(list(found.values()), [job for job in some if job is not some[3]])
    (failure,) = guilty.failures
    assert failure.cell == deadly
    assert f"ended {ATTEMPTS} times, at last because {lost.reason}" in failure.error
    others = some[3].only([cell != deadly for cell in some[3].ids])
    assert others is not None
    wanted = compute(others)
    np.testing.assert_array_equal(guilty.rows, [0, 1, 3])
    np.testing.assert_array_equal(guilty.measured["error"], wanted.measured["error"])
    ended = sum(
        any(deadly in job.ids for job in jobs)
        for number, (jobs, _) in enumerate(cluster.tasks)
        if number not in cluster.cancelled
    )
    assert ended <= 2 * (3 + ATTEMPTS + LOSSES)


def test_a_single_cell_whose_process_is_killed_by_others_is_not_blamed(some: list[Job]) -> None:
    alone = [job.only([True, False, False, False]) for job in some]
    single = [job for job in alone if job is not None]
    times = Counter[str]()

    def fate(jobs: Sequence[Job], _: object) -> Any:
        times[jobs[0].id] += 1
        return DIED if times[jobs[0].id] < 2 * ATTEMPTS - 1 else 0.1  # asked twice for each task

    check(list(Schedule(MadeUp(fate=fate), single).run()), single)


def test_a_slow_task_is_started_again_elsewhere_and_the_first_answer_counts(
    some: list[Job],
) -> None:
    slow = some[-1].id

    def fate(jobs: Sequence[Job], node: str | None) -> float:
        return 1000.0 if node is None and any(job.id == slow for job in jobs) else 0.1

    cluster = MadeUp(cpus=4, fate=fate)
    check(list(Schedule(cluster, some).run()), some)
    assert cluster.now() < 10
    assert [node for _, node in cluster.tasks if node] == ["usual"]
    number = next(i for i, (jobs, _) in enumerate(cluster.tasks) if slow in [j.id for j in jobs])
    assert cluster.cancelled == [number]


def test_a_copy_that_waits_behind_the_first_is_moved_to_another_node(some: list[Job]) -> None:
    """A node hangs; the schedule does not know on which node it started a task."""
    slow, nodes = some[-1].id, count()

    def fate(jobs: Sequence[Job], node: str | None) -> float:
        hangs = any(job.id == slow for job in jobs) and node in (None, "node 0")
        return 1e6 if hangs else 0.1

    class Named(MadeUp):
        """Says that tasks were computed on two nodes in turn."""

        def wait(self, refs: Sequence[int], seconds: float) -> list[tuple[int, Answer | Lost]]:
            found = super().wait(refs, seconds)
            return [
                (
                    ref,
                    one._replace(node=f"node {next(nodes) % 2}")
                    if isinstance(one, Answer)
                    else one,
                )
                for ref, one in found
            ]

    cluster = Named(cpus=2, fate=fate)
    check(list(Schedule(cluster, some).run()), some)
    assert cluster.now() < 20
    assert [node for _, node in cluster.tasks if node] == ["node 0", "node 1"]


def test_a_task_that_is_slow_everywhere_is_started_a_few_times_only(some: list[Job]) -> None:
    slow = some[-1].id
    cluster = MadeUp(cpus=4, fate=lambda jobs, _: 100.0 if slow in [j.id for j in jobs] else 0.1)
    check(list(Schedule(cluster, some).run()), some)
    assert [node for _, node in cluster.tasks if node] == ["usual"] * 5  # after 2, 4, … 32 s


def test_a_copy_that_is_lost_does_not_end_the_first(some: list[Job]) -> None:
    slow = some[-1].id

    def fate(jobs: Sequence[Job], node: str | None) -> Any:
        if any(job.id == slow for job in jobs):
            return 20.0 if node is None else NODE_LOST
        return 0.1

    cluster = MadeUp(cpus=4, fate=fate)
    check(list(Schedule(cluster, some).run()), some)


def test_cpus_that_are_added_are_used(some: list[Job]) -> None:
    cluster = MadeUp(cpus=1, fate=lambda *_: 1.0)
    running = Schedule(cluster, some).run()
    next(running)
    before, cluster.count = cluster.at_once, 3
    list(running)
    assert before == AHEAD < cluster.at_once


def test_closing_it_cancels_all_tasks(some: list[Job]) -> None:
    cluster = MadeUp()
    running = Schedule(cluster, some).run()
    next(running)
    running.close()
    assert len(cluster.cancelled) == AHEAD * cluster.count - 1


def test_an_error_of_the_cluster_cancels_all_tasks(some: list[Job]) -> None:
    cluster = MadeUp(fate=lambda *_: 1.0)
    running = Schedule(cluster, some).run()
    next(running)
    with pytest.raises(ZeroDivisionError):
        running.throw(ZeroDivisionError)
    assert cluster.cancelled


def many(number: int, work: float = 0.5) -> list[Job]:
    """Jobs without cells, for clusters that compute nothing."""
    return [Job((), work)] * number


@pytest.mark.parametrize("pace", [0.1, 1.0, 20.0])
def test_tasks_take_some_seconds_whatever_was_estimated(
    pace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = list[float]()

    def submit(self: SimulatedCluster, jobs: Sequence[Job], node: str | None) -> int:
        lengths.append(pace * sum(job.work for job in jobs))
        return original(self, jobs, node)

    original = SimulatedCluster.submit
    monkeypatch.setattr(SimulatedCluster, "submit", submit)
    cluster = SimulatedCluster(8, 8, lambda job: pace * job.work)
    taken = simulated_seconds(cluster, many(2000), 0)
    ideal = 2000 * 0.5 * pace / 8
    assert taken < 1.05 * ideal + pace * 0.5
    middle = lengths[len(lengths) // 4 : len(lengths) // 2]
    assert max(lengths) <= max(SECONDS + 1e-9, 0.5 * pace)
    assert np.mean(middle) > min(SECONDS, 0.5 * pace) / 2


def test_tasks_are_no_shorter_after_nodes_were_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    answers, tasks, wait, submit = count(), count(), SimulatedCluster.wait, SimulatedCluster.submit

    def lossy(self: SimulatedCluster, refs: Sequence[int], seconds: float) -> list[Any]:
        found = wait(self, refs, seconds)
        return [(ref, NODE_LOST if 20 <= next(answers) < 40 else one) for ref, one in found]

    def counted(self: SimulatedCluster, jobs: Sequence[Job], node: str | None) -> int:
        next(tasks)
        return submit(self, jobs, node)

    monkeypatch.setattr(SimulatedCluster, "wait", lossy)
    monkeypatch.setattr(SimulatedCluster, "submit", counted)
    simulated_seconds(SimulatedCluster(8, 8, lambda job: 0.1 * job.work), many(2000), 0)
    assert next(tasks) < 300


def test_simulated_tasks_share_cores() -> None:
    def seconds(cpus: int, cores: int) -> float:
        return simulated_seconds(SimulatedCluster(cpus, cores, lambda job: job.work), many(400), 0)

    assert seconds(1, 2) == pytest.approx(200, rel=1e-6)
    assert seconds(2, 2) == pytest.approx(100, rel=0.02)
    assert seconds(4, 2) == pytest.approx(100, rel=0.02)
    assert seconds(4, 4) == pytest.approx(50, rel=0.04)


def test_a_simulated_driver_is_a_bottleneck_when_results_come_faster_than_it_handles_them() -> None:
    cluster = SimulatedCluster(100, 101, lambda job: job.work)
    taken = simulated_seconds(cluster, many(4000), 0.02)
    assert taken == pytest.approx(4000 * 0.02, rel=0.1)


def test_the_constants_make_sense() -> None:
    assert module.TICK < module.LATEST
