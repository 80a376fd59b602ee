"""Lines with bands, and the values that axes must include for them."""

import numpy as np
import polars as pl
from matplotlib.axes import Axes

from preftd._src.arrays import Vector
from preftd._src.experiments.measures import Score
from preftd._src.report.figures.panels import Line
from preftd._src.report.figures.shown import Shown, attach, method_of, step_sizes_of
from preftd._src.style import Band, draw_band

REACH = 1.5
"""Axes include bands up to this factor beyond the lines."""


def drawable(rows: pl.DataFrame, score: Score) -> pl.DataFrame:
    """Return rows with a meaningful centre: no run diverged, or the score has a ceiling."""
    fine = rows.filter(pl.col("centre").is_finite())
    return fine if score.ceiling is not None else fine.filter(pl.col("diverged") == 0)


def axis_values(rows: pl.DataFrame) -> Vector:
    """Return the values that the axis must include: centres, and bands up to a factor of REACH.

    Parameters
    ----------
    rows : DataFrame
        n rows with the columns "centre", "low" and "high".

    Returns
    -------
    array of shape (m,)
        Values in no particular order.

    """
    centre = rows["centre"].to_numpy()
    if not centre.size:
        return centre
    low, high = rows["low"].to_numpy(), rows["high"].to_numpy()
    if centre.min() < 0:  # such as returns: all of the bands
        return np.concatenate([centre, low[np.isfinite(low)], high[np.isfinite(high)]])
    low = np.maximum(low, centre.min() / REACH)
    high = np.minimum(high, centre.max() * REACH)
    return np.concatenate([centre, low, high])


def draw_line(axes: Axes, line: Line, across: str, rows: pl.DataFrame, marked: bool) -> float:
    """Draw centres and their band against a column.

    Parameters
    ----------
    axes : Axes
    line : Line
        Its look and width are used.
    across : str
        The column along the horizontal axis.
    rows : DataFrame
        The rows to draw, with `across`, "centre", "low" and "high".
    marked : bool
        Whether points have markers.

    Returns
    -------
    float
        The height of the right end, as a share of the axes' height; NaN without rows.

    """
    rows = rows.sort(across)
    band = Band(*(rows[name].to_numpy() for name in (across, "centre", "low", "high")))
    drawn = draw_band(axes, line.look, band, line.width, marked=marked)
    rule = line.rows["rule"][0] if "rule" in line.rows.columns else line.label
    what = across.replace("_", " ")
    attach(drawn, Shown(line.label, method_of(rule), band, what, step_sizes_of(rows)))
    return height_of(axes, band.centre[-1]) if rows.height else np.nan


def height_of(axes: Axes, value: float) -> float:
    """Return the height of a value, as a share of the axes' height."""
    at = axes.transData.transform((axes.get_xlim()[0], value))
    return float(axes.transAxes.inverted().transform(at)[1])
