"""Step-size sensitivity: the score against the step size, and where runs diverged."""

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.report.figures.divergence_marks import (
    ROW,
    cross_rows,
    crosses_note,
    draw_crosses,
    write_cross_counts,
)
from preftd._src.report.figures.end_labels import Label, label_ends
from preftd._src.report.figures.layout import (
    LEVEL,
    MEANS,
    ceiling_note,
    fit_scales,
    grid,
    seeds_note,
    write_axis_labels,
)
from preftd._src.report.figures.lines import axis_values, draw_line, drawable, height_of
from preftd._src.report.figures.panels import Line, Panel, panels
from preftd._src.report.figures.shown import attach
from preftd._src.report.figures.ticks import mark_step_sizes
from preftd._src.report.figures.titles import write_title
from preftd._src.style import RC

HIGH = 2.0
"""The axis ends at this multiple of the largest score with the smallest step size: worse scores
would flatten the other lines."""


def step_sizes(results: Results) -> Figure:
    """Draw a panel per task; a line and a band per algorithm, a ring around the chosen step size.

    A cross above the panel marks a step size with diverged runs; it is small if not all diverged.
    """
    found, rings = step_size_scores(results)
    drawn = panels(_by_kind(results.runs), found)
    with mpl.rc_context(RC):
        crosses = cross_rows(drawn)
        figure, every = grid([panel.title for panel in drawn], 2.1 + len(crosses) * ROW / 72)
        fit_scales(every, [panel_values(panel, results.score) for panel in drawn])
        ends = []
        for axes, panel in zip(every, drawn, strict=True):
            set_step_size_axis(axes, found)
            ends.append((axes, draw_step_sizes(axes, panel, rings, results.score)))
            draw_crosses(axes, panel.lines, "step_size", crosses)
            write_cross_counts(axes, panel.lines, crosses)
            write_title(axes, panel.title, pad=7 + ROW * len(crosses))
        note = f"{seeds_note(found, 'bands')}. Rings: the chosen step sizes."
        note += ceiling_note(results.score, MEANS)
        if crosses:
            note += crosses_note("step sizes")
        up = f"{results.score.name},\n{results.score.span}"
        write_axis_labels(figure, every, "step size α", up, note)
        label_ends(figure, ends)
    return figure


def step_size_scores(results: Results) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return scores of all step sizes, and the rows of the chosen ones."""
    tried = results.step_sizes(LEVEL).filter(pl.col("step_size").is_not_null())
    found = _by_kind(tried)
    on = [*ALGORITHM, *STEP_SIZE]
    return found, found.join(
        _by_kind(results.chosen), on=on, how="semi", nulls_equal=True, maintain_order="left"
    )


def set_step_size_axis(axes: Axes, found: pl.DataFrame) -> None:
    """Set a horizontal logarithmic axis that includes all step sizes of `found`."""
    sizes = found["step_size"].to_numpy()
    axes.set(xscale="log", xlim=(sizes.min() / 1.2, sizes.max() * 1.2))
    mark_step_sizes(axes, sizes)


def draw_step_sizes(axes: Axes, panel: Panel, rings: pl.DataFrame, score: Score) -> list[Label]:
    """Draw the lines of a panel, with rings around chosen step sizes.

    Parameters
    ----------
    axes : Axes
    panel : Panel
    rings : DataFrame
        Rows of the chosen step sizes, from `step_size_scores`.
    score : Score

    Returns
    -------
    list of Label
        Labels to be written at the right of the panel.

    """
    labels = []
    for line in panel.lines:
        rows = drawable(line.rows, score)
        draw_line(axes, line, "step_size", rows, marked=True)
        _ring(axes, line, rings)
        # Lines may leave the panel: a label is at the height of the best point of its line.
        centres = rows["centre"].to_numpy()
        extreme = np.max if score.measure.maximise else np.min
        best = height_of(axes, float(extreme(centres))) if rows.height else np.nan
        labels.append(Label(line.label, line.look, best, reaches=False, marked=True))
    return labels


def _by_kind(frame: pl.DataFrame) -> pl.DataFrame:
    """Separate constant from decreasing step sizes, and those of pairs by that of the actor.

    Where there is more than one kind, it is a part of the learner's name.
    """
    kind = frame["schedule"].str.replace(r"initial=[^,)]*(, )?", "")
    kind = kind.str.replace(r"StepSizePair\(actor=([^,)]*).*", "actor ${1}")
    if kind.n_unique() <= 1:
        return frame
    parts = frame.select("learner", kind.alias("kind"))
    named = [", ".join(filter(None, row)) for row in parts.rows()]
    return frame.with_columns(pl.Series("learner", named))


def panel_values(panel: Panel, score: Score) -> Vector:
    """Return the values that the axis must include."""
    rows = drawable(pl.concat([line.rows for line in panel.lines]), score)
    if not rows.height or score.measure.maximise:
        return axis_values(rows)
    first = rows.filter(pl.col("step_size") == pl.col("step_size").min())["centre"].to_numpy()
    return axis_values(rows.filter(pl.col("centre") <= HIGH * first.max()))


def _ring(axes: Axes, line: Line, rings: pl.DataFrame) -> None:
    on = [*ALGORITHM, *STEP_SIZE]
    chosen = line.rows.join(rings, on=on, how="semi").select("step_size", "centre")
    for step_size, centre in chosen.rows():
        ring = axes.plot(
            step_size,
            centre,
            marker="o",
            markersize=7,
            markerfacecolor="none",
            markeredgecolor=line.look.colour,
            markeredgewidth=1,
        )
        attach(ring, line.label)
