"""Bar charts: the score of every algorithm with its chosen step size."""

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.experiments.results import Results
from preftd._src.report.figures.end_labels import SIZE
from preftd._src.report.figures.layout import (
    LEVEL,
    SHARE,
    grid,
    grow,
    outer_axes,
    study_note,
    write_note,
)
from preftd._src.report.figures.lines import drawable
from preftd._src.report.figures.panels import Line, Panel, panels, with_diverged
from preftd._src.report.figures.shown import Shown, attach, method_of, step_sizes_of
from preftd._src.report.figures.titles import fit_titles, write_title
from preftd._src.style import RC, TYPED, Band, lay_out, number_text

THICK = 0.7
"""The thickness of a bar, as a share of its row."""
ROW, AROUND, BELOW = 0.17, 0.52, 0.28
"""Heights in inches: of a bar, of a title with the numbers of an axis, and of the axis label."""


def bars(results: Results) -> Figure:
    """Draw a panel per task; a bar per algorithm with its interval, and both as numbers.

    Panels share an axis if the longest bar of each covers at least SHARE of it. If runs diverged
    and the score has no ceiling, their number replaces the mean.
    """
    found = with_diverged(results, results.bars(LEVEL))
    drawn = panels(results.runs, found)
    most = max(len(panel.lines) for panel in drawn)
    with mpl.rc_context(RC):
        figure, every = grid([panel.title for panel in drawn], AROUND + ROW * most)
        grow(figure, BELOW * _rows(outer_axes(every)[1]))
        for axes, panel in zip(every, drawn, strict=True):
            write_title(axes, panel.title)
            for row, line in enumerate(panel.lines):
                _draw_bar(axes, row, line, results)
        _fit(every, drawn, results)
        for axes in outer_axes(every)[1]:
            axes.set_xlabel(f"{results.score.name},\n{results.score.span}", fontsize=8)
        write_note(figure, study_note(results, found, "±"))
        lay_out(figure)
        fit_titles(figure, every)
    return figure


def _rows(every: list[Axes]) -> int:
    """The number of rows that these panels are in."""
    specs = [axes.get_subplotspec() for axes in every]
    return len({spec.rowspan.start for spec in specs if spec})


def _draw_bar(axes: Axes, row: int, line: Line, results: Results) -> None:
    look, fine = line.look, drawable(line.rows, results.score)
    drawn: list[Artist] = []
    if fine.height:
        centre, low, high = fine.select("centre", "low", "high").row(0)
        drawn += axes.barh(
            row,
            centre,
            THICK,
            facecolor="white" if look.hatch else look.colour,
            edgecolor=look.colour,
            hatch=look.hatch,
        )
        if np.isfinite(low):
            # White around black is visible on any bar.
            for colour, width in (("white", 3.0), ("#000000", 1.0)):
                drawn += axes.plot([low, high], [row, row], color=colour, linewidth=width)
        numbers = Band(*np.array([[row], [centre], [low], [high]], dtype=np.float64))
        method = method_of(line.rows["rule"][0])
        shown = Shown(line.label, method, numbers, "", step_sizes_of(fine), sideways=True)
        attach(drawn, shown)
    text = axes.text(
        1.03,
        row,
        _numbers(line, fine),
        fontsize=SIZE,
        va="center",
        transform=axes.get_yaxis_transform(),
    )
    attach([text], line.label)


def _numbers(line: Line, fine: pl.DataFrame) -> str:
    if line.rows["centre"].null_count():
        return "diverged"
    count, seeds = line.rows.select("diverged", "seeds").row(0)
    diverged = f"{count} of {seeds} diverged" if count else ""
    if not fine.height:
        return diverged
    centre, high = fine.select("centre", "high").row(0)
    number = number_text(centre)
    if np.isfinite(high):
        number += f" ± {number_text(high - centre, '.2g')}"
    return f"{number}, {diverged}" if diverged else number


def _fit(every: list[Axes], drawn: list[Panel], results: Results) -> None:
    """Set scales that start or end at 0, shared if possible, and write names on the left."""
    ends = np.array([_ends(panel, results) for panel in drawn])
    sizes = ends[:, 1] - ends[:, 0]
    if sizes.min() >= SHARE * sizes.max():
        ends[:] = ends[:, 0].min(), ends[:, 1].max()
    left, names = outer_axes(every)[0], [line.label for line in drawn[0].lines]
    for axes, panel, (low, high) in zip(every, drawn, 1.03 * ends, strict=True):
        own = [line.label for line in panel.lines]
        axes.set(xlim=(low, high), ylim=(len(own) - 0.5, -0.5))
        shown = own if axes in left or own != names else [""] * len(own)
        axes.set_yticks(range(len(own)), shown, fontsize=SIZE, **TYPED)
        axes.tick_params(axis="y", length=0)


def _ends(panel: Panel, results: Results) -> tuple[float, float]:
    """The least and the largest value to show; very long intervals may leave the panel."""
    rows = drawable(pl.concat([line.rows for line in panel.lines]), results.score)
    if not rows.height:
        return 0.0, 1.0
    centre, low, high = (rows[name].to_numpy() for name in ("centre", "low", "high"))
    left = min(0.0, max(low.min(), 1.5 * min(centre.min(), 0.0)))
    right = max(0.0, min(high.max(), 1.5 * max(centre.max(), 0.0)))
    return (left, right) if left < right else (0.0, 1.0)
