"""Figures of both grids: linear learners on the features of networks, and networks themselves.

The former are figures 4, A.6 to A.8 and two beyond the paper, the latter, of several widths, 5, 6,
A.9 to A.12 and one beyond the paper.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.figures import (
    Drawing,
    PaperFigure,
    Row,
    by_form,
    draw_rows,
    draw_search,
    draw_views,
    highest_centre,
    named_by,
    only,
    seeds_with,
)
from preftd._src.paper.grids.studies import (
    FEATURE_NET,
    NETWORK_EPISODES,
    NETWORKS,
    SEMI_LINEAR,
    SEMI_LINEAR_VIEWS,
    SIZES,
    TASKS,
    VIEWS,
    WIDTHS,
    at_size,
    with_best_interest,
    with_units,
)
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.figures.lines import (
    Label,
    Panel,
    drawable,
    panels,
    with_diverged,
    with_rest,
)
from preftd._src.report.figures.study import draw_curves, draw_widths

CURVE_LEVEL, WIDTH_LEVEL = 0.5, 0.9
"""Of intervals, as in the paper: of learning curves, and of errors by width."""
TOP = 1.2
"""An axis ends at this multiple of the largest error that it must show."""
FEATURES = "Features: hidden layers of networks, one for each seed."
FORMS = "Solid: online; dashed: true online, with its own step sizes."
ERROR = f"mean squared error,\nmean of {NETWORK_EPISODES} episodes"


def _figure_a6(results: Found) -> Figure:
    """The search for the step size of the feature nets."""
    row = {f"{size} × {size}": only(results[FEATURE_NET], task=at_size(size)) for size in SIZES}
    note = "Networks of 32 units, Monte Carlo targets, Adam."
    return draw_search([("all cells shown", row)], CURVE_LEVEL, note)


def _figure_a7(results: Found) -> Figure:
    """The search for the step sizes of the four methods."""
    rows = [
        (f"grid {title}", {f"{n} × {n}": _online(results[SEMI_LINEAR[task, n]]) for n in SIZES})
        for task, title in TASKS.items()
    ]
    return draw_search(rows, CURVE_LEVEL, f"ETD-fixed: of the best of three interests. {FEATURES}")


def _curves(
    results: Found,
    sizes: Sequence[int],
    told: str,
    kept: Callable[[Results], Results],
    change: Callable[[Panel], Panel] = lambda panel: panel,
) -> Figure:
    """Learning curves, a row for each task; `kept` says of which runs."""
    rows = []
    for task, title in TASKS.items():
        row = []
        for size in sizes:
            found = kept(results[SEMI_LINEAR[task, size]])
            [panel] = panels(found.runs, with_diverged(found, found.curves(CURVE_LEVEL)))
            row.append(change(panel._replace(title=f"grid {title}, {size} × {size}")))
        rows.append(Row("", "mean squared error", row))
    first = results[SEMI_LINEAR["cross_grid", sizes[0]]]
    seeds = seeds_with(first.reported, CURVE_LEVEL)
    how = Drawing(("episode", "episode"), _needed, draw_curves, highest=highest_centre)
    return draw_rows(rows, how, f"{seeds}. {step_size_note(first)} {FEATURES} {told}")


def _linear_views(results: Found) -> Figure:
    """ETD-variable and PTD in three views."""
    rows = {}
    for task, title in TASKS.items():
        found = [results[SEMI_LINEAR_VIEWS[task, size]] for size in SIZES]
        rows[f"grid {title}"] = Results(pl.concat([one.runs for one in found]), found[0].score)
    sizes = {at_size(size): size for size in SIZES}
    return draw_views(rows, sizes, "size", CURVE_LEVEL, FEATURES)


def _online(results: Results) -> Results:
    """The four methods in the paper's online form."""
    return only(with_best_interest(results), learner="")


def _good(results: Results) -> Results:
    """ETD-variable and PTD, in the paper's online form and the true online one."""
    return only(results, rule=["ETD-variable", "PTD"])


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


