"""The score against the width of the hidden layer, with the chosen step size of each width."""

from collections.abc import Sequence

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from preftd.arrays import InputError
from preftd.experiments.results import Results
from preftd.experiments.score import Score
from preftd.report.figures.crosses import ROW, count_crosses, draw_crosses, rows_of_crosses
from preftd.report.figures.labels import Label, label_ends
from preftd.report.figures.layout import (
    LEVEL,
    MEANS,
    around,
    ceiling,
    choice,
    fit,
    grid,
    seeds_shown,
)
from preftd.report.figures.lines import draw_line, sound, to_show
from preftd.report.figures.panels import Panel, panels, with_lost
from preftd.report.figures.titles import write_title
from preftd.style import RC


def widths(results: Results) -> Figure:
    """A panel per task; a line and a band per rule and preference.

    Crosses above a panel are networks of which runs diverged.
    """
    study = results.runs.filter(pl.col("units").is_not_null())
    if not study.height:
        raise InputError("no learner of the study is a network: draw another figure.")
    found = with_lost(results, results.widths(LEVEL)).filter(pl.col("units").is_not_null())
    drawn = panels(_families(study, study), _families(found, study))
    units = study["units"].unique().sort().to_list()
    with mpl.rc_context(RC):
        crosses = rows_of_crosses(drawn)
        figure, every = grid([panel.title for panel in drawn], 2.1 + len(crosses) * ROW / 72)
        needed = [pl.concat([line.rows for line in panel.lines]) for panel in drawn]
        fit(every, [to_show(sound(rows, results.score)) for rows in needed])
        ends = []
        for axes, panel in zip(every, drawn, strict=True):
            labels = draw_widths(axes, panel, units, results.score)
            draw_crosses(axes, panel.lines, "units", crosses)
            count_crosses(axes, panel.lines, crosses)
            write_title(axes, panel.title, pad=7 + ROW * len(crosses))
            ends.append((axes, labels))
        note = f"{seeds_shown(found, 'bands')}. {choice(results)}{ceiling(results.score, MEANS)}"
        if crosses:
            note += "\n×: widths at which runs diverged (large: all, small: some), and how many."
        up = f"{results.score.name},\n{results.score.span}"
        around(figure, every, "hidden units", up, note)
        label_ends(figure, ends)
    return figure


def draw_widths(axes: Axes, panel: Panel, units: Sequence[int], score: Score) -> list[Label]:
    """The lines of a panel; names for their ends."""
    axes.set(xscale="log", xlim=(units[0] / 1.1, units[-1] * 1.1))
    axes.set_xticks(units, [str(n) for n in units])
    axes.xaxis.set_minor_locator(NullLocator())
    labels = []
    for line in panel.lines:
        rows = sound(line.rows, score)
        end = draw_line(axes, line, "units", rows, marked=True)
        reaches = units[-1] in rows["units"]
        labels.append(Label(line.label, line.look, end, reaches, marked=True, width=line.width))
    return labels


def _families(frame: pl.DataFrame, study: pl.DataFrame) -> pl.DataFrame:
    """Learners that differ in their width only are one: called alike, less the number of units.

    If no width occurs twice, all learners are one, whatever they are called.
    """
    learners = study.select("units", "learner").unique()
    if learners["units"].is_unique().all():
        return frame.with_columns(pl.lit("").alias("learner"))
    named = [
        " ".join(word for word in learner.split() if word != str(units))
        for units, learner in frame.select("units", "learner").rows()
    ]
    return frame.with_columns(pl.Series("learner", named))
