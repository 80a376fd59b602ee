"""Figures of the paper, most of which are rows of panels: a row for each task, or for each size."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.paper.stored_runs import seeds_told
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.paper.titles import TITLES
from preftd._src.report.figures.divergence_marks import (
    ROW,
    cross_rows,
    draw_crosses,
    write_cross_counts,
)
from preftd._src.report.figures.end_labels import Label, label_ends
from preftd._src.report.figures.layout import rows_of_panels, set_scales, write_axis_labels
from preftd._src.report.figures.lines import drawable
from preftd._src.report.figures.panels import Line, Panel, panels
from preftd._src.report.figures.step_sizes import draw_step_sizes, set_step_size_axis
from preftd._src.report.figures.titles import write_title
from preftd._src.style import RC, number_text

WIDE = 5.4
"""Width of a figure of the walk or the corridors, in inches: letters of 7.5 points can still be
read when it is scaled down to a column of a page, 3.3 inches."""
HEIGHT = 1.5
"""Height of a panel, in inches."""
TRUE_ONLINE = "true online"


class PaperFigure(NamedTuple):
    """A figure: its name, its studies, and how it is drawn from their results."""

    name: str
    studies: tuple[PaperStudy, ...]
    draw: Callable[[Found], Figure]

    @property
    def title(self) -> str:
        """What it shows."""
        return TITLES[self.name]


class Row(NamedTuple):
    """Panels side by side; at their left, a title and what is measured."""

    title: str
    measure: str
    panels: Sequence[Panel]


def _together(panels: Sequence[Panel]) -> list[Line]:
    """The lines of all panels; those with the same name are joined."""
    lines: dict[str, Line] = {}
    for line in (line for panel in panels for line in panel.lines):
        known = lines.setdefault(line.label, line)
        if known is not line:
            lines[line.label] = known._replace(rows=pl.concat([known.rows, line.rows]))
    return list(lines.values())


class Counted(NamedTuple):
    """Lines of a row whose diverged runs are counted: what they are called, and how found."""

    name: str
    lines: Callable[[Sequence[Panel]], Sequence[Line]]


WHOLE_ROW = Counted("the row", _together)


class Drawing(NamedTuple):
    """How panels are drawn.

    across   the column along the horizontal axis, and its name
    needed   values that the vertical axis must reach
    draw     draws lines, and returns names for their ends
    crosses  crosses above a panel show at which of these runs diverged (default: no crosses)
    counted  the lines of a row whose diverged runs are counted at its right
    highest  the highest value of a panel; if given, the note names those above their axis
    wide     the width of the figure in inches (default: by the number of panels)
    """

    across: tuple[str, str]
    needed: Callable[[Panel], Vector]
    draw: Callable[[Axes, Panel], list[Label]]
    crosses: str = ""
    counted: Counted = WHOLE_ROW
    highest: Callable[[Panel], float] | None = None
    wide: float | None = None


def draw_rows(rows: Sequence[Row], how: Drawing, note: str) -> Figure:
    """A figure of rows, each with its own scales; lines are named at the right."""
    count = len(rows[0].panels)
    crosses = cross_rows([p for row in rows for p in row.panels]) if how.crosses else []
    if crosses:
        note += f" ×: {how.crosses} at which runs diverged (large: all, small: some); at the "
        note += f"right, how many of {how.counted.name}."
    ends, cut_off = [], list[str]()
    with mpl.rc_context(RC):
        height = HEIGHT + len(crosses) * ROW / 72
        figure, every = rows_of_panels(len(rows), count, height, how.wide)
        for number, row in enumerate(rows):
            axes = every[number * count : (number + 1) * count]
            set_scales(axes, [how.needed(panel) for panel in row.panels], logarithmic=False)
            for panel, here in zip(row.panels, axes, strict=True):
                labels = how.draw(here, panel)
                write_title(here, panel.title, pad=7 + ROW * len(crosses))
                if crosses:
                    draw_crosses(here, panel.lines, how.across[0], crosses)
            if crosses:
                write_cross_counts(axes[-1], how.counted.lines(row.panels), crosses)
            ends.append((axes[-1], labels))
            cut_off += _cut_off(row, how, axes)
        if cut_off:
            note += f" Curves that leave their panel reach {', '.join(cut_off)}."
        write_axis_labels(figure, every, how.across[1], "", note)
        for row, here in zip(rows, every[::count], strict=True):
            here.set_ylabel("\n".join(filter(None, (row.title, row.measure))), fontsize=8)
        label_ends(figure, ends)
    return figure


def _cut_off(row: Row, how: Drawing, axes: Sequence[Axes]) -> list[str]:
    """How high a row's lines reach, and in which panel, if above its axes."""
    tops = [here.get_ylim()[1] for here in axes]
    reached = [how.highest(panel) if how.highest else 0.0 for panel in row.panels]
    above = [i for i, highest in enumerate(reached) if highest > tops[i]]
    if not above:
        return []
    most = max(above, key=reached.__getitem__)
    where = ", ".join(filter(None, [*row.title.split("\n"), row.panels[most].title]))
    where = where.replace(" × ", "\u00a0×\u00a0")  # a size stays on one line of the note
    return [f"{number_text(reached[most], '.2g')} ({where})"]


