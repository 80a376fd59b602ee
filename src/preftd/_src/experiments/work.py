"""Computing a job: one sample of experience for each group of cells, from which all of them learn.

A cell that raises does not keep the others from their results.
"""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, short
from preftd._src.experiments.cells import CellGroup, TaskFailure
from preftd._src.experiments.jobs import Job
from preftd._src.experiments.learning import Lane, Run, diverged, learn


class Failure(NamedTuple):
    """Why a cell has no result."""

    cell: str
    """Its id."""
    error: str
    """In one line."""
    traceback: str


@final
@dataclass(frozen=True)
class JobResult:
    """What was computed for a job."""

    job: str
    """Its id."""
    rows: NDArray[np.intp]
    """Which of the job's cells have results."""
    measured: dict[str, Dense]
    """By measure, cells that have results × episodes."""
    diverged: NDArray[np.bool_]
    """Of the same cells."""
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    """How long it took, once everything was ready."""
    exact: bool = True
    """Whether this machine would compute the same bytes; if not, they are equal to rounding."""


def compute(job: Job) -> JobResult:
    """The results of a job: what an executor calls wherever it computes."""
    if not isinstance(job, Job):
        raise InputError(f"job is {short(job)}: give one that an executor was given.")
    if job.own is not None:
        found: JobResult = job.own.compute()
        return found
    began = time.perf_counter()
    parts = [_compute(group) for group in job.groups]
    sizes = [len(group.settings) for group in job.groups]
    return replace(joined(job, sizes, parts), seconds=time.perf_counter() - began)


def joined(job: Job, sizes: Sequence[int], parts: Sequence[JobResult]) -> JobResult:
    """The result of a job from those of its parts, which have so many cells each."""
    firsts = np.cumsum([0, *sizes[:-1]])
    names = [measure.name for measure in job.groups[0].sample.measures]
    return JobResult(
        job.id,
        np.concatenate([first + part.rows for first, part in zip(firsts, parts, strict=True)]),
        {name: np.concatenate([part.measured[name] for part in parts]) for name in names},
        np.concatenate([part.diverged for part in parts]),
        tuple(failure for part in parts for failure in part.failures),
        sum(part.seconds for part in parts),
        all(part.exact for part in parts),
    )


def blamed(job: Job, error: str) -> JobResult:
    """The result of a job of size 1 whose process dies whenever it is computed."""
    if job.own is not None:
        why = (Failure(job.id, error, error),)
        return JobResult(job.id, np.empty(0, np.intp), {}, np.empty(0, np.bool_), why)
    return joined(job, [1], [all_failed(job.groups[0], error, error)])


def all_failed(group: CellGroup, error: str, trace: str) -> JobResult:
    """The result of cells that have none, for one reason."""
    nothing = np.empty((0, group.sample.episodes))
    return JobResult(
        "",
        np.empty(0, np.intp),
        {measure.name: nothing for measure in group.sample.measures},
        np.empty(0, np.bool_),
        tuple(Failure(cell, error, trace) for cell in group.ids),
    )


def _compute(group: CellGroup) -> JobResult:
    """The result of a group; the step sizes of an algorithm learn side by side."""
    task = group.sample.task
    if isinstance(task, TaskFailure):
        return all_failed(group, f"InputError: {task.reason}", task.traceback)
    alike = groupby(enumerate(group.settings), key=lambda pair: pair[1].labels)
    lanes = _learn(group, [tuple(row for row, _ in pairs) for _, pairs in alike])
    spoiled = {rows: lane for rows, lane in lanes.items() if lane.error and len(rows) > 1}
    if spoiled:
        # One step size may have spoiled it for the others beside it: each is tried alone.
        alone = _learn(group, [(row,) for rows in spoiled for row in rows])
        for rows, lane in spoiled.items():
            for row in rows:
                _add_note(alone[row,].error, lane.error)
        lanes = {rows: lane for rows, lane in lanes.items() if rows not in spoiled} | alone
    return _result(group, lanes)


def _learn(group: CellGroup, some: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Lane]:
    """Let some cells learn, given the rows of those that are side by side; their lanes by rows."""
    lanes = {}
    for rows in some:
        settings = [group.settings[row] for row in rows]
        lanes[rows] = Lane(settings[0].algorithm, [setting.step_size for setting in settings])
    _, task, seed, episodes, measures = group.sample
    learn(list(lanes.values()), task, Run(seed, episodes, measures))
    return lanes


def _result(group: CellGroup, lanes: dict[tuple[int, ...], Lane]) -> JobResult:
    shape = (len(group.settings), group.sample.episodes)
    there = np.zeros(shape[0], np.bool_)
    measured = {measure.name: np.empty(shape) for measure in group.sample.measures}
    ids, failures = group.ids, []
    for rows, lane in sorted(lanes.items()):
        if lane.error is not None:
            error, trace = lane.error, "".join(traceback.format_exception(lane.error))
            failures += [Failure(ids[row], _line(error), trace) for row in rows]
            continue
        there[list(rows)] = True
        for name, numbers in measured.items():
            numbers[list(rows)] = lane.measured[name]
    if failures:
        measured = {name: numbers[there] for name, numbers in measured.items()}
    found = diverged(measured, group.sample.task)
    return JobResult("", np.flatnonzero(there), measured, found, tuple(failures))


def _add_note(error: BaseException | None, beside: BaseException | None) -> None:
    if error is not None and beside is not None and str(error) != str(beside):
        error.add_note(f"Beside other step sizes it failed with: {_line(beside)}")


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
