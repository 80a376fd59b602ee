"""What a study asks for and what of it is stored; results are put together from both."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, Self, final

import polars as pl

from preftd._src.experiments.cells import CellGroup, Labels, Setting, ids_of, units_of
from preftd._src.experiments.evaluation import size_of
from preftd._src.experiments.expansion import Choice, Expansion
from preftd._src.experiments.result_files import cell_table
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Chosen, Study

STUDY: dict[str, Any] = {
    "cell": pl.String,
    "stage": pl.String,
    "task": pl.String,
    "rule": pl.String,
    "preference": pl.String,
    "learner": pl.String,
    "rule_name": pl.String,
    "units": pl.Int64,
    "step_size": pl.Float64,
    "schedule": pl.String,
    "seed": pl.Int64,
}
"""What a study calls its cells."""


@final
@dataclass(frozen=True)
class Plan:
    """The cells of a study: of the search, and as far as it is complete, of the report."""

    study: Study
    search: Sequence[CellGroup]
    report: Sequence[CellGroup]
    unfinished: frozenset[Labels]
    """Algorithms on tasks whose search is not complete: nothing is reported of them yet."""
    searched: pl.DataFrame
    """What is stored of the search, but for those."""

    @classmethod
    def of(cls, study: Study, store: Store, expansion: Expansion | None = None) -> Self:
        """What a study asks for, given what is stored; `expansion`, if it was expanded already."""
        cells = expansion or Expansion(study)
        searched = cells.search
        runs = gather(study, searched, store)
        unfinished = _unfinished(searched, runs)
        complete = _without(runs, unfinished)
        choice = _choose(study, searched, complete)
        return cls(study, searched, cells.report(choice), unfinished, complete)

    @property
    def groups(self) -> list[CellGroup]:
        """All cells."""
        return [*self.search, *self.report]

    def counts(self, store: Store) -> tuple[int, int]:
        """How many of its cells are stored, and how many are not."""
        ids = ids_of(self.groups)
        there = set(compress(ids, store.there(ids)))
        return len(there), len(set(ids)) - len(there)

    def results(self, store: Store) -> Results:
        """What is stored of it."""
        runs = pl.concat([self.searched, gather(self.study, self.report, store)])
        return Results(runs, self.study.score, given=isinstance(self.study.search, Chosen))


def gather(study: Study, groups: Sequence[CellGroup], store: Store) -> pl.DataFrame:
    """The runs of some groups, as far as they are stored, with the study's labels."""
    measures = [measure.name for measure in study.measured]
    there, stored = store.read(ids_of(groups), measures)
    known = study_table(groups)
    return (known if there.all() else known.filter(there)).hstack(stored)


def study_table(groups: Sequence[CellGroup]) -> pl.DataFrame:
    """The cells with the labels of their study."""

    def of_setting(setting: Setting) -> dict[str, Any]:
        rule, _, learner = setting.algorithm
        return {
            **dict(zip(Labels._fields, setting.labels, strict=True)),
            "rule_name": rule.name,
            "units": units_of(learner),
            "step_size": size_of(setting.step_size),
            "schedule": setting.description.schedule,
        }

    return cell_table(
        groups, STUDY, lambda g: {"stage": g.stage, "seed": g.sample.seed}, of_setting
    )


def _unfinished(groups: Sequence[CellGroup], runs: pl.DataFrame) -> frozenset[Labels]:
    """Algorithms on tasks of which not all runs are stored."""
    if runs.height == sum(len(group.settings) for group in groups):
        return frozenset()
    there = set(runs["cell"].to_list())
    return frozenset(
        setting.labels
        for group in groups
        for cell, setting in zip(group.ids, group.settings, strict=True)
        if cell not in there
    )


def _without(runs: pl.DataFrame, unfinished: frozenset[Labels]) -> pl.DataFrame:
    if not unfinished:
        return runs
    left_out = pl.DataFrame(list(unfinished), schema=ALGORITHM, orient="row")
    return runs.join(left_out, on=ALGORITHM, how="anti", maintain_order="left")


def _choose(study: Study, searched: Sequence[CellGroup], runs: pl.DataFrame) -> Choice:
    """The best step size of each algorithm on each task, but for those that always diverged."""
    if not runs.height:
        return {}
    chosen = Results(runs, study.score).chosen.select(*ALGORITHM, *STEP_SIZE)
    settings = {id(group.settings): group.settings for group in searched}
    sizes = {
        (*one.labels, size_of(one.step_size), one.description.schedule): one.step_size
        for same in settings.values()
        for one in same
    }
    return {Labels(*row[: len(ALGORITHM)]): sizes[row] for row in chosen.iter_rows()}
