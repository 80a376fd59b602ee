"""Figures 4, A.6 to A.8, and two beyond the paper: linear learners on the features of networks."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.form_looks import by_form
from preftd._src.paper.grids.studies import (
    FEATURE_NET,
    SEMI_LINEAR,
    SEMI_LINEAR_VIEWS,
    SIZES,
    TASKS,
    at_size,
    with_best_interest,
)
from preftd._src.paper.panel_rows import (
    TRUE_ONLINE,
    Drawing,
    PaperFigure,
    Row,
    draw_rows,
    draw_search,
    highest_centre,
    only,
    seeds_with,
)
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.paper.view_figures import draw_views
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.figures.lines import Panel, panels, with_diverged
from preftd._src.report.figures.study import draw_curves

LEVEL = 0.5
"""Of intervals, as in the paper."""
TOP = 1.2
"""An axis ends at so many times the largest error that it must show."""
FEATURES = "Features: hidden layers of networks, one for each seed."


def _figure_a6(results: Found) -> Figure:
    """The search for the step size of the feature nets."""
    row = {
        f"{size} × {size}": only(results[FEATURE_NET], pl.col("task") == at_size(size))
        for size in SIZES
    }
    note = "Networks of 32 units, Monte Carlo targets, Adam."
    return draw_search([("all cells shown", row)], LEVEL, note)


def _figure_a7(results: Found) -> Figure:
    """The search for the step sizes of the four methods."""
    rows = [
        (f"grid {title}", {f"{n} × {n}": _online(results[SEMI_LINEAR[task, n]]) for n in SIZES})
        for task, title in TASKS.items()
    ]
    return draw_search(rows, LEVEL, f"ETD-fixed: of the best of three interests. {FEATURES}")


def _curves(results: Found, sizes: Sequence[int]) -> Figure:
    """Learning curves of the four methods, a row for each task."""
    rows = [
        Row(
            "",
            "mean squared error",
            [_panel(task, size, _online(results[SEMI_LINEAR[task, size]])) for size in sizes],
        )
        for task in TASKS
    ]
    any_results = results[SEMI_LINEAR["cross_grid", sizes[0]]]
    return _draw(rows, any_results, "ETD-fixed: the best of three interests.")


def _true_online(results: Found) -> Figure:
    """ETD-variable and PTD in the true online form, beside the paper's online one."""
    good = pl.col("rule").is_in(["ETD-variable", "PTD"])
    rows = [
        Row(
            "",
            "mean squared error",
            [
                by_form(_panel(task, size, only(results[SEMI_LINEAR[task, size]], good)))
                for size in SIZES
            ],
        )
        for task in TASKS
    ]
    any_results = results[SEMI_LINEAR["cross_grid", SIZES[0]]]
    return _draw(rows, any_results, "Solid: online; dashed: true online, with its own step sizes.")


def _views(results: Found) -> Figure:
    """ETD-variable and PTD in three views."""
    rows = {}
    for task, title in TASKS.items():
        found = [results[SEMI_LINEAR_VIEWS[task, size]] for size in SIZES]
        rows[f"grid {title}"] = Results(pl.concat([one.runs for one in found]), found[0].score)
    sizes = {at_size(size): size for size in SIZES}
    return draw_views(rows, sizes, "size", LEVEL, FEATURES)


def _online(results: Results) -> Results:
    """The four methods in the paper's online form."""
    return only(with_best_interest(results), pl.col("learner") != TRUE_ONLINE)


def _panel(task: str, size: int, results: Results) -> Panel:
    [panel] = panels(results.runs, with_diverged(results, results.curves(LEVEL)))
    return panel._replace(title=f"grid {TASKS[task]}, {size} × {size}")


def _draw(rows: Sequence[Row], results: Results, told: str) -> Figure:
    note = f"{seeds_with(results.reported, LEVEL)}. {step_size_note(results)} {FEATURES} {told}"
    how = Drawing(("episode", "episode"), _needed, draw_curves, highest=highest_centre)
    return draw_rows(rows, how, note)


def _needed(panel: Panel) -> Vector:
    """From 0 to a little more than most methods have at first, and each in most episodes.

    A method whose error grew to more than twice as much diverges.
    """
    drawn = [line.rows.filter(pl.col("centre").is_finite()) for line in panel.lines]
    first = float(np.median(pl.concat(drawn).filter(episode=1)["centre"].to_numpy()))
    mostly = [float(np.median(rows["centre"].to_numpy())) for rows in drawn if rows.height]
    return np.array([0.0, TOP * min(2 * first, max(first, *mostly))])


def _of_sizes(*sizes: int) -> tuple[PaperStudy, ...]:
    return tuple(SEMI_LINEAR[task, size] for task in TASKS for size in sizes)


FIGURES = (
    PaperFigure(
        "figure_4",
        _of_sizes(16),
        partial(_curves, sizes=(16,)),
    ),
    PaperFigure(
        "figure_a6",
        (FEATURE_NET,),
        _figure_a6,
    ),
    PaperFigure(
        "figure_a7",
        _of_sizes(*SIZES),
        _figure_a7,
    ),
    PaperFigure(
        "figure_a8",
        _of_sizes(8, 12),
        partial(_curves, sizes=(8, 12)),
    ),
    PaperFigure(
        "semi_linear_true_online",
        _of_sizes(*SIZES),
        _true_online,
    ),
    PaperFigure(
        "semi_linear_held",
        tuple(SEMI_LINEAR_VIEWS.values()),
        _views,
    ),
)
