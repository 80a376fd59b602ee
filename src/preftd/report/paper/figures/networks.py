"""Figures 5, 6, A.9 to A.12, and one past the paper: networks of several widths on both grids."""

from collections.abc import Mapping

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import Results
from preftd.report.figures.labels import Label
from preftd.report.figures.layout import choice
from preftd.report.figures.lines import sound
from preftd.report.figures.panels import Line, Panel, panels, with_lost
from preftd.report.figures.widths import draw_widths
from preftd.report.paper.figures.grid_rows import (
    TASKS,
    Drawing,
    Row,
    all_rows,
    draw_rows,
    seeds_with,
)
from preftd.report.paper.figures.grid_search import draw_search
from preftd.report.paper.grids import NETWORK_EPISODES, SIZES, VIEWS, WIDTHS, with_units
from preftd.style import look_of

LEVEL = 0.9
"""Of intervals, as in the paper."""
ERROR = f"mean squared error,\nmean of {NETWORK_EPISODES} episodes"
VIEW_WIDTHS = {"forward": 0.7, "backward": 1.3, "held": 2.4}
"""Of lines, where views are compared."""


def figure_5(results: Mapping[str, Results]) -> Figure:
    """The four methods in the forward view."""
    return _widths(results, "forward")


def figure_6(results: Mapping[str, Results]) -> Figure:
    """The four methods in the backward view."""
    return _widths(results, "backward")


def held(results: Mapping[str, Results]) -> Figure:
    """PTD and ETD-variable in all three views."""
    rows = []
    for task, title in TASKS.items():
        for rule in ("PTD", "ETD-variable"):
            kept = pl.col("rule") == rule
            found = {view: _only(results[f"{task} networks, {view}"], kept) for view in VIEWS}
            drawn = [_by_view(panel) for panel in _panels(found)]
            rows.append(Row(f"{title}, {rule}\n{ERROR}", drawn))
    any_view = found[VIEWS[0]]
    return draw_rows(rows, _drawing(any_view), _note(rows, any_view))


def figure_a9(results: Mapping[str, Results]) -> Figure:
    """The search on task 1, forward view."""
    return _search(results, "cross_grid", "forward")


def figure_a10(results: Mapping[str, Results]) -> Figure:
    """The search on task 2, forward view."""
    return _search(results, "random_grid", "forward")


def figure_a11(results: Mapping[str, Results]) -> Figure:
    """The search on task 1, backward view."""
    return _search(results, "cross_grid", "backward")


def figure_a12(results: Mapping[str, Results]) -> Figure:
    """The search on task 2, backward view."""
    return _search(results, "random_grid", "backward")


def _widths(results: Mapping[str, Results], view: str) -> Figure:
    rows = []
    for task, title in TASKS.items():
        found = results[f"{task} networks, {view}"]
        rows.append(Row(f"{title}\n{ERROR}", _panels({"": found})))
    return draw_rows(rows, _drawing(found), f"{_note(rows, found)} The {view} view.")


def _search(results: Mapping[str, Results], task: str, view: str) -> Figure:
    found, rows = results[f"{task} networks, {view}"], []
    for size in SIZES:
        at_size = pl.col("task") == f"size {size}"
        names = map(with_units, WIDTHS)
        row = {name: _only(found, at_size, pl.col("learner") == name) for name in names}
        rows.append((f"{size} × {size}", row))
    return draw_search(rows, LEVEL, f"{TASKS[task].capitalize()}, the {view} view.")


def _panels(found: Mapping[str, Results]) -> list[Panel]:
    """A panel for each size; networks of one view are one learner, whatever their width."""
    runs, widths = [], []
    for view, results in found.items():
        as_one = pl.lit(view).alias("learner")
        runs.append(results.runs.with_columns(as_one))
        widths.append(with_lost(results, results.widths(LEVEL)).with_columns(as_one))
    drawn = panels(pl.concat(runs), pl.concat(widths))
    return [
        panel._replace(title=f"{size} × {size}") for size, panel in zip(SIZES, drawn, strict=True)
    ]


def _by_view(panel: Panel) -> Panel:
    """All views of a method in its own look, told apart by their width."""

    def restyled(line: Line) -> Line:
        rule, view = line.rows.select("rule", "learner").row(0)
        return line._replace(look=look_of(rule), width=VIEW_WIDTHS[view], label=view)

    return panel._replace(lines=list(map(restyled, panel.lines)))


def _drawing(results: Results) -> Drawing:
    def draw(axes: Axes, panel: Panel) -> list[Label]:
        return draw_widths(axes, panel, WIDTHS, results.score)

    def needed(panel: Panel) -> Vector:
        rows = sound(pl.concat([line.rows for line in panel.lines]), results.score)
        return np.append(rows["centre"].to_numpy(), 0.0)

    return Drawing(("units", "hidden units"), needed, draw, crosses="widths at which runs diverged")


def _note(rows: list[Row], results: Results) -> str:
    return f"{seeds_with(all_rows(rows), LEVEL)}. {choice(results)}"


def _only(results: Results, *wanted: pl.Expr) -> Results:
    return Results(results.runs.filter(*wanted), results.score)
