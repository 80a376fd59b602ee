"""A figure beyond the paper: the weight of a preferred state while a corridor is crossed.

One corridor of the paper's kind: S, hidden states that show noise, and G, which pays 1. G is known.
Simulated lines come from the readable reference of each view, means and bands from exact theory.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd._src.arrays import Dense, Vector
from preftd._src.learners.custom import Episode
from preftd._src.learners.linear import reference
from preftd._src.paper.corridors.limits import ZERO
from preftd._src.paper.figures import PaperFigure
from preftd._src.paper.study import Found
from preftd._src.report.figures.layout import write_note
from preftd._src.report.figures.lines import Shown, attach
from preftd._src.style import (
    GREY,
    HAIR,
    INK,
    LABEL_SIZE,
    LIGHT_SHADE,
    LOOKS,
    PAGE,
    RUN,
    SHADED,
    SMALL_SIZE,
    TEXT,
    THICK,
    THIN,
    Band,
    number_text,
)
from preftd._src.theory.crossing import CrossingView
from preftd.tasks import Features
from preftd.theory import Crossing, crossing

STEP_SIZE, HIDDEN, CROSSINGS, SEEDS = 0.1, 10, 60, 10
MEAN, VARIANCE = 0.5, 1.0
"""The variance of each feature of a hidden state."""
STEP_SIZES = (number_text(STEP_SIZE),)
S, G = np.eye(2)
INCHES = (PAGE, 4.3)
NOTE = (
    f"PTD with a step size of {STEP_SIZE:g}; S, {HIDDEN} hidden states that show noise of mean "
    f"{MEAN:g} and variance {VARIANCE:g}, and G, whose value of 1 is known. Thin: {SEEDS} seeds, "
    "the same in each panel of a row; thick: exact mean; band: one standard deviation, exact. "
    f"Dotted: where expected changes cancel, about {1 / (1 + STEP_SIZE * HIDDEN * VARIANCE):g}, "
    "which is 1 / (1 + step size × hidden states × variance)."
)


class Way(NamedTuple):
    """A view, its name, and its step at a hidden state."""

    view: CrossingView
    learn: Callable[[Vector, Episode, float], Dense]
    name: str
    what: str


WAYS = (
    Way(
        "backward", reference.backward, "online (Algorithm 1)", "adds, takes back with new weights"
    ),
    Way("true_online", reference.true_online, "true online", "adds, takes back the same"),
    Way("held", reference.held, "held", "adds nothing until G is reached"),
)


def one_crossing(view: CrossingView, weight: float) -> Crossing:
    """Exact moments of the change of the weight of S, if it is this at first."""
    hidden = Features(np.full((HIDDEN, 2), MEAN), covariance=np.full(HIDDEN, VARIANCE))
    return crossing(view, [weight, 1.0], S, hidden, G, STEP_SIZE)


def mean_weights(view: CrossingView, weight: float) -> Vector:
    """Exact mean of the weight of S before and after each of all crossings.

    The mean change is affine in the weight, so that it needs only the mean of the weight.
    """
    means = [weight]
    for _ in range(CROSSINGS):
        means.append(means[-1] + one_crossing(view, means[-1]).mean[-1])
    return np.array(means)


def simulated(way: Way, weight: float, seed: int, crossings: int) -> Dense:
    """The weight of S at first and after each step, shape (crossings, HIDDEN + 2)."""
    rng = np.random.default_rng(seed)
    w, found = np.array([weight, 1.0]), np.empty((crossings, HIDDEN + 2))
    for line in found:
        line[0] = w[0]
        shown = rng.normal(MEAN, np.sqrt(VARIANCE), (HIDDEN, 2))
        weights = way.learn(w, _episode(shown), STEP_SIZE)
        line[1:], w = weights[:, 0], weights[-1]
    return found


def _episode(shown: Dense) -> Episode:
    """From S to G, whose value is known; the reward of G would teach nothing."""
    steps = len(shown) + 1
    inside = np.append(0.0, np.ones(steps - 1))
    beta = 1 - inside
    return Episode(
        np.vstack([S, shown]),
        np.vstack([shown, G]),
        np.zeros(steps),
        inside,
        np.ones(steps),
        beta,
        inside,
        beta,
    )


def _leak(_: Found) -> Figure:
    """At the top one crossing from the right weight; below, many from 0."""
    figure = Figure(figsize=INCHES, layout="constrained")
    above, below = figure.subplots(2, len(WAYS), sharey="row")
    for upper, lower, way in zip(above, below, WAYS, strict=True):
        _draw_crossing(upper, way)
        _draw_learning(lower, way)
    for axes in figure.axes:
        axes.tick_params(labelsize=LABEL_SIZE)
    above[0].set_ylim(0.5, 1.4)
    for first in (above[0], below[0]):
        first.set_ylabel("weight of S (right: 1)")
    write_note(figure, NOTE)
    return figure


def _draw_crossing(axes: Axes, way: Way) -> None:
    steps = np.arange(HIDDEN + 2.0)
    axes.axvspan(0.5, HIDDEN + 0.5, color=SHADED, linewidth=0, zorder=0)
    mean, variance = one_crossing(way.view, 1.0)
    width = np.sqrt(variance)
    band = Band(steps, 1 + mean, 1 + mean - width, 1 + mean + width)
    runs = [simulated(way, 1.0, seed, 1)[0] for seed in range(SEEDS)]
    label = f"{way.name}, exact mean ± standard deviation"
    shade = axes.fill_between(steps, band.low, band.high, color=INK, alpha=LIGHT_SHADE, lw=0)
    attach([shade], label)
    _draw_lines(axes, runs, Shown(label, "PTD", band, "step", STEP_SIZES))
    axes.set_title(way.name, loc="left", pad=14)
    axes.text(0, 1.03, way.what, transform=axes.transAxes, fontsize=SMALL_SIZE, color=TEXT)
    axes.set_xticks([0, (HIDDEN + 1) / 2, HIDDEN + 1], ["S", f"{HIDDEN} hidden states", "G"])
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(0, HIDDEN + 1)
    moved = f"{number_text(mean[-1], '.2f')} ± {width[-1]:.2f}" if width[-1] > ZERO else "0"
    axes.text(
        0.5,
        0.04,
        f"change at G: {moved}",
        transform=axes.transAxes,
        ha="center",
        fontsize=LABEL_SIZE,
    )


def _draw_learning(axes: Axes, way: Way) -> None:
    count = np.arange(CROSSINGS + 1.0)
    runs = [np.append(0.0, simulated(way, 0.0, seed, CROSSINGS)[:, -1]) for seed in range(SEEDS)]
    band = Band.exact(count, mean_weights(way.view, 0.0))
    shown = Shown(f"{way.name}, exact mean", "PTD", band, "crossing", STEP_SIZES)
    _draw_lines(axes, runs, shown)
    end = still(way.view)
    if 1 - end > ZERO:
        axes.axhline(end, color=INK, linewidth=THIN, linestyle=":")
        axes.text(1.01 * CROSSINGS, end, f"{end:.2f}", fontsize=SMALL_SIZE, va="center")
    axes.set_xlim(0, CROSSINGS)
    axes.set_xlabel("crossings, on arrival in G")


def still(view: CrossingView) -> float:
    """The weight at which the expected change over a crossing, affine in it, is 0."""
    at_0, at_1 = (one_crossing(view, weight).mean[-1] for weight in (0.0, 1.0))
    return float(at_0 / (at_0 - at_1))


def _draw_lines(axes: Axes, runs: Sequence[Vector], mean: Shown) -> None:
    axes.axhline(1, color=GREY, linewidth=THIN, linestyle=(0, (4, 3)), zorder=1)
    for run in runs:
        attach(axes.plot(mean.points.x, run, color=RUN, linewidth=HAIR), mean.label)
    thick = axes.plot(mean.points.x, mean.points.centre, color=LOOKS["PTD"].colour, linewidth=THICK)
    attach(thick, mean)


FIGURES = (PaperFigure("leak", (), _leak),)