def _by_width(results: Found, view: str) -> Figure:
    """The four methods in a view."""
    rows = [
        Row(f"grid {title}", ERROR, _panels({"": results[NETWORKS[task, view]]}))
        for task, title in TASKS.items()
    ]
    return _draw_by_width(rows, results[NETWORKS["cross_grid", view]], f" The {view} view.")


def _held(results: Found) -> Figure:
    """PTD and ETD-variable in all three views."""
    rows = []
    for task, title in TASKS.items():
        for rule in ("PTD", "ETD-variable"):
            found = {view: only(results[NETWORKS[task, view]], rule=rule) for view in VIEWS}
            drawn = [by_form(named_by(panel, "learner")) for panel in _panels(found)]
            rows.append(Row(f"grid {title}, {rule}", ERROR, drawn))
    return _draw_by_width(rows, results[NETWORKS["cross_grid", VIEWS[0]]], "")


def _network_search(results: Found, task: str, view: str) -> Figure:
    """The search for step sizes, a row for each size."""
    found = results[NETWORKS[task, view]]
    rows = [
        (
            f"{size} × {size}",
            {n: only(found, task=at_size(size), learner=n) for n in map(with_units, WIDTHS)},
        )
        for size in SIZES
    ]
    return draw_search(rows, WIDTH_LEVEL, f"Grid {TASKS[task]}, the {view} view.")


def _panels(found: Mapping[str, Results]) -> list[Panel]:
    """A panel for each size; networks of one view are one learner, whatever their width."""
    runs, widths = [], []
    for view, results in found.items():
        as_one = pl.lit(view).alias("learner")
        runs.append(results.runs.with_columns(as_one))
        reported = with_rest(results.widths(WIDTH_LEVEL), results.reported)
        widths.append(with_diverged(results, reported).with_columns(as_one))
    drawn = panels(pl.concat(runs), pl.concat(widths))
    return [
        panel._replace(title=f"{size} × {size}") for size, panel in zip(SIZES, drawn, strict=True)
    ]


def _draw_by_width(rows: Sequence[Row], results: Results, told: str) -> Figure:
    def draw(axes: Axes, panel: Panel) -> list[Label]:
        return draw_widths(axes, panel, WIDTHS, results.score)

    def needed(panel: Panel) -> Vector:
        rows = pl.concat([line.rows for line in panel.lines])
        fine = drawable(rows, results.score)["centre"].to_numpy()
        return np.concatenate([[0.0], fine, rows["rest"].drop_nulls().to_numpy()])

    note = f"{seeds_with(results.reported, WIDTH_LEVEL)}. {step_size_note(results)}{told}"
    return draw_rows(rows, Drawing(("units", "hidden units"), needed, draw, "widths"), note)


_four_methods = partial(_curves, told="ETD-fixed: the best of three interests.", kept=_online)
FIGURES = (
    PaperFigure("figure_4", _of_sizes(16), partial(_four_methods, sizes=(16,))),
    PaperFigure("figure_a6", (FEATURE_NET,), _figure_a6),
    PaperFigure("figure_a7", _of_sizes(*SIZES), _figure_a7),
    PaperFigure("figure_a8", _of_sizes(8, 12), partial(_four_methods, sizes=(8, 12))),
    PaperFigure(
        "semi_linear_true_online",
        _of_sizes(*SIZES),
        partial(_curves, sizes=SIZES, told=FORMS, kept=_good, change=by_form),
    ),
    PaperFigure("semi_linear_held", tuple(SEMI_LINEAR_VIEWS.values()), _linear_views),
    *(
        PaperFigure(
            name,
            (NETWORKS["cross_grid", view], NETWORKS["random_grid", view]),
            partial(_by_width, view=view),
        )
        for name, view in (("figure_5", "forward"), ("figure_6", "backward"))
    ),
    *(
        PaperFigure(name, (NETWORKS[task, view],), partial(_network_search, task=task, view=view))
        for name, task, view in (
            ("figure_a9", "cross_grid", "forward"),
            ("figure_a10", "random_grid", "forward"),
            ("figure_a11", "cross_grid", "backward"),
            ("figure_a12", "random_grid", "backward"),
        )
    ),
    PaperFigure("held", tuple(NETWORKS.values()), _held),
)
