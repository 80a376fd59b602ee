"""Rows of panels with learning curves, and the exact limits of methods as dashed lines."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.arrays import Vector
from preftd.experiments.results import ALGORITHM, Results
from preftd.report.figures.curves import draw_curves, found_curves
from preftd.report.figures.labels import label_ends
from preftd.report.figures.layout import (
    around,
    choice,
    rows_of_panels,
    seeds_shown,
    set_scales,
)
from preftd.report.figures.panels import Line, Panel, panels
from preftd.style import RC

HEIGHT = 1.5
"""Of a panel, in inches."""
DASHES = (0, (3, 2))
DASHED = "Thin dashes: the exact limit of each method"
ZERO = 1e-9
"""A limit below this is 0 but for rounding."""
SPIKES = 0.98
"""Episodes, as a part of all, that the axis must reach: rare spikes may leave the panel."""


class Row(NamedTuple):
    """Panels beside each other, all of one task."""

    title: str
    results: Results
    panels: Sequence[Panel]
    limits: pl.DataFrame

    def limit(self, line: Line) -> float:
        """Where a line leads; NaN if that is not known."""
        key = line.rows.select(ALGORITHM).unique()
        known = key.join(self.limits, on=ALGORITHM, how="left")["limit"].item()
        return np.nan if known is None else float(known)


def row(title: str, results: Results, limits: pl.DataFrame) -> Row:
    """A panel for each length of the corridor."""
    return Row(title, results, panels(results.runs, found_curves(results)), limits)


def draw_rows(rows: Sequence[Row], note: str) -> Figure:
    """A figure of rows, each with a scale of its own; lines are named at the right."""
    across = len(rows[0].panels)
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(len(rows), across, HEIGHT)
        first = rows[0].results
        found = pl.concat([line.rows for one in rows for line in one.panels[0].lines])
        shown = seeds_shown(found, "bands")
        told = f"{shown}. {choice(first)} {DASHED}{note}"
        around(figure, every, "episode", first.score.name, told)
        ends = []
        for place, one in enumerate(rows):
            axes = every[place * across : (place + 1) * across]
            set_scales(axes, [_needed(one, panel) for panel in one.panels], logarithmic=False)
            for panel, here in zip(one.panels, axes, strict=True):
                labels = draw_curves(here, panel)
                for line in panel.lines:
                    draw_limit(here, line, one.limit(line))
            axes[0].set_ylabel(f"{one.title}\n{one.results.score.name}", fontsize=8)
            ends.append((axes[-1], labels))
        label_ends(figure, ends)
    return figure


def draw_limit(axes: Axes, line: Line, limit: float) -> None:
    """A dashed line, unless the limit is 0, or there is none."""
    if ZERO < limit < np.inf:
        axes.axhline(limit, color=line.look.colour, linewidth=0.8, linestyle=DASHES, zorder=1.5)


def at_zero(rows: Sequence[Row]) -> str:
    """Which methods have no dashed line, to go on after DASHED."""
    limits: dict[str, list[float]] = {}
    for one in rows:
        for line in (line for panel in one.panels for line in panel.lines):
            limits.setdefault(line.label, []).append(one.limit(line))
    zero = [label for label, found in limits.items() if max(found) < ZERO]
    return f"; that of {' and '.join(zero)} is 0."


def _needed(one: Row, panel: Panel) -> Vector:
    """Values that the axis must reach: 0, limits, and curves but for rare spikes."""
    centres = [line.rows["centre"].drop_nulls().to_numpy() for line in panel.lines]
    most = [np.quantile(centre[np.isfinite(centre)], SPIKES) for centre in centres if centre.size]
    return np.array([0.0, *most, *(one.limit(line) for line in panel.lines)])
