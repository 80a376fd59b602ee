"""How things look: one colour and line per method everywhere, legible in greyscale."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from preftd.arrays import InputError
from preftd.files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox


WIDTH = 1.2
"""Of lines, in points."""
PAD = 0.1
"""Around a figure, in inches."""


class Look(NamedTuple):
    """How a method is drawn."""

    colour: str
    line: str | tuple[float, tuple[float, ...]]
    hatch: str
    marker: str


LOOKS = {
    "TD(λ)": Look("#D55E00", (0, (5, 1.5)), "////", "s"),
    "ETD": Look("#0072B2", (0, (1.5, 1.2)), "....", "^"),
    "ETD-fixed": Look("#00508A", (0, (1, 1)), "||||", "v"),
    "ETD-variable": Look("#56B4E9", (0, (6, 1.2, 1.5, 1.2)), "xxxx", "D"),
    "PTD": Look("#111111", "solid", "", "o"),
}
"""By name of a rule, and of the paper's two ways to set the interest of ETD."""


OTHERS = (
    Look("#009E73", (0, (4, 2, 1, 2)), "\\\\\\\\", "P"),
    Look("#CC79A7", (0, (9, 2)), "++++", "*"),
    Look("#E69F00", (0, (3, 1, 1, 1, 1, 1)), "ooo", "<"),
    Look("#882255", (0, (3, 3)), "----", ">"),
)
"""For methods of one's own, by their names; colours that colour-blind people tell apart, from each
other and from those of LOOKS."""


def look_of(name: str, taken: Collection[Look] = ()) -> Look:
    """The look of a method; for one that has none in LOOKS, one of OTHERS follows from its name.

    If that is taken, it is the next of OTHERS that is not, unless all are.
    """
    if name in LOOKS:
        return LOOKS[name]
    first = crc32(name.encode()) % len(OTHERS)  # the same in every process, unlike hash()
    turns = OTHERS[first:] + OTHERS[:first]
    return next((look for look in turns if look not in taken), turns[0])


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Looks of methods that are shown together, whatever their order.

    Of methods with the same look the first by name keeps it, and the others take one that is left.
    Those for which none is left come last.

    >>> looks_of(["mine", "PTD"]) == {"PTD": LOOKS["PTD"], "mine": look_of("mine")}
    True
    """
    every = sorted(set(names))
    keeps = {look_of(name): name for name in reversed(every)}
    found: dict[str, Look] = {}
    for name in sorted(every, key=lambda name: keeps[look_of(name)] != name):
        found[name] = look_of(name, found.values())
    return found


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
TYPED: Any = {"parse_math": False}
"""For texts with names of users, which are shown as typed: dollars are no mathematics."""


def save_figure(axes: "Axes", *paths: Path) -> None:
    """Write the figure that holds these axes to PNG, SVG or PDF files."""
    for path in paths:
        if path.suffix not in (".png", ".svg", ".pdf"):
            raise InputError(f"{path} is none of .png, .svg and .pdf: choose one of these endings.")
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    with _laid_out(figure) as box:
        for path in paths:
            look = {"dpi": RC["savefig.dpi"], "bbox_inches": box, "format": path.suffix[1:]}
            if path.suffix == ".svg":
                look["metadata"] = {"Date": None}
            write_whole(path, partial(figure.savefig, **look))


def lay_out(figure: "Figure") -> None:
    """Give axes their places, without the drawing that would do so too."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


@contextmanager
def _laid_out(figure: "Figure") -> "Iterator[Bbox]":
    """The part of a figure that is drawn on, in inches; places are kept until all is written.

    Otherwise matplotlib finds both out anew for each file, and draws everything twice to do so.
    """
    from matplotlib import rc_context  # noqa: PLC0415  (slow to load)

    lay_out(figure)
    box = figure.get_tightbbox().padded(PAD)
    engine = figure.get_layout_engine()
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # which asks these settings
    try:
        yield box
    finally:
        if engine is not None:
            figure.set_layout_engine(engine)
