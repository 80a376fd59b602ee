"""How panels are arranged, their scales, and what is written around them."""

from collections.abc import Sequence
from textwrap import wrap

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import Results
from preftd.experiments.score import Score

LEVEL = 0.95
"""Of all intervals that are drawn."""
INCHES = {1: 3.3, 2: 6.8, 3: 7.2}
"""Width of a figure by columns of panels: a column of a page for one, a whole page for more."""
WIDE = 30.0
"""From least to largest: what is wider is drawn on a logarithmic axis."""
SHARE = 0.25
"""Panels share a linear axis if each of them uses at least so much of it."""
MEANS = "Means over episodes"
"""What a score with a ceiling cuts off, where a run has one score."""
PAD = 0.05
LETTERS = 19
"""Of a note, to the inch."""
TITLE, NOTE = 0.15, 0.11
"""Heights of a line of a title and of a note, in inches."""


def grid(titles: Sequence[str], height: float) -> tuple[Figure, list[Axes]]:
    """A figure with panels of these titles, each of a height in inches with a title of one line.

    Titles are not written yet, but there is room for all of their lines. There are two panels
    beside each other, so that each is as wide as a column of a page; three from the seventh on.
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
    """A figure with so many rows of so many panels, each of a height in inches."""
    width = wide or INCHES.get(across, max(INCHES.values()))
    figure = Figure(figsize=(width, height * down + 0.3), layout="constrained")
    every = figure.subplots(down, across, squeeze=False).ravel().tolist()
    for axes in every:
        axes.tick_params(labelsize=7.5)
    return figure, every


def outer(axes: Sequence[Axes]) -> tuple[list[Axes], list[Axes]]:
    """Those on the left, and those with none below them."""
    first = axes[0].get_subplotspec()
    across = first.get_gridspec().ncols if first else 1
    return list(axes[::across]), list(axes[-across:])


def fit(axes: Sequence[Axes], values: Sequence[Vector]) -> None:
    """Set the vertical scales, so that each panel shows its values.

    If they span more than a factor of WIDE, all are logarithmic, and the same; otherwise linear.
    """
    every = np.concatenate([some[np.isfinite(some)] for some in values])
    wide = bool(every.size and every.min() > 0 and every.max() > WIDE * every.min())
    set_scales(axes, values, logarithmic=wide)


def set_scales(axes: Sequence[Axes], values: Sequence[Vector], *, logarithmic: bool) -> None:
    """Set vertical scales of one kind.

    Linear ones are the same if no panel becomes smaller than SHARE of the axis, and start at 0
    unless that would leave more than half of it empty.
    """
    filled = [some[np.isfinite(some)] for some in values]
    every = np.concatenate(filled)
    if not every.size:
        return
    ranges = [_range(some if some.size else every, logarithmic) for some in filled]
    common = _range(every, logarithmic)
    parts = [(high - low) / (common[1] - common[0]) for low, high in ranges]
    shared = logarithmic or min(parts) >= SHARE
    left, _ = outer(axes)
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


def around(figure: Figure, axes: Sequence[Axes], across: str, up: str, note: str) -> None:
    """Names of axes where they are needed, and a note below."""
    left, bottom = outer(axes)
    for one in bottom:
        one.set_xlabel(across, fontsize=8)
    for one in left:
        one.set_ylabel(up, fontsize=8)
    write_note(figure, note)


def write_note(figure: Figure, note: str) -> None:
    """Below a figure, in lines that are no wider than it; it grows by those after the first."""
    across = int(LETTERS * figure.get_size_inches()[0])
    lines = [line for part in note.split("\n") for line in wrap(part, across)]
    grow(figure, (len(lines) - 1) * NOTE)
    figure.supxlabel("\n".join(lines), fontsize=6.5, color="#444444", x=0.01, ha="left")


def grow(figure: Figure, inches: float) -> None:
    """Make a figure higher."""
    wide, high = figure.get_size_inches()
    figure.set_size_inches(wide, high + inches)


def seeds_shown(found: pl.DataFrame, shown: str) -> str:
    """How many seeds there are, and what shows their interval."""
    counts = found["seeds"].drop_nulls()
    if counts.max() == 1:
        return "One seed, no interval"
    return f"Mean of {_counted(counts)} seeds; {shown}: {LEVEL * 100:g} % intervals (Student)"


def choice(results: Results) -> str:
    """What chose the step sizes."""
    if results.given:
        return "Step sizes given."
    if "search" not in results.runs["stage"]:
        return "Step sizes chosen on the same seeds."
    return f"Step sizes chosen on {_counted(results.chosen['seeds'])} other seeds."


def ceiling(score: Score, what: str) -> str:
    """What runs, or episodes of them, count at most, as a sentence after others."""
    return "" if score.ceiling is None else f" {what} count as {score.ceiling:g} at most."


def _counted(counts: pl.Series) -> str:
    """How many there are, or from how few to how many."""
    few, *_, many = sorted([counts[0], *counts])
    return f"{many}" if few == many else f"{few} to {many}"
