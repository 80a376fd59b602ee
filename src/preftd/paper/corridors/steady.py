"""Beyond the paper: what PTD keeps at constant step sizes, by theory and by experiment."""

from functools import cache, partial
from itertools import takewhile

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd import theory
from preftd.arrays import Vector
from preftd.experiments.intervals import student
from preftd.experiments.results import Results
from preftd.experiments.study import Study
from preftd.learners import Linear
from preftd.paper.corridors.studies import MORE_SEEDS, TASKS, at_length, title_of
from preftd.paper.measures import part
from preftd.paper.panel_rows import PaperFigure
from preftd.paper.samples import rows
from preftd.paper.study import Found, PaperStudy
from preftd.preferences import Observability
from preftd.report.figures.end_labels import SIZE
from preftd.report.figures.layout import LEVEL, write_note
from preftd.report.figures.ticks import mark_decades
from preftd.rules import PTD
from preftd.style import LOOKS, MARK, RC
from preftd.tasks import make
from preftd.theory.crossing import CrossingView

VIEWS: dict[str, CrossingView] = {
    "online": "backward",
    "true online": "true_online",
    "held": "held",
}
"""Views by the labels of their learners."""
LENGTHS = (5, 25)
STEP_SIZES = (0.05, 0.1, 0.2, 0.4)
EPISODES = 4000
SETTLED = 0.25
"""The part of the episodes after which errors no longer fall."""


def _study(task: str, name: str) -> Study:
    """PTD in three views with constant step sizes, until errors no longer change, and on."""
    return Study(
        name=name,
        tasks={at_length(length): make(task, length=length) for length in LENGTHS},
        rules=PTD(),
        preferences=Observability(),
        learners={label: Linear(view) for label, view in VIEWS.items()},
        step_sizes=STEP_SIZES,
        episodes=EPISODES,
        seeds=MORE_SEEDS,
    )


STEADY = {task: PaperStudy(f"{task} steady", partial(_study, task)) for task in TASKS}
STUDIES = tuple(STEADY.values())


_made = cache(make)


@cache
def steady_error(task: str, length: int, label: str, step_size: float) -> float:
    """The exact error in the long run; infinite if it grows without bound."""
    made = _made(task, length=length)
    return theory.steady_state(made, PTD(), Observability(), step_size, VIEWS[label]).error


Look = tuple[str, str | tuple[float, tuple[float, ...]], float, str]
"""Colour, line, width and marker."""
EXACT = np.geomspace(0.01, 1.9, 36)
"""Step sizes of exact lines."""
HIGHEST = 20.0
"""Larger errors are not drawn."""
ONLINE = "#882255"
LINES: dict[tuple[str, int], Look] = {
    ("online", 25): (ONLINE, (0, (4, 1.5)), 1.2, "s"),
    ("online", 5): (ONLINE, "solid", 1.2, "o"),
    ("held", 25): (LOOKS["PTD"].colour, (0, (4, 1.5)), 2.2, "s"),
    ("held", 5): (LOOKS["PTD"].colour, "solid", 2.2, "o"),
}
"""By learner and length."""
INCHES = (7.2, 3.0)
NOTE = (
    "Lines: exact (theory.steady_state), up to where the variance grows without bound. Markers: "
    f"mean of {MORE_SEEDS} seeds over the last {(1 - SETTLED) * EPISODES:,.0f} of {EPISODES:,} "
    f"episodes, with {LEVEL * 100:g} % intervals (Student), most of them smaller than the marker. "
    "Held, both lengths are the same line, and so is true online learning."
)


def _steady(results: Found) -> Figure:
    """Errors that remain by step size, a panel for each task."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=INCHES, layout="constrained")
        for axes, task in zip(figure.subplots(1, len(TASKS)), TASKS, strict=True):
            for (label, length), look in LINES.items():
                _draw_exact(axes, task, length, label, look)
                _draw_found(axes, results[STEADY[task]], length, label, look)
            axes.set(xscale="log", yscale="log", xlim=(EXACT[0], 2.0))
            axes.set_ylim(top=HIGHEST)
            mark_decades(axes.yaxis)
            axes.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
            axes.tick_params(labelsize=8)
            axes.set_title(title_of(task), loc="left")
            axes.set_xlabel("constant step size", fontsize=8)
        figure.axes[0].set_ylabel("mean squared error that remains", fontsize=8)
        figure.axes[0].legend(frameon=False, fontsize=SIZE, loc="upper left", handlelength=3.5)
        write_note(figure, NOTE)
    return figure


def _draw_exact(axes: Axes, task: str, length: int, label: str, look: Look) -> None:
    colour, line, width, marker = look
    every = (steady_error(task, length, label, alpha) for alpha in EXACT.tolist())
    errors = list(takewhile(np.isfinite, every))
    axes.plot(EXACT[: len(errors)], errors, color=colour, linestyle=line, linewidth=width)
    # A line of the legend has the marker of its points.
    text, face = f"{label}, length {length}", "white"
    axes.plot(
        [], [], color=colour, linestyle=line, lw=width, marker=marker, ms=MARK, mfc=face, label=text
    )


def _draw_found(axes: Axes, results: Results, length: int, label: str, look: Look) -> None:
    for alpha in STEP_SIZES:
        runs = rows(results.tried, task=at_length(length), learner=label, step_size=alpha)
        values: Vector = part(runs, SETTLED, 1.0).values
        if not np.isfinite(values).all():
            continue  # some diverged
        found = student(values, LEVEL)
        axes.errorbar(
            alpha,
            float(found.mean),
            float(found.half_width),
            color=look[0],
            marker=look[3],
            markersize=MARK + 1,
            markerfacecolor="white",
            elinewidth=0.8,
        )


FIGURES = (
    PaperFigure(
        "steady",
        STUDIES,
        _steady,
    ),
)
