"""Jobs: cells that are computed together and stored in one file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, groupby
from typing import Any, Protocol, TypeAlias, final

from preftd._src.experiments.cells import CellGroup, Setting, ids_of, short_hash, units_of
from preftd.tasks import Task

SECONDS = 0.5
"""About how long a job takes on a core of 2020: long against writing a file, short to lose."""
UNKNOWN = SECONDS / 4
"""What a seed counts at least if it runs the user's code, which may take any time: such jobs have
few seeds."""


class OwnWork(Protocol):
    """Something else than cells of a study, such as a part of a log, that computes itself."""

    @property
    def id(self) -> str:
        """A name that no other of its kind has."""

    def compute(self) -> Any:
        """Return a `JobResult`."""


@final
@dataclass(frozen=True)
class Job:
    """Groups of cells that are computed together; or work of another kind."""

    groups: tuple[CellGroup, ...]
    work: float
    """About how many seconds it takes; used to estimate the time left."""
    own: OwnWork | None = None
    """Work of another kind; there are no groups then."""

    @cached_property
    def id(self) -> str:
        """The same for the same cells."""
        return short_hash("".join(self.ids)) if self.own is None else self.own.id

    @property
    def size(self) -> int:
        """How many cells it has; work of another kind cannot be divided."""
        return 1 if self.own else sum(len(group.settings) for group in self.groups)

    @property
    def ids(self) -> list[str]:
        """Ids of its cells."""
        return ids_of(self.groups)

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

    Jobs do not depend on what is stored already or on the number of workers, so that an interrupted
    run, when it is resumed, writes the same files.
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
"""What the groups of a job have in common: stage, task and the ids of their settings."""


def _without_repeats(groups: Sequence[CellGroup]) -> Iterator[tuple[Kind, CellGroup]]:
    """The same groups without cells that came before under other labels, and their kinds."""
    seen: dict[str, set[str]] = {}
    ids_of_settings = {
        id(group.settings): tuple(setting.id for setting in group.settings) for group in groups
    }
    for group in groups:
        before = seen.setdefault(group.sample.id, set())
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
    """A rough estimate of how long a group takes."""
    task, episodes = group.sample.task, group.sample.episodes
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