def highest_centre(panel: Panel) -> float:
    """The highest point of any line of a panel."""
    centres = pl.concat([line.rows.select("centre") for line in panel.lines])["centre"]
    return float(centres.filter(centres.is_finite()).to_numpy().max(initial=0))


def only(results: Results, *wanted: pl.Expr) -> Results:
    """The results of some runs only."""
    return Results(results.runs.filter(*wanted), results.score)


def seeds_with(runs: pl.DataFrame, level: float, shown: str = "bands") -> str:
    """How many seeds runs have, and the level of their intervals, which are shown by `shown`."""
    if runs["seed"].n_unique() == 1:
        return "One seed, no interval"
    return f"Mean of {seeds_told(runs)}; {shown}: {level * 100:g} % intervals (Student)"


ABOVE = 1.25
"""The axis ends at so many times the largest error that a method has with its smallest step size,
with which little is learned: worse errors need not be told apart."""


def draw_search(
    rows: Sequence[tuple[str, Mapping[str, Results]]],
    level: float,
    note: str,
    *,
    counted: Counted = WHOLE_ROW,
    wide: float | None = None,
) -> Figure:
    """The score of every step size, with rings around the chosen ones.

    Parameters
    ----------
    rows
        Titles of rows, and their panels: results of one task each, by the title of the panel.
    level
        The level of intervals.
    note
        What is said about the search at the end of the note.
    counted
        The lines of a row whose diverged runs are counted at its right.
    wide
        The width of the figure in inches (default: by the number of panels).
    """
    drawn, rings, sizes = [], [], []
    first = next(iter(rows[0][1].values()))
    score = first.score
    for title, row in rows:
        made = []
        for name, given in row.items():
            label = pl.lit(f"{title}, {name}").alias("task")  # rings are found by it
            results = Results(given.runs.with_columns(label), given.score)
            found = results.step_sizes(level)
            [panel] = panels(results.runs, found)
            made.append(panel._replace(title=name))
            on = [*ALGORITHM, *STEP_SIZE]
            rings.append(found.join(results.chosen, on=on, how="semi", maintain_order="left"))
            sizes.append(found)
        drawn.append(Row(title, "mean squared error", made))
    every, chosen = pl.concat(sizes), pl.concat(rings)

    def draw(axes: Axes, panel: Panel) -> list[Label]:
        set_step_size_axis(axes, every)
        return draw_step_sizes(axes, panel, chosen, score)

    how = Drawing(
        ("step_size", "step size α"),
        partial(_needed, score=score),
        draw,
        crosses="step sizes",
        counted=counted,
        wide=wide,
    )
    seeds = seeds_with(first.tried, level)
    told = f"The search. {seeds}. Rings: the chosen step sizes, reported on other seeds. {note} "
    told += "Much larger errors leave the panels."
    return draw_rows(drawn, how, told)


def _needed(panel: Panel, score: Score) -> Vector:
    """From 0 to a little more than the largest error with a smallest step size."""
    told = []
    for line in panel.lines:
        errors = drawable(line.rows, score).sort("step_size")["centre"].to_numpy()
        told += [errors[0]] if errors.size else []
    return np.array([0.0, ABOVE * max(told, default=1.0)])
