"""Computing a job: one draw of experience for each strand, from which all its cells learn."""

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, InputError
from preftd.experience import Experience
from preftd.experiments.cells import Strand, Unmade
from preftd.experiments.evaluation import FAR, finite_or_inf, trivial_error
from preftd.experiments.jobs import Job
from preftd.experiments.learning import Batch, RunningCoefficients, takes
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
    errors: Dense
    """Cells that have results × episodes; infinite where predictions are not finite."""
    diverged: NDArray[np.bool_]
    failures: tuple[Failure, ...]
    seconds: float = 0.0
    """How long it took, once everything was ready."""


def compute(job: Job) -> Done:
    """The results of a job; a cell that raises does not keep others from theirs."""
    began = time.perf_counter()
    found = list(map(_compute, job.strands))
    errors = np.concatenate([errors for errors, _, _ in found])
    far = np.repeat([far for _, far, _ in found], [len(errors) for errors, _, _ in found])
    diverged = np.max(errors, axis=1) > far
    there = _complete(errors)
    failures = tuple(failure for *_, failed in found for failure in failed)
    if not there.all():
        errors, diverged = errors[there], diverged[there]
    seconds = time.perf_counter() - began
    return Done(job.id, np.flatnonzero(there), errors, diverged, failures, seconds)


def _compute(strand: Strand) -> tuple[Dense, float, list[Failure]]:
    """Errors, NaN of the cells that failed; from where on they mean divergence; and failures."""
    errors = np.full((len(strand.variants), strand.draw.episodes), np.nan)
    task, far = strand.draw.task, np.inf
    if isinstance(task, Unmade):
        line = f"InputError: {task.why}"
        return errors, far, [Failure(cell, line, task.traceback) for cell in strand.ids]
    try:
        far = FAR * trivial_error(task)
        failed = _learn(task, strand, errors)
    except FAILURES as error:  # the user's code may raise anything; it is reported
        failed = dict.fromkeys(np.flatnonzero(~_complete(errors)).tolist(), error)
    ids = strand.ids if failed else []
    return errors, far, [_failure(ids[row], error) for row, error in sorted(failed.items())]


def _complete(errors: Dense) -> NDArray[np.bool_]:
    """Which rows have all their errors: those after the last episode are numbers, or infinite."""
    return np.asarray(~np.isnan(errors[:, -1]))


def _learn(task: Task, strand: Strand, errors: Dense) -> dict[int, BaseException]:
    """Let all cells learn, step sizes side by side; what went wrong, by row."""
    variants = enumerate(strand.variants)
    lanes = [
        [row for row, _ in group] for _, group in groupby(variants, key=lambda pair: pair[1].labels)
    ]
    together = _learn_together(task, strand, lanes, errors)
    # One step size may have spoiled it for the others beside it: each gets its own chance.
    again = [[row] for lane in lanes for row in lane if row in together and len(lane) > 1]
    alone = _learn_together(task, strand, again, errors) if again else {}
    for row, error in alone.items():
        if str(error) != str(together[row]):
            error.add_note(f"Beside other step sizes it failed with: {_line(together[row])}")
    retried = {row for (row,) in again}
    return {row: error for row, error in together.items() if row not in retried} | alone


def _learn_together(
    task: Task, strand: Strand, lanes: Sequence[Sequence[int]], errors: Dense
) -> dict[int, BaseException]:
    """One draw of experience for all; fills in what they found, and returns what went wrong."""
    seed, episodes = strand.draw.seed, strand.draw.episodes
    learning = [_Lane(task, strand, rows, errors) for rows in lanes]
    signals: dict[tuple[str, str], tuple[RunningCoefficients, list[_Lane]]] = {}
    for lane in learning:
        first = strand.variants[lane.rows[0]]
        place, (rule, preference, _) = first.labels, first.algorithm
        fresh: tuple[RunningCoefficients, list[_Lane]] = (RunningCoefficients(rule, preference), [])
        signals.setdefault((place.rule, place.preference), fresh)[1].append(lane)
    for taken in takes(task, seed, episodes):
        for signal, followers in signals.values():
            _follow(signal, [lane for lane in followers if lane.error is None], taken, task.scored)
    return {row: lane.error for lane in learning if lane.error is not None for row in lane.rows}


def _follow(
    signal: RunningCoefficients, lanes: Sequence["_Lane"], taken: Experience, scored: Scored
) -> None:
    """Learn from a take; what one rule and preference make of it is the same for all learners."""
    if not lanes:
        return
    try:
        steps = signal.steps(taken)
    except FAILURES as error:
        for lane in lanes:
            lane.fail(error)
        return
    for lane in lanes:
        lane.learn(steps, scored)


class _Lane:
    """An algorithm with some step sizes, neighbours in a strand, until it fails."""

    def __init__(self, task: Task, strand: Strand, rows: Sequence[int], errors: Dense) -> None:
        self.rows = rows
        self.error: BaseException | None = None
        self._errors, self._episode = errors[rows[0] : rows[-1] + 1], 0
        variants = [strand.variants[row] for row in rows]
        try:
            learner, sizes = variants[0].algorithm.learner, [v.step_size for v in variants]
            self._batch: Batch = learner.start(task.features.size, sizes, strand.draw.seed)
        except FAILURES as error:
            self.fail(error)

    def learn(self, steps: Steps, scored: Scored) -> None:
        """Learn from some steps, and note the error after each episode."""
        try:
            found = self._batch.learn(steps, scored)
            wanted = (int(steps.is_last.sum()), len(self.rows))
            if np.shape(found) != wanted:
                raise InputError(
                    f"the learner gave errors of shape {np.shape(found)}: give one for each "
                    f"episode and step size, {wanted}."
                )
            until = self._episode + wanted[0]
            self._errors[:, self._episode : until] = finite_or_inf(np.asarray(found, float).T)
            self._episode = until
        except FAILURES as error:
            self.fail(error)

    def fail(self, error: BaseException) -> None:
        """There will be no results, for this reason."""
        self.error = error
        self._errors[:] = np.nan


def _failure(cell: str, error: BaseException) -> Failure:
    return Failure(cell, _line(error), "".join(traceback.format_exception(error)))


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
