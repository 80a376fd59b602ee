"""Figures beyond the paper: returns of actor-critics in corridors and four rooms, and credit.

The speed of credit in four rooms is drawn by theory.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd import theory
from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.control.claims import expected_return
from preftd._src.paper.control.credit import BUDGETS, GOALS, POLICIES, Method, relative_curve
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
from preftd._src.paper.figures import PaperFigure, curves_of, seeds_with
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import (
    LEVEL,
    mark_decades,
    rows_of_panels,
    set_scales,
    step_size_note,
    write_axis_labels,
    write_note,
)
from preftd._src.report.figures.lines import (
    Label,
    Line,
    Panel,
    Shown,
    attach,
    axis_values,
    height_of,
    label_ends,
)
from preftd._src.report.figures.study import draw_curves
from preftd._src.style import GREY, LOOKS, OTHERS, THIN, WIDTH, Band, Look
from preftd.tasks import Task, make

CHANGED = {
    "PTD, backward critic": ("PTD", "backward", OTHERS[0]),
    "PTD, actor gain 1": ("PTD", "held, actor 1", OTHERS[1]),
    "TD(λ), actor gain β": ("TD(λ)", "held, actor β", OTHERS[2]),
}
"""Ablations of PTD: rule, form and look of each line."""
METHODS = {name: (name, "held", LOOKS[name]) for name in ("TD(λ)", "ETD-fixed", "ETD-variable")}
CORRIDOR_LINES = METHODS | CHANGED | {"PTD": ("PTD", "held", LOOKS["PTD"])}
ROOM_LINES: dict[str, tuple[str, str, Look]] = {
    "no preference": ("doorways", "constant", LOOKS["TD(λ)"]),
    "random states": ("random states", "preferred", OTHERS[0]),
    "doorways": ("doorways", "preferred", LOOKS["PTD"]),
}
"""The task and preference of each line, and its look."""
CREDIT_LINES: dict[str, tuple[Method, str, Look]] = {
    "PTD, doorways only:\ntheir values": (("doorways", 0.0), "doorways", LOOKS["PTD"]),
    "PTD, 4 random states only:\ntheir values": (("random", 0.0), "random", OTHERS[0]),
    "PTD, doorways, else β = 0.1:\nall values": (("doorways", 0.1), "all", OTHERS[1]),
    "TD, λ = 0 at doorways, else 0.9:\nall values": (("λ only", 0.1), "all", OTHERS[2]),
}
"""A method, the states that are scored, and the look of each line."""
BASE = LOOKS["TD(λ)"]
TITLES = {"random": "Random policy", "good": "Best action in 85 % of steps"}
NOTE = (
    "1 is TD(λ) with the best of five constant λ, for the same states. By theory: mean by expected "
    "updates plus the exact noise of small step sizes, at the step size that is best for each "
    f"number of episodes, at most 1. Geometric means over {len(GOALS)} goals; episodes start "
    "anywhere. Lines end where TD(λ) leaves 1 % of the first error."
)


def _corridors(results: Found) -> Figure:
    """A panel for each task, with the held critic unless stated otherwise."""
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
    means = np.array(results.reported[results.score.measure.name].to_list(), dtype=np.float64)
    episodes = [TOGETHER * i for i in range(1, means.shape[1] + 1)]
    return curves_of(results, means, episodes, LEVEL)


def _draw(
    panels: Sequence[Panel], tasks: Sequence[Task], results: Results, measure: str, down: int
) -> Figure:
    note = (
        f"{seeds_with(results.reported, LEVEL)}; each point is the mean of {TOGETHER} episodes. "
        f"{step_size_note(results)} Grey dashes: the best policy, exactly; grey dots: the random "
        "one."
    )
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
        axes.axhline(level, color=GREY, linestyle=style, linewidth=THIN)


def _needed(panel: Panel, levels: Mapping[str, float]) -> Vector:
    """Values that the axis must reach: curves, their bands, and levels."""
    shown = axis_values(pl.concat([line.rows for line in panel.lines]))
    return np.concatenate([shown, list(levels.values())])


def _credit(_: Found) -> Figure:
    """A panel for each policy."""
    figure, every = rows_of_panels(1, len(POLICIES), 2.2)
    write_note(figure, NOTE)
    curves = [
        {name: relative_curve(policy, *of[:2]) for name, of in CREDIT_LINES.items()}
        for policy in POLICIES
    ]
    needed = [np.concatenate(list(of.values())) for of in curves]
    set_scales(every, needed, logarithmic=True)
    for axes, policy, of in zip(every, POLICIES, curves, strict=True):
        labels = _draw_credit(axes, of)
        axes.set_title(TITLES[policy], loc="left")
    every[0].set_ylabel("squared error left,\nover that of TD(λ)")
    label_ends(figure, [(every[-1], labels)])
    return figure


def _draw_credit(axes: Axes, curves: dict[str, Vector]) -> list[Label]:
    axes.set_xscale("log")
    axes.set_xlabel("episodes")
    same = axes.axhline(1, color=BASE.colour, linestyle=BASE.line, linewidth=WIDTH)
    attach([same], _shown("TD(λ), best λ", BUDGETS, np.ones(BUDGETS.size)))
    labels = [Label("TD(λ), best λ", BASE, height_of(axes, 1.0))]
    for name, curve in curves.items():
        look, known = CREDIT_LINES[name][2], np.isfinite(curve)
        x, left = BUDGETS[known], curve[known]
        drawn = axes.plot(x, left, color=look.colour, linestyle=look.line, linewidth=WIDTH)
        attach(drawn, _shown(name, x, left))
        labels.append(Label(name, look, height_of(axes, left[-1]), reaches=False))
    for axis in (axes.xaxis, axes.yaxis):
        mark_decades(axis)
    return labels


def _shown(name: str, episodes: Vector, left: Vector) -> Shown:
    """The values of a line; theory has no interval."""
    method = "PTD" if name.startswith("PTD") else "TD(λ)"
    return Shown(name, method, Band.exact(episodes, left), "episodes")


FIGURES = (
    PaperFigure("control_corridors", (CORRIDORS,), _corridors),
    PaperFigure("control_four_rooms", (ROOMS,), _rooms),
    PaperFigure("credit", (), _credit),
)
