"""The searches for step sizes on the grids (figures A.6, A.7, A.9 to A.12)."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd.experiments.score import Score
from preftd.report.figures.labels import Label
from preftd.report.figures.lines import sound
from preftd.report.figures.panels import Panel, panels
from preftd.report.figures.step_sizes import draw_step_sizes, fit_across
from preftd.report.paper.figures.grid_rows import Drawing, Row, draw_rows, seeds_with

ABOVE = 1.25
"""Times the error that a method has with its smallest step size, with which little is learned, or
with its best: what is worse need not be told apart."""


def draw_search(
    rows: Sequence[tuple[str, Mapping[str, Results]]], level: float, note: str
) -> Figure:
    """The score of every step size, and rings around the chosen ones; a panel for each results."""
    drawn, rings, sizes = [], [], []
    score = next(iter(rows[0][1].values())).score
    for title, row in rows:
        made = []
        for name, given in row.items():
            place = pl.lit(f"{title}, {name}").alias("task")  # rings are found by it
            results = Results(given.runs.with_columns(place), given.score)
            found = results.step_sizes(level)
            [panel] = panels(results.runs, found)
            made.append(panel._replace(title=name))
            on = [*ALGORITHM, *STEP_SIZE]
            rings.append(found.join(results.chosen, on=on, how="semi", maintain_order="left"))
            sizes.append(found)
        drawn.append(Row(f"{title}\nmean squared error", made))
    every, chosen = pl.concat(sizes), pl.concat(rings)

    def draw(axes: Axes, panel: Panel) -> list[Label]:
        fit_across(axes, every)
        return draw_step_sizes(axes, panel, chosen, score)

    told = (
        f"The search. {seeds_with(every, level)}. Rings: the chosen step sizes, reported on other "
        f"seeds. {note}"
    )
    across = ("step_size", "step size α")
    needed = partial(_needed, score=score)
    how = Drawing(across, needed, draw, crosses="step sizes at which runs diverged")
    return draw_rows(drawn, how, told)


def _needed(panel: Panel, score: Score) -> Vector:
    """From 0 to a little more than the smallest step size of any method leaves, and its best."""
    told = []
    for line in panel.lines:
        errors = sound(line.rows, score).sort("step_size")["centre"].to_numpy()
        told += [errors[0], errors.min()] if errors.size else []
    return np.array([0.0, ABOVE * max(told, default=1.0)])
