"""Figures 3, A.2 to A.5, and two beyond the paper: learning curves, and the search behind them.

Hairlines are the exact limits of methods.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.corridors.limits import (
    ZERO,
    draw_limit,
    limit_of_line,
    limits_of,
    with_limits,
)
from preftd._src.paper.corridors.studies import (
    BETWEEN,
    CONSTANT_LAMBDA,
    FOUR_METHODS,
    IN_VIEWS,
    LENGTHS,
    SEARCHED,
    TASKS,
    TRUE_ONLINE,
    at_length,
    title_of,
)
from preftd._src.paper.figures import (
    Counted,
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
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import LEVEL, step_size_note
from preftd._src.report.figures.lines import Label, Line, Panel, panels
from preftd._src.report.figures.study import draw_curves, thinned_curves
from preftd._src.style import COLUMN

SPIKES = 0.98
"""The share of episodes that the axis must reach: rare spikes may leave the panel, and the note
says how high they are."""
VARIANTS = {
    "PTD": {
        ("PTD", "β = 1, 0"): "as in the paper",
        ("PTD", "β = 0.75, 0"): "observable: β = 0.75",
        ("PTD", "β = 0.5, 0"): "observable: β = 0.5",
        ("PTD", "β = 1, 0.05"): "hidden: β = 0.05",
        ("PTD", "β = 1, 0.2"): "hidden: β = 0.2",
    },
    "ETD-variable": {
        ("ETD-variable", "β = 1, 0"): "as in the paper",
        ("ETD, interest 0.25, 0", "β = 1, 0"): "observable: interest 0.25",
        ("ETD-variable", "β = 0.5, 0"): "observable: β = 0.5",
        ("ETD, interest 0.5, 0.05", "β = 1, 0"): "hidden: interest 0.05",
        ("ETD-variable", "β = 1, 0.2"): "hidden: β = 0.2",
    },
}
"""The variants of each method in figure A.5, with names: the paper's extreme values first, then one
of them lowered on observable states, then one raised on hidden states."""


def _four_methods(results: Found, lengths: Sequence[int]) -> Figure:
    """The four methods, for some lengths."""
    tasks = list(map(at_length, lengths))
    found = [only(results[study], task=tasks) for study in FOUR_METHODS.values()]
    rows = list(map(_row, TASKS, found, map(limits_of, FOUR_METHODS.values())))
    left = "What stays above it is left by the step size: see the figure of limits."
    return _draw(rows, found[0], f"{_at_zero(rows)} {left}")


def _figure_a4(results: Found) -> Figure:
    """ETD with interest 1 and one λ for all states, compared with PTD."""
    rows, short = [], pl.lit("ETD").alias("rule")
    for task in TASKS:
        constant, paper = results[CONSTANT_LAMBDA[task]], results[FOUR_METHODS[task]]
        runs = pl.concat([constant.runs.with_columns(short), paper.runs.filter(rule="PTD")])
        limits = limits_of(CONSTANT_LAMBDA[task]).with_columns(short)
        known = pl.concat([limits, limits_of(FOUR_METHODS[task])])
        found = Results(runs, paper.score)
        rows.append(_row(task, found, known))
    return _draw(rows, found, f"{_at_zero(rows)} ETD: interest 1, one λ for all states.")


def _figure_a5(results: Found) -> Figure:
    """PTD and ETD-variable with values that are neither 0 nor 1."""
    rows = []
    for task, study in BETWEEN.items():
        for method, names in VARIANTS.items():
            found, limits = results[study], limits_of(study)
            shown = Results(_renamed(found.runs, method, names), found.score)
            row = _row(
                task, shown, _renamed(limits, method, names), partial(named_by, column="preference")
            )
            rows.append(row._replace(title=f"{row.title}\n{method}"))
    return _draw(
        rows,
        shown,
        "; where β and interest are 0 on hidden states, it is 0. As in the paper: β = 1 on "
        "observable and 0 on hidden states, and for ETD-variable an interest of 0.5 and 0; labels "
        "say what is changed, and on which states. λ is 1 − β.",
    )


def _renamed(
    frame: pl.DataFrame, method: str, names: Mapping[tuple[str, str], str]
) -> pl.DataFrame:
    """Some rules with some preferences, as variants of one method, in their own order."""
    parts = [
        frame.filter(rule=rule, preference=preference).with_columns(
            pl.lit(method).alias("rule"), pl.lit(name).alias("preference")
        )
        for (rule, preference), name in names.items()
    ]
    return pl.concat(parts)


def _true_online(results: Found) -> Figure:
    """Three methods in the true online form, compared with the paper's online one."""
    tasks = list(map(at_length, (5, 15, 25)))
    found = [only(results[study], task=tasks) for study in TRUE_ONLINE.values()]
    limits = map(limits_of, TRUE_ONLINE.values())
    rows = list(map(partial(_row, change=by_form), TASKS, found, limits))
    forms = "Solid: online; dashed: true online, with its own step sizes."
    return _draw(rows, found[0], f"{_at_zero(rows)} {forms}")


