"""From a study to its strands: every variant on every task and seed."""

import traceback
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import chain, product
from typing import NamedTuple, final

from preftd.arrays import InputError
from preftd.experiments.axes import made_task
from preftd.experiments.cells import (
    Algorithm,
    Draw,
    Labels,
    Strand,
    Unmade,
    Variant,
    Words,
    short_hash,
)
from preftd.experiments.code import Plain
from preftd.experiments.content import SCHEMA, content, digest, is_ours, text
from preftd.experiments.inputs import as_seeds
from preftd.experiments.learning import TaskSource
from preftd.experiments.study import Chosen, Search, Study
from preftd.learners.step_size import Decreasing, StepSize
from preftd.tasks import Task

Choice = Mapping[tuple[str, str, str, str], StepSize]
"""The step size that was chosen, by place."""


@final
class Expansion:
    """What a study asks for; its parts are described once, for the search and the report."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._algorithms = list(_described(study))
        self._step_sizes = {
            alpha: (digest(size), text(size) if isinstance(alpha, Decreasing) else "")
            for alpha in frozenset(chain.from_iterable(study.axes.step_sizes.values()))
            for size in [content(alpha)]
        }
        self._tasks = {
            label: digest(content(source))
            for label, source in study.axes.tasks
            if isinstance(source, Task)
        }
        # The same on every task.
        self._variant_id = cache(lambda what, size: short_hash(f"{what} {size}"))

    @cached_property
    def search(self) -> list[Strand]:
        """All step sizes on the search seeds; nothing if the study has no search."""
        study = self._study
        if not isinstance(study.search, Search):
            return []
        seeds = as_seeds("search.seeds", study.search.seeds)
        return list(self._strands("search", seeds, study.search.episodes or study.episodes, None))

    def report(self, choice: Choice) -> list[Strand]:
        """The chosen step sizes on the study's seeds, or all of them if there is no choice.

        `choice` is that of the search; a study that knows its step sizes needs none.
        """
        study = self._study
        seeds = as_seeds("seeds", study.seeds)
        chosen = choice if study.search else None
        if isinstance(study.search, Chosen):
            chosen = study.search.step_sizes
        return list(self._strands("report", seeds, study.episodes, chosen))

    def _strands(
        self, stage: str, seeds: Sequence[int], episodes: int, choice: Choice | None
    ) -> Iterator[Strand]:
        for label, source in self._study.axes.tasks:
            variants = tuple(self._variants(label, choice))
            for seed in seeds if variants else ():
                # Made here, so that what is computed is what the cell is named by.
                made = source if isinstance(source, Task) else _made(label, source, seed)
                where = self._tasks.get(label) or digest(content(made))
                name = short_hash(f"{SCHEMA} {where} {seed} {episodes}")
                yield Strand(stage, Draw(name, made, seed, episodes), variants)

    def _variants(self, task: str, choice: Choice | None) -> Iterator[Variant]:
        for place, algorithm, what, said, ours in self._algorithms:
            labels = Labels(task, *place)
            all_sizes = self._study.axes.step_sizes[labels.rule]
            for alpha in all_sizes if choice is None else _of(choice, labels):
                size, schedule = self._step_sizes[alpha]
                name = self._variant_id(what, size)
                words = said._replace(schedule=schedule) if schedule else said
                yield Variant(name, labels, algorithm, alpha, words, ours)


class _Described(NamedTuple):
    """An algorithm, what it is called, a hash of it, what it consists of, and whose that is."""

    labels: tuple[str, str, str]
    algorithm: Algorithm
    digest: str
    words: Words
    ours: bool


def _described(study: Study) -> Iterator[_Described]:
    axes = study.axes
    for (rule, r, of_r), (preference, p, of_p), (learner, f, of_f) in product(
        ((label, rule, content(rule)) for label, rule in axes.rules),
        ((label, preference, content(preference)) for label, preference in axes.preferences),
        ((label, learner, content(learner)) for label, learner in axes.learners),
    ):
        words = Words(text(of_r), text(of_p), text(of_f), schedule="")
        parts: list[Plain] = [of_r, of_p, of_f]
        labels, algorithm = (rule, preference, learner), Algorithm(r, p, f)
        yield _Described(labels, algorithm, digest(parts), words, is_ours(parts))


def _made(label: str, source: TaskSource, seed: int) -> Task | Unmade:
    try:
        return made_task(label, source, seed)
    except InputError as error:
        trace = "".join(traceback.format_exception(error))
        return Unmade(f"{label}, seed {seed}", str(error), trace)


def _of(choice: Choice, labels: Labels) -> tuple[StepSize, ...]:
    return (choice[labels],) if labels in choice else ()
