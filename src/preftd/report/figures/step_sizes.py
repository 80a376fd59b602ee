"""Sensitivity: the score against the step size, and where runs diverged."""

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd.experiments.score import Score
from preftd.report.figures.crosses import ROW, count_crosses, draw_crosses, rows_of_crosses
from preftd.report.figures.labels import Label, label_ends
from preftd.report.figures.layout import LEVEL, MEANS, around, ceiling, fit, grid, seeds_shown
from preftd.report.figures.lines import draw_line, height_of, sound, to_show
from preftd.report.figures.panels import Line, Panel, panels
from preftd.report.figures.ticks import mark_step_sizes
from preftd.report.figures.titles import write_title
from preftd.style import RC

HIGH = 2.0
"""Above so many times where lines begin the axis ends: step sizes at which a method is worse than
before it learned need not be read off, and would flatten the others."""
CROSSES = "×: step sizes at which runs diverged (large: all, small: some)"


def step_sizes(results: Results) -> Figure:
    """A panel per task; a line and a band per algorithm, a ring around the chosen step size.

    Step sizes at which runs diverged have a cross above the panel, a small one if not all runs did.
    """
    found, rings = found_step_sizes(results)
    drawn = panels(_by_kind(results.runs), found)
    with mpl.rc_context(RC):
        crosses = rows_of_crosses(drawn)
        figure, every = grid([panel.title for panel in drawn], 2.1 + len(crosses) * ROW / 72)
        fit(every, [reached(panel, results.score) for panel in drawn])
        ends = []
        for axes, panel in zip(every, drawn, strict=True):
            fit_across(axes, found)
            ends.append((axes, draw_step_sizes(axes, panel, rings, results.score)))
            draw_crosses(axes, panel.lines, "step_size", crosses)
            count_crosses(axes, panel.lines, crosses)
            write_title(axes, panel.title, pad=7 + ROW * len(crosses))
        note = f"{seeds_shown(found, 'bands')}. Rings: the chosen step sizes."
        note += ceiling(results.score, MEANS)
        if crosses:
            note += f"\n{CROSSES}, and how many."
        around(figure, every, "step size α", f"{results.score.name},\n{results.score.span}", note)
        label_ends(figure, ends)
    return figure


def found_step_sizes(results: Results) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Scores of every step size tried, and those of them that were chosen."""
    tried = results.step_sizes(LEVEL).filter(pl.col("step_size").is_not_null())
    found = _by_kind(tried)
    on = [*ALGORITHM, *STEP_SIZE]
    return found, found.join(
        _by_kind(results.chosen), on=on, how="semi", nulls_equal=True, maintain_order="left"
    )


def fit_across(axes: Axes, found: pl.DataFrame) -> None:
    """A logarithmic axis for all step sizes."""
    sizes = found["step_size"].to_numpy()
    axes.set(xscale="log", xlim=(sizes.min() / 1.2, sizes.max() * 1.2))
    mark_step_sizes(axes, sizes)


def draw_step_sizes(axes: Axes, panel: Panel, rings: pl.DataFrame, score: Score) -> list[Label]:
    """The lines of a panel, with rings; names beside them."""
    labels = []
    for line in panel.lines:
        rows = sound(line.rows, score)
        draw_line(axes, line, "step_size", rows, marked=True)
        _ring(axes, line, rings)
        # Lines leave the panel here and there: a name is as high as the best of its line.
        centres = rows["centre"].to_numpy()
        extreme = np.max if score.measure.maximise else np.min
        best = height_of(axes, float(extreme(centres))) if rows.height else np.nan
        labels.append(Label(line.label, line.look, best, reaches=False, marked=True))
    return labels


def _by_kind(frame: pl.DataFrame) -> pl.DataFrame:
    """Constant and decreasing step sizes make lines of their own, if there are both."""
    kind = frame["schedule"].str.replace(r"initial=[^,)]*(, )?", "")
    if kind.n_unique() <= 1:
        return frame
    parts = frame.select("learner", kind.alias("kind"))
    named = [", ".join(filter(None, row)) for row in parts.rows()]
    return frame.with_columns(pl.Series("learner", named))


def reached(panel: Panel, score: Score) -> Vector:
    """Values that the axis must reach."""
    rows = sound(pl.concat([line.rows for line in panel.lines]), score)
    if not rows.height or score.measure.maximise:
        return to_show(rows)
    first = rows.filter(pl.col("step_size") == pl.col("step_size").min())["centre"].to_numpy()
    return to_show(rows.filter(pl.col("centre") <= HIGH * first.max()))


def _ring(axes: Axes, line: Line, rings: pl.DataFrame) -> None:
    on = [*ALGORITHM, *STEP_SIZE]
    chosen = line.rows.join(rings, on=on, how="semi").select("step_size", "centre")
    for step_size, centre in chosen.rows():
        axes.plot(
            step_size,
            centre,
            marker="o",
            markersize=7,
            markerfacecolor="none",
            markeredgecolor=line.look.colour,
            markeredgewidth=1,
        )
