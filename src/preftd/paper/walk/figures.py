"""Figures 2 and A.1: the error of the random walk against the step size, for each λ or β."""

from collections.abc import Sequence
from typing import NamedTuple

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.experiments.results import Results
from preftd.paper.panel_rows import WIDE, PaperFigure
from preftd.paper.study import Found
from preftd.paper.walk.studies import BY_BETA, BY_LAMBDA, ETD_LABELS
from preftd.report.figures.edge_labels import EdgeLabel, label_edges, leaving_point
from preftd.report.figures.layout import LEVEL, outer_axes, rows_of_panels, write_axis_labels
from preftd.report.figures.shown import Shown, attach
from preftd.report.figures.step_sizes import set_step_size_axis
from preftd.report.looks import shades
from preftd.style import RC, Band, look_of

RANGE = (0.2, 0.6)
"""Of the errors, as in the paper; before learning it is 0.55."""
WIDTH = 1.0
DOT = 2.6
HEIGHT = 2.35


class Curves(NamedTuple):
    """All curves of a rule."""

    title: str
    looks_like: str
    found: pl.DataFrame


def _figure_2(results: Found) -> Figure:
    """ETD with the best interest, TD(λ) and PTD."""
    panels = [
        _of(results[BY_LAMBDA], ETD_LABELS[0.01], "ETD"),
        _of(results[BY_LAMBDA], "TD(λ)", "TD(λ)"),
        _of(results[BY_BETA], "PTD", "PTD"),
    ]
    return _draw(panels, across=3)


def _figure_a1(results: Found) -> Figure:
    """ETD with each interest."""
    panels = [_of(results[BY_LAMBDA], rule, "ETD") for rule in ETD_LABELS.values()]
    return _draw(panels, across=2)


def _of(results: Results, rule: str, looks_like: str) -> Curves:
    return Curves(rule, looks_like, results.step_sizes(LEVEL).filter(rule=rule))


def _draw(panels: Sequence[Curves], across: int) -> Figure:
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(len(panels) // across, across, HEIGHT, WIDE)
        labels = []
        for axes, panel in zip(every, panels, strict=True):
            set_step_size_axis(axes, panel.found)
            axes.set_ylim(*RANGE)
            labels.append((axes, _draw_curves(axes, panel)))
            # Inside, where there are no curves: names of curves are above.
            axes.set_title(panel.title.replace(", ", ",\n"), loc="left", x=0.05, y=0.05, pad=0)
            axes.tick_params(labelleft=axes in outer_axes(every)[0])
        up = "root mean squared error,\nfirst 10 episodes"
        note = _note([panel.found for panel in panels])
        write_axis_labels(figure, every, "step size α", up, note)
        label_edges(figure, labels)
    return figure


def _draw_curves(axes: Axes, panel: Curves) -> list[EdgeLabel]:
    """Curves from light to dark, their best step sizes, and where they leave the panel."""
    curves = panel.found.partition_by("preference", as_dict=True, maintain_order=True)
    labels = []
    looks = shades(look_of(panel.looks_like), len(curves))
    for ((name,), rows), look in zip(curves.items(), looks, strict=True):
        numbers = rows.select("step_size", "centre", "low", "high").sort("step_size")
        band = Band(*numbers.to_numpy().T)
        x, y = band[:2]
        drawn = axes.plot(x, y, color=look.colour, linewidth=WIDTH)
        if np.ptp(y) > 0:  # with β = 0 nothing is learned, whatever the step size
            best = int(np.argmin(y))
            drawn += axes.plot(x[best], y[best], "o", color=look.colour, markersize=DOT)
        attach(drawn, Shown(str(name), panel.looks_like, band, "step size"))
        labels.append(EdgeLabel(str(name), look, *leaving_point(axes, x, y), WIDTH))
    return labels


def _note(found: Sequence[pl.DataFrame]) -> str:
    rows = pl.concat(found)
    best = rows.filter(pl.col("centre") == pl.col("centre").min().over("rule", "preference"))
    seeds = rows["seeds"].to_numpy().max()
    note = f"Mean of {seeds} seeds. Dots: the best step size of each curve."
    widest = (best["high"] - best["centre"]).to_numpy().max()
    if np.isfinite(widest):
        note += f" {LEVEL * 100:g} % intervals (Student) there are ± {widest:.2g} or less."
    return f"{note} A run that is worse than 10 counts as 10."


FIGURES = (
    PaperFigure(
        "figure_2",
        (BY_LAMBDA, BY_BETA),
        _figure_2,
    ),
    PaperFigure(
        "figure_a1",
        (BY_LAMBDA,),
        _figure_a1,
    ),
)
