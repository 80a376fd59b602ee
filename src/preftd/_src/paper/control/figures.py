"""Figures beyond the paper: returns of actor-critics in corridors and in four rooms."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd import theory
from preftd._src.arrays import Vector
from preftd._src.experiments.results import KNOWN, Results
from preftd._src.experiments.statistics import summarise
from preftd._src.paper.control.corridor_claims import expected_return
from preftd._src.paper.control.studies import (
    CORRIDORS,
    DOUBLE,
    ELSEWHERE,
    ROOMS,
    TEMPTED,
    TOGETHER,
    constant,
    preferred,
)
from preftd._src.paper.panel_rows import PaperFigure, seeds_with
from preftd._src.paper.study import Found
from preftd._src.report.figures.end_labels import label_ends
from preftd._src.report.figures.layout import (
    LEVEL,
    rows_of_panels,
    set_scales,
    step_size_note,
    write_axis_labels,
)
from preftd._src.report.figures.lines import Line, Panel, axis_values
from preftd._src.report.figures.study import draw_curves
from preftd._src.style import LOOKS, OTHERS, RC, Look
from preftd.tasks import Task, make

GREY = "#777777"
CHANGED = {
    "PTD, backward critic": ("PTD", "backward", OTHERS[0]),
    "PTD, actor gain 1": ("PTD", "held, actor 1", OTHERS[1]),
    "TD(λ), actor gain β": ("TD(λ)", "held, actor β", OTHERS[2]),
}
"""What PTD's return depends on: rule, form and look of each line."""
METHODS = {name: (name, "held", LOOKS[name]) for name in ("TD(λ)", "ETD-fixed", "ETD-variable")}
CORRIDOR_LINES = METHODS | CHANGED | {"PTD": ("PTD", "held", LOOKS["PTD"])}
ROOM_LINES: dict[str, tuple[str, str, Look]] = {
    "no preference": ("doorways", "constant", LOOKS["TD(λ)"]),
    "random states": ("random states", "preferred", OTHERS[0]),
    "doorways": ("doorways", "preferred", LOOKS["PTD"]),
}
"""The task and preference of each line, and its look."""


def _corridors(results: Found) -> Figure:
    """A panel for each task, with the held critic unless said otherwise."""
    found = results[CORRIDORS]
    curves = points(found)
    made = {f"bait, {name} states": _tempting(of["length"]) for name, of in TEMPTED.items()}
    titles = dict(zip((*TEMPTED, DOUBLE), (*made, f"{DOUBLE}, 10 hidden states"), strict=True))
    panels = [
        Panel(
            titles[task],
            [
                Line(name, look, curves.filter(task=task, rule=rule, learner=form))
                for name, (rule, form, look) in CORRIDOR_LINES.items()
            ],
        )
        for task in titles
    ]
    ways = [*made.values(), make("double_corridor", length=10)]
    return _draw(panels, ways, found, "return", 2)


def _tempting(length: int) -> Task:
    return make("decision_corridors", **TEMPTED[f"{length} hidden"])


def _rooms(results: Found) -> Figure:
    """A panel for each β elsewhere."""
    found = results[ROOMS]
    curves = points(found).filter(rule="PTD")
    panels = []
    for beta in ELSEWHERE:
        labels = {"constant": constant(1 - beta), "preferred": preferred(beta)}
        lines = [
            Line(name, look, curves.filter(task=task, preference=labels[kind]))
            for name, (task, kind, look) in ROOM_LINES.items()
        ]
        panels.append(Panel(f"β = {beta:g} elsewhere", lines))
    return _draw(panels, [make("four_rooms")] * len(panels), found, "discounted return", 1)


def points(results: Results) -> pl.DataFrame:
    """Reported runs, which are means of `TOGETHER` episodes: centre and interval over seeds."""
    means = results.reported[results.score.measure.name]
    episodes = [TOGETHER * i for i in range(1, len(means[0]) + 1)]
    long = results.reported.select(*KNOWN, "seed", "diverged").with_columns(
        pl.Series("episode", [episodes] * len(means)), means.alias("score")
    )
    one_by_one = long.explode("episode", "score", empty_as_null=False)
    return summarise(one_by_one, [*KNOWN, "episode"], level=LEVEL)


def _draw(
    panels: Sequence[Panel], tasks: Sequence[Task], results: Results, measure: str, down: int
) -> Figure:
    note = (
        f"{seeds_with(results.reported, LEVEL)}; each point is the mean of {TOGETHER} episodes. "
        f"{step_size_note(results)} Grey dashes: the best policy, exactly; grey dots: the random "
        "one."
    )
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(down, 2, 2.1)
        levels = [_levels(task) for task in tasks]
        needed = [_needed(panel, of) for panel, of in zip(panels, levels, strict=True)]
        set_scales(every, needed, logarithmic=False)
        ends = []
        for axes, panel, of in zip(every, panels, levels, strict=True):
            _draw_levels(axes, of)
            ends.append((axes, draw_curves(axes, panel)))
        write_axis_labels(figure, every, "episode", measure, note)
        label_ends(figure, ends[1::2])
    return figure


def _levels(task: Task) -> Mapping[str, float]:
    """The return of the best policy and of the random one, by line style."""
    return {"--": expected_return(theory.optimal(task)), ":": expected_return(task)}


def _draw_levels(axes: Axes, levels: Mapping[str, float]) -> None:
    for style, level in levels.items():
        axes.axhline(level, color=GREY, linestyle=style, linewidth=0.8)


def _needed(panel: Panel, levels: Mapping[str, float]) -> Vector:
    """Values that the axis must reach: curves, their bands, and levels."""
    shown = axis_values(pl.concat([line.rows for line in panel.lines]))
    return np.concatenate([shown, list(levels.values())])


FIGURES = (
    PaperFigure(
        "control_corridors",
        (CORRIDORS,),
        _corridors,
    ),
    PaperFigure(
        "control_four_rooms",
        (ROOMS,),
        _rooms,
    ),
)
