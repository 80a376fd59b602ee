"""What to do about a job whose process died: find the cells that killed it, and save the others."""

from collections.abc import Callable

import numpy as np

from preftd.experiments.jobs import Job
from preftd.experiments.parts import joined
from preftd.experiments.work import Done, Failure
from preftd.experiments.worker import Worker, WorkerDiedError


def rescue(job: Job, why: str, start: Callable[[], Worker]) -> Done:
    """Compute a job in halves, each in a process of its own, down to the cells that end theirs."""
    if job.size == 1:
        failure = Failure(job.ids[0], why, why)
        nothing = np.empty((0, job.strands[0].draw.episodes))
        return Done(job.id, np.empty(0, np.intp), nothing, np.empty(0, np.bool_), (failure,))
    first = [row < job.size // 2 for row in range(job.size)]
    halves = [half for half in (job.only(first), job.only([not one for one in first])) if half]
    return joined(job, halves, [_alone(half, start) for half in halves])


def _alone(job: Job, start: Callable[[], Worker]) -> Done:
    worker = start()
    try:
        worker.send(job)
        return worker.receive()
    except WorkerDiedError as error:
        return rescue(job, str(error), start)
    finally:
        worker.end()
