"""Jobs: cells that are computed together and stored in one file.

All cells of a trial learn from one draw of experience. If a cell raises, the others still have
results.
"""

import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, groupby
from typing import Any, NamedTuple, Protocol, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, instance
from preftd._src.experiments.cells import (
    CellGroup,
    Setting,
    TaskFailure,
    ids_of,
    short_hash,
    units_of,
)
from preftd._src.experiments.learning import Lane, diverged, learn
from preftd.tasks import Task

SECONDS = 0.5
"""About how long a job takes on a core of 2020: long compared with writing a file, short enough to
lose."""
UNKNOWN = SECONDS / 4
"""The least seconds assumed for a seed that runs the user's code, whose duration is unknown: such
jobs have few seeds."""


class OwnWork(Protocol):
    """Other work than cells of a study, such as a part of a log."""

    @property
    def id(self) -> str:
        """A unique name."""

    def compute(self) -> Any:
        """Return a `JobResult`."""


@final
@dataclass(frozen=True)
class Job:
    """Groups of cells that are computed together; or work of another kind."""

    groups: tuple[CellGroup, ...]
    work: float
    """The approximate seconds it takes; used to estimate the time left."""
    own: OwnWork | None = None
    """Work of another kind; there are then no groups."""

    @cached_property
    def id(self) -> str:
        """Equal for equal cells."""
        return short_hash("".join(self.ids)) if self.own is None else self.own.id

    @property
    def size(self) -> int:
        """The number of cells; work of another kind counts as one and cannot be divided."""
        return 1 if self.own else sum(len(group.settings) for group in self.groups)

    @property
    def ids(self) -> list[str]:
        """Ids of its cells."""
        return ids_of(self.groups)

    def halves(self) -> "list[Job]":
        """Two jobs with half of its cells each."""
        first = [row < self.size // 2 for row in range(self.size)]
        halves = self.only(first), self.only([not one for one in first])
        return [half for half in halves if half is not None]

    def only(self, keep: Sequence[bool]) -> "Job | None":
        """The job with some of its cells, one flag for each; None if it keeps none."""
        if all(keep):
            return self
        shared: dict[tuple[int, ...], tuple[Setting, ...]] = {}
        left, first = [], 0
        for group in self.groups:
            kept = keep[first : first + len(group.settings)]
            first += len(group.settings)
            settings = shared.setdefault(
                (id(group.settings), *kept), tuple(compress(group.settings, kept))
            )
            if settings:
                left.append(group._replace(settings=settings))
        return Job(tuple(left), self.work * sum(keep) / len(keep)) if left else None


def jobs(groups: Sequence[CellGroup]) -> list[Job]:
    """Every cell of some groups once, in jobs of about `SECONDS` that hold whole seeds of a task.

    Jobs do not depend on stored results or on the number of workers, so that a resumed run writes
    the same files.
    """
    found = []
    for _, alike in groupby(_without_repeats(groups), key=lambda group: group[0]):
        members = [group for _, group in alike]
        work = _seconds(members[0])
        together = max(1, round(SECONDS / work))
        for first in range(0, len(members), together):
            some = tuple(members[first : first + together])
            found.append(Job(some, work * len(some)))
    return found


Kind: TypeAlias = tuple[str, str, tuple[str, ...]]
"""What the groups of a job share: stage, task and the ids of their settings."""


def _without_repeats(groups: Sequence[CellGroup]) -> Iterator[tuple[Kind, CellGroup]]:
    """The groups without cells that occurred earlier under other labels, and their kinds."""
    seen: dict[str, set[str]] = {}
    ids_of_settings = {
        id(group.settings): tuple(setting.id for setting in group.settings) for group in groups
    }
    for group in groups:
        before = seen.setdefault(group.trial.id, set())
        ids = ids_of_settings[id(group.settings)]
        task = group.settings[0].labels.task
        if not before and len(set(ids)) == len(ids):
            before.update(ids)
            yield (group.stage, task, ids), group
            continue
        left: dict[str, Setting] = {}
        for name, setting in zip(ids, group.settings, strict=True):
            if name not in before:
                left.setdefault(name, setting)
        before.update(left)
        if left:
            yield (group.stage, task, (*left,)), group._replace(settings=(*left.values(),))


def _seconds(group: CellGroup) -> float:
    """A rough estimate of the seconds that a group takes."""
    task, episodes = group.trial.task, group.trial.episodes
    if not isinstance(task, Task):
        return UNKNOWN
    steps, features = episodes * task.mean_episode_length, task.features.size
    nanoseconds: float = 100 + 5 * features
    for _, same in groupby(group.settings, key=lambda setting: setting.labels):
        lanes = list(same)
        units = units_of(lanes[0].algorithm.learner) or 1
        nanoseconds += 200 + len(lanes) * (2 + 0.3 * features * units)
    estimate = float(1e-9 * steps * nanoseconds + 1e-3)
    return estimate if all(setting.ours for setting in group.settings) else max(estimate, UNKNOWN)


class Failure(NamedTuple):
    """Why a cell has no result."""

    cell: str
    """Its id."""
    error: str
    """In one line."""
    traceback: str


class EncodedFile(NamedTuple):
    """A file of results in memory."""

    content: bytes
    digest: str
    """The hash of its content, for its name."""


@final
@dataclass(frozen=True)
class JobResult:
    """The results of a job."""

    job: str
    """Its id."""
    rows: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp))
    """Which of the job's cells have results."""
    measured: dict[str, Dense] = field(default_factory=dict)
    """By measure, cells that have results × episodes."""
    diverged: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, np.bool_))
    """Of the same cells."""
    failures: tuple[Failure, ...] = ()
    seconds: float = 0.0
    """The seconds it took, after everything was ready."""
    exact: bool = True
    """Whether this machine would compute the same bytes; if not, they are equal to rounding."""
    file: EncodedFile | None = None
    """Its file, if a worker has encoded it; measures and divergence are then in there only."""


