"""Figure A.13: actor-critic on CartPole, returns and shares of steps with β = 1."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.experiments.results import ALGORITHM, KNOWN, STEP_SIZE, Results
from preftd._src.experiments.statistics import summarise
from preftd._src.paper.cartpole.studies import CONDITIONS, EPISODES, FOUR_METHODS, METHODS, name_end
from preftd._src.paper.panel_rows import Drawing, PaperFigure, Row, draw_rows, seeds_with
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import step_size_note
from preftd._src.report.figures.lines import Line, Panel
from preftd._src.report.figures.study import draw_curves
from preftd._src.style import look_of

LEVEL = 0.5
"""Of intervals, as in the paper."""
WINDOW = 20
"""Episodes over which a moving average is taken."""
MEASURES = {"return": "return", "preferred": "share of steps\nwith β = 1"}
"""What the rows show, and its name."""


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
    long = results.reported.select(*KNOWN, "seed", "diverged").with_columns(
        pl.Series("episode", [episodes.tolist()] * len(means)), pl.Series("score", means.tolist())
    )
    points = long.explode("episode", "score", empty_as_null=False)
    found = summarise(points, [*KNOWN, "episode"], level=LEVEL)
    step_sizes = results.chosen.select(*ALGORITHM, *STEP_SIZE)
    return found.join(step_sizes, on=ALGORITHM, how="left", maintain_order="left")


def inflation(results: Results) -> pl.DataFrame:
    """By how much returns of the chosen step sizes are higher on the seeds that chose them."""
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
        f"Actor and critic with {variant}. {seeds_with(found.reported, LEVEL)}; each point is the "
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


def _of(variants: Sequence[str]) -> tuple[PaperFigure, ...]:
    return tuple(
        PaperFigure(
            f"figure_a13{name_end(variant)}",
            (FOUR_METHODS[variant],),
            partial(_figure_a13, variant=variant),
        )
        for variant in variants
    )


FIGURES = _of(tuple(FOUR_METHODS))
