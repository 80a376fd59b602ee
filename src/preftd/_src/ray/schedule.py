"""The schedule of jobs: tasks of some seconds; lost ones are repeated, slow ones started twice.

The schedule uses a few methods of a cluster, so the same code runs on a simulated one.
A job whose process dies is halved until the cause is a cell.
"""

from collections import deque
from collections.abc import Generator, Hashable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar, final

from preftd._src.experiments.jobs import Job, JobResult, blamed, joined
from preftd._src.experiments.store import decoded

ATTEMPTS = 3
"""The number of deaths of its process after which a single cell is blamed."""


@final
class JobPart:
    """A job, or a part of one.

    Parameters
    ----------
    job : Job
    whole : JobPart, optional
        The job that it is a part of.

    """

    def __init__(self, job: Job, whole: "JobPart | None" = None) -> None:
        self.job = job
        self.lost: int = 0 if whole is None else whole.lost
        """The number of times it was lost with its node."""
        self._whole, self._deaths = whole, 0
        self._halves: list[JobPart] = []
        self._result: JobResult | None = None

    def split(self) -> "list[JobPart]":
        """Return the parts that replace it after its process died."""
        self._deaths += 1
        if self.job.size == 1:
            return [self] if self._deaths < ATTEMPTS else []
        self._halves = [JobPart(half, self) for half in self.job.halves()]
        return self._halves

    def give_up(self, reason: str) -> Iterator[JobResult]:
        """Blame the cell, if it is a single one whose process died often enough."""
        if self.job.size == 1 and self._deaths >= ATTEMPTS:
            error = f"the process that computed it ended {ATTEMPTS} times, at last because {reason}"
            yield from self.finish(blamed(self.job, error))

    def finish(self, result: JobResult) -> Iterator[JobResult]:
        """Store the result; yield that of the job, if this was the last of its parts."""
        self._result = result
        if self._whole is None:
            yield result
            return
        halves = self._whole._halves
        results = [decoded(half._result) for half in halves if half._result is not None]
        if len(results) == len(halves):
            sizes = [half.job.size for half in halves]
            yield from self._whole.finish(joined(self._whole.job, sizes, results))


SECONDS = 4.0
"""Approximate seconds of a task: long compared with sending it, short enough to lose."""
AHEAD = 2
"""Tasks submitted per CPU, so that none waits for the driver."""
TICK = 0.5
"""Seconds between checks for new CPUs and slow tasks."""
LATE, LATEST = 2.0, 2.0
"""A task is slow after this multiple of its expected seconds, and at least this many seconds."""
LOSSES = 5
"""A part that was lost with its node this often is suspected to be the cause."""

Ref = TypeVar("Ref", bound=Hashable)


class Answer(NamedTuple):
    """What a task found."""

    results: Sequence[JobResult]
    """One for each job; none if the node differs."""
    node: str
    """The id of the node that computed them."""
    host: str = ""
    """The name of its machine."""
    fingerprint: tuple[str, ...] | None = None
    """The fingerprint that its results depend on."""
    printed: str = ""
    missing: str = ""
    """The name of a module that could not be imported."""


class Lost(NamedTuple):
    """The reason why a task has no answer."""

    reason: str
    """How the process ended, in words."""
    with_node: bool
    """Whether the whole node was lost, which is not the fault of the jobs."""


class Cluster(Protocol[Ref]):
    """Computes tasks; a task is known by a reference."""

    most: int | None
    """The most tasks that may be submitted at the same time; None if there is no limit."""

    def cpus(self) -> int:
        """Return the number of CPUs; a task takes one."""

    def now(self) -> float:
        """Return the time, in seconds."""

    def submit(self, jobs: Sequence[Job], node: str | None) -> Ref:
        """Submit a task, to a node if one is given."""

    def wait(self, refs: Sequence[Ref], seconds: float) -> list[tuple[Ref, Answer | Lost]]:
        """Return the tasks that have ended; wait up to `timeout` seconds for the first."""

    def cancel(self, refs: Sequence[Ref]) -> None:
        """End tasks, whatever they are doing."""


@final
class _Task(Generic[Ref]):
    """Parts that are computed together, perhaps at two nodes."""

    def __init__(self, parts: Sequence[JobPart], since: float) -> None:
        self.parts, self.since = parts, since
        self.refs: list[Ref] = []
        self.copies, self.copied = 0, since
        """The number of other starts, and the time of the last start."""
        self.work = sum(part.job.work for part in parts)


