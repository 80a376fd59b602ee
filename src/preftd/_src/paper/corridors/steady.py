"""Beyond the paper: what PTD keeps at constant step sizes, by theory and by experiment."""

from functools import cache, partial
from itertools import takewhile

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd import theory
from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.experiments.statistics import student
from preftd._src.experiments.study import Study
from preftd._src.paper.corridors.studies import MORE_SEEDS, TASKS, at_length, title_of
from preftd._src.paper.form_looks import FORMS, form_look
from preftd._src.paper.measures import part
from preftd._src.paper.panel_rows import PaperFigure
from preftd._src.paper.samples import rows
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.report.figures.end_labels import SIZE
from preftd._src.report.figures.layout import LEVEL, write_note
from preftd._src.report.figures.shown import Shown, attach
from preftd._src.report.figures.ticks import mark_decades
from preftd._src.style import MARK, RC, Band
from preftd._src.theory.crossing import CrossingView
from preftd.learners import Linear
from preftd.preferences import Observability
from preftd.rules import PTD
from preftd.tasks import make

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


EXACT = np.geomspace(0.01, 1.9, 36)
"""Step sizes of exact lines."""
HIGHEST = 20.0
"""Larger errors are not drawn."""
SHOWN = ("held", "online")
"""Learners in the order of drawing."""
ACROSS = "step size"
INCHES = (5.4, 4.2)
NOTE = (
    "Lines: exact (theory.steady_state), up to where the variance grows without bound. Markers: "
    f"mean of {MORE_SEEDS} seeds over the last {(1 - SETTLED) * EPISODES:,.0f} of {EPISODES:,} "
    f"episodes, with {LEVEL * 100:g} % intervals (Student), most of them smaller than the marker. "
    "True online learning has the errors of the held view."
)


def _steady(results: Found) -> Figure:
    """Errors that remain by step size, a row for each task and a panel for each length."""
    with mpl.rc_context(RC):
        figure = Figure(figsize=INCHES, layout="constrained")
        every = figure.subplots(len(TASKS), len(LENGTHS), sharex=True, sharey="row")
        for row, task in zip(every, TASKS, strict=True):
            for axes, length in zip(row, LENGTHS, strict=True):
                for label in SHOWN:
                    _draw_exact(axes, task, length, label)
                    _draw_found(axes, results[STEADY[task]], length, label)
                axes.set(xscale="log", yscale="log", xlim=(EXACT[0], 2.0))
                axes.set_ylim(top=HIGHEST)
                axes.set_xticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
                axes.tick_params(labelsize=8)
                axes.set_title(f"length {length}", loc="left")
            mark_decades(row[0].yaxis)
            row[0].set_ylabel(f"{title_of(task)}\nmean squared error left", fontsize=8)
        for axes in every[-1]:
            axes.set_xlabel("constant step size", fontsize=8)
        figure.axes[0].legend(frameon=False, fontsize=SIZE, loc="upper left", handlelength=3.5)
        write_note(figure, NOTE)
    return figure


def _draw_exact(axes: Axes, task: str, length: int, label: str) -> None:
    look, width = form_look("PTD", label), FORMS[label].width
    every = (steady_error(task, length, label, alpha) for alpha in EXACT.tolist())
    errors = np.array(list(takewhile(np.isfinite, every)))
    x, unknown = EXACT[: errors.size], np.full(errors.size, np.nan)
    drawn = axes.plot(x, errors, color=look.colour, linestyle=look.line, linewidth=width)
    attach(drawn, Shown(f"{label}, exact", "PTD", Band(x, errors, unknown, unknown), ACROSS))
    # A line of the legend has the marker of its points.
    axes.plot([], [], color=look.colour, lw=width, marker=look.marker, ms=MARK + 1, label=label)


def _draw_found(axes: Axes, results: Results, length: int, label: str) -> None:
    found = list[tuple[float, float, float]]()
    for alpha in STEP_SIZES:
        runs = rows(results.tried, task=at_length(length), learner=label, step_size=alpha)
        values: Vector = part(runs, SETTLED, 1.0).values
        if np.isfinite(values).all():  # otherwise some diverged
            mean, half_width = student(values, LEVEL)
            found.append((alpha, float(mean), float(half_width)))
    if not found:
        return
    x, centre, half = np.array(found).T
    look = form_look("PTD", label)
    drawn = axes.errorbar(
        x,
        centre,
        half,
        color=look.colour,
        linestyle="none",
        marker=look.marker,
        markersize=MARK + 1,
        elinewidth=0.8,
    )
    band = Band(x, centre, centre - half, centre + half)
    attach(drawn.get_children(), Shown(f"{label}, measured", "PTD", band, ACROSS))


FIGURES = (
    PaperFigure(
        "steady",
        STUDIES,
        _steady,
    ),
)
