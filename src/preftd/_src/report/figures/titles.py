"""Titles of panels, wrapped to the width of their column of panels."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from preftd._src.report.figures.layout import TITLE, grow
from preftd._src.style import TYPED

GAP = 6.0
"""The gap between a title and the next panel, in points."""
MARK = "title of a panel"
"""The label of title artists, by which they are found again."""


def write_title(axes: Axes, title: str, pad: float | None = None) -> None:
    """Write a title above axes, at a distance of `pad` points; wrap it later with `fit_titles`."""
    axes.set_title(title, loc="left", pad=pad, **TYPED).set_label(MARK)


def fit_titles(figure: Figure, every: Sequence[Axes]) -> bool:
    """Wrap titles at the next column of panels; return whether the figure grew.

    Call it when the horizontal positions of axes are final; titles do not change them.
    """
    lines = {axes: _title(axes).get_text().count("\n") for axes in every if _titles(axes)}
    planned, more = max(lines.values(), default=0), dict[int, int]()
    for axes in lines:
        title = _title(axes)
        paragraphs, width = title.get_text().split("\n"), partial(_width, title)
        parts = [wrapped(part, _available(figure, axes), width) for part in paragraphs]
        title.set_text("\n".join(line for some in parts for line in some))
        spec = axes.get_subplotspec()
        row = spec.rowspan.start if spec else 0
        more[row] = max(more.get(row, 0), title.get_text().count("\n") - planned)
    grow(figure, TITLE * sum(more.values()))
    return any(more.values())


def wrapped(text: str, available: float, width: Callable[[str], float]) -> list[str]:
    """Return the lines of a text, broken at spaces, or inside words that are too long.

    Parameters
    ----------
    text : str
    available : float
        The largest width of a line.
    width : callable
        Returns the width of a string, in the unit of `available`.

    Examples
    --------
    >>> wrapped("a corridor of length 5", 8, len)
    ['a', 'corridor', 'of', 'length 5']
    >>> wrapped("corridor(length=5)", 8, len)
    ['corridor', '(length=', '5)']

    """
    lines = []
    while len(text) > 1 and width(text) > available:
        fits = bisect_right(range(1, len(text)), available, key=lambda n: width(text[:n]))
        most = max(1, fits)
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
    """The width of a text in the font of a title, as drawn, in points."""
    title.set_text(text)
    figure: Any = title.get_figure(root=True)
    return float(title.get_window_extent().width * 72 / figure.dpi)


def _available(figure: Figure, axes: Axes) -> float:
    """Points from the left of axes to the next column of panels, or to the end of the figure."""
    start = axes.get_window_extent().x0
    others = [one.get_window_extent().x0 for one in figure.axes]
    end = min((x for x in others if x > start + 1), default=figure.bbox.width)
    return float(end - start) * 72 / figure.dpi - GAP
