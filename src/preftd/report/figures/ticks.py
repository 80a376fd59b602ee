"""Ticks of step sizes: those that were tried if their labels have room, otherwise decades."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import Formatter, Locator, NullLocator

from preftd.arrays import Vector

LETTER = 0.6
"""Width of a letter, as a part of the size of letters."""
GAP = 5.0
"""Points between labels."""
SIZE = 7.5
"""Of the letters, in points."""
POWER = 18.0
"""Width of the label of a decade, in points."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def mark_step_sizes(axes: Axes, sizes: Vector) -> None:
    """Label a logarithmic axis across, and mark nothing between its labels."""
    axes.xaxis.set_major_locator(_StepSizes(np.unique(sizes)))
    axes.xaxis.set_major_formatter(_Label())
    axes.xaxis.set_minor_locator(NullLocator())


def mark_decades(axis: Axis) -> None:
    """Label powers of ten on a logarithmic axis of several decades, and mark nothing between."""
    axis.set_major_formatter(power_of_ten)
    axis.set_minor_locator(NullLocator())


def chosen_ticks(sizes: Vector, low: float, high: float, room: float) -> Vector:
    """Ticks from low to high on a logarithmic axis that is so many points long.

    Step sizes within less than two decades, when there is no room for all, are thinned.

    >>> chosen_ticks(np.array([0.03, 0.3]), 0.025, 0.36, room=100.0)
    array([0.03, 0.3 ])
    >>> chosen_ticks(2.0 ** np.arange(-9, 1), 0.0016, 1.2, room=100.0)
    array([0.01, 0.1 , 1.  ])
    >>> chosen_ticks(2.0 ** np.arange(-12, 4), 0.0002, 12.0, room=70.0)
    array([0.01, 1.  ])
    """
    thinned = _apart(sizes, low, high, room)
    if thinned.size == sizes.size:
        return thinned
    powers = np.arange(np.ceil(np.log10(low)), np.floor(np.log10(high)) + 1)
    # Every decade, or every second, and so on, as far as there is room.
    stride = np.ceil((POWER + GAP) * np.log10(high / low) / room)
    regular = 10.0 ** powers[powers % stride == 0]
    return regular if regular.size > 1 else thinned


def _apart(values: Vector, low: float, high: float, room: float) -> Vector:
    """Values whose labels have room beside each other, from the largest on."""
    places = np.log(values / low) / np.log(high / low) * room
    widths = np.array([LETTER * SIZE * len(_named(value)) for value in values])
    kept: list[int] = []
    for i in reversed(range(values.size)):
        if not kept or places[kept[-1]] - places[i] >= (widths[kept[-1]] + widths[i]) / 2 + GAP:
            kept.append(i)
    return values[kept[::-1]]


def _named(value: float) -> str:
    return f"{value:.3g}"


def _power(value: float) -> bool:
    return bool(np.isclose(np.log10(value), np.round(np.log10(value)), atol=1e-9))


def power_of_ten(value: float, _: object = None) -> str:
    """As plain text, which is laid out much faster than a formula.

    >>> power_of_ten(0.001)
    '10⁻³'
    """
    return "10" + str(round(np.log10(value))).translate(RAISED)


class _StepSizes(Locator):
    """Chosen anew whenever the axes change their size."""

    def __init__(self, sizes: Vector) -> None:
        self._sizes = sizes

    def __call__(self) -> Any:
        axis: Any = self.axis
        low, high = axis.get_view_interval()
        figure = axis.axes.get_figure(root=True)
        room = axis.axes.get_window_extent().width * 72 / figure.dpi
        return chosen_ticks(self._sizes, low, high, room)


class _Label(Formatter):
    """Powers of ten if all are, otherwise numbers."""

    def set_locs(self, locs: Any) -> None:
        self._powers = all(_power(value) for value in locs)

    def __call__(self, x: float, pos: Any = None) -> str:
        return power_of_ten(x, pos) if self._powers else _named(x)
