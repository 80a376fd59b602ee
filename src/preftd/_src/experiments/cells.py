"""From a study to its cells: every setting on every task and seed.

A cell is one run: a trial, which is a task with a seed, and a setting, which is an algorithm with a
step size. The id of a cell is a hash of everything that its results depend on, and of nothing else,
such as labels, other cells or the score. It is the id of the trial followed by the id of the
setting, so a hundred thousand cells take a few thousand hashes of trials and a few dozen of
settings.
"""

import hashlib
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, product
from typing import Any, NamedTuple, final

from preftd._src.arrays import InputError
from preftd._src.experiments.axes import Labels, made_task
from preftd._src.experiments.content import SCHEMA, content, digest, is_ours, text
from preftd._src.experiments.inputs import as_seeds, size_of
from preftd._src.experiments.learning import Algorithm, TaskSource, Trial, makes_tasks
from preftd._src.experiments.study import Chosen, Search, Study
from preftd._src.learners.step_size import StudyStepSize
from preftd._src.learners.views import for_rule

HALF = 16
"""Hexadecimal digits of the id of a trial, and of that of a setting."""
Choice = Mapping[tuple[str, str, str, str], StudyStepSize | None]
"""The step size that was chosen, by labels."""


class Setting(NamedTuple):
    """An algorithm with a step size, under the labels of a study."""

    id: str
    labels: Labels
    algorithm: Algorithm
    step_size: StudyStepSize | None
    """None for a learner that takes none."""
    rule: str
    """The content of its rule, as text; likewise for the next two."""
    preference: str
    learner: str
    schedule: str
    """How the step size decreases, as text; empty if it does not."""
    ours: bool
    """Whether it uses only code of this library, so that its duration can be estimated."""


class TaskFailure(NamedTuple):
    """Replaces the task of a trial that could not be made."""

    name: str
    reason: str
    """In a sentence."""
    traceback: str


class StudyCell(NamedTuple):
    """One run."""

    id: str
    stage: str
    trial: Trial
    setting: Setting

    def described(self) -> dict[str, str | int | float | None]:
        """A description of the cell, for messages and manifests."""
        setting = self.setting
        return {
            "label": ", ".join(filter(None, setting.labels)),
            "stage": self.stage,
            "task": self.trial.task.name,
            "rule": setting.rule,
            "preference": setting.preference,
            "learner": setting.learner,
            "step_size": setting.schedule or size_of(setting.step_size),
            "seed": self.trial.seed,
            "episodes": self.trial.episodes,
        }


class CellGroup(NamedTuple):
    """Cells of one trial, which learn from the same experience.

    Many groups share one tuple of settings.
    """

    stage: str
    """search or report."""
    trial: Trial
    """Its task may be a `TaskFailure`."""
    settings: tuple[Setting, ...]

    @property
    def ids(self) -> list[str]:
        """Ids of its cells."""
        trial = self.trial.id
        return [trial + setting.id for setting in self.settings]

    @property
    def cells(self) -> list[StudyCell]:
        """Its cells one by one."""
        named = zip(self.ids, self.settings, strict=True)
        return [StudyCell(name, self.stage, self.trial, setting) for name, setting in named]


def ids_of(groups: Iterable[CellGroup]) -> list[str]:
    """Ids of all cells of some groups; a cell that has two labels occurs twice."""
    return list(chain.from_iterable(group.ids for group in groups))


