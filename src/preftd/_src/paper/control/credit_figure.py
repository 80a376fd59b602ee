"""A figure beyond the paper: how fast credit travels in four rooms, by theory."""

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Vector
from preftd._src.paper.control.credit import BUDGETS, GOALS, POLICIES, Method, relative_curve
from preftd._src.paper.panel_rows import PaperFigure
from preftd._src.paper.study import Found
from preftd._src.report.figures.end_labels import Label, label_ends
from preftd._src.report.figures.layout import mark_decades, rows_of_panels, set_scales, write_note
from preftd._src.report.figures.lines import Shown, attach, height_of
from preftd._src.style import LOOKS, OTHERS, RC, WIDTH, Band, Look

LINES: dict[str, tuple[Method, str, Look]] = {
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


def _credit(_: Found) -> Figure:
    """A panel for each policy."""
    with mpl.rc_context(RC):
        figure, every = rows_of_panels(1, len(POLICIES), 2.2)
        write_note(figure, NOTE)
        curves = [
            {name: relative_curve(policy, *of[:2]) for name, of in LINES.items()}
            for policy in POLICIES
        ]
        needed = [np.concatenate(list(of.values())) for of in curves]
        set_scales(every, needed, logarithmic=True)
        for axes, policy, of in zip(every, POLICIES, curves, strict=True):
            labels = _draw(axes, of)
            axes.set_title(TITLES[policy], loc="left")
        every[0].set_ylabel("squared error left,\nover that of TD(λ)", fontsize=8)
        label_ends(figure, [(every[-1], labels)])
    return figure


def _draw(axes: Axes, curves: dict[str, Vector]) -> list[Label]:
    axes.set_xscale("log")
    axes.set_xlabel("episodes", fontsize=8)
    same = axes.axhline(1, color=BASE.colour, linestyle=BASE.line, linewidth=WIDTH)
    attach([same], _shown("TD(λ), best λ", BUDGETS, np.ones(BUDGETS.size)))
    labels = [Label("TD(λ), best λ", BASE, height_of(axes, 1.0))]
    for name, curve in curves.items():
        look, known = LINES[name][2], np.isfinite(curve)
        x, left = BUDGETS[known], curve[known]
        drawn = axes.plot(x, left, color=look.colour, linestyle=look.line, linewidth=WIDTH)
        attach(drawn, _shown(name, x, left))
        labels.append(Label(name, look, height_of(axes, left[-1]), reaches=False))
    for axis in (axes.xaxis, axes.yaxis):
        mark_decades(axis)
    return labels


def _shown(name: str, episodes: Vector, left: Vector) -> Shown:
    """What a line shows; theory gives no interval."""
    unknown = np.full(left.size, np.nan)
    method = "PTD" if name.startswith("PTD") else "TD(λ)"
    return Shown(name, method, Band(episodes, left, unknown, unknown), "episodes")


FIGURES = (
    PaperFigure(
        "credit",
        (),
        _credit,
    ),
)
