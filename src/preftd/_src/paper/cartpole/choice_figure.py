"""The figure of open choices: returns of the four methods, and which claims hold with which."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.statistics import summarise
from preftd._src.paper.cartpole.choices import MAIN, WHERE
from preftd._src.paper.cartpole.studies import ABLATIONS, METHODS, PLAIN
from preftd._src.paper.panel_rows import PaperFigure, seeds_with
from preftd._src.paper.samples import rows
from preftd._src.paper.study import Found
from preftd._src.paper.verdict import Verdict
from preftd._src.report.figures.layout import LEVEL, write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import RC, Band, look_of

LIMITS = {label: ABLATIONS.get(label, PLAIN).limit for label in WHERE}
COLUMNS = {
    "td_best": "TD(λ) best",
    "ptd_on_par": "PTD as good",
    "ptd_slow_at_first": "PTD slow at first",
    "ptd_catches_up": "PTD catches up",
    "etd_poor": "ETDs poor",
    "etd_alike": "ETDs alike",
    "ptd_least_variance": "PTD varies least",
    "etd_more_preferred": "ETDs: more β = 1",
}
"""Claims, and what the columns of the matrix are called."""
MARKS = {
    Verdict.REPRODUCED: "full",
    Verdict.INCONCLUSIVE: "left",
    Verdict.NOT_REPRODUCED: "none",
}
"""How circles are filled."""
WIDE, ROW, ABOVE = 7.2, 0.23, 1.2
"""Width of the figure, height of a row, and of what is above and below the rows, in inches."""
APART = 0.17
"""Of the height of a row, how far methods lie apart."""


def _draw(results: Found) -> Figure:
    bars = [
        summarise(
            rows(results[where.study].reported, preference=where.conditions[0]).with_columns(
                pl.col("score") / LIMITS[label]
            ),
            ["rule"],
            level=LEVEL,
        )
        for label, where in WHERE.items()
    ]
    with mpl.rc_context(RC):
        figure = Figure(figsize=(WIDE, ROW * len(WHERE) + ABOVE), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1, 0.8))
        left.set(ylim=(len(WHERE) - 0.5, -0.5), yticks=range(len(WHERE)), yticklabels=WHERE)
        left.tick_params(labelsize=7.5)
        left.axhspan(-0.5, 0.5, color="#EEEEEE", linewidth=0)
        right.axhspan(-0.5, 0.5, color="#EEEEEE", linewidth=0)
        _draw_returns(left, bars)
        _draw_verdicts(right, results)
        first = next(iter(WHERE.values())).study
        seeds = seeds_with(results[first].reported, LEVEL, "lines")
        write_note(
            figure,
            "First row: actor and critic with no biases; below, one choice is changed. Condition "
            f"1. {seeds}. Step sizes chosen anew for each row on 25 other seeds. Circles: "
            "reproduced (full), inconclusive (half), not reproduced (empty).",
        )
    return figure


def _draw_returns(axes: Axes, bars: Sequence[pl.DataFrame]) -> None:
    for number, rule in enumerate(METHODS):
        look = look_of(rule)
        own = pl.concat([found.filter(rule=rule) for found in bars])
        centre, low, high = (own[name].to_numpy() for name in ("centre", "low", "high"))
        heights: Vector = np.arange(float(len(bars))) + APART * (number - 1.5)
        drawn: list[Artist] = [axes.hlines(heights, low, high, color=look.colour, linewidth=1)]
        drawn += axes.plot(
            centre,
            heights,
            look.marker,
            color=look.colour,
            markersize=3.5,
            linestyle="",
            label=rule,
        )
        attach(drawn, Shown(rule, rule, Band(heights, centre, low, high), sideways=True))
    axes.set_xlim(left=0)
    axes.set_xlabel("mean return, as a part of the limit", fontsize=8)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=2, fontsize=7, frameon=False, borderpad=0
    )


def _draw_verdicts(axes: Axes, results: Found) -> None:
    axes.set(xlim=(-0.5, len(COLUMNS) - 0.5), xticks=[])
    axes.tick_params(left=False, labelleft=False)
    for column, name in enumerate(COLUMNS.values()):
        axes.text(column, -0.8, name, fontsize=7, rotation=90, ha="center", va="bottom")
    axes.spines[["left", "bottom"]].set_visible(False)
    for row, claims in enumerate(MAIN.values()):
        for column, what in enumerate(COLUMNS):
            claim = claims[what]
            verdict = claim.test({study: results[study] for study in claim.studies}).verdict
            axes.plot(
                column, row, "o", color="#111111", markersize=6, fillstyle=MARKS[verdict],
                markerfacecoloralt="white", markeredgewidth=0.7,
            )  # fmt: skip


FIGURES = (
    PaperFigure(
        "cartpole_choices",
        tuple(dict.fromkeys(where.study for where in WHERE.values())),
        _draw,
    ),
)
