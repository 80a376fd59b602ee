"""Rows of panels with the grids: a row for each task, or for each size."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.report.figures.crosses import ROW, count_crosses, draw_crosses, rows_of_crosses
from preftd.report.figures.labels import Label, label_ends
from preftd.report.figures.layout import around, rows_of_panels, set_scales
from preftd.report.figures.panels import Line, Panel
from preftd.style import RC

HEIGHT = 1.5
"""Of a panel, in inches."""
TASKS = {"cross_grid": "grid task 1", "random_grid": "grid task 2"}
"""What the paper calls them."""


class Row(NamedTuple):
    """Panels beside each other, and what is written at their left."""

    title: str
    panels: Sequence[Panel]


class Drawing(NamedTuple):
    """How panels are drawn.

    across   the column along the horizontal axis, and what it is called
    needed   values that the vertical axis must reach
    draw     draws lines, and gives names for their ends
    crosses  what crosses above a panel say, if there are to be any
    """

    across: tuple[str, str]
    needed: Callable[[Panel], Vector]
    draw: Callable[[Axes, Panel], list[Label]]
    crosses: str = ""


def draw_rows(rows: Sequence[Row], how: Drawing, note: str) -> Figure:
    """A figure of rows, each with scales of its own."""
    count = len(rows[0].panels)
    crosses = rows_of_crosses([p for row in rows for p in row.panels]) if how.crosses else []
    if crosses:
        note += f" ×: {how.crosses} (large: all, small: some); at the right, how many of the row."
    column, named = how.across
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(len(rows), count, HEIGHT + len(crosses) * ROW / 72)
        around(figure, every, named, "", note)
        ends = []
        for place, row in enumerate(rows):
            axes = every[place * count : (place + 1) * count]
            set_scales(axes, [how.needed(p) for p in row.panels], logarithmic=False)
            for panel, here in zip(row.panels, axes, strict=True):
                labels = how.draw(here, panel)
                if crosses:
                    draw_crosses(here, panel.lines, column, crosses)
                here.set_title(panel.title, loc="left", pad=7 + ROW * len(crosses))
            if crosses:
                count_crosses(axes[-1], _together(row), crosses)
            axes[0].set_ylabel(row.title, fontsize=8)
            ends.append((axes[-1], labels))
        label_ends(figure, ends)
    return figure


def _together(row: Row) -> list[Line]:
    """The lines of all panels, those of one name as one."""
    lines: dict[str, Line] = {}
    for line in (line for panel in row.panels for line in panel.lines):
        known = lines.setdefault(line.label, line)
        if known is not line:
            lines[line.label] = known._replace(rows=pl.concat([known.rows, line.rows]))
    return list(lines.values())


def seeds_with(found: pl.DataFrame, level: float) -> str:
    """How many seeds there are, and of what level their intervals are."""
    most = max(found["seeds"].drop_nulls().to_list(), default=0)
    if most == 1:
        return "One seed, no interval"
    return f"Mean of {most} seeds; bands: {level * 100:g} % intervals (Student)"


def all_rows(rows: Sequence[Row]) -> pl.DataFrame:
    """Of all lines of all panels."""
    lines = (line for row in rows for panel in row.panels for line in panel.lines)
    return pl.concat([line.rows for line in lines], how="diagonal")
