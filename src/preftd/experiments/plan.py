"""What a study asks for and what of it is stored; results are put together from both."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Self, final

import polars as pl

from preftd.experiments.cells import Labels, Strand, ids_of
from preftd.experiments.evaluation import size_of
from preftd.experiments.expansion import Choice, Expansion
from preftd.experiments.results import ALGORITHM, COLUMNS, STEP_SIZE, Results
from preftd.experiments.store import Store
from preftd.experiments.study import Chosen, Study
from preftd.experiments.tables import labelled


@final
@dataclass(frozen=True)
class Plan:
    """The cells of a study: those of the search, and as far as it is over, those of the report."""

    study: Study
    search: Sequence[Strand]
    report: Sequence[Strand]
    unfinished: frozenset[Labels]
    """Places whose search is not over, so that nothing can be said of them yet."""
    searched: pl.DataFrame
    """What is stored of the search, but for those places."""

    @classmethod
    def of(cls, study: Study, store: Store, expansion: Expansion | None = None) -> Self:
        """What a study asks for, given what is stored; `expansion`, if it was expanded already."""
        cells = expansion or Expansion(study)
        searched = cells.search
        runs = gather(searched, store)
        places = _unfinished(searched, runs)
        over = _without(runs, places)
        return cls(study, searched, cells.report(_choose(study, searched, over)), places, over)

    @property
    def strands(self) -> list[Strand]:
        """All of them."""
        return [*self.search, *self.report]

    def counts(self, store: Store) -> tuple[int, int]:
        """How many of its cells are stored, and how many are not."""
        ids = ids_of(self.strands)
        there = set(compress(ids, store.there(self.strands)))
        return len(there), len(set(ids)) - len(there)

    def results(self, store: Store) -> Results:
        """What is stored of it."""
        runs = pl.concat([self.searched, gather(self.report, store)])
        return Results(runs, self.study.score, given=isinstance(self.study.search, Chosen))


def _unfinished(strands: Sequence[Strand], runs: pl.DataFrame) -> frozenset[Labels]:
    """Places of which not all runs are there."""
    if runs.height == sum(len(strand.variants) for strand in strands):
        return frozenset()
    there = set(runs["cell"].to_list())
    return frozenset(
        variant.labels
        for strand in strands
        for cell, variant in zip(strand.ids, strand.variants, strict=True)
        if cell not in there
    )


def gather(strands: Sequence[Strand], store: Store) -> pl.DataFrame:
    """The runs of these strands, as far as they are stored, with the study's labels."""
    if not strands:
        return pl.DataFrame(schema=COLUMNS)
    there, stored = store.read(strands)
    known = labelled(strands)
    return (known if there.all() else known.filter(there)).hstack(stored)


def _without(runs: pl.DataFrame, places: frozenset[Labels]) -> pl.DataFrame:
    if not places:
        return runs
    left_out = pl.DataFrame(
        list(places), schema={name: COLUMNS[name] for name in ALGORITHM}, orient="row"
    )
    return runs.join(left_out, on=ALGORITHM, how="anti", maintain_order="left")


def _choose(study: Study, searched: Sequence[Strand], runs: pl.DataFrame) -> Choice:
    """The best step size of each algorithm on each task, but for those that always diverged."""
    if not runs.height:
        return {}
    chosen = Results(runs, study.score).chosen.select(*ALGORITHM, *STEP_SIZE)
    variants = {id(strand.variants): strand.variants for strand in searched}
    sizes = {
        (*variant.labels, size_of(variant.step_size), variant.words.schedule): variant.step_size
        for same in variants.values()
        for variant in same
    }
    return {Labels(*row[: len(ALGORITHM)]): sizes[row] for row in chosen.iter_rows()}
