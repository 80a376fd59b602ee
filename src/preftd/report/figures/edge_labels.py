"""Labels where curves leave a panel, above it or to its right."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Transform, blended_transform_factory

from preftd.arrays import Vector
from preftd.report.figures.end_labels import BEND, FLAT, SIZE, Label, label_ends, points, spread
from preftd.report.figures.shown import attach
from preftd.style import TYPED, Look, lay_out

ROW = 1.15 * SIZE
"""The distance between labels above a panel, which are rotated, in points."""
RISE = 10.0
"""The distance between the axes and labels above them, in points."""


class EdgeLabel(NamedTuple):
    """A label, and where its curve leaves the panel, as shares of its width and height."""

    text: str
    look: Look
    across: float
    up: float
    width: float

    @property
    def above(self) -> bool:
        """Whether the curve leaves at the top, not at the right."""
        return self.up >= 1


def leaving_point(axes: Axes, x: Vector, y: Vector) -> tuple[float, float]:
    """Return where a line finally leaves the axes: where it last crosses the top, or its end.

    Parameters
    ----------
    axes : Axes
    x, y : array of shape (n,)
        The points of the line, in data coordinates.

    Returns
    -------
    tuple of float
        Shares of the width and height of the axes.

    """
    at = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, y])))
    inside = np.flatnonzero(at[:, 1] <= 1)
    last = int(inside[-1]) if inside.size else 0
    if not inside.size or last == len(at) - 1:
        return float(at[last, 0]), float(at[last, 1])
    (x0, y0), (x1, y1) = at[last], at[last + 1]
    return float(x0 + (1 - y0) / (y1 - y0) * (x1 - x0)), 1.0


def label_edges(figure: Figure, labels: Sequence[tuple[Axes, Sequence[EdgeLabel]]]) -> None:
    """Write labels where curves leave their panels, without overlap."""
    above = [(axes, [one for one in some if one.above]) for axes, some in labels]
    texts = [[_text(axes, one) for one in some] for axes, some in above]
    right = [
        (axes, [Label(e.text, e.look, e.up, width=e.width) for e in some if not e.above])
        for axes, some in labels
    ]
    label_ends(figure, [(axes, some) for axes, some in right if some])
    lay_out(figure)
    for (axes, some), written in zip(above, texts, strict=True):
        wide = axes.get_window_extent().width * 72 / figure.dpi
        wanted = np.array([one.across for one in some]) * wide
        positions = spread(wanted, np.full(len(some), ROW), wide + ROW / 2) if some else wanted
        for one, text, x in zip(some, written, positions / wide, strict=True):
            text.set_x(x)
            leader = axes.plot(
                [one.across, x, x],
                [BEND, FLAT, RISE - 1],
                color=one.look.colour,
                linewidth=one.width,
                transform=_over(axes),
                clip_on=False,
            )
            attach([text, *leader], one.text)


def _over(axes: Axes) -> Transform:
    """Horizontal: shares of the width of the axes; vertical: points above them."""
    return blended_transform_factory(axes.transAxes, points(axes, 0, 1))


def _text(axes: Axes, one: EdgeLabel) -> Text:
    return axes.text(
        one.across,
        RISE,
        one.text,
        rotation=90,
        fontsize=SIZE,
        ha="center",
        va="bottom",
        transform=_over(axes),
        **TYPED,
    )
