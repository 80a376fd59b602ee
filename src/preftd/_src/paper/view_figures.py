"""Figures that compare views of linear learners: mean errors against a number, such as a length."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.form_looks import by_form
from preftd._src.paper.panel_rows import WIDE, Drawing, Row, draw_rows, seeds_with
from preftd._src.report.figures.end_labels import Label
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.figures.lines import (
    Line,
    Panel,
    Shown,
    attach,
    drawable,
    height_of,
    step_sizes_of,
    with_diverged,
)
from preftd._src.style import MARK, Band, look_of

VIEWS = ("held", "online", "true online")
"""In the order of drawing: where errors are the same, the held view is seen behind others."""
ASIDE, BAR = 0.02, 0.9
"""How far views are drawn aside, as a share of the axis, and the width of bars, in points."""


def draw_views(
    rows: Mapping[str, Results],
    numbers: Mapping[str, int],
    across: str,
    level: float,
    note: str = "",
) -> Figure:
    """A row for each task and a panel for each rule, with a line for each view.

    Parameters
    ----------
    rows
        Results by the title of their row.
    numbers
        The number that a task has along the axis, by its label.
    across
        What these numbers are.
    level
        The level of intervals.
    note
        What else the note says, at its end.
    """
    drawn = [
        Row(title, "mean squared error", _panels(results, numbers, level))
        for title, results in rows.items()
    ]
    first = next(iter(rows.values()))
    draw = partial(_draw, ticks=sorted(numbers.values()), across=across, results=first)
    how = Drawing(("number", across), _needed, draw, wide=WIDE)
    seeds, chosen = seeds_with(first.reported, level, "bars"), step_size_note(first)
    told = f"{seeds}. {chosen} Errors are averaged over all episodes. {note}".strip()
    return draw_rows(drawn, how, told)


def _panels(results: Results, numbers: Mapping[str, int], level: float) -> list[Panel]:
    """Panels by rule; views are drawn one over the other, as some have the same errors."""
    number = pl.col("task").replace_strict(numbers, return_dtype=pl.Int64).alias("number")
    found = with_diverged(results, results.bars(level)).with_columns(number)
    lines = {
        rule: [Line(view, look_of(rule), found.filter(rule=rule, learner=view)) for view in VIEWS]
        for rule in results.runs["rule"].unique(maintain_order=True)
    }
    return [by_form(Panel(rule, some)) for rule, some in lines.items()]


def _needed(panel: Panel) -> Vector:
    found = pl.concat([line.rows for line in panel.lines])
    return np.append(found["centre"].drop_nulls().to_numpy(), 0.0)


def _draw(
    axes: Axes, panel: Panel, ticks: Sequence[int], across: str, results: Results
) -> list[Label]:
    """Lines and bars for intervals, side by side where there is a tick: bands would cover lines."""
    span = ticks[-1] - ticks[0]
    axes.set_xticks(ticks)
    axes.set_xlim(ticks[0] - span / 20, ticks[-1] + span / 20)
    labels = []
    for line, aside in zip(panel.lines, (0.0, -ASIDE, ASIDE), strict=True):
        rows = drawable(line.rows, results.score).sort("number")
        x, centre = rows["number"] + aside * span, rows["centre"]
        drawn: list[Artist] = []
        drawn += axes.plot(
            x,
            centre,
            color=line.look.colour,
            linestyle=line.look.line,
            linewidth=line.width,
            marker=line.look.marker,
            markersize=MARK,
        )
        drawn.append(
            axes.vlines(x, rows["low"], rows["high"], color=line.look.colour, linewidth=BAR)
        )
        band = Band(*rows.select("number", "centre", "low", "high").cast(pl.Float64).to_numpy().T)
        attach(drawn, Shown(line.label, panel.title, band, across, step_sizes_of(rows)))
        reaches = ticks[-1] in rows["number"]
        end = height_of(axes, centre[-1]) if rows.height else np.nan
        labels.append(Label(line.label, line.look, end, reaches, marked=True, width=line.width))
    return labels
