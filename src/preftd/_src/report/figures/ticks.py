"""Ticks of step-size axes: the step sizes if their labels fit, otherwise powers of ten."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import Formatter, Locator, NullLocator

from preftd._src.arrays import Vector
from preftd._src.style import RAISED, number_text

LETTER = 0.6
"""The width of a letter, as a share of the font size."""
GAP = 5.0
"""The gap between labels, in points."""
SIZE = 7.5
"""The font size, in points."""
POWER = 18.0
"""The width of the label of a power of ten, in points."""


def mark_step_sizes(axes: Axes, sizes: Vector) -> None:
    """Set the ticks of a horizontal logarithmic axis, without minor ticks."""
    axes.xaxis.set_major_locator(_StepSizes(np.unique(sizes)))
    axes.xaxis.set_major_formatter(_Label())
    axes.xaxis.set_minor_locator(NullLocator())


def mark_decades(axis: Axis) -> None:
    """Label powers of ten on a logarithmic axis of several decades, without minor ticks."""
    axis.set_major_formatter(power_of_ten)
    axis.set_minor_locator(NullLocator())


def chosen_ticks(sizes: Vector, low: float, high: float, length: float) -> Vector:
    """Return the ticks of a logarithmic axis: all step sizes, powers of ten, or some step sizes.

    Powers of ten are used if the labels of all step sizes do not fit; some of the step sizes if the
    axis has fewer than two powers of ten.

    Parameters
    ----------
    sizes : array of shape (n,)
        Step sizes, in increasing order.
    low, high : float
        The ends of the axis.
    length : float
        The length of the axis, in points.

    Returns
    -------
    array of shape (m,)
        Ticks in increasing order.

    Examples
    --------
    >>> chosen_ticks(np.array([0.03, 0.3]), 0.025, 0.36, length=100.0)
    array([0.03, 0.3 ])
    >>> chosen_ticks(2.0 ** np.arange(-9, 1), 0.0016, 1.2, length=100.0)
    array([0.01, 0.1 , 1.  ])
    >>> chosen_ticks(2.0 ** np.arange(-12, 4), 0.0002, 12.0, length=70.0)
    array([0.01, 1.  ])

    """
    thinned = _without_overlap(sizes, low, high, length)
    if thinned.size == sizes.size:
        return thinned
    powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
    # Every power, or every second, and so on, as many as fit.
    stride = np.ceil((POWER + GAP) * np.log10(high / low) / length)
    regular = 10.0 ** powers[powers % stride == 0]
    return regular if regular.size > 1 else thinned


def _without_overlap(values: Vector, low: float, high: float, length: float) -> Vector:
    """Values whose labels do not overlap, chosen from the largest downwards."""
    positions = np.log(values / low) / np.log(high / low) * length
    widths = np.array([LETTER * SIZE * len(number_text(value)) for value in values])
    kept: list[int] = []
    for i in reversed(range(values.size)):
        least = (widths[kept[-1]] + widths[i]) / 2 + GAP if kept else 0.0
        if not kept or positions[kept[-1]] - positions[i] >= least:
            kept.append(i)
    return values[kept[::-1]]


def _is_power_of_ten(value: float) -> bool:
    return bool(np.isclose(np.log10(value), np.round(np.log10(value)), atol=1e-9))


def power_of_ten(value: float, _: object = None) -> str:
    """Return a power of ten as plain text, which is laid out much faster than a formula.

    Examples
    --------
    >>> power_of_ten(0.001)
    '10⁻³'

    """
    return "10" + str(round(np.log10(value))).translate(RAISED)


class _StepSizes(Locator):
    """Chooses ticks again whenever the axes change their size."""

    def __init__(self, sizes: Vector) -> None:
        self._sizes = sizes

    def __call__(self) -> Any:
        axis: Any = self.axis
        low, high = axis.get_view_interval()
        figure = axis.axes.get_figure(root=True)
        length = axis.axes.get_window_extent().width * 72 / figure.dpi
        return chosen_ticks(self._sizes, low, high, length)


class _Label(Formatter):
    """Writes powers of ten if all ticks are powers of ten, otherwise plain numbers."""

    def set_locs(self, locs: Any) -> None:
        self._powers = all(_is_power_of_ten(value) for value in locs)

    def __call__(self, x: float, pos: Any = None) -> str:
        return power_of_ten(x, pos) if self._powers else number_text(x)
