"""Theory and experiment: step sizes that decrease reach the limits, constant ones stay off them."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.experiments.results import ALGORITHM, Results
from preftd.experiments.statistics import summarise
from preftd.report.figures.curves import draw_curves, found_curves, reached
from preftd.report.figures.labels import SIZE, Label, label_ends
from preftd.report.figures.layout import LEVEL, rows_of_panels, seeds_shown, set_scales, write_note
from preftd.report.figures.lines import draw_line, to_show
from preftd.report.figures.panels import Line, panels
from preftd.report.paper.corridors import LENGTHS, METHODS, TASKS, four_methods, to_the_limit
from preftd.report.paper.figures.rows import ZERO, Row, draw_limit
from preftd.report.paper.limits import limits as exact_limits
from preftd.style import RC, look_of

HEIGHT = 2.0
"""Of a panel, in inches."""
SLOPE, SPAN = 2.5, 30.0
"""How far above lines a slope is drawn, and over which factor of episodes."""
GREY = "#777777"
NOTE = (
    "Above: decreasing step sizes; thin dashes: exact limits, which for ETD-variable and PTD are "
    "0. Below: constant step sizes, those of figure 3; the error that remains in the last half of "
    "the episodes, less the limit."
)


def limits(results: Mapping[str, Results]) -> Figure:
    """Above, long runs with decreasing step sizes; below, what constant ones leave."""
    rows = [_row(task, results) for task in TASKS]
    left = [_left(task, results[f"{task} four methods"]) for task in TASKS]
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(2, len(TASKS), HEIGHT)
        above, below = every[: len(TASKS)], every[len(TASKS) :]
        seeds = seeds_shown(left[0], "bands")
        write_note(figure, f"{seeds}. {NOTE}")
        score = rows[0].results.score
        set_scales(above, [reached(one.panels[0], score) for one in rows], logarithmic=True)
        set_scales(below, [np.append(to_show(found), 0.0) for found in left], logarithmic=False)
        ends = [(axes, _draw_long(axes, one)) for axes, one in zip(above, rows, strict=True)]
        ends += [(axes, _draw_left(axes, found)) for axes, found in zip(below, left, strict=True)]
        above[0].set_ylabel(score.name, fontsize=8)
        below[0].set_ylabel(f"{score.name}\nless the limit", fontsize=8)
        label_ends(figure, ends)
    return figure


def _row(task: str, results: Mapping[str, Results]) -> Row:
    found = results[f"{task} to the limit"]
    drawn = panels(found.runs, found_curves(found, np.geomspace))
    return Row(task.replace("_", " "), found, drawn, exact_limits(to_the_limit(task)))


def _draw_long(axes: Axes, one: Row) -> list[Label]:
    (panel,) = one.panels
    labels = draw_curves(axes, panel)
    axes.set_xscale("log")
    axes.set_title(f"{one.title}, {panel.title}", loc="left")
    axes.set_xlabel("episode", fontsize=8)
    for line in panel.lines:
        draw_limit(axes, line, one.limit(line))
    _draw_slope(axes, [line for line in panel.lines if one.limit(line) < ZERO])
    return labels


def _draw_slope(axes: Axes, lines: Sequence[Line]) -> None:
    """How fast errors fall at best, above the last part of the lines that fall."""
    last = axes.get_xlim()[1]
    first, episode = last / SPAN, pl.col("episode")
    falling = pl.concat([line.rows for line in lines]).filter(episode >= first)
    end = SLOPE * falling.select((pl.col("centre") * episode).max()).item() / last
    if SPAN * end > axes.get_ylim()[1]:
        return  # they have hardly begun to fall
    axes.plot([first, last], [SPAN * end, end], ":", color=GREY, linewidth=1)
    axes.text(first, SPAN * end, "1 / episode", fontsize=SIZE, color=GREY, va="bottom")


def _left(task: str, results: Results) -> pl.DataFrame:
    """By method and length, the mean error of the last half of the episodes less the limit."""
    half = pl.col("error").list.tail(TASKS[task] // 2).list.mean()
    runs = results.reported.join(exact_limits(four_methods(task)), on=ALGORITHM)
    length = pl.col("task").str.extract(r"(\d+)").cast(pl.Int64).alias("length")
    return summarise(
        runs.with_columns((half - pl.col("limit")).alias("score"), length),
        ["rule", "length"],
        level=LEVEL,
    ).with_columns(pl.lit(task).alias("task"))


def _draw_left(axes: Axes, found: pl.DataFrame) -> list[Label]:
    axes.set_title(f"{found['task'][0].replace('_', ' ')}, constant step sizes", loc="left")
    axes.set_xticks(LENGTHS)
    axes.set_xlabel("length", fontsize=8)
    axes.axhline(0, color=GREY, linewidth=0.6)
    labels = []
    for rule in METHODS:
        line = Line(rule, look_of(rule), found.filter(rule=rule))
        end = draw_line(axes, line, "length", line.rows, marked=True)
        labels.append(Label(rule, line.look, end, marked=True))
    return labels
