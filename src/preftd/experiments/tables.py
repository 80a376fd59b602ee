"""Cells as tables, a row each."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.experiments.cells import Labels, Strand, Variant, Words, units_of
from preftd.experiments.evaluation import size_of

T = TypeVar("T")

LABELLED: dict[str, Any] = {
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
"""What a study calls its cells, and what it varies."""

DESCRIBED: dict[str, Any] = {
    "cell": pl.String,
    "task": pl.String,
    "rule": pl.String,
    "preference": pl.String,
    "learner": pl.String,
    "step_size": pl.Float64,
    "schedule": pl.String,
    "seed": pl.Int64,
    "episodes": pl.Int64,
}
"""What cells consist of."""


class Columns(NamedTuple, Generic[T]):
    """Some columns, and what stands in them for a thing."""

    names: Sequence[str]
    values: Callable[[T], tuple[Any, ...]]

    def filled(
        self, things: Sequence[T], rows: NDArray[np.uint32], schema: dict[str, Any]
    ) -> dict[str, pl.Series]:
        """What stands in each row, given its thing."""
        index, kinds = pl.Series(rows), schema | {"id": pl.String}
        columns = zip(*map(self.values, things), strict=True) if things else [()] * len(self.names)
        return {
            name: pl.Series(column, dtype=kinds[name])[index]
            for name, column in zip(self.names, columns, strict=True)
        }


def labelled(strands: Sequence[Strand]) -> pl.DataFrame:
    """The cells as their study calls them."""
    of_strand: Columns[Strand] = Columns(
        ("id", "stage", "seed"), lambda strand: (strand.draw.id, strand.stage, strand.draw.seed)
    )
    of_variant: Columns[Variant] = Columns(
        ("id", *Labels._fields, "rule_name", "units", "step_size", "schedule"),
        lambda variant: (
            variant.id,
            *variant.labels,
            variant.algorithm.rule.name,
            units_of(variant.algorithm.learner),
            size_of(variant.step_size),
            variant.words.schedule,
        ),
    )
    return _table(strands, of_strand, of_variant, LABELLED)


def described(strands: Sequence[Strand]) -> pl.DataFrame:
    """The cells by what they consist of."""
    of_strand: Columns[Strand] = Columns(
        ("id", "task", "seed", "episodes"),
        lambda strand: (
            strand.draw.id,
            strand.draw.task.name,
            strand.draw.seed,
            strand.draw.episodes,
        ),
    )
    of_variant: Columns[Variant] = Columns(
        ("id", *Words._fields, "step_size"),
        lambda variant: (variant.id, *variant.words, size_of(variant.step_size)),
    )
    return _table(strands, of_strand, of_variant, DESCRIBED)


def _table(
    strands: Sequence[Strand],
    of_strand: Columns[Strand],
    of_variant: Columns[Variant],
    schema: dict[str, Any],
) -> pl.DataFrame:
    """A row for each draw and variant, in the order of the strands."""
    variants: list[Variant] = []
    places: dict[int, NDArray[np.uint32]] = {}
    for strand in strands:
        if id(strand.variants) not in places:
            rows = len(variants) + np.arange(len(strand.variants), dtype=np.uint32)
            places[id(strand.variants)] = rows
            variants += strand.variants
    of_each = [places[id(strand.variants)] for strand in strands]
    repeats = np.repeat(np.arange(len(strands), dtype=np.uint32), [len(some) for some in of_each])
    draws = of_strand.filled(strands, repeats, schema)
    columns = of_variant.filled(variants, _joined(of_each), schema)
    columns["cell"] = draws["id"] + columns["id"]
    columns |= draws
    return pl.DataFrame({name: columns[name] for name in schema})


def _joined(rows: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return np.concatenate(rows) if rows else np.empty(0, np.uint32)
