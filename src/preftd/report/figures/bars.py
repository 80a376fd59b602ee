"""The score of every algorithm with its chosen step size."""

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.experiments.results import Results
from preftd.report.figures.labels import SIZE
from preftd.report.figures.layout import (
    LEVEL,
    MEANS,
    SHARE,
    ceiling,
    choice,
    grid,
    grow,
    outer,
    seeds_shown,
    write_note,
)
from preftd.report.figures.lines import sound
from preftd.report.figures.panels import Line, Panel, panels, with_lost
from preftd.report.figures.titles import fit_titles, write_title
from preftd.style import RC, TYPED, lay_out

THICK = 0.7
"""Of a bar, as a part of its row."""
ROW, AROUND, BELOW = 0.17, 0.52, 0.28
"""Inches: of a bar, of a title and numbers of an axis, and of what its axis is called."""


def bars(results: Results) -> Figure:
    """A panel per task; a bar per algorithm from 0, its interval, and the same in numbers.

    Panels share an axis if the longest bar of each is at least SHARE of it. Where runs diverged,
    their number is given in place of a mean that would mean nothing.
    """
    found = with_lost(results, results.bars(LEVEL))
    drawn = panels(results.runs, found)
    most = max(len(panel.lines) for panel in drawn)
    with mpl.rc_context(RC):
        figure, every = grid([panel.title for panel in drawn], AROUND + ROW * most)
        grow(figure, BELOW * _rows(outer(every)[1]))
        for axes, panel in zip(every, drawn, strict=True):
            write_title(axes, panel.title)
            for place, line in enumerate(panel.lines):
                _bar(axes, place, line, results)
        _fit(every, drawn, results)
        note = f"{seeds_shown(found, '±')}. {choice(results)}{ceiling(results.score, MEANS)}"
        for axes in outer(every)[1]:
            axes.set_xlabel(f"{results.score.name},\n{results.score.span}", fontsize=8)
        write_note(figure, note)
        lay_out(figure)
        fit_titles(figure, every)
    return figure


def _rows(every: list[Axes]) -> int:
    """How many rows of panels these are in: two, if the last row is not full."""
    places = [axes.get_subplotspec() for axes in every]
    return len({place.rowspan.start for place in places if place})


def _bar(axes: Axes, place: int, line: Line, results: Results) -> None:
    look, fine = line.look, sound(line.rows, results.score)
    if fine.height:
        centre, low, high = fine.select("centre", "low", "high").row(0)
        axes.barh(
            place,
            centre,
            THICK,
            facecolor="white" if look.hatch else look.colour,
            edgecolor=look.colour,
            hatch=look.hatch,
        )
        if np.isfinite(low):
            # Light around dark, to be seen on any bar.
            for colour, width in (("white", 3.0), ("#000000", 1.0)):
                axes.plot([low, high], [place, place], color=colour, linewidth=width)
    axes.text(
        1.03,
        place,
        _numbers(line, fine),
        fontsize=SIZE,
        va="center",
        transform=axes.get_yaxis_transform(),
    )


def _numbers(line: Line, fine: pl.DataFrame) -> str:
    if line.rows["centre"].null_count():
        return "diverged"
    lost, seeds = line.rows.select("diverged", "seeds").row(0)
    diverged = f"{lost} of {seeds} diverged" if lost else ""
    if not fine.height:
        return diverged
    centre, high = fine.select("centre", "high").row(0)
    number = f"{centre:.3g}" + (f" ± {high - centre:.2g}" if np.isfinite(high) else "")
    return f"{number}, {diverged}" if diverged else number


def _fit(every: list[Axes], drawn: list[Panel], results: Results) -> None:
    """Scales that begin or end at 0, shared or not, and names on the left."""
    ends = np.array([_ends(panel, results) for panel in drawn])
    sizes = ends[:, 1] - ends[:, 0]
    if sizes.min() >= SHARE * sizes.max():
        ends[:] = ends[:, 0].min(), ends[:, 1].max()
    left, names = outer(every)[0], [line.label for line in drawn[0].lines]
    for axes, panel, (low, high) in zip(every, drawn, 1.03 * ends, strict=True):
        own = [line.label for line in panel.lines]
        axes.set(xlim=(low, high), ylim=(len(own) - 0.5, -0.5))
        told = own if axes in left or own != names else [""] * len(own)
        axes.set_yticks(range(len(own)), told, fontsize=SIZE, **TYPED)
        axes.tick_params(axis="y", length=0)


def _ends(panel: Panel, results: Results) -> tuple[float, float]:
    """Where bars and intervals end on either side; a very long interval may leave the panel."""
    rows = sound(pl.concat([line.rows for line in panel.lines]), results.score)
    if not rows.height:
        return 0.0, 1.0
    centre, low, high = (rows[name].to_numpy() for name in ("centre", "low", "high"))
    left = min(0.0, max(low.min(), 1.5 * min(centre.min(), 0.0)))
    right = max(0.0, min(high.max(), 1.5 * max(centre.max(), 0.0)))
    return (left, right) if left < right else (0.0, 1.0)