def compute(job: Job) -> JobResult:
    """The results of a job: an executor calls this wherever it computes."""
    instance("job", job, Job, "a job that an executor received")
    if job.own is not None:
        found: JobResult = job.own.compute()
        return found
    began = time.perf_counter()
    parts = [_compute(group) for group in job.groups]
    sizes = [len(group.settings) for group in job.groups]
    return replace(joined(job, sizes, parts), seconds=time.perf_counter() - began)


def joined(job: Job, sizes: Sequence[int], parts: Sequence[JobResult]) -> JobResult:
    """The result of a job from the results of its parts, given their numbers of cells."""
    firsts = np.cumsum([0, *sizes[:-1]])
    names = [measure.name for measure in job.groups[0].trial.measures]
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
        return JobResult(job.id, failures=(Failure(job.id, error, error),))
    return joined(job, [1], [all_failed(job.groups[0], error, error)])


def all_failed(group: CellGroup, error: str, trace: str) -> JobResult:
    """The result of cells that all failed for one reason."""
    nothing = np.empty((0, group.trial.episodes))
    measured = {measure.name: nothing for measure in group.trial.measures}
    failures = tuple(Failure(cell, error, trace) for cell in group.ids)
    return JobResult("", measured=measured, failures=failures)


def _compute(group: CellGroup) -> JobResult:
    """The result of a group; the step sizes of an algorithm learn together."""
    task = group.trial.task
    if isinstance(task, TaskFailure):
        return all_failed(group, f"InputError: {task.reason}", task.traceback)
    alike = groupby(enumerate(group.settings), key=lambda pair: pair[1].labels)
    lanes = _learn(group, [tuple(row for row, _ in pairs) for _, pairs in alike])
    spoiled = {rows: lane for rows, lane in lanes.items() if lane.error and len(rows) > 1}
    if spoiled:
        # One step size may have made the others fail: each is tried alone.
        alone = _learn(group, [(row,) for rows in spoiled for row in rows])
        for rows, lane in spoiled.items():
            for row in rows:
                _add_note(alone[row,].error, lane.error)
        lanes = {rows: lane for rows, lane in lanes.items() if rows not in spoiled} | alone
    return _result(group, lanes)


def _learn(group: CellGroup, some: Sequence[tuple[int, ...]]) -> dict[tuple[int, ...], Lane]:
    """Let some cells learn, given the rows of those that learn together; their lanes by rows."""
    lanes = {}
    for rows in some:
        settings = [group.settings[row] for row in rows]
        lanes[rows] = Lane(settings[0].algorithm, [setting.step_size for setting in settings])
    learn(list(lanes.values()), group.trial)
    return lanes


def _result(group: CellGroup, lanes: dict[tuple[int, ...], Lane]) -> JobResult:
    shape = (len(group.settings), group.trial.episodes)
    there = np.zeros(shape[0], np.bool_)
    measured = {measure.name: np.empty(shape) for measure in group.trial.measures}
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
    found = diverged(measured, group.trial.task)
    return JobResult("", np.flatnonzero(there), measured, found, tuple(failures))


def _add_note(error: BaseException | None, beside: BaseException | None) -> None:
    if error is not None and beside is not None and str(error) != str(beside):
        error.add_note(f"Together with other step sizes it failed with: {_line(beside)}")


def _line(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
