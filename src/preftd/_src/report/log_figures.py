"""Figures of a log's summary: what is missing where, and held-out errors with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from preftd._src.report.figures.layout import rows_of_panels, write_note
from preftd._src.report.figures.shown import Shown, attach
from preftd._src.style import MARK, TYPED, WIDTH, Band, Look, looks_of

MOST_INPUTS = 24
"""Inputs with a line of their own in the picture of what is missing: those with most of it."""
MOST_QUESTIONS = 6
"""Questions with a panel of their own; tables have all."""
ROWS = {"all": "all rows", "trusted": "trusted rows", "untrusted": "other rows"}
FAR = 30.0
"""The ratio of errors above which their axis is logarithmic."""
LETTERS = 22
"""Names of inputs are cut to so many letters in figures."""


def shortened(name: str) -> str:
    """Return a name that fits beside a figure."""
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def looks_of_arms(summary: Mapping[str, Any]) -> dict[str, Look]:
    """Return the look of each arm, by its label."""
    return looks_of(arm["label"] for arm in summary["arms"])


def legend_above(figure: Figure, axes: Axes) -> None:
    """Write the labels of one panel above all panels."""
    handles = axes.get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", ncols=5, fontsize=7.5, frameon=False)


def missing_figure(summary: Mapping[str, Any]) -> Figure:
    """Draw the mean β, and which share of each input is missing, from the first row to the last.

    Parameters
    ----------
    summary : mapping
        Its bins and inputs are used.

    """
    bins, inputs = summary["bins"], summary["inputs"]
    rows = np.concatenate([[0], np.cumsum(bins["rows"])])
    order = sorted(range(len(inputs)), key=lambda i: -inputs[i]["share"])
    shown = [i for i in order if inputs[i]["missing"]][:MOST_INPUTS]
    lines = max(1, len(shown))
    figure = Figure(figsize=(7.2, 1.5 + 0.2 * lines), layout="constrained")
    top, below = figure.subplots(2, 1, sharex=True, height_ratios=[1.0, 0.2 * lines])
    middle = (rows[1:] + rows[:-1]) / 2
    look = looks_of(["PTD"])["PTD"]
    beta = np.asarray(bins["beta"])
    drawn = top.plot(middle, beta, color=look.colour, linewidth=WIDTH)
    attach(drawn, Shown("mean β", "", Band(middle, beta, beta, beta), "row"))
    top.set(ylim=(-0.05, 1.05))
    top.set_ylabel("mean β", fontsize=8)
    if shown:
        gaps = np.array([bins["gaps"][i] for i in shown])
        below.pcolormesh(
            rows, np.arange(lines + 1), gaps, cmap="Greys", vmin=0, vmax=1, rasterized=False
        )
        names = [shortened(inputs[i]["name"]) for i in shown]
        below.set_yticks(np.arange(lines) + 0.5, names, **TYPED)
        below.invert_yaxis()
    else:
        below.text(0.5, 0.5, "nothing is missing", transform=below.transAxes, ha="center")
        below.set_yticks([])
    below.set_xlim(0, max(rows[-1], 1))
    below.set_xlabel("row of the log", fontsize=8)
    for axes in (top, below):
        axes.tick_params(labelsize=7.5)
    left = sum(1 for one in inputs if one["missing"]) - len(shown)
    more = f" {left} more inputs have gaps: see the table." if left else ""
    write_note(figure, f"Black: missing in all rows of a bin; white: in none.{more}")
    return figure


def errors_figure(summary: Mapping[str, Any]) -> Figure | None:
    """Draw the held-out error of each arm on all, trusted and other rows; a panel per question.

    None if no error is known.
    """
    asked = [question for question in summary["questions"] if question["errors"]]
    questions = asked[:MOST_QUESTIONS]
    if not questions:
        return None
    across = min(2, len(questions))
    figure, panels = rows_of_panels(-(-len(questions) // across), across, 2.6)
    for axes in panels[len(questions) :]:
        axes.remove()
    for axes, question in zip(panels, questions, strict=False):
        _error_panel(axes, question, summary["arms"], looks_of_arms(summary))
    legend_above(figure, panels[0])
    left = len(asked) - len(questions)
    more = f" {left} more questions are in the table." if left else ""
    note = f"Filled: the value of the row; hollow: held. Lines: 95 % intervals.{more}"
    write_note(figure, note)
    return figure


def _error_panel(
    axes: Axes, question: Mapping[str, Any], arms: Sequence[Mapping[str, str]], looks: Any
) -> None:
    kinds = [rows for rows in ROWS if any(e["rows"] == rows for e in question["errors"])]
    found, step = list[float](), 0.8 / len(arms)
    for a, arm in enumerate(arms):
        look = looks[arm["label"]]
        for prediction in ("value", "held"):
            some = [
                e
                for e in question["errors"]
                if (e["arm"], e["prediction"]) == (arm["key"], prediction)
            ]
            if not some:
                continue
            lift = (a - (len(arms) - 1) / 2) * step + (0.0 if prediction == "value" else 0.3 * step)
            at = np.array([kinds.index(e["rows"]) for e in some]) + lift
            centre, low, high = (_numbers(some, f"rmse{end}") for end in ("", "_low", "_high"))
            low, high = np.fmin(low, centre), np.fmax(high, centre)
            drawn = axes.errorbar(
                centre, at, xerr=[centre - low, high - centre], color=look.colour,
                marker=look.marker, markersize=MARK + 0.5, linestyle="none", linewidth=WIDTH,
                markerfacecolor=look.colour if prediction == "value" else "white",
            )  # fmt: skip
            label = arm["label"] if prediction == "value" else f"{arm['label']}, held"
            band = Band(at, centre, low, high)
            attach(drawn.get_children(), Shown(label, arm["label"], band, sideways=True))
            found += centre[np.isfinite(centre)].tolist()
            if prediction == "value":
                axes.plot([], [], color=look.colour, marker=look.marker, linestyle="none",
                          markersize=MARK + 0.5, label=arm["label"])  # fmt: skip
    axes.set_yticks(range(len(kinds)), [ROWS[kind] for kind in kinds])
    axes.set_ylim(len(kinds) - 0.5, -0.5)
    if found and min(found) > 0 and max(found) > FAR * min(found):
        axes.set_xscale("log")
    axes.set_title(question["label"], **TYPED)
    axes.set_xlabel("root mean squared error, held out", fontsize=8)


def _numbers(rows: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.float64]:
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=np.float64)
