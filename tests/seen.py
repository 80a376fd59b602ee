"""What is to be seen in a figure."""

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.text import Text

from preftd._src.experiments.results import Results
from preftd._src.report.figures.study import FIGURES


def texts(figure: Figure) -> list[Text]:
    """All that is to be seen: labels of ticks beyond the ends of an axis are not."""
    hidden: set[Any] = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = axis.get_view_interval()
            ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
            hidden |= {
                t.label1 for t in ticks if not min(low, high) <= t.get_loc() <= max(low, high)
            }
    found: Any = figure.findobj(Text)
    return [text for text in found if text.get_text().strip() and text not in hidden]


def written(figure: Figure) -> set[str]:
    return {text.get_text() for text in texts(figure)}


def lines_of(figure: Figure, panel: int, points: int) -> list[Any]:
    """Lines of a panel with `points` points or more."""
    return [
        line for line in figure.axes[panel].lines if len(np.atleast_1d(line.get_xdata())) >= points
    ]


def check_texts(figure: Figure) -> None:
    """No text lies over another, or outside."""
    figure.draw_without_rendering()  # some texts find their place only then
    # A hair's breadth less: boxes of letters have an empty edge.
    boxes = [(text.get_text(), text.get_window_extent().padded(-1)) for text in texts(figure)]
    shown = [(text, box) for text, box in boxes if box.width > 0 and box.height > 0]
    for (one, box), (other, another) in combinations(shown, 2):
        assert not box.overlaps(another), (one, other)
    wide = figure.bbox.width * 1.1  # what is a little wider is not cut off when it is saved
    assert all(box.x0 >= -1 and box.x1 <= wide and box.y0 >= -1 for _, box in shown)


def drawn(name: str, results: Results) -> Figure:
    """A figure at its final size."""
    figure = FIGURES[name](results)
    figure.draw_without_rendering()
    return figure
