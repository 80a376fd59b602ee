"""The arrangement of panels, their scales and ticks, and the texts around them."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from textwrap import wrap
from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import Formatter, Locator, NullLocator

from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.style import (
    LABEL_SIZE,
    NOTE_SIZE,
    PAGE,
    POINTS,
    RAISED,
    TEXT,
    TICK_SIZE,
    TYPED,
    number_text,
)

LEVEL = 0.95
"""The level of all intervals in figures."""
INCHES = {1: 3.3, 2: 6.8, 3: PAGE}
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
TITLE_GAP = 6.0
"""The gap between a title and the next panel, in points."""
TITLE_MARK = "title of a panel"
"""The label of title artists, by which they are found again."""
LETTER = 0.6
"""The width of a letter, as a share of the font size."""
TICK_GAP = 5.0
"""The gap between labels of ticks, in points."""
POWER = 18.0
"""The width of the label of a power of ten, in points."""


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
        axes.tick_params(labelsize=TICK_SIZE)
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
    set_scales(axes, values, logarithmic=is_wide(every))


def is_wide(values: Vector) -> bool:
    """Return whether finite values are positive and span more than a factor of WIDE."""
    return bool(values.size and values.min() > 0 and values.max() > WIDE * float(values.min()))


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
        one.set_xlabel(across, fontsize=LABEL_SIZE)
    for one in left:
        one.set_ylabel(up, fontsize=LABEL_SIZE)
    write_note(figure, note)


def write_note(figure: Figure, note: str) -> None:
    """Write a note below a figure, wrapped to its width; lines after the first make it higher."""
    across = int(LETTERS * figure.get_size_inches()[0])
    lines = [
        line for part in note.split("\n") for line in wrap(part, across, break_on_hyphens=False)
    ]
    grow(figure, (len(lines) - 1) * NOTE)
    figure.supxlabel("\n".join(lines), fontsize=NOTE_SIZE, color=TEXT, x=0.01, ha="left")


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
        The data of the figure, with a column "seeds".
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


def write_title(axes: Axes, title: str, pad: float | None = None) -> None:
    """Write a title above axes, at a distance of `pad` points; wrap it later with `fit_titles`."""
    axes.set_title(title, loc="left", pad=pad, **TYPED).set_label(TITLE_MARK)


def fit_titles(figure: Figure, every: Sequence[Axes]) -> bool:
    """Wrap titles at the next column of panels; return whether the figure grew.

    Call it when the horizontal positions of axes are final; titles do not change them.
    """
    lines = {axes: _title(axes).get_text().count("\n") for axes in every if _titles(axes)}
    planned, more = max(lines.values(), default=0), dict[int, int]()
    for axes in lines:
        title = _title(axes)
        paragraphs, width = title.get_text().split("\n"), partial(_width, title)
        parts = [wrapped(part, _available(figure, axes), width) for part in paragraphs]
        title.set_text("\n".join(line for some in parts for line in some))
        spec = axes.get_subplotspec()
        row = spec.rowspan.start if spec else 0
        more[row] = max(more.get(row, 0), title.get_text().count("\n") - planned)
    grow(figure, TITLE * sum(more.values()))
    return any(more.values())


def wrapped(text: str, available: float, width: Callable[[str], float]) -> list[str]:
    """Return the lines of a text, broken at spaces, or inside words that are too long.

    Parameters
    ----------
    text : str
    available : float
        The largest width of a line.
    width : callable
        Returns the width of a string, in the unit of `available`.

    Examples
    --------
    >>> wrapped("a corridor of length 5", 8, len)
    ['a', 'corridor', 'of', 'length 5']
    >>> wrapped("corridor(length=5)", 8, len)
    ['corridor', '(length=', '5)']

    """
    lines = []
    while len(text) > 1 and width(text) > available:
        fits = bisect_right(range(1, len(text)), available, key=lambda n: width(text[:n]))
        most = max(1, fits)
        space = text.rfind(" ", 1, most + 1)
        end = space if space > 0 else most
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _titles(axes: Axes) -> list[Text]:
    texts = (one for one in axes.get_children() if isinstance(one, Text))
    return [text for text in texts if text.get_label() == TITLE_MARK]


def _title(axes: Axes) -> Text:
    return _titles(axes)[0]


def _width(title: Text, text: str) -> float:
    """The width of a text in the font of a title, as drawn, in points."""
    title.set_text(text)
    figure: Any = title.get_figure(root=True)
    return in_points(figure, title.get_window_extent().width)


def _available(figure: Figure, axes: Axes) -> float:
    """Points from the left of axes to the next column of panels, or to the end of the figure."""
    start = axes.get_window_extent().x0
    others = [one.get_window_extent().x0 for one in figure.axes]
    end = min((x for x in others if x > start + 1), default=figure.bbox.width)
    return in_points(figure, end - start) - TITLE_GAP


def in_points(figure: Figure, pixels: float) -> float:
    """Return a length in points."""
    return float(pixels) * POINTS / figure.dpi


def mark_step_sizes(axes: Axes, sizes: Vector) -> None:
    """Set the ticks of a horizontal logarithmic axis, without minor ticks."""
    axes.xaxis.set_major_locator(_StepSizes(np.unique(sizes)))
    axes.xaxis.set_major_formatter(_Label())
    axes.xaxis.set_minor_locator(NullLocator())


def mark_decades(axis: Axis) -> None:
    """Label powers of ten on a logarithmic axis of several decades, without minor ticks."""
    axis.set_major_formatter(power_of_ten)
    axis.set_minor_locator(NullLocator())


def chosen_ticks(sizes: Vector, low: float, high: float, length: float) -> Vector:
    """Return the ticks of a logarithmic axis: all step sizes, powers of ten, or some step sizes.

    Powers of ten are used if the labels of all step sizes do not fit; some of the step sizes if the
    axis has fewer than two powers of ten.

    Parameters
    ----------
    sizes : array of shape (n,)
        Step sizes, in increasing order.
    low, high : float
        The ends of the axis.
    length : float
        The length of the axis, in points.

    Returns
    -------
    array of shape (m,)
        Ticks in increasing order.

    Examples
    --------
    >>> chosen_ticks(np.array([0.03, 0.3]), 0.025, 0.36, length=100.0)
    array([0.03, 0.3 ])
    >>> chosen_ticks(2.0 ** np.arange(-9, 1), 0.0016, 1.2, length=100.0)
    array([0.01, 0.1 , 1.  ])
    >>> chosen_ticks(2.0 ** np.arange(-12, 4), 0.0002, 12.0, length=70.0)
    array([0.01, 1.  ])

    """
    thinned = _without_overlap(sizes, low, high, length)
    if thinned.size == sizes.size:
        return thinned
    powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
    # Every power, or every second, and so on, as many as fit.
    stride = np.ceil((POWER + TICK_GAP) * np.log10(high / low) / length)
    regular = 10.0 ** powers[powers % stride == 0]
    return regular if regular.size > 1 else thinned


def _without_overlap(values: Vector, low: float, high: float, length: float) -> Vector:
    """Values whose labels do not overlap, chosen from the largest downwards."""
    positions = np.log(values / low) / np.log(high / low) * length
    widths = np.array([LETTER * TICK_SIZE * len(number_text(value)) for value in values])
    kept: list[int] = []
    for i in reversed(range(values.size)):
        least = (widths[kept[-1]] + widths[i]) / 2 + TICK_GAP if kept else 0.0
        if not kept or positions[kept[-1]] - positions[i] >= least:
            kept.append(i)
    return values[kept[::-1]]


def _is_power_of_ten(value: float) -> bool:
    return bool(np.isclose(np.log10(value), np.round(np.log10(value)), atol=1e-9))


def power_of_ten(value: float, _: object = None) -> str:
    """Return a power of ten as plain text, which is laid out much faster than a formula.

    Examples
    --------
    >>> power_of_ten(0.001)
    '10⁻³'

    """
    return "10" + str(round(np.log10(value))).translate(RAISED)


class _StepSizes(Locator):
    """Chooses ticks again whenever the axes change their size."""

    def __init__(self, sizes: Vector) -> None:
        self._sizes = sizes

    def __call__(self) -> Any:
        axis: Any = self.axis
        low, high = axis.get_view_interval()
        figure = axis.axes.get_figure(root=True)
        length = in_points(figure, axis.axes.get_window_extent().width)
        return chosen_ticks(self._sizes, low, high, length)


class _Label(Formatter):
    """Writes powers of ten if all ticks are powers of ten, otherwise plain numbers."""

    def set_locs(self, locs: Any) -> None:
        self._powers = all(_is_power_of_ten(value) for value in locs)

    def __call__(self, x: float, pos: Any = None) -> str:
        return power_of_ten(x, pos) if self._powers else number_text(x)
