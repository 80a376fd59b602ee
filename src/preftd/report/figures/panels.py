"""Which lines share a panel."""

from typing import NamedTuple

import polars as pl

from preftd.arrays import InputError
from preftd.experiments.results import Results
from preftd.report.algorithms import labels, looks
from preftd.style import WIDTH, Look

TOGETHER = 6
"""More lines than this in a panel are spread over panels by learner, then by preference."""


class Line(NamedTuple):
    """An algorithm in a panel, and what was found of it.

    Where it diverged with every step size, there is a row without a centre.
    """

    label: str
    look: Look
    rows: pl.DataFrame
    width: float = WIDTH
    """In points."""


class Panel(NamedTuple):
    """Lines that are drawn together."""

    title: str
    lines: list[Line]


def with_lost(results: Results, found: pl.DataFrame) -> pl.DataFrame:
    """What was found, and rows without a centre for algorithms that diverged with any step size."""
    if not found.height:
        if not results.chosen.height:
            raise InputError("every run diverged with every step size: try smaller ones.")
        raise InputError("no run is there to report, only the search: finish the study first.")
    return pl.concat([found, results.lost], how="diagonal")


def panels(study: pl.DataFrame, found: pl.DataFrame) -> list[Panel]:
    """A panel per task, and a line per rule, preference and learner; all in the study's order."""
    beside = ["rule", "preference", "learner"]
    apart = ["task"]
    for name in ("learner", "preference"):
        most = found.group_by(apart).agg(pl.struct(beside).n_unique().alias("lines"))["lines"].max()
        if isinstance(most, int) and most > TOGETHER and found[name].n_unique() > 1:
            beside.remove(name)
            apart.append(name)
    names, seen = labels(found, beside), looks(study, beside)
    split = found.partition_by(apart, as_dict=True)
    return [
        Panel(_title(place), _lines(split[place], beside, names, seen))
        for place in study.select(apart).unique(maintain_order=True).rows()
        if place in split
    ]


def _lines(
    found: pl.DataFrame,
    columns: list[str],
    names: dict[tuple[str, ...], str],
    seen: dict[tuple[str, ...], Look],
) -> list[Line]:
    split = found.partition_by(columns, as_dict=True)
    return [Line(names[key], look, split[key]) for key, look in seen.items() if key in split]


def _title(place: tuple[str, ...]) -> str:
    return "\n".join(filter(None, place))
