"""Computing a job: for each seed one draw of experience, from which all its cells learn."""

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, InputError
from preftd.experience import Experience
from preftd.experiments.cells import Cell, Job, Unmade
from preftd.experiments.evaluation import FAR, finite_or_inf, trivial_error
from preftd.experiments.learning import Batch, Signal, takes
from preftd.learners.steps import Steps
from preftd.tasks import Task
from preftd.tasks.scored import Scored

FAILURES = (Exception, SystemExit)
"""What may come out of the user's code and concerns the cell alone."""


class Failure(NamedTuple):
    """Why a cell has no result."""

    cell: str
    """Its id."""
    error: str
    """In one line."""
    traceback: str


@final
@dataclass(frozen=True)
class Done:
    """What came of a job."""

    job: str
    """Its id."""
    rows: NDArray[np.intp]
    """Which of the job's cells have results."""
    tasks: tuple[str, ...]
    """The names of their tasks."""
    errors: Dense
    """Cells that have results × episodes; infinite where predictions are not finite."""
    diverged: NDArray[np.bool_]
    failures: tuple[Failure, ...]


def compute(job: Job) -> Done:
    """The results of a job; a cell that raises does not keep others from theirs."""
    found: dict[str, Dense] = {}
    made: dict[int, tuple[str, float]] = {}
    failures: list[Failure] = []
    for seed, cells in job.by_seed():
        try:
            task = cells[0].task
            if isinstance(task, Unmade):
                raise InputError(task.why)
            made[seed] = task.name, trivial_error(task)
            failures += _learn(task, seed, cells, found)
        except FAILURES as error:  # the user's code may raise anything; it is reported
            failures += [_failure(cell, error) for cell in cells if cell.id not in found]
    rows = [row for row, cell in enumerate(job.cells) if cell.id in found]
    done = [job.cells[row] for row in rows]
    errors = np.array([found[cell.id] for cell in done]).reshape(-1, job.cells[0].episodes)
    far = FAR * np.array([made[cell.seed][1] for cell in done])
    diverged = np.max(errors, axis=1, initial=0.0) > far
    names = tuple(made[cell.seed][0] for cell in done)
    return Done(job.id, np.array(rows, np.intp), names, errors, diverged, tuple(failures))


def _learn(task: Task, seed: int, cells: Sequence[Cell], found: dict[str, Dense]) -> list[Failure]:
    """Let all cells of a seed learn, step sizes side by side; adds what they found."""
    lanes = [list(group) for _, group in groupby(cells, key=lambda cell: cell.labels)]
    failed = _learn_together(task, seed, lanes, found)
    # One step size may have spoiled it for the others beside it: each gets its own chance.
    alone = [[cell] for lane in lanes for cell in lane if cell.id in failed and len(lane) > 1]
    if alone:
        failed |= _learn_together(task, seed, alone, found)
    return [_failure(cell, failed[cell.id]) for cell in cells if cell.id not in found]


def _learn_together(
    task: Task, seed: int, lanes: Sequence[Sequence[Cell]], found: dict[str, Dense]
) -> dict[str, BaseException]:
    """One draw of experience for all; adds what they found, and returns what went wrong."""
    learning = [_Lane(task, seed, cells) for cells in lanes]
    signals: dict[tuple[str, str], tuple[Signal, list[_Lane]]] = {}
    for lane in learning:
        first = lane.cells[0]
        place, (rule, preference, _) = first.labels, first.algorithm
        fresh: tuple[Signal, list[_Lane]] = (Signal(rule, preference), [])
        signals.setdefault((place.rule, place.preference), fresh)[1].append(lane)
    for taken in takes(task, seed, lanes[0][0].episodes):
        for signal, followers in signals.values():
            _follow(signal, [lane for lane in followers if lane.error is None], taken, task.scored)
    failed: dict[str, BaseException] = {}
    for lane in learning:
        if lane.error is not None:
            failed |= dict.fromkeys((cell.id for cell in lane.cells), lane.error)
        else:
            errors = finite_or_inf(np.concatenate(lane.errors).T)
            found |= {cell.id: row for cell, row in zip(lane.cells, errors, strict=True)}
    return failed


def _follow(signal: Signal, lanes: Sequence["_Lane"], taken: Experience, scored: Scored) -> None:
    """Learn from a take; what one rule and preference make of it is the same for all learners."""
    if not lanes:
        return
    try:
        steps = signal.steps(taken)
    except FAILURES as error:
        for lane in lanes:
            lane.error = error
        return
    for lane in lanes:
        lane.learn(steps, scored)


class _Lane:
    """An algorithm of a seed with some step sizes, until it fails."""

    def __init__(self, task: Task, seed: int, cells: Sequence[Cell]) -> None:
        self.cells = cells
        self.errors: list[Dense] = []
        self.error: BaseException | None = None
        try:
            learner, sizes = cells[0].algorithm.learner, [cell.step_size for cell in cells]
            self._batch: Batch = learner.start(task.features.size, sizes, seed)
        except FAILURES as error:
            self.error = error

    def learn(self, steps: Steps, scored: Scored) -> None:
        try:
            errors = self._batch.learn(steps, scored)
            wanted = (int(steps.ends.sum()), len(self.cells))
            if np.shape(errors) != wanted:
                raise InputError(
                    f"the learner gave errors of shape {np.shape(errors)}: give one for each "
                    f"episode and step size, {wanted}."
                )
            self.errors.append(np.array(errors, dtype=np.float64))  # the learner may reuse its own
        except FAILURES as error:
            self.error = error


def _failure(cell: Cell, error: BaseException) -> Failure:
    trace = "".join(traceback.format_exception(error))
    return Failure(cell.id, f"{type(error).__name__}: {error}".splitlines()[0], trace)
