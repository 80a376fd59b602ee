"""Cells, the runs of a study, and jobs, the cells that are computed and stored together.

A cell's id is a hash of everything that its results depend on, and of nothing else: not of labels,
not of the other cells, not of how results are judged. So results are found again in any study
that asks for the same.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import NamedTuple, final

from preftd.arrays import InputError
from preftd.experiments.axes import made_task
from preftd.experiments.content import SCHEMA, content, digest, text
from preftd.experiments.evaluation import size_of
from preftd.experiments.inputs import as_seeds
from preftd.experiments.learning import Method, TaskSource
from preftd.experiments.study import Study
from preftd.learners.step_size import Decreasing, StepSize
from preftd.preferences import Preference
from preftd.rules import Rule
from preftd.tasks import Task

SECONDS = 0.5
"""About how long a job takes on a core of 2020: long against writing a file, short to lose."""


class Algorithm(NamedTuple):
    """What learns."""

    rule: Rule
    preference: Preference
    learner: Method


class Labels(NamedTuple):
    """What people call a cell's place in the study."""

    task: str
    rule: str
    preference: str
    learner: str


class Unmade(NamedTuple):
    """The task of a seed for which none could be made, and why."""

    name: str
    why: str


class Cell(NamedTuple):
    """One run: an algorithm with a step size on the task of a seed."""

    id: str
    stage: str
    """search, or report."""
    labels: Labels
    task: Task | Unmade
    algorithm: Algorithm
    step_size: StepSize
    seed: int
    episodes: int

    @property
    def schedule(self) -> str:
        """How the step size decreases, in words; empty if it does not."""
        return text(content(self.step_size)) if isinstance(self.step_size, Decreasing) else ""

    def description(self) -> dict[str, str | int | float]:
        """All there is to it, to be read."""
        return {
            "called": ", ".join(filter(None, self.labels)),
            "stage": self.stage,
            "task": self.task.name,
            "rule": described(self.algorithm.rule),
            "preference": described(self.algorithm.preference),
            "learner": described(self.algorithm.learner),
            "step_size": self.schedule or size_of(self.step_size),
            "seed": self.seed,
            "episodes": self.episodes,
        }


def units_of(learner: Method) -> int | None:
    """The width of a network; None for what has none."""
    units = getattr(learner, "units", None)
    return units if isinstance(units, int) else None


def described(part: object) -> str:
    """What a rule, preference or learner consists of, to be read."""
    return text(content(part))


@final
@dataclass(frozen=True)
class Job:
    """Cells of one task, seed by seed; all have the same number of episodes."""

    cells: tuple[Cell, ...]
    work: float
    """About how many seconds it takes, for guessing what is left."""

    @cached_property
    def id(self) -> str:
        """The same for the same cells."""
        return name_of(cell.id for cell in self.cells)

    def without(self, stored: Collection[str]) -> "Job | None":
        """What is left if some cells are there already; nothing, if all are."""
        left = tuple(cell for cell in self.cells if cell.id not in stored)
        share = len(left) / len(self.cells)
        return replace(self, cells=left, work=self.work * share) if left else None

    def by_seed(self) -> Iterator[tuple[int, list[Cell]]]:
        """Seeds, and the cells of each."""
        for seed, cells in groupby(self.cells, key=lambda cell: cell.seed):
            yield seed, list(cells)


def name_of(cells: Iterable[str]) -> str:
    """A short name for some cells, in their order: 16 hexadecimal digits."""
    return hashlib.sha256("".join(cells).encode()).hexdigest()[:16]


Choice = Mapping[Labels, StepSize]
"""The step size that was chosen, by place."""


def search_cells(study: Study) -> list[Cell]:
    """All step sizes on the search seeds; none if the study has no search."""
    if study.search is None:
        return []
    seeds = as_seeds("search.seeds", study.search.seeds)
    return _cells(study, "search", seeds, study.search.episodes or study.episodes, None)


def report_cells(study: Study, choice: Choice) -> list[Cell]:
    """The chosen step sizes on the study's seeds, or all of them if the study has no search."""
    seeds = as_seeds("seeds", study.seeds)
    return _cells(study, "report", seeds, study.episodes, choice if study.search else None)


def _cells(
    study: Study, stage: str, seeds: Sequence[int], episodes: int, choice: Choice | None
) -> list[Cell]:
    axes, found = study.axes, []
    algorithms = [
        ((rule, preference, learner), Algorithm(*members), digest(content(members)))
        for rule, r in axes.rules
        for preference, p in axes.preferences
        for learner, f in axes.learners
        for members in [(r, p, f)]
    ]
    sizes = {alpha: digest(content(alpha)) for of in axes.step_sizes.values() for alpha in of}
    for task, source in axes.tasks:
        fixed = digest(content(source)) if isinstance(source, Task) else None
        for seed in seeds:
            # Made here, so that what is computed is what the cell is named by.
            made = source if isinstance(source, Task) else _made(task, source, seed)
            where = fixed or digest(content(made))
            for place, algorithm, what in algorithms:
                labels = Labels(task, *place)
                chosen = axes.step_sizes[labels.rule] if choice is None else _of(choice, labels)
                for alpha in chosen:
                    key = f"{SCHEMA} {where} {what} {sizes[alpha]} {seed} {episodes}"
                    name = hashlib.sha256(key.encode()).hexdigest()[:32]
                    found.append(Cell(name, stage, labels, made, algorithm, alpha, seed, episodes))
    return found


def _made(label: str, source: TaskSource, seed: int) -> Task | Unmade:
    try:
        return made_task(label, source, seed)
    except InputError as error:
        return Unmade(f"{label}, seed {seed}", str(error))


def _of(choice: Choice, labels: Labels) -> tuple[StepSize, ...]:
    return (choice[labels],) if labels in choice else ()


def jobs(cells: Sequence[Cell]) -> list[Job]:
    """The cells, each once, in pieces of about `SECONDS`; the same however often it is asked for.

    Pieces are whole seeds of a task. They do not depend on what is stored already, so that a run
    that was interrupted goes on to write the same files.
    """
    once = list({cell.id: cell for cell in cells}.values())
    found = []
    for _, group in groupby(once, key=lambda cell: (cell.labels.task, cell.stage)):
        seeds = [list(cells) for _, cells in groupby(group, key=lambda cell: cell.seed)]
        work = _seconds(seeds[0])
        together = max(1, round(SECONDS / work))
        for first in range(0, len(seeds), together):
            piece = seeds[first : first + together]
            found.append(Job(tuple(cell for seed in piece for cell in seed), work * len(piece)))
    return found


def _seconds(cells: Sequence[Cell]) -> float:
    """A rough guess at how long the cells of one seed take together."""
    task = cells[0].task
    if isinstance(task, Unmade):
        return SECONDS
    steps, features = cells[0].episodes * task.mean_episode_length, task.features.size
    nanoseconds: float = 100 + 5 * features
    for _, group in groupby(cells, key=lambda cell: cell.labels):
        lanes = list(group)
        units = units_of(lanes[0].algorithm.learner) or 1
        nanoseconds += 200 + len(lanes) * (2 + 0.3 * features * units)
    return float(1e-9 * steps * nanoseconds + 1e-3)
