"""What tests of the paper's figures look at."""

from typing import Any

from matplotlib.figure import Figure


def curves(axes: Any) -> list[Any]:
    """Lines through data: no leads to names, no limits."""
    return [
        line
        for line in axes.lines
        if line.get_transform() == axes.transData and len(line.get_xdata()) > 2
    ]


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]
