"""A simulated cluster: the schedule runs on it as on a real one, in no time."""

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import final

import numpy as np

from preftd._src.experiments.jobs import Job, JobResult
from preftd._src.ray.schedule import Answer, Lost, Schedule


@final
class SimulatedCluster:
    """A cluster whose clock is simulated.

    Tasks that run share the cores equally. They wait in a queue while all CPUs are taken.

    Parameters
    ----------
    cpus : int
        The number of tasks at the same time.
    cores : int
        The number of physical cores, which may be fewer.
    seconds : callable
        How long a job takes on a core.
    task_seconds : float
        Overhead of a task.

    """

    def __init__(
        self, cpus: int, cores: int, seconds: Callable[[Job], float], task_seconds: float = 0.0
    ) -> None:
        self.most: int | None = None
        self._cpus, self._cores = cpus, cores
        self._seconds, self._task_seconds = seconds, task_seconds
        self._time = self._computed = 0.0
        """The clock, and how many seconds each task that ran all the time has computed by now."""
        self._queue = deque[tuple[int, Sequence[Job]]]()
        self._running: list[tuple[float, int, Sequence[Job]]] = []
        """A heap, by what `_computed` is when a task ends."""
        self._ended: dict[int, Answer] = {}
        self._numbers = count()

    def cpus(self) -> int:
        """Return the number of tasks at the same time."""
        return self._cpus

    def now(self) -> float:
        """Return the simulated time, in seconds."""
        return self._time

    def submit(self, jobs: Sequence[Job], node: str | None) -> int:  # noqa: ARG002  (all are alike)
        """Submit a task."""
        number = next(self._numbers)
        self._queue.append((number, jobs))
        self._start()
        return number

    def wait(self, refs: Sequence[int], seconds: float) -> list[tuple[int, Answer | Lost]]:
        """Return the tasks that have ended; let the time pass until the first has."""
        if not self._ended:
            self._pass(seconds, until_one_ends=True)
        wanted = set(refs)
        found = [(number, answer) for number, answer in self._ended.items() if number in wanted]
        self._ended.clear()
        return list(found)

    def cancel(self, refs: Sequence[int]) -> None:
        """End tasks."""
        dropped = set(refs)
        if dropped:
            self._queue = deque(task for task in self._queue if task[0] not in dropped)
            self._running = [task for task in self._running if task[1] not in dropped]
            heapq.heapify(self._running)

    def spend(self, seconds: float) -> None:
        """Let the driver be busy for some time."""
        self._pass(seconds, until_one_ends=False)

    def _start(self) -> None:
        while self._queue and len(self._running) < self._cpus:
            number, jobs = self._queue.popleft()
            takes = self._task_seconds + sum(map(self._seconds, jobs))
            heapq.heappush(self._running, (self._computed + takes, number, jobs))

    def _pass(self, seconds: float, until_one_ends: bool) -> None:
        """Let time pass; tasks end and others start."""
        until = self._time + seconds
        while True:
            busy = len(self._running) + (not until_one_ends)  # the driver takes a core as well
            share = min(1.0, self._cores / max(1, busy))
            ends = self._time + (
                (self._running[0][0] - self._computed) / share if self._running else np.inf
            )
            to = min(ends, until)
            self._computed += (to - self._time) * share
            self._time = to
            if ends > until:
                return
            self._computed, number, jobs = heapq.heappop(self._running)
            self._ended[number] = Answer([_result(self._seconds(job)) for job in jobs], "")
            self._start()
            if until_one_ends:
                return


def _result(seconds: float) -> JobResult:
    return JobResult("", np.empty(0, np.intp), {}, np.empty(0, np.bool_), (), seconds)


def simulated_seconds(
    cluster: SimulatedCluster, jobs: Sequence[Job], driver_seconds: float
) -> float:
    """Return how long jobs take on a simulated cluster whose driver spends time on each result."""
    began = cluster.now()
    for _ in Schedule(cluster, jobs).run():
        cluster.spend(driver_seconds)
    return cluster.now() - began
