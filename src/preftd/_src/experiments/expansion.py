"""From a study to its cells: every setting on every task and seed."""

import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, product
from typing import Any, NamedTuple, final

from preftd._src.arrays import InputError
from preftd._src.experiments.axes import made_task
from preftd._src.experiments.cells import (
    CellGroup,
    Description,
    Labels,
    Sample,
    Setting,
    TaskFailure,
    short_hash,
)
from preftd._src.experiments.content import SCHEMA, content, digest, is_ours, text
from preftd._src.experiments.inputs import as_seeds
from preftd._src.experiments.learning import Algorithm, TaskSource, makes_tasks
from preftd._src.experiments.study import Chosen, Search, Study
from preftd._src.learners.step_size import StudyStepSize

Choice = Mapping[tuple[str, str, str, str], StudyStepSize | None]
"""The step size that was chosen, by labels."""


@final
class Expansion:
    """The cells of a study; its parts are described once, for the search and the report."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._algorithms = list(_described(study))
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
                sample = Sample(name, made, seed, episodes, measures)
                yield CellGroup(stage, sample, settings)

    def _settings(self, task: str, choice: Choice | None) -> Iterator[Setting]:
        for members, algorithm, what, said, ours in self._algorithms:
            labels = Labels(task, *members)
            sizes = self._study.axes.sizes_of(labels.rule, labels.learner)
            if choice is not None:
                sizes = (choice[labels],) if labels in choice else ()
            for alpha in sizes:
                size, schedule = self._step_sizes[alpha]
                name = self._setting_id(what, size)
                description = said._replace(schedule=schedule) if schedule else said
                yield Setting(name, labels, algorithm, alpha, description, ours)


class _Described(NamedTuple):
    """An algorithm, its labels, a hash of it, its description, and whether it is all our code."""

    labels: tuple[str, str, str]
    algorithm: Algorithm
    digest: str
    description: Description
    ours: bool


def _described(study: Study) -> Iterator[_Described]:
    axes = study.axes
    for (rule, r, of_r), (preference, p, of_p), (learner, f, of_f) in product(
        ((label, rule, content(rule)) for label, rule in axes.rules),
        ((label, preference, content(preference)) for label, preference in axes.preferences),
        ((label, learner, content(learner)) for label, learner in axes.learners),
    ):
        description = Description(text(of_r), text(of_p), text(of_f), schedule="")
        parts: list[Any] = [of_r, of_p, of_f]
        labels, algorithm = (rule, preference, learner), Algorithm(r, p, f)
        yield _Described(labels, algorithm, digest(parts), description, is_ours(parts))


def schedule_of(alpha: StudyStepSize | None) -> str:
    """A step size that is more than one number, as text; empty for others."""
    return "" if alpha is None or isinstance(alpha, float) else text(content(alpha))


def _made(label: str, source: TaskSource, seed: int, acting: bool) -> Any:
    try:
        return made_task(label, source, seed, acting)
    except InputError as error:
        trace = "".join(traceback.format_exception(error))
        return TaskFailure(f"{label}, seed {seed}", str(error), trace)
