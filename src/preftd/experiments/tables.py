"""Cells as tables, a row each."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from preftd.experiments.cells import Labels, Strand, Variant, Words, units_of
from preftd.experiments.evaluation import size_of

Values: TypeAlias = dict[str, Callable[[Any], Any]]
"""By column, what stands in it."""

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


def labelled(strands: Sequence[Strand]) -> pl.DataFrame:
    """The cells as their study calls them."""
    of_strand: Values = {
        "stage": lambda strand: strand.stage,
        "seed": lambda strand: strand.draw.seed,
    }
    of_variant: Values = {
        **{name: attrgetter(f"labels.{name}") for name in Labels._fields},
        "rule_name": lambda variant: variant.algorithm.rule.name,
        "units": lambda variant: units_of(variant.algorithm.learner),
        "step_size": lambda variant: size_of(variant.step_size),
        "schedule": lambda variant: variant.words.schedule,
    }
    return _table(strands, of_strand, of_variant, LABELLED)


def described(strands: Sequence[Strand]) -> pl.DataFrame:
    """The cells by what they consist of."""
    of_strand: Values = {
        "task": lambda strand: strand.draw.task.name,
        "seed": lambda strand: strand.draw.seed,
        "episodes": lambda strand: strand.draw.episodes,
    }
    of_variant: Values = {
        **{name: attrgetter(f"words.{name}") for name in Words._fields},
        "step_size": lambda variant: size_of(variant.step_size),
    }
    return _table(strands, of_strand, of_variant, DESCRIBED)


def _table(
    strands: Sequence[Strand], of_strand: Values, of_variant: Values, schema: dict[str, Any]
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
    draws = _columns(strands, of_strand | {"id": attrgetter("draw.id")}, repeats, schema)
    columns = _columns(variants, of_variant | {"id": attrgetter("id")}, _joined(of_each), schema)
    columns["cell"] = draws["id"] + columns["id"]
    columns |= draws
    return pl.DataFrame({name: columns[name] for name in schema})


def _columns(
    things: Sequence[Any], of: Values, rows: NDArray[np.uint32], schema: dict[str, Any]
) -> dict[str, pl.Series]:
    """What stands in each row, given its thing."""
    index = pl.Series(rows)
    kinds = schema | {"id": pl.String}
    return {
        name: pl.Series([value(thing) for thing in things], dtype=kinds[name])[index]
        for name, value in of.items()
    }


def _joined(rows: Sequence[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return np.concatenate(rows) if rows else np.empty(0, np.uint32)