def _views(results: Found) -> Figure:
    """ETD-variable and PTD in three views."""
    rows = {title_of(task): results[study] for task, study in IN_VIEWS.items()}
    lengths = {at_length(length): length for length in LENGTHS}
    return draw_views(rows, lengths, "length", LEVEL)


def _figure_a3(results: Found) -> Figure:
    """The search for step sizes, at every length."""
    rows = [
        (
            title_of(name),
            {task: only(results[study], task=task) for task in map(at_length, LENGTHS)},
        )
        for name, study in FOUR_METHODS.items()
    ]
    counted = Counted(f"the runs at {at_length(LENGTHS[-1])}", lambda panels: panels[-1].lines)
    note = f"Scores over {SEARCHED.episodes} episodes."
    return draw_search(rows, LEVEL, note, counted=counted, wide=COLUMN)


def _row(
    task: str,
    results: Results,
    limits: pl.DataFrame,
    change: Callable[[Panel], Panel] = lambda panel: panel,
) -> Row:
    """A panel for each length; the results of a line have a column with its limit."""
    found = with_limits(thinned_curves(results), limits)
    drawn = list(map(change, panels(results.runs, found)))
    return Row(title_of(task), results.score.name, drawn)


def _draw(rows: Sequence[Row], results: Results, note: str) -> Figure:
    """A figure of rows; the results say how step sizes were chosen."""
    shown = seeds_with(results.reported, LEVEL)
    how = Drawing(("episode", "episode"), _needed, _draw_panel, highest=highest_centre, wide=COLUMN)
    hairlines = "Hairlines: the exact limit of each method"
    return draw_rows(rows, how, f"{shown}. {step_size_note(results)} {hairlines}{note}")


def _draw_panel(axes: Axes, panel: Panel) -> list[Label]:
    labels = draw_curves(axes, panel)
    for line in panel.lines:
        draw_limit(axes, line)
    return labels


def _at_zero(rows: Sequence[Row]) -> str:
    """Which methods have no hairline, after "the exact limit of each method"."""
    limits: dict[str, list[float]] = {}
    for line in (line for row in rows for panel in row.panels for line in panel.lines):
        limits.setdefault(line.rows["rule"][0], []).append(limit_of_line(line))
    zero = [rule for rule, found in limits.items() if max(found) < ZERO]
    return f"; that of {' and '.join(zero)} is 0."


def _needed(panel: Panel) -> Vector:
    """Values that the axis must reach: 0, limits, and curves except rare spikes."""
    found = [_centres(line) for line in panel.lines]
    most = [np.max([centre[0], np.quantile(centre, SPIKES)]) for centre in found if centre.size]
    return np.array([0.0, *most, *map(limit_of_line, panel.lines)])


def _centres(line: Line) -> Vector:
    centre = line.rows.sort("episode")["centre"].drop_nulls().to_numpy()
    return np.asarray(centre[np.isfinite(centre)])


FOUR = tuple(FOUR_METHODS.values())
FIGURES = (
    PaperFigure("figure_3", FOUR, partial(_four_methods, lengths=(5, 15, 25))),
    PaperFigure("figure_a2", FOUR, partial(_four_methods, lengths=(10, 20))),
    PaperFigure("figure_a3", FOUR, _figure_a3),
    PaperFigure("figure_a4", (*FOUR, *CONSTANT_LAMBDA.values()), _figure_a4),
    PaperFigure("figure_a5", tuple(BETWEEN.values()), _figure_a5),
    PaperFigure("true_online", tuple(TRUE_ONLINE.values()), _true_online),
    PaperFigure("held_corridors", tuple(IN_VIEWS.values()), _views),
)
