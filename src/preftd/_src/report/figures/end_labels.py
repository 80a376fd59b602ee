"""What stands around a panel: labels at the right ends of lines, and crosses for diverged runs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import (
    Affine2D,
    ScaledTranslation,
    Transform,
    blended_transform_factory,
)

from preftd._src.arrays import Vector
from preftd._src.report.figures.layout import fit_titles, grow, in_points
from preftd._src.report.figures.lines import Line, Panel, attach
from preftd._src.style import MARK, POINTS, SMALL_SIZE, TYPED, WIDTH, Look, lay_out

SIZE = SMALL_SIZE
"""The font size, in points."""
LINE = 1.3 * SIZE
"""The height of a line of a label, in points."""
INCHES = 1.6
"""The width of a legend column."""
BEND, FLAT, TEXT = 2.0, 7.0, 20.0
"""Points to the right of the axes where a leader line starts, becomes flat, and meets its label."""
ROW = 8.0
"""The distance between rows of crosses, in points."""
ALL, SOME = 4.0, 2.2
"""Sizes of crosses in points: all runs diverged, or some."""


class Label(NamedTuple):
    """A label, and where its line ends, as a share of the axes' height (NaN: no line)."""

    text: str
    look: Look
    end: float
    reaches: bool = True
    """Whether the line reaches the right edge, so that a leader connects it to the label."""
    marked: bool = False
    """Whether the line has markers."""
    width: float = WIDTH
    """The width of the line, in points."""

    @property
    def name(self) -> str:
        """The label of the line, without what is written below it."""
        return self.text.partition("\n")[0]

    @property
    def height(self) -> float:
        """The height of the text, in points."""
        return LINE * (1 + self.text.count("\n"))


def spread(wanted: Vector, heights: Vector, top: float) -> Vector:
    """Return positions without overlap, as close as possible to the wanted ones.

    Labels that would overlap form a block, which moves to the mean of their wanted positions.

    Parameters
    ----------
    wanted : array of shape (n,)
        Wanted positions of the middles of labels.
    heights : array of shape (n,)
        Heights of labels.
    top : float
        The upper end of the space, which starts at 0.

    Returns
    -------
    array of shape (n,)
        Positions of the middles.

    Examples
    --------
    >>> spread(np.array([50.0, 52.0]), np.array([10.0, 10.0]), 100.0)
    array([46., 56.])

    """
    order = np.argsort(wanted, kind="stable")
    # Relative to the labels below it in a block, each label wants a position of the block.
    below = np.cumsum(heights[order]) - heights[order] / 2
    blocks: list[tuple[float, list[int]]] = []
    for i, want in enumerate(wanted[order] - below):
        blocks.append((float(want), [i]))
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (first, some), (second, more) = blocks[-2:]
            together = (first * len(some) + second * len(more)) / (len(some) + len(more))
            blocks[-2:] = [(together, some + more)]
    shift = np.concatenate([np.full(len(members), at) for at, members in blocks])
    placed = np.empty_like(wanted)
    placed[order] = np.clip(shift, 0, max(0.0, top - heights.sum())) + below
    return placed


def label_ends(figure: Figure, labels: Sequence[tuple[Axes, Sequence[Label]]]) -> None:
    """Write labels to the right of axes, or a legend if there is too little space."""
    texts = [[_text(axes, label) for label in some] for axes, some in labels]
    lay_out(figure)  # so that axes have their final size, with space for labels
    if fit_titles(figure, [axes for axes, _ in labels]):
        lay_out(figure)
    spaces = [in_points(figure, axes.get_window_extent().height) for axes, _ in labels]
    needed = [sum(label.height for label in some) for _, some in labels]
    if any(need > space for need, space in zip(needed, spaces, strict=True)):
        for text in (text for some in texts for text in some):
            text.remove()
        _legend(figure, [label for _, some in labels for label in some])
        return
    figure.set_layout_engine("none")  # keep the size for which labels are positioned
    for (axes, some), written, space in zip(labels, texts, spaces, strict=True):
        ends = np.array([label.end for label in some])
        wanted = np.where(np.isnan(ends), 1.0, np.clip(ends, 0, 1)) * space
        heights = np.array([label.height for label in some])
        positions = spread(wanted, heights, space) / space
        for label, text, at in zip(some, written, positions, strict=True):
            text.set_y(at)
            _lead(axes, label, at)


def points(axes: Axes, across: float, up: float) -> Transform:
    """Return the transform of points from a position, given as shares of the axes' size."""
    figure: Any = axes.get_figure(root=True)
    corner: Any = axes.transAxes  # the stubs want a type that it has at run time
    scale: Transform = Affine2D().scale(1 / POINTS) + figure.dpi_scale_trans
    return scale + ScaledTranslation(across, up, corner)


