"""How things look: one colour and line per method everywhere, legible in greyscale."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from preftd.arrays import InputError
from preftd.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    line: str | tuple[float, tuple[float, ...]]
    hatch: str


LOOKS = {
    "TD(λ)": Look("#D55E00", (0, (5, 1.5)), "////"),
    "ETD": Look("#0072B2", (0, (1.5, 1.2)), "...."),
    "PTD": Look("#111111", "solid", ""),
}


def look_of(name: str) -> Look:
    """The look of a method; grey and dash-dotted for one that has none of its own yet."""
    return LOOKS.get(name, Look("#777777", "dashdot", "xx"))


RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "savefig.dpi": 200,
    "svg.hashsalt": "preftd",
}
"""Settings of matplotlib for every figure."""


def save_figure(axes: "Axes", path: Path) -> None:
    """Write the figure that holds these axes to a PNG, SVG or PDF file."""
    if path.suffix not in (".png", ".svg", ".pdf"):
        raise InputError(f"{path} is none of .png, .svg and .pdf: choose one of these endings.")
    figure = axes.get_figure(root=True)
    if figure is not None:
        look = {"dpi": RC["savefig.dpi"], "bbox_inches": "tight", "format": path.suffix[1:]}
        if path.suffix == ".svg":
            look["metadata"] = {"Date": None}
        write_whole(path, lambda file: figure.savefig(file, **look))
