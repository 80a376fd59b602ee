"""Figure A.13: returns and shares of steps with β = 1; and which claims hold with which choices."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.experiments.statistics import summarise
from preftd._src.paper.cartpole.claims import MAIN, WHERE
from preftd._src.paper.cartpole.studies import (
    ABLATIONS,
    CONDITIONS,
    EPISODES,
    FOUR_METHODS,
    METHODS,
    PLAIN,
    name_end,
)
from preftd._src.paper.claim import Verdict, rows
from preftd._src.paper.figures import (
    Drawing,
    PaperFigure,
    Row,
    curves_of,
    draw_marks,
    draw_rows,
    seeds_with,
)
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import LEVEL, step_size_note, write_note
from preftd._src.report.figures.lines import Line, Panel
from preftd._src.report.figures.study import draw_curves
from preftd._src.style import EDGE, INK, PAGE, PALE, SMALL_SIZE, Band, look_of

HALF = 0.5
"""The level of intervals in figure A.13, as in the paper."""
WINDOW = 20
"""Episodes over which a moving average is taken."""
MEASURES = {"return": "return", "preferred": "share of steps\nwith β = 1"}
"""The measures of rows, and their names."""
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
"""Claims, and the names of columns of the matrix."""
MARKS = {
    Verdict.REPRODUCED: "full",
    Verdict.INCONCLUSIVE: "left",
    Verdict.NOT_REPRODUCED: "none",
}
"""How circles are filled."""
ROW, ABOVE = 0.23, 1.2
"""Heights in inches: of a row of choices, and above and below the rows."""
APART = 0.17
"""The distance between methods, as a share of the height of a row."""


def smooth_curves(results: Results, measure: str) -> pl.DataFrame:
    """Moving averages of a measure of reported runs: centre and interval over seeds.

    The average at an episode is that of the `WINDOW` episodes up to it.
    """
    numbers = np.array(results.reported[measure].to_list(), dtype=np.float64)  # runs × points
    every = EPISODES // numbers.shape[1]
    wide = WINDOW // every
    sums = np.cumsum(numbers, axis=1)
    sums[:, wide:] -= sums[:, :-wide]
    means = sums[:, wide - 1 :] / wide
    episodes = every * np.arange(wide, numbers.shape[1] + 1)
    found = curves_of(results, means, episodes.tolist(), HALF)
    step_sizes = results.chosen.select(*ALGORITHM, *STEP_SIZE)
    return found.join(step_sizes, on=ALGORITHM, how="left", maintain_order="left")


def inflation(results: Results) -> pl.DataFrame:
    """The excess of returns of the chosen step sizes on the seeds that chose them."""
    fresh = results.bars().select(*ALGORITHM, "centre")
    both = results.chosen.join(fresh, on=ALGORITHM, how="inner", maintain_order="left")
    return both.select(*ALGORITHM, (pl.col("score") - pl.col("centre")).alias("inflation"))


def _figure_a13(results: Found, variant: str) -> Figure:
    found = results[FOUR_METHODS[variant]]
    rows = [
        Row("", name, _panels(smooth_curves(found, measure))) for measure, name in MEASURES.items()
    ]
    most = inflation(found)["inflation"].to_numpy().max()
    note = (
        f"Actor and critic with {variant}. {seeds_with(found.reported, HALF)}; each point is the "
        f"mean of {WINDOW} episodes. {step_size_note(found)} On those, the chosen step sizes "
        f"return up to {most:.0f} more."
    )
    return draw_rows(rows, Drawing(("episode", "episode"), _needed, draw_curves), note)


def _panels(found: pl.DataFrame) -> list[Panel]:
    return [
        Panel(
            condition,
            [
                Line(rule, look_of(rule), found.filter(preference=condition, rule=rule))
                for rule in METHODS
            ],
        )
        for condition in CONDITIONS
    ]


def _needed(panel: Panel) -> Vector:
    """From 0 to the highest end of an interval."""
    highest = [line.rows["high"].to_numpy() for line in panel.lines]
    finite = [some[np.isfinite(some)] for some in highest]
    centres = [line.rows["centre"].to_numpy() for line in panel.lines]
    return np.concatenate([[0.0], *finite, *centres])


def _choices(results: Found) -> Figure:
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
    figure = Figure(figsize=(PAGE, ROW * len(WHERE) + ABOVE), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1, 0.8))
    left.set(ylim=(len(WHERE) - 0.5, -0.5), yticks=range(len(WHERE)), yticklabels=WHERE)
    for axes in (left, right):
        axes.axhspan(-0.5, 0.5, color=PALE, linewidth=0)
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
        own = pl.concat([found.filter(rule=rule) for found in bars])
        centre, low, high = (own[name].to_numpy() for name in ("centre", "low", "high"))
        heights: Vector = np.arange(float(len(bars))) + APART * (number - 1.5)
        draw_marks(axes, rule, look_of(rule), Band(heights, centre, low, high), 3.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("mean return, as a part of the limit")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderpad=0)


def _draw_verdicts(axes: Axes, results: Found) -> None:
    axes.set(xlim=(-0.5, len(COLUMNS) - 0.5), xticks=[])
    axes.tick_params(left=False, labelleft=False)
    for column, name in enumerate(COLUMNS.values()):
        axes.text(column, -0.8, name, fontsize=SMALL_SIZE, rotation=90, ha="center", va="bottom")
    axes.spines[["left", "bottom"]].set_visible(False)
    for row, claims in enumerate(MAIN.values()):
        for column, what in enumerate(COLUMNS):
            claim = claims[what]
            verdict = claim.test({study: results[study] for study in claim.studies}).verdict
            axes.plot(
                column, row, "o", color=INK, markersize=6, fillstyle=MARKS[verdict],
                markerfacecoloralt="white", markeredgewidth=EDGE,
            )  # fmt: skip


FIGURES = (
    *(
        PaperFigure(
            f"figure_a13{name_end(variant)}", (study,), partial(_figure_a13, variant=variant)
        )
        for variant, study in FOUR_METHODS.items()
    ),
    PaperFigure(
        "cartpole_choices", tuple(dict.fromkeys(where.study for where in WHERE.values())), _choices
    ),
)