@final
class Expansion:
    """The cells of a study; its parts are hashed once, for the search and the report."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._algorithms = list(_algorithms(study))
        sizes = frozenset(chain([None], *study.axes.step_sizes.values()))
        self._step_sizes = {alpha: (digest(content(alpha)), schedule_of(alpha)) for alpha in sizes}
        self._tasks = {
            label: digest(content(source))
            for label, source in study.axes.tasks
            if not makes_tasks(source)
        }
        names = [measure.name for measure in study.measured]
        self._measures = "" if names == ["error"] else f" {' '.join(names)}"
        # The same on every task.
        self._setting_id = cache(lambda what, size: short_hash(f"{what} {size}"))

    @cached_property
    def search(self) -> list[CellGroup]:
        """All step sizes on the search seeds; nothing if the study has no search."""
        study = self._study
        if not isinstance(study.search, Search):
            return []
        seeds = as_seeds("search.seeds", study.search.seeds)
        return list(self._groups("search", seeds, study.search.episodes or study.episodes, None))

    def report(self, choice: Choice) -> list[CellGroup]:
        """The chosen step sizes on the study's seeds, or all of them if there is no choice.

        `choice` is that of the search; a study with `Chosen` step sizes needs none.
        """
        study = self._study
        seeds = as_seeds("seeds", study.seeds)
        chosen = choice if study.search else None
        if isinstance(study.search, Chosen):
            chosen = study.search.step_sizes
        return list(self._groups("report", seeds, study.episodes, chosen))

    def _groups(
        self, stage: str, seeds: Sequence[int], episodes: int, choice: Choice | None
    ) -> Iterator[CellGroup]:
        study, measures = self._study, self._study.measured
        acting = study.acting
        for label, source in study.axes.tasks:
            settings = tuple(self._settings(label, choice))
            for seed in seeds if settings else ():
                # Made here, so that the task that is computed is the one that the id is of.
                made = _made(label, source, seed, acting) if makes_tasks(source) else source
                task = self._tasks.get(label) or digest(content(made))
                name = short_hash(f"{SCHEMA} {task} {seed} {episodes}{self._measures}")
                yield CellGroup(stage, Trial(made, seed, episodes, measures, name), settings)

    def _settings(self, task: str, choice: Choice | None) -> Iterator[Setting]:
        for one in self._algorithms:
            labels = one.labels._replace(task=task)
            sizes = self._study.axes.sizes_of(labels.rule, labels.learner)
            if choice is not None:
                sizes = (choice[labels],) if labels in choice else ()
            for alpha in sizes:
                size, schedule = self._step_sizes[alpha]
                name = self._setting_id(one.id, size)
                yield one._replace(id=name, labels=labels, step_size=alpha, schedule=schedule)


def _algorithms(study: Study) -> Iterator[Setting]:
    """Settings without a task and a step size."""
    axes = study.axes
    described = {id(member): content(member) for _, member in (*axes.rules, *axes.preferences)}
    # What a learner leaves to the rule is settled here, so that it is a part of the id.
    settled = {(r, f): for_rule(one, rule) for r, rule in axes.rules for f, one in axes.learners}
    described |= {id(one): content(one) for one in settled.values()}
    for (rule, r), (preference, p), learner in product(
        axes.rules, axes.preferences, dict(axes.learners)
    ):
        f = settled[rule, learner]
        parts: list[Any] = [described[id(member)] for member in (r, p, f)]
        yield Setting(
            digest(parts),
            Labels("", rule, preference, learner),
            Algorithm(r, p, f),
            None,
            text(parts[0]),
            text(parts[1]),
            text(parts[2]),
            "",
            is_ours(parts),
        )


def _made(label: str, source: TaskSource, seed: int, acting: bool) -> Any:
    try:
        return made_task(label, source, seed, acting)
    except InputError as error:
        trace = "".join(traceback.format_exception(error))
        return TaskFailure(f"{label}, seed {seed}", str(error), trace)


def short_hash(key: str) -> str:
    """Hexadecimal digits that differ for different keys."""
    return hashlib.sha256(key.encode()).hexdigest()[:HALF]


def schedule_of(alpha: StudyStepSize | None) -> str:
    """A step size that consists of several numbers, as text; empty for others."""
    return "" if alpha is None or isinstance(alpha, float) else text(content(alpha))


def units_of(learner: object) -> int | None:
    """The width of a network; None for learners without one."""
    units = getattr(learner, "units", None)
    return units if isinstance(units, int) else None
