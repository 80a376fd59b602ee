"""Titles of panels, in lines that are no wider than their column of panels."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from preftd.report.figures.layout import TITLE, grow
from preftd.style import TYPED

GAP = 6.0
"""Points between a title and the panel beside it."""
MARK = "title of a panel"
"""By which titles that may be wrapped are found again."""


def write_title(axes: Axes, title: str, pad: float | None = None) -> None:
    """Above axes, so many points if given; to be fitted when axes have their places."""
    axes.set_title(title, loc="left", pad=pad, **TYPED).set_label(MARK)


def fit_titles(figure: Figure, every: Sequence[Axes]) -> bool:
    """Wrap titles where axes begin that are beside theirs; whether the figure grew by that.

    Axes have their places across already, which titles do not change.
    """
    lines = {axes: _title(axes).get_text().count("\n") for axes in every if _titles(axes)}
    room, more = max(lines.values(), default=0), dict[int, int]()
    for axes in lines:
        title = _title(axes)
        told, width = title.get_text().split("\n"), partial(_width, title)
        parts = [wrapped(part, _room(figure, axes), width) for part in told]
        title.set_text("\n".join(line for some in parts for line in some))
        place = axes.get_subplotspec()
        row = place.rowspan.start if place else 0
        more[row] = max(more.get(row, 0), title.get_text().count("\n") - room)
    grow(figure, TITLE * sum(more.values()))
    return any(more.values())


def wrapped(text: str, room: float, width: Callable[[str], float]) -> list[str]:
    """Lines of a text that are no wider than the room, broken at spaces, or else in words.

    >>> wrapped("a corridor of length 5", 8, len)
    ['a', 'corridor', 'of', 'length 5']
    >>> wrapped("corridor(length=5)", 8, len)
    ['corridor', '(length=', '5)']
    """
    lines = []
    while len(text) > 1 and width(text) > room:
        fitting = bisect_right(range(1, len(text)), room, key=lambda n: width(text[:n]))
        most = max(1, fitting)
        space = text.rfind(" ", 1, most + 1)
        end = space if space > 0 else most
        lines.append(text[:end].rstrip())
        text = text[end:].lstrip()
    return [*lines, text]


def _titles(axes: Axes) -> list[Text]:
    return [one for one in axes.get_children() if isinstance(one, Text) and one.get_label() == MARK]


def _title(axes: Axes) -> Text:
    return _titles(axes)[0]


def _width(title: Text, text: str) -> float:
    """Points across a text, in the letters of a title: as drawn, which is wider than designed."""
    title.set_text(text)
    figure: Any = title.get_figure(root=True)
    return float(title.get_window_extent().width * 72 / figure.dpi)


def _room(figure: Figure, axes: Axes) -> float:
    """Points from where axes begin to the next column of panels, or to the end of the figure."""
    begins = axes.get_window_extent().x0
    others = [one.get_window_extent().x0 for one in figure.axes]
    ends = min((x for x in others if x > begins + 1), default=figure.bbox.width)
    return float(ends - begins) * 72 / figure.dpi - GAP
