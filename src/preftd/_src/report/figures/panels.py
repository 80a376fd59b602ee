"""The lines of a figure, grouped into panels."""

from typing import NamedTuple

import polars as pl

from preftd._src.arrays import InputError
from preftd._src.experiments.results import Results
from preftd._src.report.looks import labels, looks
from preftd._src.style import WIDTH, Look

TOGETHER = 6
"""If a panel has more lines, each learner gets its own panel, then each preference."""


class Line(NamedTuple):
    """An algorithm in a panel, with its results.

    If it diverged with every step size, it has a row whose centre is null.
    """

    label: str
    look: Look
    rows: pl.DataFrame
    width: float = WIDTH
    """The width of the line, in points."""


class Panel(NamedTuple):
    """Lines that are drawn together."""

    title: str
    lines: list[Line]


def with_diverged(results: Results, found: pl.DataFrame) -> pl.DataFrame:
    """Add rows with a null centre for algorithms that diverged with every step size."""
    if not found.height:
        if not results.chosen.height:
            raise InputError("every run diverged with every step size: try smaller ones.")
        raise InputError("only the search has runs, the report has none: finish the study first.")
    return pl.concat([found, results.lost], how="diagonal")


def panels(study: pl.DataFrame, found: pl.DataFrame) -> list[Panel]:
    """Return a panel per task with a line per rule, preference and learner.

    Parameters
    ----------
    study : DataFrame
        All runs of the study, whose order panels and lines keep.
    found : DataFrame
        The results to draw, with the columns "task", "rule", "preference" and "learner".

    """
    line_columns = ["rule", "preference", "learner"]
    panel_columns = ["task"]
    for name in ("learner", "preference"):
        most = (
            found.group_by(panel_columns)
            .agg(pl.struct(line_columns).n_unique().alias("lines"))["lines"]
            .max()
        )
        if isinstance(most, int) and most > TOGETHER and found[name].n_unique() > 1:
            line_columns.remove(name)
            panel_columns.append(name)
    names, seen = labels(found, line_columns), looks(study, line_columns)
    split = found.partition_by(panel_columns, as_dict=True)
    return [
        Panel("\n".join(filter(None, key)), _lines(split[key], line_columns, names, seen))
        for key in study.select(panel_columns).unique(maintain_order=True).rows()
        if key in split
    ]


def _lines(
    found: pl.DataFrame,
    columns: list[str],
    names: dict[tuple[str, ...], str],
    seen: dict[tuple[str, ...], Look],
) -> list[Line]:
    split = found.partition_by(columns, as_dict=True)
    return [Line(names[key], look, split[key]) for key, look in seen.items() if key in split]
