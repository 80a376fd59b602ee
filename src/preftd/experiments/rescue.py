"""What to do about a job whose process died: find the cells that killed it, and save the others."""

from collections.abc import Callable

import numpy as np

from preftd.experiments.cells import Job
from preftd.experiments.work import Done, Failure
from preftd.experiments.worker import Worker, WorkerDiedError


def rescue(job: Job, why: str, start: Callable[[], Worker]) -> Done:
    """Compute a job in halves, each in a process of its own, down to the cells that end theirs."""
    if len(job.cells) == 1:
        failure = Failure(job.cells[0].id, why, why)
        nothing = np.empty((0, job.cells[0].episodes))
        return Done(job.id, np.empty(0, np.intp), (), nothing, np.empty(0, np.bool_), (failure,))
    middle = len(job.cells) // 2
    first, second = (
        _alone(Job(cells, job.work / 2), start)
        for cells in (job.cells[:middle], job.cells[middle:])
    )
    return Done(
        job.id,
        np.concatenate([first.rows, second.rows + middle]),
        first.tasks + second.tasks,
        np.concatenate([first.errors, second.errors]),
        np.concatenate([first.diverged, second.diverged]),
        first.failures + second.failures,
    )


def _alone(job: Job, start: Callable[[], Worker]) -> Done:
    worker = start()
    try:
        worker.send(job)
        return worker.receive()
    except WorkerDiedError as error:
        return rescue(job, str(error), start)
    finally:
        worker.end()
