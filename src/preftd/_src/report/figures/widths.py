"""The score against the width of the hidden layer, each with its chosen step size."""

from collections.abc import Sequence

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from preftd._src.arrays import InputError
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
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
    fit_scales,
    grid,
    study_note,
    write_axis_labels,
)
from preftd._src.report.figures.lines import axis_values, draw_line, drawable
from preftd._src.report.figures.panels import Panel, panels, with_diverged
from preftd._src.report.figures.titles import write_title
from preftd._src.style import RC


def widths(results: Results) -> Figure:
    """Draw a panel per task; a line and a band per rule and preference.

    A cross above the panel marks a width with diverged runs; it is small if not all diverged.
    """
    study = results.runs.filter(pl.col("units").is_not_null())
    if not study.height:
        raise InputError("no learner of the study is a network: draw another figure.")
    found = with_diverged(results, results.widths(LEVEL)).filter(pl.col("units").is_not_null())
    drawn = panels(_families(study, study), _families(found, study))
    units = study["units"].unique().sort().to_list()
    with mpl.rc_context(RC):
        crosses = cross_rows(drawn)
        figure, every = grid([panel.title for panel in drawn], 2.1 + len(crosses) * ROW / 72)
        needed = [pl.concat([line.rows for line in panel.lines]) for panel in drawn]
        fit_scales(every, [axis_values(drawable(rows, results.score)) for rows in needed])
        ends = []
        for axes, panel in zip(every, drawn, strict=True):
            labels = draw_widths(axes, panel, units, results.score)
            draw_crosses(axes, panel.lines, "units", crosses)
            write_cross_counts(axes, panel.lines, crosses)
            write_title(axes, panel.title, pad=7 + ROW * len(crosses))
            ends.append((axes, labels))
        note = study_note(results, found, "bands")
        if crosses:
            note += crosses_note("widths")
        up = f"{results.score.name},\n{results.score.span}"
        write_axis_labels(figure, every, "hidden units", up, note)
        label_ends(figure, ends)
    return figure


def draw_widths(axes: Axes, panel: Panel, units: Sequence[int], score: Score) -> list[Label]:
    """Draw the lines of a panel, with a tick per number of units; return labels for their ends."""
    axes.set(xscale="log", xlim=(units[0] / 1.1, units[-1] * 1.1))
    axes.set_xticks(units, [str(n) for n in units])
    axes.xaxis.set_minor_locator(NullLocator())
    labels = []
    for line in panel.lines:
        rows = drawable(line.rows, score)
        end = draw_line(axes, line, "units", rows, marked=True)
        reaches = units[-1] in rows["units"]
        labels.append(Label(line.label, line.look, end, reaches, marked=True, width=line.width))
    return labels


def _families(frame: pl.DataFrame, study: pl.DataFrame) -> pl.DataFrame:
    """Give learners that differ only in width the same name: theirs without the number of units.

    If every width occurs once, all learners get the same name.
    """
    learners = study.select("units", "learner").unique()
    if learners["units"].is_unique().all():
        return frame.with_columns(pl.lit("").alias("learner"))
    named = [
        " ".join(word for word in learner.split() if word != str(units))
        for units, learner in frame.select("units", "learner").rows()
    ]
    return frame.with_columns(pl.Series("learner", named))
