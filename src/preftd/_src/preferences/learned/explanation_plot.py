"""A picture of the evidence about cells: how it grew, and where it decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import matplotlib as mpl
from matplotlib.axes import Axes

from preftd._src.style import LOOKS, MARK, RC, WIDTH, axes_or_new

if TYPE_CHECKING:
    from preftd._src.preferences.learned.explanation import Cell

LOWEST = -3.0
"""Evidence for the Markov property below this power of ten is not drawn."""


def draw(cells: Sequence[Cell], limit: float, axes: Axes | None) -> Axes:
    """Draw a line for each cell, and where evidence decides."""
    trusted, distrusted = LOOKS["PTD"], LOOKS["TD(λ)"]
    with mpl.rc_context(RC):
        axes = axes_or_new(axes, 5.2, 3.0)
        drawn = set()
        for cell in cells:
            look = trusted if cell.is_trusted else distrusted
            label = "trusted" if cell.is_trusted else "distrusted"
            axes.plot(
                cell.growth[:, 0],
                cell.growth[:, 1].clip(LOWEST),
                color=look.colour,
                linestyle=look.line,
                linewidth=WIDTH,
                marker=look.marker,
                markersize=MARK,
                label=None if label in drawn else label,
            )
            drawn.add(label)
        axes.axhline(limit, color="#999999", linewidth=WIDTH / 2)
        axes.set(
            xscale="log",
            xlabel="step",
            ylabel="evidence (power of ten)",
            title="Does the past tell what follows?",
        )
        if drawn:
            axes.legend(frameon=False)
    return axes
