"""The figure of errors over episodes: learned preferences beside all other methods."""

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from preftd._src.experiments.statistics import summarise
from preftd._src.paper.figures import PaperFigure, seeds_with
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.figures import LOOK
from preftd._src.paper.learned.studies import BY_PTD, BY_TD, GROUPS, LEARNED
from preftd._src.paper.study import Found
from preftd._src.report.figures.end_labels import Label, label_ends
from preftd._src.report.figures.layout import LEVEL, rows_of_panels, write_axis_labels
from preftd._src.report.figures.lines import Line, draw_line
from preftd._src.style import RC, WIDTH

SHOWN = (
    "corridor 25",
    "double corridor 15, jitter 0.1",
    "corridor 25, aliased",
    "cross grid 8",
    "random walk 19, failing sensor",
    "geometric corridor 10, aliased",
)
"""Cases with a panel, in rows of three."""
HEIGHT, WIDE = 1.9, 7.2
LARGEST = 1e3
"""Errors above this many times the smallest are not shown."""
NOTE = (
    "{seeds}. Each method has the step size that was best on 8 other seeds. Of bounded and other "
    "steps the better is shown, for learned preferences the one that was better on those seeds. "
    "TD(λ): λ = 1 − β of the oracle. Points are means over a tenth of the episodes."
)


def _draw(found: Found) -> Figure:
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(2, 3, HEIGHT, WIDE)
        labelled = []
        for axes, name in zip(every, SHOWN, strict=True):
            labels = _draw_case(axes, found, name)
            axes.set_title(name, loc="left", fontsize=7)
            labelled.append((axes, labels))
        runs = found[BY_PTD["corridors"]].reported
        note = NOTE.format(seeds=seeds_with(runs, LEVEL))
        write_axis_labels(figure, every, "episode", "mean squared error", note)
        label_ends(figure, [labelled[2], labelled[5]])
    return figure


def _draw_case(axes: Axes, found: Found, name: str) -> list[Label]:
    """The errors of all methods on a case; returns names of lines."""
    group = CASES[name].group
    kept, labels, lines = GROUPS[group].kept, [], []
    for method, look in LOOK.items():
        results = next(
            found[study]
            for study in (BY_PTD[group], BY_TD[group])
            if method in set(found[study].runs["preference"])
        )
        runs = results.reported.filter(task=name, preference=method)
        searched = results.chosen.filter(task=name, preference=method)
        learner = _best_learner(searched if method == LEARNED else runs)
        runs = runs.filter(learner=learner)
        numbers = pl.int_ranges(0, pl.col("error").list.len())
        long = runs.select("seed", "diverged", "error", numbers.alias("episode")).explode(
            "error", "episode", empty_as_null=False
        )
        long = long.with_columns((pl.col("episode") + 0.5) * kept).rename({"error": "score"})
        lines.append(Line(method, look, summarise(long, ["episode"], level=LEVEL), WIDTH))
    least = min(float(line.rows["centre"].min()) for line in lines)  # type: ignore[arg-type]
    most = max(float(line.rows["centre"].max()) for line in lines)  # type: ignore[arg-type]
    axes.set(yscale="log", ylim=(least / 1.3, min(most * 1.3, LARGEST * least)))
    axes.set_xlim(0, GROUPS[group].episodes)
    axes.yaxis.set_minor_formatter(NullFormatter())
    for line in lines:
        end = draw_line(axes, line, "episode", line.rows, marked=False)
        labels.append(Label(line.label, line.look, end))
    return labels


def _best_learner(runs: pl.DataFrame) -> str:
    """The learner with the least mean error."""
    means = runs.group_by("learner").agg(pl.col("score").mean()).sort("score", "learner")
    return str(means["learner"][0])


FIGURES = (PaperFigure("learned_curves", (*BY_PTD.values(), *BY_TD.values()), _draw),)
