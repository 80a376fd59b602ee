"""Figures of single evaluations; several can be drawn into the same axes by several calls."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from preftd.experiments.evaluation import size_of
from preftd.report.figures.lines import draw_line
from preftd.report.figures.panels import Line
from preftd.style import RC, TYPED, WIDTH, Look, look_of

if TYPE_CHECKING:
    from preftd.arrays import Vector
    from preftd.experiments.evaluation import Evaluation
    from preftd.experiments.intervals import Interval

_LOOKS: WeakKeyDictionary[Axes, dict[str, Look]] = WeakKeyDictionary()
"""Looks of rules that earlier calls have drawn, by axes."""


def draw_curve(found: Evaluation, axes: Axes | None, level: float) -> Axes:
    """Draw the error of each episode with the best step size, into new axes by default."""
    with mpl.rc_context(RC):
        axes = axes or _new_axes()
        if found.diverged.any(axis=0).all():
            axes.plot([], [], color=_look(found.rule, axes).colour, label=f"{found.name}: diverged")
        else:
            mean, width = found.curve(level)
            episodes = np.arange(1.0, mean.shape[1] + 1)
            size = size_of(found.best_step_size)
            label = found.name if size is None else f"{found.name}, α = {size:g}"
            line = _line(found, axes, label, episodes, (mean[found.best], width[found.best]))
            draw_line(axes, line, "x", line.rows, marked=False)
            axes.lines[-1].set_label(label)
        axes.set(xlabel="episode", ylabel="mean squared error")
        _write_legend(axes)
    return axes


def draw_step_sizes(found: Evaluation, axes: Axes | None, level: float) -> Axes:
    """Draw the error over all episodes against the step size, into new axes by default."""
    with mpl.rc_context(RC):
        axes = axes or _new_axes()
        sizes = np.array([size_of(alpha) or np.nan for alpha in found.step_sizes])
        fine = ~found.diverged.any(axis=0)
        line = _line(found, axes, found.name, sizes, found.average(level))
        axes.set(xscale="log", xlabel="step size α")
        axes.set(yscale="log", ylabel="mean squared error, all episodes")
        draw_line(axes, line, "x", line.rows.filter(pl.Series(fine)), marked=True)
        axes.lines[-1].set_label(found.name)
        if not fine.all():
            # At the upper edge, below the crosses of other evaluations.
            rows = sum(drawn.get_marker() == "x" for drawn in axes.lines)
            axes.plot(
                np.sort(sizes[~fine]),
                np.full((~fine).sum(), 0.98 - 0.06 * rows),
                color=line.look.colour,
                marker="x",
                linestyle="none",
                transform=axes.get_xaxis_transform(),
                label=f"{found.name}: diverged",
            )
        _write_legend(axes)
    return axes


def _new_axes() -> Axes:
    return Figure(figsize=(4, 3), layout="constrained").subplots()


def _line(
    found: Evaluation, axes: Axes, label: str, x: Vector, numbers: Interval | tuple[Vector, Vector]
) -> Line:
    """A line of means with intervals; thick if the learner is not the default one."""
    mean, width = numbers
    with np.errstate(invalid="ignore"):  # an infinite mean less an infinite width
        rows = pl.DataFrame({"x": x, "centre": mean, "low": mean - width, "high": mean + width})
    return Line(label, _look(found.rule, axes), rows, 2 * WIDTH if found.learner else WIDTH)


def _look(rule: str, axes: Axes) -> Look:
    """The look of a rule, different from those of other rules in the same axes."""
    drawn = _LOOKS.setdefault(axes, {})
    if rule not in drawn:
        drawn[rule] = look_of(rule, drawn.values())
    return drawn[rule]


def _write_legend(axes: Axes) -> None:
    for text in axes.legend(frameon=False).get_texts():
        text.set(**TYPED)
