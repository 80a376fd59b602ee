"""Beyond the paper: what PTD keeps at constant step sizes, by theory and by experiment."""

from collections.abc import Sequence
from functools import cache
from itertools import takewhile

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd import theory
from preftd._src.arrays import Vector
from preftd._src.experiments.results import Results
from preftd._src.experiments.statistics import student
from preftd._src.paper.claim import Cases, Quantity, claimed, rows, tried
from preftd._src.paper.corridors.studies import (
    MORE_SEEDS,
    ROUND,
    TASKS,
    CorridorSetting,
    at_length,
    made,
    on_both,
    title_of,
)
from preftd._src.paper.figures import FORMS, PaperFigure, form_look
from preftd._src.paper.measures import part
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import LEVEL, mark_decades, write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import COLUMN, LABEL_SIZE, MARK, SMALL_SIZE, THIN, Band
from preftd._src.theory.crossing import CrossingView
from preftd.learners import Linear
from preftd.preferences import Observability
from preftd.rules import PTD

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


STEADY = on_both(
    "steady",
    CorridorSetting(
        {"PTD": PTD()},
        learners={label: Linear(view) for label, view in VIEWS.items()},
        step_sizes={"PTD": STEP_SIZES},
        lengths=LENGTHS,
        episodes=EPISODES,
        seeds=MORE_SEEDS,
    ),
)
"""PTD in three views with constant step sizes, until errors no longer change, and on."""
STUDIES = tuple(STEADY.values())


@cache
def steady_error(task: str, length: int, label: str, step_size: float) -> float:
    """The exact error in the long run; infinite if it grows without bound."""
    return theory.steady_state(
        made(task, length), PTD(), Observability(), step_size, VIEWS[label]
    ).error


EXACT = np.geomspace(0.01, 1.9, 36)
"""Step sizes of exact lines."""
HIGHEST = 20.0
"""Larger errors are not drawn."""
SHOWN = ("held", "online")
"""Learners in the order of drawing."""
ACROSS = "step size"
INCHES = (COLUMN, 4.2)
NOTE = (
    "Lines: exact (theory.steady_state), up to where the variance grows without bound. Markers: "
    f"mean of {MORE_SEEDS} seeds over the last {(1 - SETTLED) * EPISODES:,.0f} of {EPISODES:,} "
    f"episodes, with {LEVEL * 100:g} % intervals (Student), most of them smaller than the marker. "
    "True online learning has the errors of the held view."
)


def _steady(results: Found) -> Figure:
    """Errors that remain by step size, a row for each task and a panel for each length."""
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
            axes.tick_params(labelsize=LABEL_SIZE)
            axes.set_title(f"length {length}", loc="left")
        mark_decades(row[0].yaxis)
        row[0].set_ylabel(f"{title_of(task)}\nmean squared error left")
    for axes in every[-1]:
        axes.set_xlabel("constant step size")
    figure.axes[0].legend(frameon=False, fontsize=SMALL_SIZE, loc="upper left", handlelength=3.5)
    write_note(figure, NOTE)
    return figure


def _draw_exact(axes: Axes, task: str, length: int, label: str) -> None:
    look, width = form_look("PTD", label), FORMS[label].width
    every = (steady_error(task, length, label, alpha) for alpha in EXACT.tolist())
    errors = np.array(list(takewhile(np.isfinite, every)))
    x = EXACT[: errors.size]
    drawn = axes.plot(x, errors, color=look.colour, linestyle=look.line, linewidth=width)
    attach(drawn, Shown(f"{label}, exact", "PTD", Band.exact(x, errors), ACROSS))
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
        elinewidth=THIN,
    )
    band = Band(x, centre, centre - half, centre + half)
    attach(drawn.get_children(), Shown(f"{label}, measured", "PTD", band, ACROSS))


FIGURES = (PaperFigure("steady", STUDIES, _steady),)


ONLINE = STEP_SIZES[:-1]
"""Step sizes of online PTD."""


def _errors(learner: str, step_sizes: Sequence[float], *, over_exact: bool = False) -> Cases:
    """Errors of a learner in the long run, or over the exact ones."""

    def error(task: str, length: int, step_size: float) -> Quantity:
        runs = tried(STEADY[task], task=at_length(length), learner=learner, step_size=step_size)
        found = runs.by(part, SETTLED, 1.0)
        if not over_exact:
            return found
        return found.then(lambda one: one.over(steady_error(task, length, learner, step_size)))

    return Cases(
        {
            f"{title_of(task)} {length}, α = {step_size:g}": error(task, length, step_size)
            for task in TASKS
            for length in LENGTHS
            for step_size in step_sizes
        }
    )


CLAIMS = claimed(
    "corridors",
    {
        "held_error_is_exact": _errors("held", STEP_SIZES, over_exact=True),
        "online_error_is_exact": _errors("online", ONLINE, over_exact=True),
        "online_keeps_more_than_held": (
            _errors("online", [ROUND["PTD"]]) / _errors("held", [ROUND["PTD"]])
        ),
    },
)
