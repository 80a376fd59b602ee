"""Figures 5, 6, A.9 to A.12, and one beyond the paper: networks of several widths on both grids."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.form_looks import by_form
from preftd._src.paper.grids.studies import (
    NETWORK_EPISODES,
    NETWORKS,
    SIZES,
    TASKS,
    VIEWS,
    WIDTHS,
    at_size,
    with_units,
)
from preftd._src.paper.panel_rows import (
    Drawing,
    PaperFigure,
    Row,
    draw_rows,
    draw_search,
    only,
    seeds_with,
)
from preftd._src.paper.study import Found
from preftd._src.report.figures.end_labels import Label
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.figures.lines import Panel, drawable, panels, with_diverged
from preftd._src.report.figures.study import draw_widths

LEVEL = 0.9
"""Of intervals, as in the paper."""
ERROR = f"mean squared error,\nmean of {NETWORK_EPISODES} episodes"


def _by_width(results: Found, view: str) -> Figure:
    """The four methods in a view."""
    rows = [
        Row(f"grid {title}", ERROR, _panels({"": results[NETWORKS[task, view]]}))
        for task, title in TASKS.items()
    ]
    return _draw(rows, results[NETWORKS["cross_grid", view]], f" The {view} view.")


def _held(results: Found) -> Figure:
    """PTD and ETD-variable in all three views."""
    rows = []
    for task, title in TASKS.items():
        for rule in ("PTD", "ETD-variable"):
            kept = pl.col("rule") == rule
            found = {view: only(results[NETWORKS[task, view]], kept) for view in VIEWS}
            rows.append(Row(f"grid {title}, {rule}", ERROR, list(map(_by_view, _panels(found)))))
    return _draw(rows, results[NETWORKS["cross_grid", VIEWS[0]]], "")


def _search(results: Found, task: str, view: str) -> Figure:
    """The search for step sizes, a row for each size."""
    found = results[NETWORKS[task, view]]
    rows = [
        (
            f"{size} × {size}",
            {
                name: only(found, pl.col("task") == at_size(size), pl.col("learner") == name)
                for name in map(with_units, WIDTHS)
            },
        )
        for size in SIZES
    ]
    return draw_search(rows, LEVEL, f"Grid {TASKS[task]}, the {view} view.")


def _panels(found: Mapping[str, Results]) -> list[Panel]:
    """A panel for each size; networks of one view are one learner, whatever their width."""
    runs, widths = [], []
    for view, results in found.items():
        as_one = pl.lit(view).alias("learner")
        runs.append(results.runs.with_columns(as_one))
        widths.append(with_diverged(results, results.widths(LEVEL)).with_columns(as_one))
    drawn = panels(pl.concat(runs), pl.concat(widths))
    return [
        panel._replace(title=f"{size} × {size}") for size, panel in zip(SIZES, drawn, strict=True)
    ]


def _by_view(panel: Panel) -> Panel:
    """Lines in the looks of their views, without the name of the method, which all share."""
    named = [line._replace(label=line.rows["learner"][0]) for line in panel.lines]
    return by_form(panel._replace(lines=named))


def _draw(rows: Sequence[Row], results: Results, told: str) -> Figure:
    def draw(axes: Axes, panel: Panel) -> list[Label]:
        return draw_widths(axes, panel, WIDTHS, results.score)

    def needed(panel: Panel) -> Vector:
        found = drawable(pl.concat([line.rows for line in panel.lines]), results.score)
        return np.append(found["centre"].to_numpy(), 0.0)

    note = f"{seeds_with(results.reported, LEVEL)}. {step_size_note(results)}{told}"
    return draw_rows(rows, Drawing(("units", "hidden units"), needed, draw, "widths"), note)


FIGURES = (
    *(
        PaperFigure(
            name,
            (NETWORKS["cross_grid", view], NETWORKS["random_grid", view]),
            partial(_by_width, view=view),
        )
        for name, view in (("figure_5", "forward"), ("figure_6", "backward"))
    ),
    *(
        PaperFigure(
            name,
            (NETWORKS[task, view],),
            partial(_search, task=task, view=view),
        )
        for name, task, view in (
            ("figure_a9", "cross_grid", "forward"),
            ("figure_a10", "random_grid", "forward"),
            ("figure_a11", "cross_grid", "backward"),
            ("figure_a12", "random_grid", "backward"),
        )
    ),
    PaperFigure(
        "held",
        tuple(NETWORKS.values()),
        _held,
    ),
)
