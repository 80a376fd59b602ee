"""Cells as tables, a row for each."""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

import polars as pl

from preftd.experiments.cells import CellGroup, Description, Labels, Setting, units_of
from preftd.experiments.evaluation import size_of

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

FILE: dict[str, Any] = {
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

    return _table(groups, STUDY, lambda g: {"stage": g.stage, "seed": g.sample.seed}, of_setting)


def file_table(groups: Sequence[CellGroup]) -> pl.DataFrame:
    """The cells with what they consist of."""

    def of_group(group: CellGroup) -> dict[str, Any]:
        sample = group.sample
        return {"task": sample.task.name, "seed": sample.seed, "episodes": sample.episodes}

    def of_setting(setting: Setting) -> dict[str, Any]:
        described = dict(zip(Description._fields, setting.description, strict=True))
        return {**described, "step_size": size_of(setting.step_size)}

    return _table(groups, FILE, of_group, of_setting)


def _table(
    groups: Sequence[CellGroup],
    schema: dict[str, Any],
    of_group: Callable[[CellGroup], dict[str, Any]],
    of_setting: Callable[[Setting], dict[str, Any]],
) -> pl.DataFrame:
    """A row for each cell, in the order of the groups; groups that share settings go together."""
    parts = [pl.DataFrame(schema=schema)]
    for _, alike in groupby(groups, key=lambda group: id(group.settings)):
        same = list(alike)
        left = [{"sample": group.sample.id, **of_group(group)} for group in same]
        right = [{"setting": one.id, **of_setting(one)} for one in same[0].settings]
        kinds = schema | {"sample": pl.String, "setting": pl.String}
        samples = pl.DataFrame(left, schema={name: kinds[name] for name in left[0]})
        settings = pl.DataFrame(right, schema={name: kinds[name] for name in right[0]})
        both = samples.join(settings, how="cross", maintain_order="left_right")
        cell = pl.concat_str("sample", "setting").alias("cell")
        parts.append(both.with_columns(cell).select(*schema))
    return pl.concat(parts)
