"""Learning curves: the score after each episode, with the chosen step size."""

from collections.abc import Callable

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import Results
from preftd.experiments.score import Score
from preftd.report.figures.labels import Label, label_ends
from preftd.report.figures.layout import LEVEL, around, ceiling, choice, fit, grid, seeds_shown
from preftd.report.figures.lines import draw_line, sound, to_show
from preftd.report.figures.panels import Line, Panel, panels, with_lost
from preftd.report.figures.titles import write_title
from preftd.style import RC

POINTS = 400
"""Of a longer curve, so many episodes are drawn."""


def curves(results: Results) -> Figure:
    """A panel per task; a line and a band per algorithm."""
    found = found_curves(results)
    drawn = panels(results.runs, found)
    with mpl.rc_context(RC):
        figure, every = grid([panel.title for panel in drawn], 2.1)
        fit(every, [reached(panel, results.score) for panel in drawn])
        ends = [(axes, draw_curves(axes, panel)) for axes, panel in zip(every, drawn, strict=True)]
        shown = "bands" if (found["episode"] > 1).any() else "lines"
        note = f"{seeds_shown(found, shown)}. {choice(results)}{ceiling(results.score, 'Errors')}"
        around(figure, every, "episode", results.score.name, note)
        label_ends(figure, ends)
    return figure


def found_curves(
    results: Results, spaced: Callable[[int, int, int], Vector] = np.linspace
) -> pl.DataFrame:
    """Curves of reported runs, not too many points of each, and what diverged."""
    measured = pl.col(results.score.measure.name)
    last = results.reported.select(measured.list.len().max()).item() or 1
    kept = np.unique(spaced(1, last, POINTS).round().astype(int))
    return with_lost(results, results.curves(LEVEL, kept.tolist()))


def reached(panel: Panel, score: Score) -> Vector:
    """What runs off in one line does not flatten the others, unless there are none."""
    rows = pl.concat([line.rows for line in panel.lines])
    fine = sound(rows, score)
    return to_show(fine if fine.height else rows.filter(pl.col("centre").is_finite()))


def draw_curves(axes: Axes, panel: Panel) -> list[Label]:
    """The curves of a panel; names for their ends."""
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
        labels.append(Label(_named(line), line.look, end, reaches, width=line.width))
    return labels


def _draw_points(axes: Axes, panel: Panel) -> list[Label]:
    """Of a single episode: points beside each other, so that each interval is seen."""
    axes.set(xlim=(0.5, 1.5), xticks=[1])
    labels, places = [], np.linspace(0.5, 1.5, len(panel.lines) + 2)[1:-1]
    for line, place in zip(panel.lines, places, strict=True):
        rows = line.rows.filter(pl.col("centre").is_finite()).with_columns(episode=pl.lit(place))
        end = draw_line(axes, line, "episode", rows, marked=True)
        labels.append(Label(_named(line), line.look, end, reaches=False, marked=True))
    return labels


def _named(line: Line) -> str:
    if line.rows["centre"].null_count():
        return f"{line.label}\ndiverged"
    lost, seeds = line.rows["diverged"][0], line.rows["seeds"][0]
    return f"{line.label}\n{lost} of {seeds} diverged" if lost else line.label
