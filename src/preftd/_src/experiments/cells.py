"""The vocabulary of a study: a cell is one run, a sample of experience with a setting.

A sample is the experience of a task and a seed. A setting is an algorithm with a step size. The id
of a cell is a hash of everything that its results depend on, and of nothing else: not of labels,
not of other cells, not of how results are scored. It is the id of the sample followed by the id of
the setting, so that a hundred thousand cells are some thousand samples and some tens of settings.
"""

import hashlib
from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

from preftd._src.experiments.evaluation import size_of
from preftd._src.experiments.learning import Algorithm
from preftd._src.experiments.measures import Measure
from preftd._src.learners.step_size import StudyStepSize

HALF = 16
"""Hexadecimal digits of the id of a sample, and of that of a setting."""


class Labels(NamedTuple):
    """What a study calls an algorithm on a task."""

    task: str
    rule: str
    preference: str
    learner: str


class Description(NamedTuple):
    """What a setting consists of, as text."""

    rule: str
    preference: str
    learner: str
    schedule: str
    """How the step size decreases; empty if it does not."""


class Setting(NamedTuple):
    """An algorithm with a step size, under the labels of a study."""

    id: str
    labels: Labels
    algorithm: Algorithm
    step_size: StudyStepSize | None
    """None for a learner that takes none."""
    description: Description
    ours: bool
    """Whether it consists of this library's code alone, so that its duration can be estimated."""


class TaskFailure(NamedTuple):
    """Stands for the task of a seed that could not be made."""

    name: str
    reason: str
    """In a sentence."""
    traceback: str


class Sample(NamedTuple):
    """The experience of a task and a seed."""

    id: str
    task: Any
    """A task, or a `TaskFailure`."""
    seed: int
    episodes: int
    measures: tuple[Measure, ...]


class Cell(NamedTuple):
    """One run."""

    id: str
    stage: str
    sample: Sample
    setting: Setting

    def described(self) -> dict[str, str | int | float | None]:
        """What the cell consists of, for messages and manifests."""
        setting, text = self.setting, self.setting.description
        return {
            "label": ", ".join(filter(None, setting.labels)),
            "stage": self.stage,
            "task": self.sample.task.name,
            "rule": text.rule,
            "preference": text.preference,
            "learner": text.learner,
            "step_size": text.schedule or size_of(setting.step_size),
            "seed": self.sample.seed,
            "episodes": self.sample.episodes,
        }


class CellGroup(NamedTuple):
    """Cells of one sample: they learn side by side. Many groups share one tuple of settings."""

    stage: str
    """search or report."""
    sample: Sample
    settings: tuple[Setting, ...]

    @property
    def ids(self) -> list[str]:
        """Ids of its cells."""
        sample = self.sample.id
        return [sample + setting.id for setting in self.settings]

    @property
    def cells(self) -> list[Cell]:
        """Its cells one by one."""
        named = zip(self.ids, self.settings, strict=True)
        return [Cell(name, self.stage, self.sample, setting) for name, setting in named]


def ids_of(groups: Iterable[CellGroup]) -> list[str]:
    """Ids of all cells of some groups; a cell that has two labels comes twice."""
    return list(chain.from_iterable(group.ids for group in groups))


def short_hash(key: str) -> str:
    """Hexadecimal digits that differ for different keys."""
    return hashlib.sha256(key.encode()).hexdigest()[:HALF]


def units_of(learner: object) -> int | None:
    """The width of a network; None for learners without one."""
    units = getattr(learner, "units", None)
    return units if isinstance(units, int) else None
