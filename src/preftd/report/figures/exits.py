"""Names where curves leave a panel: above it, or to its right."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Transform, blended_transform_factory

from preftd.arrays import Vector
from preftd.report.figures.labels import BEND, FLAT, SIZE, Label, label_ends, points, spread
from preftd.style import TYPED, Look, lay_out

ROW = 1.15 * SIZE
"""Points from one name above a panel to the next; they are turned on their side."""
RISE = 10.0
"""Points above the axes at which names begin."""


class Exit(NamedTuple):
    """A name, and where its curve leaves: parts of the width and height of the axes."""

    text: str
    look: Look
    across: float
    up: float
    width: float

    @property
    def above(self) -> bool:
        """Whether it leaves through the top, and not at the right."""
        return self.up >= 1


def leaves(axes: Axes, x: Vector, y: Vector) -> tuple[float, float]:
    """Where a line leaves the axes for good: at its last crossing of the top, or at its end."""
    at = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack([x, y])))
    inside = np.flatnonzero(at[:, 1] <= 1)
    last = int(inside[-1]) if inside.size else 0
    if not inside.size or last == len(at) - 1:
        return float(at[last, 0]), float(at[last, 1])
    (x0, y0), (x1, y1) = at[last], at[last + 1]
    return float(x0 + (1 - y0) / (y1 - y0) * (x1 - x0)), 1.0


def label_exits(figure: Figure, labels: Sequence[tuple[Axes, Sequence[Exit]]]) -> None:
    """Write names where curves leave, none over another."""
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
        places = spread(wanted, np.full(len(some), ROW), wide + ROW / 2) if some else wanted
        for one, text, place in zip(some, written, places, strict=True):
            text.set_x(place / wide)
            axes.plot(
                [one.across, place / wide, place / wide],
                [BEND, FLAT, RISE - 1],
                color=one.look.colour,
                linewidth=one.width,
                transform=_over(axes),
                clip_on=False,
            )


def _over(axes: Axes) -> Transform:
    """Across: parts of the width of the axes. Upwards: points above them."""
    return blended_transform_factory(axes.transAxes, points(axes, 0, 1))


def _text(axes: Axes, one: Exit) -> Text:
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
