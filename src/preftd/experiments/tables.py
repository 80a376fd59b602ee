"""Cells as tables, a row each."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from preftd.experiments.cells import Strand, Variant, ids_of, units_of
from preftd.experiments.evaluation import size_of

Values = dict[str, Any]

LABELLED: dict[str, Any] = {
    "cell": pl.String,
    "stage": pl.String,
    "task": pl.String,
    "rule": pl.String,
    "preference": pl.String,
    "learner": pl.String,
    "rule_name": pl.String,
    "units": pl.Int64,
}
"""What a study calls its cells."""

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

    def of_draw(strand: Strand) -> Values:
        return {"stage": strand.stage}

    def of_variant(variant: Variant) -> Values:
        rule, learner = variant.algorithm.rule, variant.algorithm.learner
        return {**variant.labels._asdict(), "rule_name": rule.name, "units": units_of(learner)}

    return _table(strands, of_draw, of_variant, LABELLED)


def described(strands: Sequence[Strand]) -> pl.DataFrame:
    """The cells by what they consist of."""

    def of_draw(strand: Strand) -> Values:
        _, task, seed, episodes = strand.draw
        return {"task": task.name, "seed": seed, "episodes": episodes}

    def of_variant(variant: Variant) -> Values:
        return {**variant.words._asdict(), "step_size": size_of(variant.step_size)}

    return _table(strands, of_draw, of_variant, DESCRIBED)


def _table(
    strands: Sequence[Strand],
    of_draw: Callable[[Strand], Values],
    of_variant: Callable[[Variant], Values],
    schema: dict[str, Any],
) -> pl.DataFrame:
    """A row for each draw and variant, in the order of the strands."""
    columns: dict[str, list[Any]] = {name: [] for name in schema}
    columns["cell"] = ids_of(strands)
    for _, group in groupby(strands, key=lambda strand: id(strand.variants)):
        same = list(group)
        variants = same[0].variants
        draws = [of_draw(strand) for strand in same]
        for name in draws[0]:
            columns[name] += [draw[name] for draw in draws for _ in variants]
        what = [of_variant(variant) for variant in variants]
        for name in what[0]:
            columns[name] += [values[name] for values in what] * len(same)
    return pl.DataFrame(columns, schema=schema)
