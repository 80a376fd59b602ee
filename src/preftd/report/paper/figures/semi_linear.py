"""Figures 4, A.6 to A.8, and one past the paper: linear learners on the features of networks."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import Results
from preftd.report.figures.curves import draw_curves
from preftd.report.figures.layout import choice
from preftd.report.figures.panels import Line, Panel, panels, with_lost
from preftd.report.paper.figures.grid_rows import (
    TASKS,
    Drawing,
    Row,
    all_rows,
    draw_rows,
    seeds_with,
)
from preftd.report.paper.figures.grid_search import draw_search
from preftd.report.paper.grids import SIZES
from preftd.report.paper.interests import with_best_interest
from preftd.style import look_of

LEVEL = 0.5
"""Of intervals, as in the paper."""
TOP = 1.2
"""An axis ends at so many times the largest error that it must show."""
FEATURES = "Features: hidden layers of networks, one for each seed."
THIN, THICK = 0.8, 2.0
"""Widths of lines of online and of true online learners."""


def figure_4(results: Mapping[str, Results]) -> Figure:
    """The four methods on both tasks, size 16."""
    return _curves(results, (16,), true_online=False)


def figure_a8(results: Mapping[str, Results]) -> Figure:
    """The four methods on both tasks, the other sizes."""
    return _curves(results, (8, 12), true_online=False)


def semi_linear_true_online(results: Mapping[str, Results]) -> Figure:
    """ETD-variable and PTD in the true online form, beside the paper's online one."""
    return _curves(results, SIZES, true_online=True)


def figure_a6(results: Mapping[str, Results]) -> Figure:
    """The search for the step size of the feature nets."""
    found = results["feature net"]
    row = [_only(found, pl.col("task") == f"size {size}") for size in SIZES]
    return draw_search(
        [("all cells shown", dict(zip((f"{n} × {n}" for n in SIZES), row, strict=True)))],
        LEVEL,
        "Networks of 32 units, Monte Carlo targets, Adam.",
    )


def figure_a7(results: Mapping[str, Results]) -> Figure:
    """The search for the step sizes of the four methods."""
    rows = [
        (title, {f"{n} × {n}": _shown(results, task, n, ("",)) for n in SIZES})
        for task, title in TASKS.items()
    ]
    return draw_search(rows, LEVEL, f"ETD-fixed: of the best of three interests. {FEATURES}")


def _curves(results: Mapping[str, Results], sizes: Sequence[int], *, true_online: bool) -> Figure:
    """A row for each task."""
    rows, learners = [], ("", "true online") if true_online else ("",)
    for task, title in TASKS.items():
        drawn = []
        for size in sizes:
            shown = _shown(results, task, size, learners)
            [panel] = panels(shown.runs, with_lost(shown, shown.curves(LEVEL)))
            named = panel._replace(title=f"{title}, {size} × {size}")
            drawn.append(_by_form(named, forms=true_online))
        rows.append(Row("mean squared error", drawn))
    note = f"{seeds_with(all_rows(rows), LEVEL)}. {choice(shown)} {FEATURES}"
    note += (
        " Thick: true online, with step sizes of its own."
        if true_online
        else " ETD-fixed: the best of three interests."
    )
    return draw_rows(rows, Drawing(("episode", "episode"), _needed, draw_curves), note)


def _shown(
    results: Mapping[str, Results], task: str, size: int, learners: tuple[str, ...]
) -> Results:
    """A task at a size; with both learners, the methods that do well."""
    found = with_best_interest(results[f"{task} semi-linear, size {size}"])
    wanted = pl.col("learner").is_in(learners)
    if len(learners) > 1:
        wanted &= pl.col("rule").is_in(["ETD-variable", "PTD"])
    return _only(found, wanted)


def _by_form(panel: Panel, *, forms: bool) -> Panel:
    """Both forms of a method in its own look, told apart by their width."""
    if not forms:
        return panel

    def restyled(line: Line) -> Line:
        rule, learner = line.rows.select("rule", "learner").row(0)
        return line._replace(look=look_of(rule), width=THICK if learner else THIN)

    return panel._replace(lines=list(map(restyled, panel.lines)))


def _needed(panel: Panel) -> Vector:
    """From 0 to a little more than most methods have at first, and each in most episodes.

    What grew to more than twice as much diverges.
    """
    drawn = [line.rows.filter(pl.col("centre").is_finite()) for line in panel.lines]
    first = float(np.median(pl.concat(drawn).filter(episode=1)["centre"].to_numpy()))
    mostly = [float(np.median(rows["centre"].to_numpy())) for rows in drawn if rows.height]
    return np.array([0.0, TOP * min(2 * first, max(first, *mostly))])


def _only(results: Results, wanted: pl.Expr) -> Results:
    return Results(results.runs.filter(wanted), results.score)
