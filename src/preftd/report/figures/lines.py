"""Lines with bands."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from preftd.arrays import Vector
from preftd.experiments.score import Score
from preftd.report.figures.labels import MARK
from preftd.report.figures.panels import Line

SHADE = 0.18
REACH = 1.5
"""A band makes room for itself up to so many times what the lines need."""


def sound(rows: pl.DataFrame, score: Score) -> pl.DataFrame:
    """Rows whose centre means something: no run diverged, or the score says what that counts."""
    fine = rows.filter(pl.col("centre").is_finite())
    return fine if score.ceiling is not None else fine.filter(pl.col("diverged") == 0)


def to_show(rows: pl.DataFrame) -> Vector:
    """Values that the axis must reach: centres, and bands unless they reach far."""
    centre = rows["centre"].to_numpy()
    if not centre.size:
        return centre
    low, high = rows["low"].to_numpy(), rows["high"].to_numpy()
    if centre.min() < 0:  # such as returns: bands are as wide as they are
        return np.concatenate([centre, low[np.isfinite(low)], high[np.isfinite(high)]])
    low = np.maximum(low, centre.min() / REACH)
    high = np.minimum(high, centre.max() * REACH)
    return np.concatenate([centre, low, high])


def draw_line(axes: Axes, line: Line, across: str, rows: pl.DataFrame, marked: bool) -> float:
    """Centres with their band, against a column; where it ends, as a part of the axes' height."""
    rows = rows.sort(across)
    x, centre, low, high = (rows[n].to_numpy() for n in (across, "centre", "low", "high"))
    look = line.look
    axes.plot(
        x,
        centre,
        color=look.colour,
        linestyle=look.line,
        linewidth=line.width,
        marker=look.marker if marked else None,
        markersize=MARK,
    )
    if np.isfinite(low).all():
        # What lies below a logarithmic axis cannot be drawn, and need not be seen.
        bottom, top = axes.get_ylim()
        seen = np.maximum(low, bottom) if axes.get_yscale() == "log" else low
        if x.size == 1:  # of which a band would have no width
            axes.plot([x[0], x[0]], [seen[0], high[0]], color=look.colour, linewidth=line.width)
            return height_of(axes, centre[0])
        # Nor need the band of a line that has left the panel.
        axes.fill_between(
            x, seen, high, where=centre <= top, color=look.colour, alpha=SHADE, linewidth=0
        )
    return height_of(axes, centre[-1]) if rows.height else np.nan


def height_of(axes: Axes, value: float) -> float:
    """A value as a part of the height of the axes."""
    at = axes.transData.transform((axes.get_xlim()[0], value))
    return float(axes.transAxes.inverted().transform(at)[1])
