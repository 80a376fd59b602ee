"""The figure of drop-outs: returns by critic, actor, view and features, and by rate."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.experiments.results import Results
from preftd._src.experiments.statistics import summarise
from preftd._src.paper.claim import rows
from preftd._src.paper.drop_outs.studies import (
    BY_RATE,
    FACTORIAL,
    FEATURES,
    GAINS,
    RATES,
    SHOWN,
    STUDIES,
    VIEWS,
    WEAK,
    WEAKLY,
    WITHOUT,
    WITHOUT_BY_RATE,
    learner_label,
)
from preftd._src.paper.figures import PaperFigure, draw_marks, seeds_with
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.report.figures.layout import LEVEL, write_note
from preftd._src.report.figures.lines import Label, Line, draw_line, label_ends
from preftd._src.style import DOTTED, FAINT, PAGE, SHADE, WIDTH, Band, Look, look_of

TITLES = {
    "raw": "four numbers",
    "bias": "with a bias",
    "tiles": "tiles",
    "cosines": "cosines",
}
ROWS: dict[str, tuple[Mapping[str, PaperStudy], str]] = {
    **{view: (FACTORIAL, view) for view in VIEWS},
    f"backward,\nβ = {WEAK:g}": (WEAKLY, "backward"),
}
"""Rows of the upper panels: where runs are found."""
HIGH = 2.0
"""Height of each of its two rows, in inches."""
MOST = 130
"""The largest return that is shown above."""
APART = 0.18
"""The distance between methods of a view, as a share of a row."""
BLIND, BLIND_LOOK = "TD(0.9), no preferences", Look(FAINT, "solid", "", "")
NOTE = (
    "CartPole, limit 200, mean return of 500 episodes. {seeds}. Step sizes chosen for each method "
    "on 12 other seeds. Noise is seen in place of dropped observations, half of them in the upper "
    "panels; β = 0 there and 1 elsewhere (last row: 0.1). Critic by TD(λ), λ = 1 − β (squares), or "
    "PTD (circles), linear in four numbers, with a bias, in tiles or cosines; actor weighted by β "
    "(filled) or 1 (hollow). Grey: TD(0.9), no preferences. Lower panels: held critics with tiles. "
    "Preferences pay where the actor is weighted by β too, as it then does not learn from noise; "
    "the critic must be able to represent what it bootstraps from, or β be small. Views of the "
    "critic matter little, and zeros in place of noise do little harm."
)


class Method(NamedTuple):
    """A critic and an actor."""

    rule: str
    gain: str

    @property
    def label(self) -> str:
        """Its name in the figure."""
        return f"{self.rule}, {self.gain}"

    @property
    def look(self) -> Look:
        """That of the rule; lines of actors weighted by 1 are those of another."""
        own = look_of(self.rule)
        if self.gain == "actor β":
            return own
        return own._replace(line=DOTTED)


FOUR = tuple(Method(rule, gain) for rule in ("TD(λ)", "PTD") for gain in GAINS)
ALONG = (*FOUR, Method("ETD-variable", "actor β"))
"""Methods that are shown by rate."""


def _draw(found: Found) -> Figure:
    figure = Figure(figsize=(PAGE, 2 * HIGH), layout="constrained")
    panels = figure.add_gridspec(2, len(FEATURES))
    for column, features in enumerate(FEATURES):
        axes = figure.add_subplot(panels[0, column])
        _draw_factorial(axes, found, features)
        axes.set_title(TITLES[features], loc="left")
        axes.set(yticks=range(len(ROWS)), ylim=(len(ROWS) - 0.5, -0.5), xlim=(0, MOST))
        axes.set_yticklabels(ROWS if column == 0 else [])
        axes.set_xlabel("mean return")
    write_note(figure, NOTE.format(seeds=seeds_with(found[BY_RATE].reported, LEVEL, "lines")))
    for row, shown in enumerate(SHOWN):
        axes = figure.add_subplot(panels[1, 2 * row : 2 * row + 2])
        labels = _draw_rates(axes, shown, found[BY_RATE], found[WITHOUT_BY_RATE])
        axes.set_title(f"dropped observations show {shown}", loc="left")
        axes.set_xlabel("probability that an observation is dropped")
        if row == 0:
            axes.set_ylabel("mean return")
    label_ends(figure, [(axes, labels)])
    return figure


def _draw_factorial(axes: Axes, found: Found, features: str) -> None:
    """Means and intervals of the four methods in each row."""
    blind = summarise(found[WITHOUT[features]].reported, ["rule"], level=LEVEL)
    axes.axvspan(blind["low"][0], blind["high"][0], color=BLIND_LOOK.colour, alpha=2 * SHADE, lw=0)
    for number, method in enumerate(FOUR):
        look = method.look
        for row, (studies, view) in enumerate(ROWS.values()):
            label = learner_label(view, method.gain)
            runs = rows(found[studies[features]].reported, rule=method.rule, learner=label)
            own = summarise(runs, ["rule"], level=LEVEL)
            height = row + APART * (number - 1.5)
            band = Band(np.array([height]), *own.select("centre", "low", "high").to_numpy().T)
            draw_marks(axes, method.label, look, band, 4, is_filled=method.gain == "actor β")


def _draw_rates(axes: Axes, shown: str, results: Results, without: Results) -> list[Label]:
    """Returns by rate; returns the names of lines."""
    labels, rate = [], pl.col("task").str.split(" ").list.first().cast(pl.Float64).alias("rate")
    axes.set_xlim(float(RATES[0]) - 0.02, float(RATES[-1]) + 0.01)
    axes.set_ylim(0, 200)
    lines = [(BLIND, BLIND_LOOK, without.reported)]
    for method in ALONG:
        label = learner_label("held", method.gain)
        runs = rows(results.reported, rule=method.rule, learner=label)
        lines.append((method.label, method.look, runs))
    for name, look, runs in lines:
        own = runs.filter(pl.col("task").str.ends_with(shown)).with_columns(rate)
        found = summarise(own, ["rate"], level=LEVEL)
        end = draw_line(axes, Line(name, look, found, WIDTH), "rate", found, marked=True)
        labels.append(Label(name, look, end, marked=bool(look.marker)))
    axes.set_xticks([float(one) for one in RATES])
    return labels


FIGURES = (PaperFigure("drop_outs", STUDIES, _draw),)