@final
class Schedule(Generic[Ref]):
    """The schedule of some jobs on a cluster."""

    def __init__(self, cluster: Cluster[Ref], jobs: Sequence[Job]) -> None:
        self._cluster = cluster
        # The longest first: at the end the others wait for no more than a short one.
        self._waiting = deque(JobPart(job) for job in sorted(jobs, key=lambda job: -job.work))
        self._alone = deque[JobPart]()
        """Parts whose process died, which are computed alone to find the cause."""
        self._work = sum(job.work for job in jobs)
        """That waits."""
        self._running: dict[Ref, _Task[Ref]] = {}
        self._pace: float | None = None
        """Measured seconds per estimated second; None before the first answer."""
        self._pace_of: dict[str, float] = {}
        """The same by node."""
        self._copies = 0

    def run(self) -> Generator[JobResult, None, None]:
        """Compute the jobs; results in any order. Closing it cancels all tasks."""
        try:
            while self._waiting or self._alone or self._running:
                self._submit_all()
                for ref, found in self._cluster.wait(list(self._running), TICK):
                    task = self._running.pop(ref, None)
                    if task is None:  # a copy of it came first
                        continue
                    task.refs.remove(ref)
                    if isinstance(found, Answer):
                        yield from self._finish(task, found)
                    elif not (task.refs and found.with_node):
                        yield from self._again(task, found)
        finally:
            self._cluster.cancel(list(self._running))
            self._running.clear()

    def _submit_all(self) -> None:
        """Keep all CPUs busy."""
        most = self._cluster.most or float("inf")
        cpus = int(min(max(1, self._cluster.cpus()), most))
        while len(self._running) < min(AHEAD * cpus, most) and (parts := self._next(cpus)):
            self._submit(_Task(parts, self._cluster.now()), None)
        if not self._waiting and not self._alone:
            self._copy_slow_tasks(cpus - len(self._running))

    def _next(self, cpus: int) -> list[JobPart]:
        """The parts of the next task.

        Towards the end tasks are shorter, so that all end together.
        """
        if self._alone:
            return [self._alone.popleft()]
        most = 0.0
        if self._pace is not None:
            most = min(SECONDS, self._pace * self._work / (AHEAD * cpus)) / self._pace
        parts = list[JobPart]()
        taken = 0.0
        while self._waiting and (not parts or taken + self._waiting[0].job.work <= most):
            parts.append(self._waiting.popleft())
            taken += parts[-1].job.work
        self._work -= taken
        return parts

    def _submit(self, task: _Task[Ref], node: str | None) -> None:
        ref = self._cluster.submit([part.job for part in task.parts], node)
        self._running[ref] = task
        task.refs.append(ref)

    def _finish(self, task: _Task[Ref], answer: Answer) -> Iterator[JobResult]:
        """Keep the answer to a task, and yield the results of whole jobs."""
        self._drop(task, len(task.refs))
        pace = sum(result.seconds for result in answer.results) / max(task.work, 1e-9)
        self._pace = pace if self._pace is None else (self._pace + pace) / 2
        self._pace_of[answer.node] = (self._pace_of.get(answer.node, pace) + pace) / 2
        for part, result in zip(task.parts, answer.results, strict=True):
            yield from part.finish(result)

    def _again(self, task: _Task[Ref], lost: Lost) -> Iterator[JobResult]:
        """Compute the parts of a lost task again, each alone if its process died."""
        self._drop(task, len(task.refs))
        for part in task.parts:
            part.lost += lost.with_node
            if lost.with_node and part.lost <= LOSSES:
                self._waiting.appendleft(part)
                self._work += part.job.work
            elif len(task.parts) > 1:
                self._alone.append(part)
            else:
                self._alone += part.split()
                yield from part.give_up(lost.reason)

    def _drop(self, task: _Task[Ref], count: int) -> None:
        """Cancel the last `places` starts of a task."""
        for _ in range(count):
            ref = task.refs.pop()
            del self._running[ref]
            self._cluster.cancel([ref])

    def _copy_slow_tasks(self, free: int) -> None:
        """Start slow tasks a second time, elsewhere; the first answer counts.

        The second may wait behind the first, at a node that hangs. If it is late as well, it is
        moved to another node, each time after twice the delay.
        """
        if self._pace is None:
            return
        now, best = self._cluster.now(), min(self._pace_of.values())
        quick = sorted(node for node, pace in self._pace_of.items() if pace <= LATE * best)
        for task in sorted(dict.fromkeys(self._running.values()), key=lambda task: task.since):
            patience = max(LATEST, LATE * self._pace * task.work) * 2**task.copies
            if now - task.copied <= patience:
                continue
            if not task.copies and free > 0:
                free -= 1
            elif len(task.refs) > 1:
                self._drop(task, 1)
            else:
                continue
            self._submit(task, quick[self._copies % len(quick)])
            self._copies += 1
            task.copies, task.copied = task.copies + 1, now
