"""Crosses above a panel: where runs diverged, and how many."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from preftd.report.figures.labels import FLAT, MARK, SIZE, TEXT, points
from preftd.report.figures.panels import Line, Panel

ROW = 8.0
"""Points from one row of crosses to the next."""
ALL, SOME = 4.0, 2.2
"""Sizes of crosses, in points."""


def rows_of_crosses(panels: Sequence[Panel]) -> list[str]:
    """Names of lines of which runs diverged in any panel, from below: a row each, in all panels."""
    lines = [line for panel in panels for line in panel.lines]
    lost = {line.label for line in lines if _lost(line).height}
    every = dict.fromkeys(line.label for line in lines)
    return [label for label in reversed(every) if label in lost]  # as in the study, from above


def draw_crosses(axes: Axes, lines: Sequence[Line], across: str, rows: Sequence[str]) -> None:
    """Crosses above the axes, a row for each line with runs that diverged."""
    for line in lines:
        for x, some in _lost(line).select(across, pl.col("diverged") < pl.col("seeds")).rows():
            axes.plot(
                x,
                _height(line, rows),
                color=line.look.colour,
                marker="x",
                markersize=SOME if some else ALL,
                markeredgewidth=0.9,
                transform=blended_transform_factory(axes.transData, points(axes, 0, 1)),
                clip_on=False,
            )


def count_crosses(axes: Axes, lines: Sequence[Line], rows: Sequence[str]) -> None:
    """Beside rows of crosses, which line it is (by its marker) and how many of its runs."""
    for line in lines:
        if not _lost(line).height:
            continue
        beside, at = points(axes, 1, 1), _height(line, rows)
        middle = (FLAT + TEXT - 2) / 2
        mark: Any = {"marker": line.look.marker, "markersize": MARK, "clip_on": False}
        axes.plot(middle, at, color=line.look.colour, transform=beside, **mark)
        axes.text(TEXT, at, _count(line), fontsize=SIZE, va="center", transform=beside)


def _height(line: Line, rows: Sequence[str]) -> float:
    return ROW * (1 + rows.index(line.label))


def _lost(line: Line) -> pl.DataFrame:
    """Rows with runs that diverged: also those of which nothing could be reported."""
    return line.rows.filter(pl.col("diverged").fill_null(1) > 0)


def _count(line: Line) -> str:
    if line.rows["diverged"].is_null().all():
        return "all"
    lost, runs = line.rows.select(pl.col("diverged", "seeds").sum()).row(0)
    return f"{lost} of {runs}"
