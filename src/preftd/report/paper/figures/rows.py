"""Rows of panels with learning curves, and the exact limits of methods as dashed lines."""

from collections.abc import Mapping, Sequence
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
    choice,
    outer,
    rows_of_panels,
    seeds_shown,
    set_scales,
    write_note,
)
from preftd.report.figures.panels import Line, Panel, panels
from preftd.report.paper.figures import WIDE
from preftd.style import RC

HEIGHT = 1.5
"""Of a panel, in inches."""
DASHES = (0, (3, 2))
DASHED = "Thin dashes: the exact limit of each method"
ZERO = 1e-9
"""A limit below this is 0 but for rounding."""
SPIKES = 0.98
"""Episodes, as a part of all, that the axis must reach: rare spikes may leave the panel, and how
high they are is said."""


class Row(NamedTuple):
    """Panels beside each other, all of one task."""

    title: str
    results: Results
    panels: Sequence[Panel]
    limits: Mapping[tuple[str, ...], float]
    """By the labels of an algorithm."""

    def limit(self, line: Line) -> float:
        """Where a line leads; NaN if that is not known."""
        return self.limits.get(line.rows.select(ALGORITHM).row(0), np.nan)


def row(title: str, results: Results, limits: pl.DataFrame) -> Row:
    """A panel for each length of the corridor."""
    return Row(title, results, panels(results.runs, found_curves(results)), by_algorithm(limits))


def by_algorithm(limits: pl.DataFrame) -> dict[tuple[str, ...], float]:
    """Limits by the labels of their algorithm."""
    return dict(zip(limits.select(ALGORITHM).rows(), limits["limit"], strict=True))


def draw_rows(rows: Sequence[Row], note: str) -> Figure:
    """A figure of rows, each with a scale of its own; lines are named at the right."""
    across = len(rows[0].panels)
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(len(rows), across, HEIGHT, WIDE)
        first = rows[0].results
        found = pl.concat([line.rows for one in rows for line in one.panels[0].lines])
        shown = seeds_shown(found, "bands")
        ends, spikes = [], {}
        for place, one in enumerate(rows):
            axes = every[place * across : (place + 1) * across]
            set_scales(axes, [_needed(one, panel) for panel in one.panels], logarithmic=False)
            for panel, here in zip(one.panels, axes, strict=True):
                labels = draw_curves(here, panel)
                for line in panel.lines:
                    draw_limit(here, line, one.limit(line))
            axes[0].set_ylabel(f"{one.title}\n{one.results.score.name}", fontsize=8)
            ends.append((axes[-1], labels))
            spikes[one.title] = _highest(one, axes[0].get_ylim()[1])
        for here in outer(every)[1]:
            here.set_xlabel("episode", fontsize=8)
        write_note(figure, f"{shown}. {choice(first)} {DASHED}{note}{_cut_off(spikes)}")
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
            limits.setdefault(line.rows["rule"][0], []).append(one.limit(line))
    zero = [rule for rule, found in limits.items() if max(found) < ZERO]
    return f"; that of {' and '.join(zero)} is 0."


def _highest(one: Row, top: float) -> float:
    """Where the highest line of a row is, if above this; otherwise 0."""
    highest = max(_centres(line).max(initial=0) for panel in one.panels for line in panel.lines)
    return float(highest) if highest > top else 0.0


def _cut_off(spikes: Mapping[str, float]) -> str:
    """What is said of lines that leave their panel, by the title of their row."""
    told = [f"{at:.2g} ({title})".replace("\n", ", ") for title, at in spikes.items() if at]
    return f" Spikes that leave their panel reach {', '.join(told)}." if told else ""


def _needed(one: Row, panel: Panel) -> Vector:
    """Values that the axis must reach: 0, limits, and curves but for rare spikes."""
    found = [_centres(line) for line in panel.lines]
    most = [np.max([centre[0], np.quantile(centre, SPIKES)]) for centre in found if centre.size]
    return np.array([0.0, *most, *(one.limit(line) for line in panel.lines)])


def _centres(line: Line) -> Vector:
    centre = line.rows.sort("episode")["centre"].drop_nulls().to_numpy()
    return np.asarray(centre[np.isfinite(centre)])
