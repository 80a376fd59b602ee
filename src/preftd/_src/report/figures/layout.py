"""The arrangement of panels, their scales, and the texts around them."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results

LEVEL = 0.95
"""The level of all intervals in figures."""
INCHES = {1: 3.3, 2: 6.8, 3: 7.2}
"""Width of a figure by its columns of panels: one page column for one, a full page for more."""
WIDE = 30.0
"""The ratio of the largest value to the smallest above which an axis is logarithmic."""
SHARE = 0.25
"""Panels share a linear axis if each of them uses at least this share of it."""
MEANS = "Means over episodes"
"""What the ceiling of a score caps in figures with one score per run."""
PAD = 0.05
LETTERS = 19
"""Letters of a note per inch."""
TITLE, NOTE = 0.15, 0.11
"""Heights of a line of a title and of a note, in inches."""


def grid(titles: Sequence[str], height: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel per title: two columns, or three for seven panels and more.

    Parameters
    ----------
    titles : sequence of str
        Titles of panels, which are not written yet; the figure has space for all their lines.
    height : float
        The height of a panel with a one-line title, in inches.

    """
    count, lines = len(titles), max(1 + title.count("\n") for title in titles)
    across = 1 if count == 1 else 2 if count <= 6 else 3
    figure, every = rows_of_panels(-(-count // across), across, height + (lines - 1) * TITLE)
    for axes in every[count:]:
        axes.remove()
    return figure, every[:count]


def rows_of_panels(
    down: int, across: int, height: float, wide: float | None = None
) -> tuple[Figure, list[Axes]]:
    """Return a figure with rows and columns of panels; `height` (per row) and `wide` in inches."""
    width = wide or INCHES.get(across, max(INCHES.values()))
    figure = Figure(figsize=(width, height * down + 0.3), layout="constrained")
    every = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in every:
        axes.tick_params(labelsize=7.5)
    return figure, every


def outer_axes(axes: Sequence[Axes]) -> tuple[list[Axes], list[Axes]]:
    """Return the axes in the left column, and those with none below them."""
    first = axes[0].get_subplotspec()
    across = first.get_gridspec().ncols if first else 1
    return list(axes[::across]), list(axes[-across:])


def fit_scales(axes: Sequence[Axes], values: Sequence[Vector]) -> None:
    """Set vertical scales that include the values of each panel.

    If all values are positive and span more than a factor of WIDE, all panels share a logarithmic
    scale; otherwise scales are linear.

    Parameters
    ----------
    axes : sequence of Axes
    values : sequence of arrays of shape (n,)
        The values that each panel must include; those that are not finite are ignored.

    """
    every = np.concatenate([some[np.isfinite(some)] for some in values])
    wide = bool(every.size and every.min() > 0 and every.max() > WIDE * every.min())
    set_scales(axes, values, logarithmic=wide)


def set_scales(axes: Sequence[Axes], values: Sequence[Vector], *, logarithmic: bool) -> None:
    """Set vertical scales, all logarithmic or all linear.

    Logarithmic scales are shared. Linear scales are shared if every panel uses at least SHARE of
    the axis, and start at 0 unless more than half of the axis would be empty. See `fit_scales`.
    """
    filled = [some[np.isfinite(some)] for some in values]
    every = np.concatenate(filled)
    if not every.size:
        return
    ranges = [_range(some if some.size else every, logarithmic) for some in filled]
    common = _range(every, logarithmic)
    parts = [(high - low) / (common[1] - common[0]) for low, high in ranges]
    shared = logarithmic or min(parts) >= SHARE
    left, _ = outer_axes(axes)
    for one, own in zip(axes, ranges, strict=True):
        one.set(yscale="log" if logarithmic else "linear", ylim=common if shared else own)
        if shared and one not in left:
            one.tick_params(labelleft=False)


def _range(values: Vector, logarithmic: bool) -> tuple[float, float]:
    least, most = float(values.min()), float(values.max())
    if logarithmic:
        pad = (most / least) ** PAD
        return least / pad, most * pad
    if 0 <= least < most / 2 or least == most:
        return 0.0, most * (1 + PAD) or 1.0
    pad = PAD * (most - least)
    return least - pad, most + pad


def write_axis_labels(
    figure: Figure, axes: Sequence[Axes], across: str, up: str, note: str
) -> None:
    """Write axis labels at the outer panels, and a note below the figure."""
    left, bottom = outer_axes(axes)
    for one in bottom:
        one.set_xlabel(across, fontsize=8)
    for one in left:
        one.set_ylabel(up, fontsize=8)
    write_note(figure, note)


def write_note(figure: Figure, note: str) -> None:
    """Write a note below a figure, wrapped to its width; lines after the first make it higher."""
    across = int(LETTERS * figure.get_size_inches()[0])
    lines = [
        line for part in note.split("\n") for line in wrap(part, across, break_on_hyphens=False)
    ]
    grow(figure, (len(lines) - 1) * NOTE)
    figure.supxlabel("\n".join(lines), fontsize=6.5, color="#444444", x=0.01, ha="left")


def grow(figure: Figure, inches: float) -> None:
    """Make a figure higher, by inches."""
    wide, high = figure.get_size_inches()
    figure.set_size_inches(wide, high + inches)


def seeds_note(found: pl.DataFrame, shown: str) -> str:
    """Return a clause with the number of seeds, and what shows their interval."""
    counts = found["seeds"].drop_nulls()
    if counts.max() == 1:
        return "One seed, no interval"
    return f"Mean of {_counted(counts)} seeds; {shown}: {LEVEL * 100:g} % intervals (Student)"


def step_size_note(results: Results) -> str:
    """Return a sentence on how the step sizes were chosen."""
    if results.given:
        return "Step sizes given."
    if results.runs["step_size"].is_null().all():
        return "No step sizes."
    if "search" not in results.runs["stage"]:
        return "Step sizes chosen on the same seeds."
    return f"Step sizes chosen on {_counted(results.chosen['seeds'])} other seeds."


def ceiling_note(score: Score, what: str) -> str:
    """Return a sentence on the ceiling of a score, with a leading space; empty if there is none."""
    return "" if score.ceiling is None else f" {what} are capped at {score.ceiling:g}."


def study_note(results: Results, found: pl.DataFrame, shown: str, capped: str = MEANS) -> str:
    """Return the note of a figure: seeds, step sizes and the ceiling.

    Parameters
    ----------
    results : Results
    found : DataFrame
        What the figure shows, with a column "seeds".
    shown : str
        What shows intervals, such as "bands".
    capped : str
        What the ceiling of the score caps.

    """
    seeds, chosen = seeds_note(found, shown), step_size_note(results)
    return f"{seeds}. {chosen}{ceiling_note(results.score, capped)}"


def _counted(counts: pl.Series) -> str:
    """The number, or the smallest and the largest number."""
    few, *_, many = sorted([counts[0], *counts])
    return f"{many}" if few == many else f"{few} to {many}"
