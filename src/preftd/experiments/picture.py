"""Pictures of evaluations."""

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.experiments.evaluation import as_vector, size_of
from preftd.style import RC, TYPED, Look, look_of

if TYPE_CHECKING:
    from preftd.experiments.evaluation import Evaluation

SHADE = 0.2
_DRAWN: WeakKeyDictionary[Axes, dict[str, Look]] = WeakKeyDictionary()
"""Looks of rules that are in a picture already: each evaluation is added by a call of its own."""


def draw_curve(found: "Evaluation", axes: Axes | None, level: float) -> Axes:
    """The best step size's error after each episode."""
    with mpl.rc_context(RC):
        axes = axes or Figure(figsize=(4, 3), layout="constrained").subplots()
        look = _look(found.rule, axes)
        if found.diverged.any(axis=0).all():
            axes.plot([], [], color=look.colour, label=f"{found.name}: diverged")
            _legend(axes)
            return axes
        mean, width = (part[found.best] for part in found.curve(level))
        episodes = np.arange(1, mean.size + 1)
        label = f"{found.name}, α = {size_of(found.best_step_size):g}"
        style: Any = {"color": look.colour, "linestyle": look.line, "linewidth": _width(found)}
        axes.plot(episodes, mean, label=label, **style)
        if np.isfinite(width).all():
            below, above = mean - width, mean + width
            axes.fill_between(episodes, below, above, color=look.colour, alpha=SHADE, linewidth=0)
        axes.set(xlabel="episode", ylabel="mean squared error")
        _legend(axes)
    return axes


def draw_step_sizes(found: "Evaluation", axes: Axes | None, level: float) -> Axes:
    """The error over all episodes against the step size."""
    with mpl.rc_context(RC):
        axes = axes or Figure(figsize=(4, 3), layout="constrained").subplots()
        order = np.argsort(as_vector(found.step_sizes))
        sizes = as_vector(found.step_sizes)[order]
        mean, width = (part[order] for part in found.average(level))
        look, finite = _look(found.rule, axes), ~np.any(found.diverged[:, order], axis=0)
        shown = np.where(finite, mean, np.nan)
        style: Any = {"color": look.colour, "linestyle": look.line, "linewidth": _width(found)}
        axes.plot(sizes, shown, marker=".", label=found.name, **style)
        if np.isfinite(width[finite]).all():
            # An interval that reaches below 0 is cut off: a logarithmic axis has no room there.
            below, above = shown - width, shown + width
            below[below <= 0] = shown[below <= 0] / 10
            axes.fill_between(
                sizes, below, above, where=finite, color=look.colour, alpha=SHADE, linewidth=0
            )
        lost = sizes[~finite]
        if lost.size:
            # At the upper edge, whatever the range: these have no error that could be drawn. Those
            # of another evaluation in the same picture stay visible above.
            rows = sum(line.get_marker() == "x" for line in axes.lines)
            axes.plot(
                lost,
                np.full(lost.size, 0.98 - 0.06 * rows),
                color=look.colour,
                marker="x",
                linestyle="none",
                transform=axes.get_xaxis_transform(),
                label=f"{found.name}: diverged",
            )
        axes.set(xscale="log", xlabel="step size α")
        axes.set(yscale="log", ylabel="mean squared error, all episodes")
        _legend(axes)
    return axes


def _legend(axes: Axes) -> None:
    for text in axes.legend(frameon=False).get_texts():
        text.set(**TYPED)


def _look(rule: str, axes: Axes) -> Look:
    """The look of a rule, other than that of the other rules in the picture."""
    drawn = _DRAWN.setdefault(axes, {})
    if rule not in drawn:
        drawn[rule] = look_of(rule, drawn.values())
    return drawn[rule]


def _width(found: "Evaluation") -> float:
    """Colour and line belong to the rule; other learners than the paper's are drawn thicker."""
    return 2.8 if found.learner else 1.5
