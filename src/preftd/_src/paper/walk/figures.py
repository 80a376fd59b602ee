"""Figures 2 and A.1: the error of the random walk against the step size, for each λ or β."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure

from preftd._src.experiments.results import Results
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.study import Found
from preftd._src.paper.walk.studies import BY_BETA, BY_LAMBDA, ETD_LABELS, VALUES
from preftd._src.report.figures.layout import LEVEL, outer_axes, rows_of_panels, write_axis_labels
from preftd._src.report.figures.lines import Shown, attach, method_of
from preftd._src.report.figures.study import set_step_size_axis
from preftd._src.style import INK, PAGE, SMALL_SIZE, Band

RANGE = (0.2, 0.6)
"""Of the errors, as in the paper; before learning it is 0.55."""
LEAST = 1e-3
"""The least step size that is shown: with smaller ones little is learned."""
WIDTH, DOT, RING = 1.2, 3.0, 9.0
"""Sizes of lines, dots and rings around the best dots, in points."""
WIDE, HEIGHT = PAGE, 2.6
"""Of the figure and of a row of panels, in inches."""
COLOURS = ListedColormap(mpl.colormaps["viridis_r"](np.linspace(0.08, 1, len(VALUES))))
"""From light to dark, for λ and β from 0 to 1."""


class Curves(NamedTuple):
    """All curves of a rule."""

    title: str
    found: pl.DataFrame


def _figure_2(results: Found) -> Figure:
    """ETD with the best interest, TD(λ) and PTD."""
    panels = [
        _of(results[BY_LAMBDA], ETD_LABELS[0.01]),
        _of(results[BY_LAMBDA], "TD(λ)"),
        _of(results[BY_BETA], "PTD"),
    ]
    return _draw(panels, 3, "λ of ETD and TD(λ), β of PTD")


def _figure_a1(results: Found) -> Figure:
    """ETD with each interest."""
    return _draw([_of(results[BY_LAMBDA], rule) for rule in ETD_LABELS.values()], 2, "λ")


def _of(results: Results, rule: str) -> Curves:
    return Curves(rule, results.step_sizes(LEVEL).filter(rule=rule))


def _draw(panels: Sequence[Curves], across: int, scale: str) -> Figure:
    figure, every = rows_of_panels(len(panels) // across, across, HEIGHT, WIDE)
    for axes, panel in zip(every, panels, strict=True):
        set_step_size_axis(axes, panel.found.filter(pl.col("step_size") >= LEAST))
        axes.set_ylim(*RANGE)
        _draw_curves(axes, panel)
        axes.set_title(panel.title, loc="left")
        axes.tick_params(labelleft=axes in outer_axes(every)[0])
    up = "root mean squared error,\nfirst 10 episodes"
    note = _note([panel.found for panel in panels])
    write_axis_labels(figure, every, "step size α", up, note)
    _draw_scale(figure, every, scale)
    return figure


def _draw_curves(axes: Axes, panel: Curves) -> None:
    """A curve for each value, its best step size, and the best of all."""
    curves = panel.found.partition_by("preference", as_dict=True, maintain_order=True)
    optima = []
    for number, ((name,), rows) in enumerate(curves.items()):
        points = rows.select("step_size", "centre", "low", "high").sort("step_size")
        band = Band(*points.to_numpy().T)
        x, y = band[:2]
        colour = mpl.colors.to_hex(COLOURS(number))
        drawn = axes.plot(x, y, color=colour, linewidth=WIDTH)
        best = int(np.argmin(y))
        if np.ptp(y) > 0:  # with β = 0 nothing is learned, whatever the step size
            drawn += axes.plot(x[best], y[best], "o", color=colour, markersize=DOT)
        attach(drawn, Shown(str(name), method_of(panel.title), band, "step size"))
        optima.append((y[best], x[best], str(name)))
    error, step_size, name = min(optima)
    axes.plot(step_size, error, "o", markersize=RING, markerfacecolor="none", markeredgecolor=INK)
    text = f"least: {error:.3f}\n{name}, α = {step_size:g}"
    axes.text(0.04, 0.04, text, transform=axes.transAxes, fontsize=SMALL_SIZE, va="bottom")


def _draw_scale(figure: Figure, every: Sequence[Axes], label: str) -> None:
    """The colours of values."""
    steps = np.arange(len(VALUES) + 1) - 0.5
    colours = ScalarMappable(BoundaryNorm(steps, len(VALUES)), COLOURS)
    scale = figure.colorbar(colours, ax=list(every), aspect=25, pad=0.02)
    scale.set_ticks(range(len(VALUES)), labels=[f"{value:g}" for value in VALUES])
    scale.ax.tick_params(length=0)
    scale.minorticks_off()
    scale.set_label(label)


def _note(found: Sequence[pl.DataFrame]) -> str:
    rows = pl.concat(found)
    best = rows.filter(pl.col("centre") == pl.col("centre").min().over("rule", "preference"))
    seeds = rows["seeds"].to_numpy().max()
    note = f"Mean of {seeds} seeds. Dots: the best step size of each curve; rings: the best of all."
    widest = (best["high"] - best["centre"]).to_numpy().max()
    if np.isfinite(widest):
        note += f" {LEVEL * 100:g} % intervals (Student) there are ± {widest:.2g} or less."
    note += " A run that is worse than 10 counts as 10; errors above 0.6 leave the panels."
    return f"{note} Step sizes below {LEAST:g}, with which little is learned, are left out."


FIGURES = (
    PaperFigure("figure_2", (BY_LAMBDA, BY_BETA), _figure_2),
    PaperFigure("figure_a1", (BY_LAMBDA,), _figure_a1),
)
