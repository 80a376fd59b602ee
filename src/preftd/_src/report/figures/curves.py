"""Learning curves: the score of each episode with the chosen step size."""

from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.report.figures.end_labels import Label, label_ends
from preftd._src.report.figures.layout import (
    LEVEL,
    fit_scales,
    grid,
    study_note,
    write_axis_labels,
)
from preftd._src.report.figures.lines import axis_values, draw_line, drawable
from preftd._src.report.figures.panels import Line, Panel, panels, with_diverged
from preftd._src.report.figures.titles import write_title
from preftd._src.style import RC

POINTS = 400
"""The largest number of episodes drawn per curve."""


def curves(results: Results) -> Figure:
    """Draw a panel per task; a line and a band per algorithm."""
    found = thinned_curves(results)
    drawn = panels(results.runs, found)
    with mpl.rc_context(RC):
        figure, every = grid([panel.title for panel in drawn], 2.1)
        fit_scales(every, [panel_values(panel, results.score) for panel in drawn])
        ends = [(axes, draw_curves(axes, panel)) for axes, panel in zip(every, drawn, strict=True)]
        shown = "bands" if (found["episode"] > 1).any() else "lines"
        note = study_note(results, found, shown, capped="Errors")
        write_axis_labels(figure, every, "episode", results.score.name, note)
        label_ends(figure, ends)
    return figure


def thinned_curves(
    results: Results, spaced: Callable[[int, int, int], Vector] = np.linspace
) -> pl.DataFrame:
    """Return learning curves of reported runs, at most POINTS episodes of each.

    Parameters
    ----------
    results : Results
    spaced : callable
        Takes the first episode, the last and a count, and returns that many positions (default:
        evenly spaced).

    Returns
    -------
    DataFrame
        A row per algorithm and episode; a row without a centre per algorithm that diverged with
        every step size.

    """
    measured = pl.col(results.score.measure.name)
    last = results.reported.select(measured.list.len().max()).item() or 1
    kept = np.unique(spaced(1, last, POINTS).round().astype(int))
    return with_diverged(results, results.curves(LEVEL, kept.tolist()))


def panel_values(panel: Panel, score: Score) -> Vector:
    """Return the values that the axis must include: of lines without diverged runs, if any."""
    rows = pl.concat([line.rows for line in panel.lines])
    fine = drawable(rows, score)
    return axis_values(fine if fine.height else rows.filter(pl.col("centre").is_finite()))


def draw_curves(axes: Axes, panel: Panel) -> list[Label]:
    """Draw the curves of a panel; return labels for their ends."""
    episodes = [line.rows["episode"].drop_nulls().to_list() for line in panel.lines]
    last = max((episode for some in episodes for episode in some), default=1)
    write_title(axes, panel.title)
    if last == 1:
        return _draw_points(axes, panel)
    axes.set_xlim(1, last)
    labels = []
    for line in panel.lines:
        rows = line.rows.filter(pl.col("centre").is_finite())
        end = draw_line(axes, line, "episode", rows, marked=False)
        reaches = last in rows["episode"]
        labels.append(Label(_label(line), line.look, end, reaches, width=line.width))
    return labels


def _draw_points(axes: Axes, panel: Panel) -> list[Label]:
    """Draw a single episode: points side by side, so that all intervals are visible."""
    axes.set(xlim=(0.5, 1.5), xticks=[1])
    labels, positions = [], np.linspace(0.5, 1.5, len(panel.lines) + 2)[1:-1]
    for line, x in zip(panel.lines, positions, strict=True):
        rows = line.rows.filter(pl.col("centre").is_finite()).with_columns(episode=pl.lit(x))
        end = draw_line(axes, line, "episode", rows, marked=True)
        labels.append(Label(_label(line), line.look, end, reaches=False, marked=True))
    return labels


def _label(line: Line) -> str:
    if line.rows["centre"].null_count():
        return f"{line.label}\ndiverged"
    diverged, seeds = line.rows["diverged"][0], line.rows["seeds"][0]
    return f"{line.label}\n{diverged} of {seeds} diverged" if diverged else line.label
