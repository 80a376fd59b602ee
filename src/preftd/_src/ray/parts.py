"""Parts of jobs: a job whose process dies is halved until the cause is a cell."""

from collections.abc import Iterator
from typing import final

from preftd._src.experiments.jobs import Job
from preftd._src.experiments.work import JobResult, blamed, joined

ATTEMPTS = 3
"""How often the process of a single cell must die until the cell is blamed for it."""


@final
class Part:
    """A job, or a part of one.

    Parameters
    ----------
    job : Job
    whole : Part, optional
        What it is a part of.

    """

    def __init__(self, job: Job, whole: "Part | None" = None) -> None:
        self.job = job
        self.lost: int = 0 if whole is None else whole.lost
        """How often it was lost with its node."""
        self._whole, self._deaths = whole, 0
        self._halves: list[Part] = []
        self._result: JobResult | None = None

    def split(self) -> "list[Part]":
        """Return what is computed in its place after its process died."""
        self._deaths += 1
        if self.job.size == 1:
            return [self] if self._deaths < ATTEMPTS else []
        first = [row < self.job.size // 2 for row in range(self.job.size)]
        halves = self.job.only(first), self.job.only([not one for one in first])
        self._halves = [Part(half, self) for half in halves if half is not None]
        return self._halves

    def give_up(self, reason: str) -> Iterator[JobResult]:
        """Blame the cell, if it is a single one whose process died often enough."""
        if self.job.size == 1 and self._deaths >= ATTEMPTS:
            error = f"the process that computed it ended {ATTEMPTS} times, at last because {reason}"
            yield from self.finish(blamed(self.job, error))

    def finish(self, result: JobResult) -> Iterator[JobResult]:
        """Keep the result; yield that of the job, if this was the last of its parts."""
        self._result = result
        if self._whole is None:
            yield result
            return
        halves = self._whole._halves
        results = [half._result for half in halves if half._result is not None]
        if len(results) == len(halves):
            sizes = [half.job.size for half in halves]
            yield from self._whole.finish(joined(self._whole.job, sizes, results))
