"""Figures of searches (A.3, A.6, A.7, A.9 to A.12): the score of every step size that was tried."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd.experiments.score import Score
from preftd.paper.panel_rows import WHOLE_ROW, Counted, Drawing, Row, draw_rows, seeds_with
from preftd.report.figures.labels import Label
from preftd.report.figures.lines import sound
from preftd.report.figures.panels import Panel, panels
from preftd.report.figures.step_sizes import draw_step_sizes, fit_across

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
    score = next(iter(rows[0][1].values())).score
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
        fit_across(axes, every)
        return draw_step_sizes(axes, panel, chosen, score)

    how = Drawing(
        ("step_size", "step size α"),
        partial(_needed, score=score),
        draw,
        crosses="step sizes",
        counted=counted,
        wide=wide,
    )
    seeds = seeds_with(every, level)
    told = f"The search. {seeds}. Rings: the chosen step sizes, reported on other seeds. {note}"
    return draw_rows(drawn, how, told)


def _needed(panel: Panel, score: Score) -> Vector:
    """From 0 to a little more than the largest error with a smallest step size."""
    told = []
    for line in panel.lines:
        errors = sound(line.rows, score).sort("step_size")["centre"].to_numpy()
        told += [errors[0]] if errors.size else []
    return np.array([0.0, ABOVE * max(told, default=1.0)])
