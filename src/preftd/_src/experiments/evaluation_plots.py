"""Figures of single evaluations; several can be drawn into the same axes by several calls."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes

from preftd._src.arrays import InputError
from preftd._src.experiments.evaluation import size_of
from preftd._src.style import RC, TYPED, WIDTH, Band, Look, axes_or_new, draw_band, look_of

if TYPE_CHECKING:
    from preftd._src.arrays import Vector
    from preftd._src.experiments.evaluation import Evaluation

_LOOKS: WeakKeyDictionary[Axes, dict[tuple[str, str], Look]] = WeakKeyDictionary()
"""Looks of rules and learners that earlier calls have drawn, by axes."""


def draw_curve(found: Evaluation, axes: Axes | None, level: float) -> Axes:
    """Draw the error of each episode with the best step size, into new axes by default."""
    with mpl.rc_context(RC):
        axes = axes_or_new(axes, 4, 3)
        if found.diverged.any(axis=0).all():
            axes.plot([], [], color=_look(found, axes).colour, label=f"{found.name}: diverged")
        else:
            mean, width = found.curve(level)
            episodes = np.arange(1.0, mean.shape[1] + 1)
            size = size_of(found.best_step_size)
            label = found.name if size is None else f"{found.name}, α = {size:g}"
            _draw(found, axes, label, episodes, mean[found.best], width[found.best], marked=False)
        axes.set(xlabel="episode", ylabel="mean squared error")
        _write_legend(axes)
    return axes


def draw_step_sizes(found: Evaluation, axes: Axes | None, level: float) -> Axes:
    """Draw the error over all episodes against the step size, into new axes by default."""
    if found.step_sizes == (None,):
        raise InputError(f"{found.name} has no step size: draw its learning curve with plot().")
    with mpl.rc_context(RC):
        axes = axes_or_new(axes, 4, 3)
        sizes = np.array([size_of(alpha) for alpha in found.step_sizes], dtype=np.float64)
        order = np.argsort(sizes)
        fine = ~np.any(found.diverged[:, order], axis=0)
        sizes, (mean, width) = sizes[order], (part[order] for part in found.average(level))
        axes.set(xscale="log", xlabel="step size α")
        axes.set(yscale="log", ylabel="mean squared error, all episodes")
        _draw(found, axes, found.name, sizes[fine], mean[fine], width[fine], marked=True)
        if not fine.all():
            # At the upper edge, below the crosses of other evaluations.
            rows = sum(drawn.get_marker() == "x" for drawn in axes.lines)
            axes.plot(
                sizes[~fine],
                np.full((~fine).sum(), 0.98 - 0.06 * rows),
                color=_look(found, axes).colour,
                marker="x",
                linestyle="none",
                transform=axes.get_xaxis_transform(),
                label=f"{found.name}: diverged",
            )
        _write_legend(axes)
    return axes


def _draw(
    found: Evaluation,
    axes: Axes,
    label: str,
    x: Vector,
    mean: Vector,
    width: Vector,
    *,
    marked: bool,
) -> None:
    """Draw means with intervals; thick if the learner is not the default one."""
    with np.errstate(invalid="ignore"):  # an infinite mean less an infinite width
        band = Band(x, mean, mean - width, mean + width)
    thick = 2 * WIDTH if found.learner else WIDTH
    before = len(axes.lines)
    draw_band(axes, _look(found, axes), band, thick, marked=marked)
    axes.lines[before].set_label(label)


def _look(found: Evaluation, axes: Axes) -> Look:
    """The rule's look for its first learner in the axes, another one for each further learner."""
    drawn = _LOOKS.setdefault(axes, {})
    key = (found.rule, found.learner)
    if key not in drawn:
        known = any(rule == found.rule for rule, _ in drawn)
        drawn[key] = look_of(found.name if known else found.rule, drawn.values())
    return drawn[key]


def _write_legend(axes: Axes) -> None:
    for text in axes.legend(frameon=False).get_texts():
        text.set(**TYPED)
