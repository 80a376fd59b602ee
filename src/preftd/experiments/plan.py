"""What a study asks for and what of it is stored; results are put together from both."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, final

import polars as pl

from preftd.experiments.cells import Cell, Choice, Labels, report_cells, search_cells, units_of
from preftd.experiments.evaluation import size_of
from preftd.experiments.results import COLUMNS, STEP_SIZE, Results
from preftd.experiments.store import Store
from preftd.experiments.study import Study


@final
@dataclass(frozen=True)
class Plan:
    """The cells of a study: those of the search, and as far as it is over, those of the report."""

    study: Study
    search: Sequence[Cell]
    report: Sequence[Cell]
    open: frozenset[Labels]
    """Places whose search is not over, so that nothing can be said of them yet."""

    @classmethod
    def of(cls, study: Study, store: Store, search: Sequence[Cell] | None = None) -> Self:
        """What a study asks for, given what is stored; `search` if its cells are known already."""
        searched = search_cells(study) if search is None else search
        runs = gather(searched, store)
        there = Counter(Labels(*place) for place in runs.select(Labels._fields).iter_rows())
        wanted = Counter(cell.labels for cell in searched)
        unfinished = frozenset(place for place, count in wanted.items() if there[place] < count)
        choice = _choose(study, searched, _without(runs, unfinished))
        return cls(study, searched, report_cells(study, choice), unfinished)

    @property
    def cells(self) -> list[Cell]:
        """All of them."""
        return [*self.search, *self.report]

    def results(self, store: Store) -> Results:
        """What is stored of it."""
        return Results(_without(gather(self.cells, store), self.open), self.study.score)


def gather(cells: Sequence[Cell], store: Store) -> pl.DataFrame:
    """The runs of these cells, as far as they are stored, with the study's labels."""
    labels = {name: [getattr(cell.labels, name) for cell in cells] for name in Labels._fields}
    known = {
        "cell": [cell.id for cell in cells],
        "stage": [cell.stage for cell in cells],
        **labels,
        "rule_name": [cell.algorithm.rule.name for cell in cells],
        "units": [units_of(cell.algorithm.learner) for cell in cells],
    }
    frame = pl.DataFrame(known, schema={name: COLUMNS[name] for name in known})
    found = store.read(set(known["cell"])).drop(labels)
    return frame.join(found, on="cell", how="inner", maintain_order="left").select(*COLUMNS)


def _without(runs: pl.DataFrame, places: frozenset[Labels]) -> pl.DataFrame:
    names = list(Labels._fields)
    kinds = {name: COLUMNS[name] for name in names}
    left_out = pl.DataFrame(list(places), schema=kinds, orient="row")
    return runs.join(left_out, on=names, how="anti", maintain_order="left")


def _choose(study: Study, cells: Sequence[Cell], runs: pl.DataFrame) -> Choice:
    """The best step size of each algorithm on each task, but for those that always diverged."""
    if not runs.height:
        return {}
    chosen = Results(runs, study.score).chosen.select(*Labels._fields, *STEP_SIZE)
    sizes = {
        (cell.labels, size_of(cell.step_size), cell.schedule): cell.step_size for cell in cells
    }
    rows = [(Labels(*place), size, schedule) for *place, size, schedule in chosen.iter_rows()]
    return {labels: sizes[labels, size, schedule] for labels, size, schedule in rows}
