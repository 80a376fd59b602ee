"""Jobs in parts, so that no process is idle where there are few of them.

A job is what is stored in one file, and the same wherever it is computed; in how many parts depends
on how many processes there are.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import final

import numpy as np

from preftd.experiments.jobs import Job
from preftd.experiments.work import Done

SHARES = 4
"""In how many parts, at least, the work of a process comes: it waits for the others that much less
than it works."""
LEAST = 0.05
"""About how many seconds a part takes at least: long against carrying it to and fro."""


@final
class Parts:
    """Jobs in parts for some processes, until all parts are done."""

    def __init__(self, jobs: Sequence[Job], processes: int) -> None:
        each = max(LEAST, sum(job.work for job in jobs) / (SHARES * processes))
        cut = {job.id: (job, _cut(job, each)) for job in jobs}
        self.all = [part for _, parts in cut.values() for part in parts]
        self._of = {part.id: whole for whole, (_, parts) in cut.items() for part in parts}
        self._cut = cut
        self._done: dict[str, Done] = {}

    def whole(self, done: Done) -> Done | None:
        """What came of a job, given what came of its last part; nothing before that."""
        job, parts = self._cut[self._of[done.job]]
        self._done[done.job] = done
        if any(part.id not in self._done for part in parts):
            return None
        return joined(job, parts, [self._done.pop(part.id) for part in parts])


def joined(job: Job, parts: Sequence[Job], done: Sequence[Done]) -> Done:
    """What came of a job, given what came of its parts, one after the other."""
    if len(parts) == 1:
        return done[0]
    firsts = np.cumsum([0, *(part.size for part in parts[:-1])])
    return Done(
        job.id,
        np.concatenate([first + one.rows for first, one in zip(firsts, done, strict=True)]),
        np.concatenate([one.errors for one in done]),
        np.concatenate([one.diverged for one in done]),
        tuple(failure for one in done for failure in one.failures),
        max(one.seconds for one in done),  # side by side, as far as is known
    )


def _cut(job: Job, each: float) -> list[Job]:
    """A job in parts that take about so long each, of whole strands."""
    strands = job.strands
    count = min(len(strands), max(1, round(job.work / each)))
    if count == 1:
        return [job]
    ends = [len(strands) * i // count for i in range(count + 1)]
    return [
        Job(strands[first:last], job.work * (last - first) / len(strands))
        for first, last in pairwise(ends)
    ]
