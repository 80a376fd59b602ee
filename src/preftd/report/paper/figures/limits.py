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
from preftd.report.figures.ticks import mark_decades
from preftd.report.paper.corridors import METHODS, PARTS, ROUND, TASKS
from preftd.report.paper.figures import WIDE
from preftd.report.paper.figures.rows import ZERO, Row, by_algorithm, draw_limit
from preftd.report.paper.limits import limits_of
from preftd.style import RC, look_of

HEIGHT = 2.0
"""Of a panel, in inches."""
SLOPE, SPAN = 2.5, 30.0
"""How far above lines a slope is drawn, and over which factor of episodes."""
GREY = "#777777"
NOTE = (
    "Top: thin dashes are exact limits, which for ETD-variable and PTD are 0. Others: what remains "
    "in the last half of the episodes. Middle: 2,000 episodes with parts of step sizes of "
    f"{', '.join(f'{size:g} ({name})' for name, size in ROUND.items())}; dotted: in proportion to "
    "the step size, as noise would be."
)


def limits(results: Mapping[str, Results]) -> Figure:
    """Above, long runs with decreasing step sizes; below, what constant ones leave."""
    rows = [_row(task, results) for task in TASKS]
    by_part = [_by_part(task, results[f"{task} constant steps"]) for task in TASKS]
    by_length = [_by_length(task, results[f"{task} four methods"]) for task in TASKS]
    score, across = rows[0].results.score, len(TASKS)
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(3, across, HEIGHT, WIDE)
        above, middle, below = (every[i : i + across] for i in range(0, 3 * across, across))
        write_note(figure, f"{seeds_shown(by_length[0], 'bands')}. {NOTE}")
        set_scales(above, [reached(one.panels[0], score) for one in rows], logarithmic=True)
        ends = [(axes, _draw_long(axes, one)) for axes, one in zip(above, rows, strict=True)]
        for some, found, column in ((middle, by_part, "part"), (below, by_length, "length")):
            set_scales(some, [np.append(to_show(of), 0.0) for of in found], logarithmic=False)
            ends += [
                (axes, _draw_left(axes, of, column)) for axes, of in zip(some, found, strict=True)
            ]
            some[0].set_ylabel(f"{score.name}\nless the limit", fontsize=8)
        for axes, of in zip(middle, by_part, strict=True):
            _mark_parts(axes, of)
        above[0].set_ylabel(score.name, fontsize=8)
        label_ends(figure, ends)
    return figure


def _row(task: str, results: Mapping[str, Results]) -> Row:
    found = results[f"{task} to the limit"]
    drawn = panels(found.runs, found_curves(found, np.geomspace))
    return Row(
        task.replace("_", " "), found, drawn, by_algorithm(limits_of(f"{task} to the limit"))
    )


def _draw_long(axes: Axes, one: Row) -> list[Label]:
    (panel,) = one.panels
    labels = draw_curves(axes, panel)
    axes.set_xscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        mark_decades(axis)
    axes.set_title(f"{one.title}, {panel.title}:\ndecreasing step sizes", loc="left")
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


def _by_part(task: str, results: Results) -> pl.DataFrame:
    """By method and part of a round step size, what remains."""
    usual = pl.col("rule").replace_strict(ROUND, return_dtype=pl.Float64)
    runs = results.scored.with_columns((pl.col("step_size") / usual).alias("part"))
    return _remains(task, "length 5:\nconstant step sizes", runs, "part")


def _by_length(task: str, results: Results) -> pl.DataFrame:
    """By method and length, what remains at the step sizes that were chosen."""
    length = pl.col("task").str.extract(r"(\d+)").cast(pl.Int64).alias("length")
    return _remains(
        task,
        "all lengths:\nthe step sizes of figure 3",
        results.reported.with_columns(length),
        "length",
    )


def _remains(task: str, where: str, runs: pl.DataFrame, column: str) -> pl.DataFrame:
    """The mean error of the last half of the episodes less the limit."""
    half = pl.col("error").list.tail(pl.col("error").list.len() // 2).list.mean()
    known = runs.join(limits_of(f"{task} four methods"), on=ALGORITHM)
    left = known.with_columns((half - pl.col("limit")).alias("score"))
    title = f"{task.replace('_', ' ')}, {where}"
    return summarise(left, ["rule", column], level=LEVEL).with_columns(pl.lit(title).alias("title"))


def _draw_left(axes: Axes, found: pl.DataFrame, column: str) -> list[Label]:
    axes.set_title(found["title"][0], loc="left")
    axes.set_xticks(found[column].unique().sort().to_list())
    axes.set_xlabel(column, fontsize=8)
    axes.axhline(0, color=GREY, linewidth=0.6)
    labels = []
    for rule in METHODS:
        line = Line(rule, look_of(rule), found.filter(rule=rule))
        end = draw_line(axes, line, column, line.rows, marked=True)
        labels.append(Label(rule, line.look, end, marked=True))
    return labels


def _mark_parts(axes: Axes, found: pl.DataFrame) -> None:
    """Parts of a step size, and how the highest line would come down if it did in proportion."""
    most = found.filter(part=1.0)["centre"].to_numpy().max()
    axes.plot([0, 1], [0, most], ":", color=GREY, linewidth=1)
    axes.set_xticks([0, *(1 / part for part in PARTS)], ["0", *_named(PARTS)])
    axes.set_xlim(0, 1.04)
    axes.set_xlabel("part of the step size", fontsize=8)


def _named(parts: Sequence[int]) -> list[str]:
    return [f"1/{part}" if part > 1 else "1" for part in parts]
