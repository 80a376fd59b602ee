"""Crosses above a panel: where runs diverged, and how many of them."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.transforms import blended_transform_factory

from preftd._src.report.figures.end_labels import FLAT, SIZE, TEXT, points
from preftd._src.report.figures.panels import Line, Panel
from preftd._src.report.figures.shown import attach
from preftd._src.style import MARK

ROW = 8.0
"""The distance between rows of crosses, in points."""
ALL, SOME = 4.0, 2.2
"""Sizes of crosses in points: all runs diverged, or some."""


def cross_rows(panels: Sequence[Panel]) -> list[str]:
    """Return labels of lines with diverged runs in any panel: one per row, bottom row first."""
    lines = [line for panel in panels for line in panel.lines]
    diverged = {line.label for line in lines if _diverged(line).height}
    every = dict.fromkeys(line.label for line in lines)
    return [label for label in reversed(every) if label in diverged]  # top row: first in the study


def draw_crosses(axes: Axes, lines: Sequence[Line], across: str, rows: Sequence[str]) -> None:
    """Draw crosses above the axes at every value with diverged runs.

    Parameters
    ----------
    axes : Axes
    lines : sequence of Line
    across : str
        The column along the horizontal axis.
    rows : sequence of str
        Labels of lines, from `cross_rows`.

    """
    for line in lines:
        for x, some in _diverged(line).select(across, pl.col("diverged") < pl.col("seeds")).rows():
            cross = axes.plot(
                x,
                _height(line, rows),
                color=line.look.colour,
                marker="x",
                markersize=SOME if some else ALL,
                markeredgewidth=0.9,
                transform=blended_transform_factory(axes.transData, points(axes, 0, 1)),
                clip_on=False,
            )
            attach(cross, line.label)


def write_cross_counts(axes: Axes, lines: Sequence[Line], rows: Sequence[str]) -> None:
    """Write the marker of a line and the number of its diverged runs at the right of its row."""
    for line in lines:
        if not _diverged(line).height:
            continue
        corner, at = points(axes, 1, 1), _height(line, rows)
        middle = (FLAT + TEXT - 2) / 2
        mark: Any = {"marker": line.look.marker, "markersize": MARK, "clip_on": False}
        marker = axes.plot(middle, at, color=line.look.colour, transform=corner, **mark)
        count = axes.text(TEXT, at, _count(line), fontsize=SIZE, va="center", transform=corner)
        attach([*marker, count], line.label)


def crosses_note(what: str) -> str:
    """Return a line of a note that explains crosses; `what` is the plural of what they mark."""
    sizes = "large: all, small: some"
    return (
        f"\n×: {what} at which runs diverged ({sizes}); at the right, the number of diverged runs."
    )


def _height(line: Line, rows: Sequence[str]) -> float:
    return ROW * (1 + rows.index(line.label))


def _diverged(line: Line) -> pl.DataFrame:
    """Rows with diverged runs, including those without reported runs."""
    return line.rows.filter(pl.col("diverged").fill_null(1) > 0)


def _count(line: Line) -> str:
    if line.rows["diverged"].is_null().all():
        return "all"
    diverged, runs = line.rows.select(pl.col("diverged", "seeds").sum()).row(0)
    return f"{diverged} of {runs}"