def _right_of(axes: Axes) -> Transform:
    """Horizontal: points to the right of the axes; vertical: shares of their height."""
    return blended_transform_factory(points(axes, 1, 0), axes.transAxes)


def _text(axes: Axes, label: Label) -> Text:
    look: Any = {"fontsize": SIZE, "va": "center", "linespacing": 1.1, **TYPED}
    text = axes.text(TEXT, 0.5, label.text, transform=_right_of(axes), **look)
    attach([text], label.name)
    return text


def _lead(axes: Axes, label: Label, at: float) -> None:
    """Draw the leader from the end of a line to its label, in the look of the line."""
    across, up = [FLAT, TEXT - 2], [at, at]
    if label.reaches and 0 <= label.end <= 1:
        across, up = [BEND, *across], [label.end, *up]
    place: Any = {"transform": _right_of(axes), "clip_on": False}
    drawn = axes.plot(across, up, linewidth=label.width, **label.look.line_style(), **place)
    if label.marked:
        mark: Any = {"marker": label.look.marker, "markersize": MARK, "color": label.look.colour}
        drawn += axes.plot((FLAT + TEXT - 2) / 2, at, **mark, **place)
    attach(drawn, label.name)


def _legend(figure: Figure, labels: Sequence[Label]) -> None:
    """Write a legend above the panels and make the figure higher by it."""
    lines = []
    named = {label.text: label for label in labels}
    for label in named.values():
        look = label.look.line_style(marked=label.marked)
        lines.append(Line2D([], [], linewidth=label.width, **look))
    across = max(1, int(figure.get_size_inches()[0] / INCHES))
    grow(figure, -(-len(lines) // across) * 2 * SIZE / POINTS)
    wide_as: Any = {"ncols": across, "frameon": False, "fontsize": SIZE}
    # A legend omits labels that start with an underscore, so the texts are set afterwards.
    numbers = [str(i) for i in range(len(lines))]
    legend = figure.legend(lines, numbers, loc="outside upper left", **wide_as)
    for text, line, (name, label) in zip(
        legend.get_texts(), legend.get_lines(), named.items(), strict=True
    ):
        text.set(text=name, **TYPED)
        attach([text, line], label.name)


def cross_rows(panels: Sequence[Panel]) -> list[str]:
    """Return labels of lines with diverged runs in any panel: one per row, bottom row first."""
    lines = [line for panel in panels for line in panel.lines]
    diverged = {line.label for line in lines if _diverged(line).height}
    every = dict.fromkeys(line.label for line in lines)
    return [label for label in reversed(every) if label in diverged]  # top row: first in the study


def draw_crosses(axes: Axes, lines: Sequence[Line], across: str, rows: Sequence[str]) -> None:
    """Draw crosses above the axes at every value with diverged runs.

    Parameters
    ----------
    axes : Axes
    lines : sequence of Line
    across : str
        The column along the horizontal axis.
    rows : sequence of str
        Labels of lines, from `cross_rows`.

    """
    for line in lines:
        for x, some in _diverged(line).select(across, pl.col("diverged") < pl.col("seeds")).rows():
            cross = axes.plot(
                x,
                _height(line, rows),
                color=line.look.colour,
                marker="x",
                markersize=SOME if some else ALL,
                markeredgewidth=0.9,
                transform=blended_transform_factory(axes.transData, points(axes, 0, 1)),
                clip_on=False,
            )
            attach(cross, line.label)


def write_cross_counts(axes: Axes, lines: Sequence[Line], rows: Sequence[str]) -> None:
    """Write the marker of a line and the number of its diverged runs at the right of its row."""
    for line in lines:
        if not _diverged(line).height:
            continue
        corner, at = points(axes, 1, 1), _height(line, rows)
        middle = (FLAT + TEXT - 2) / 2
        mark: Any = {"marker": line.look.marker, "markersize": MARK, "clip_on": False}
        marker = axes.plot(middle, at, color=line.look.colour, transform=corner, **mark)
        count = axes.text(TEXT, at, _count(line), fontsize=SIZE, va="center", transform=corner)
        attach([*marker, count], line.label)


def crosses_note(what: str) -> str:
    """Return a line of a note that explains crosses; `what` is the plural of what they mark."""
    sizes = "large: all, small: some"
    return (
        f"\n×: {what} at which runs diverged ({sizes}); at the right, the number of diverged runs."
    )


def _height(line: Line, rows: Sequence[str]) -> float:
    return ROW * (1 + rows.index(line.label))


def _diverged(line: Line) -> pl.DataFrame:
    """Rows with diverged runs, including those without reported runs."""
    return line.rows.filter(pl.col("diverged").fill_null(1) > 0)


def _count(line: Line) -> str:
    if line.rows["diverged"].is_null().all():
        return "all"
    diverged, runs = line.rows.select(pl.col("diverged", "seeds").sum()).row(0)
    return f"{diverged} of {runs}"
