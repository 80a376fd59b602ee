"""Exact limits: the error of methods at the fixed point of the expected update, and their figure.

With decreasing step sizes, a method that converges reaches this error. With a constant step size,
the noise of single steps adds to it.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd import theory
from preftd._src.arrays import Vector
from preftd._src.experiments.results import ALGORITHM, Results
from preftd._src.experiments.statistics import summarise
from preftd._src.experiments.study import Study
from preftd._src.paper.corridors.studies import (
    CONSTANT_STEPS,
    FOUR_METHODS,
    METHODS,
    PARTS,
    ROUND,
    TASKS,
    TO_THE_LIMIT,
    at_length,
    title_of,
)
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.report.figures.layout import (
    LEVEL,
    mark_decades,
    rows_of_panels,
    seeds_note,
    set_scales,
    write_note,
)
from preftd._src.report.figures.lines import (
    REACH,
    Label,
    Line,
    Panel,
    attach,
    draw_line,
    label_ends,
    panels,
)
from preftd._src.report.figures.study import draw_curves, panel_values, thinned_curves
from preftd._src.style import COLUMN, GREY, HAIR, MEDIUM, SMALL_SIZE, look_of
from preftd.tasks import Task

ZERO = 1e-9
"""A limit below this is 0 up to rounding."""


def limits(study: Study) -> pl.DataFrame:
    """The limit of every algorithm of a study, by its labels; learners share it."""
    axes = study.axes
    names, rules = zip(*axes.rules, strict=True)
    rows = [
        (task_label, rule_label, preference_label, learner, found)
        for task_label, task in axes.tasks
        if isinstance(task, Task)  # a task drawn for each seed has a limit for each seed
        for preference_label, preference in axes.preferences
        for rule_label, found in zip(names, theory.limits(task, rules, preference), strict=True)
        for learner, _ in axes.learners
    ]
    return pl.DataFrame(rows, schema=[*ALGORITHM, "limit"], orient="row")


@cache
def limits_of(study: PaperStudy) -> pl.DataFrame:
    """The same, for a study of the paper; several figures show the same limits."""
    return limits(study.study())


def limit_of(study: PaperStudy, **labels: str) -> float:
    """The limit of the only algorithm of a study that has these labels."""
    return float(limits_of(study).filter(**labels)["limit"].item())


def with_limits(found: pl.DataFrame, limits: pl.DataFrame) -> pl.DataFrame:
    """The results of algorithms, with a column for their limits."""
    return found.join(limits, on=ALGORITHM, how="left", maintain_order="left")


def limit_of_line(line: Line) -> float:
    """The limit of a line; NaN if it is not known."""
    known = line.rows["limit"][0]
    return np.nan if known is None else float(known)


def draw_limit(axes: Axes, line: Line) -> None:
    """A hairline, unless the limit is 0, or there is none."""
    limit = limit_of_line(line)
    if ZERO < limit < np.inf:
        hair = axes.axhline(limit, color=line.look.colour, linewidth=HAIR, zorder=1.5)
        attach([hair], line.label)


HEIGHT = 2.0
"""Height of a panel, in inches."""
SLOPE, SPAN = 2.5, 30.0
"""The distance of a slope above the lines, and its factor of episodes."""
NOTE = (
    "Top: hairlines are exact limits, which for ETD-variable and PTD are 0. Others: what remains "
    "in the last half of the episodes. Middle: 2,000 episodes with parts of step sizes of "
    f"{', '.join(f'{size:g} ({name})' for name, size in ROUND.items())}; dotted: in proportion to "
    "the step size, as noise would be."
)


def _limits(results: Found) -> Figure:
    """At the top, long runs with decreasing step sizes; below, what constant ones leave."""
    long_runs = [_long_runs(task, results[TO_THE_LIMIT[task]]) for task in TASKS]
    by_part = [_by_part(task, results[CONSTANT_STEPS[task]]) for task in TASKS]
    by_length = [_by_length(task, results[FOUR_METHODS[task]]) for task in TASKS]
    score, across = results[TO_THE_LIMIT["corridor"]].score, len(TASKS)
    figure, every = rows_of_panels(3, across, HEIGHT, COLUMN)
    above, middle, below = (every[i : i + across] for i in range(0, 3 * across, across))
    write_note(figure, f"{seeds_note(by_length[0], 'bands')}. {NOTE}")
    set_scales(above, [panel_values(panel, score) for panel in long_runs], logarithmic=True)
    ends = list(zip(above, map(_draw_long, above, TASKS, long_runs), strict=True))
    for some, found, column in ((middle, by_part, "part"), (below, by_length, "length")):
        set_scales(some, [_needed(of) for of in found], logarithmic=False)
        ends += [(axes, _draw_left(axes, of, column)) for axes, of in zip(some, found, strict=True)]
        some[0].set_ylabel(f"{score.name}\nless the limit")
    for axes, of in zip(middle, by_part, strict=True):
        _mark_parts(axes, of)
    above[0].set_ylabel(score.name)
    label_ends(figure, ends)
    return figure


def _long_runs(task: str, results: Results) -> Panel:
    """Learning curves at the only length, with limits."""
    found = with_limits(thinned_curves(results, np.geomspace), limits_of(TO_THE_LIMIT[task]))
    (panel,) = panels(results.runs, found)
    return panel


def _draw_long(axes: Axes, task: str, panel: Panel) -> list[Label]:
    labels = draw_curves(axes, panel)
    axes.set_xscale("log")
    for axis in (axes.xaxis, axes.yaxis):
        mark_decades(axis)
    axes.set_title(f"{title_of(task)}, {panel.title}:\ndecreasing step sizes", loc="left")
    axes.set_xlabel("episode")
    for line in panel.lines:
        draw_limit(axes, line)
    _draw_slope(axes, [line for line in panel.lines if limit_of_line(line) < ZERO])
    return labels


def _draw_slope(axes: Axes, lines: Sequence[Line]) -> None:
    """The slope of 1 / episode, above the last part of the lines that fall."""
    last = axes.get_xlim()[1]
    first, episode = last / SPAN, pl.col("episode")
    falling = pl.concat([line.rows for line in lines]).filter(episode >= first)
    end = SLOPE * falling.select((pl.col("centre") * episode).max()).item() / last
    if SPAN * end > axes.get_ylim()[1]:
        return  # they have hardly begun to fall
    axes.plot([first, last], [SPAN * end, end], ":", color=GREY, linewidth=MEDIUM)
    axes.text(first, SPAN * end, "1 / episode", fontsize=SMALL_SIZE, color=GREY, va="bottom")


def _by_part(task: str, results: Results) -> pl.DataFrame:
    """By method and part of a round step size, what remains."""
    usual = pl.col("rule").replace_strict(ROUND, return_dtype=pl.Float64)
    runs = results.scored.with_columns((pl.col("step_size") / usual).alias("part"))
    return _remains(task, f"{at_length(5)}:\nconstant step sizes", runs, "part")


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
    known = runs.join(limits_of(FOUR_METHODS[task]), on=ALGORITHM)
    left = known.with_columns((half - pl.col("limit")).alias("score"))
    title = f"{title_of(task)}, {where}"
    return summarise(left, ["rule", column], level=LEVEL).with_columns(pl.lit(title).alias("title"))


def _needed(found: pl.DataFrame) -> Vector:
    """Values that the axis must reach: 0, centres, and bands, without far outliers.

    Centres may be a little below 0, and bands of few seeds are wide.
    """
    centre, low, high = found.select("centre", "low", "high").to_numpy().T
    low, high = np.maximum(low, centre.min() / REACH), np.minimum(high, centre.max() * REACH)
    return np.concatenate([centre, low, high, [0.0]])


def _draw_left(axes: Axes, found: pl.DataFrame, column: str) -> list[Label]:
    axes.set_title(found["title"][0], loc="left")
    axes.set_xticks(found[column].unique().sort().to_list())
    axes.set_xlabel(column)
    axes.axhline(0, color=GREY, linewidth=HAIR)
    labels = []
    for rule in METHODS:
        line = Line(rule, look_of(rule), found.filter(rule=rule))
        end = draw_line(axes, line, column, line.rows, marked=True)
        labels.append(Label(rule, line.look, end, marked=True))
    return labels


def _mark_parts(axes: Axes, found: pl.DataFrame) -> None:
    """Parts of a step size, and how the highest line would come down if it did in proportion."""
    most = found.filter(part=1.0)["centre"].to_numpy().max()
    axes.plot([0, 1], [0, most], ":", color=GREY, linewidth=MEDIUM)
    names = [f"1/{part}" if part > 1 else "1" for part in PARTS]
    axes.set_xticks([0, *(1 / part for part in PARTS)], ["0", *names])
    axes.set_xlim(0, 1.04)
    axes.set_xlabel("part of the step size")


FIGURES = (
    PaperFigure(
        "limits",
        (*FOUR_METHODS.values(), *TO_THE_LIMIT.values(), *CONSTANT_STEPS.values()),
        _limits,
    ),
)
