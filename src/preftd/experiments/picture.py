"""Pictures of evaluations."""

from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.experiments.evaluation import as_vector, size_of
from preftd.style import RC, look_of

if TYPE_CHECKING:
    from preftd.experiments.evaluation import Evaluation

SHADE = 0.2


def draw_curve(found: "Evaluation", axes: Axes | None, level: float) -> Axes:
    """The best step size's error after each episode."""
    with mpl.rc_context(RC):
        axes = axes or Figure(figsize=(4, 3), layout="constrained").subplots()
        mean, width = (part[found.best] for part in found.curve(level))
        episodes, look = np.arange(1, mean.size + 1), look_of(found.name)
        label = f"{found.name}, α = {size_of(found.best_step_size):g}"
        axes.plot(episodes, mean, color=look.colour, linestyle=look.line, label=label)
        if np.isfinite(width).all():
            below, above = mean - width, mean + width
            axes.fill_between(episodes, below, above, color=look.colour, alpha=SHADE, linewidth=0)
        axes.set(xlabel="episode", ylabel="mean squared error")
        axes.legend(frameon=False)
    return axes


def draw_step_sizes(found: "Evaluation", axes: Axes | None, level: float) -> Axes:
    """The error over all episodes against the step size."""
    with mpl.rc_context(RC):
        axes = axes or Figure(figsize=(4, 3), layout="constrained").subplots()
        order = np.argsort(as_vector(found.step_sizes))
        sizes = as_vector(found.step_sizes)[order]
        mean, width = (part[order] for part in found.average(level))
        look, finite = look_of(found.name), np.isfinite(mean)
        shown = np.where(finite, mean, np.nan)
        axes.plot(
            sizes, shown, color=look.colour, linestyle=look.line, marker=".", label=found.name
        )
        if np.isfinite(width[finite]).all():
            below, above = shown - width, shown + width
            axes.fill_between(
                sizes, below, above, where=finite, color=look.colour, alpha=SHADE, linewidth=0
            )
        lost = sizes[~finite]
        if lost.size:
            # At the upper edge, whatever the range: these have no error that could be drawn.
            axes.plot(
                lost,
                np.full(lost.size, 0.98),
                color=look.colour,
                marker="x",
                linestyle="none",
                transform=axes.get_xaxis_transform(),
                label=f"{found.name}: diverged",
            )
        axes.set(xscale="log", xlabel="step size α", ylabel="mean squared error, all episodes")
        axes.legend(frameon=False)
    return axes
