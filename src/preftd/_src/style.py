"""The style of figures: one colour and line per method everywhere, legible in greyscale."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from preftd._src.arrays import InputError, Vector, short
from preftd._src.files import refuse_others, write_output

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox
    from polars import DataFrame


POINTS = 72
"""Points per inch."""
WIDTH = 1.2
"""The width of lines, in points."""
PAD = 0.1
"""The margin around a figure, in inches."""


class Look(NamedTuple):
    """Colour, line, marker and hatch of a method."""

    colour: str
    line: str | tuple[float, tuple[float, ...]]
    hatch: str
    marker: str

    def line_style(self, *, marked: bool = False) -> dict[str, Any]:
        """Return arguments of matplotlib for a line, with or without markers."""
        marker = self.marker if marked else None
        return {
            "color": self.colour, "linestyle": self.line, "marker": marker, "markersize": MARK,
        }  # fmt: skip


LOOKS = {
    "TD(λ)": Look("#D55E00", (0, (5, 1.5)), "////", "s"),
    "ETD": Look("#0072B2", (0, (1.5, 1.2)), "....", "^"),
    "ETD-fixed": Look("#00508A", (0, (1, 1)), "||||", "v"),
    "ETD-variable": Look("#56B4E9", (0, (6, 1.2, 1.5, 1.2)), "xxxx", "D"),
    "PTD": Look("#111111", "solid", "", "o"),
}
"""The look of each rule, and of the paper's two interests of ETD."""


OTHERS = (
    Look("#009E73", (0, (4, 2, 1, 2)), "\\\\\\\\", "P"),
    Look("#CC79A7", (0, (9, 2)), "++++", "*"),
    Look("#E69F00", (0, (3, 1, 1, 1, 1, 1)), "ooo", "<"),
    Look("#882255", (0, (3, 3)), "----", ">"),
)
"""Looks for custom methods; colour-blind people can distinguish them and those in LOOKS."""


def look_of(name: str, taken: Collection[Look] = ()) -> Look:
    """Return the look of a method: from LOOKS, or one of OTHERS chosen by its name.

    Parameters
    ----------
    name : str
    taken : collection of Look
        Looks to avoid, as long as OTHERS has one that is free.

    """
    if name in LOOKS:
        return LOOKS[name]
    first = crc32(name.encode()) % len(OTHERS)  # the same in every process, unlike hash()
    turns = OTHERS[first:] + OTHERS[:first]
    return next((look for look in turns if look not in taken), turns[0])


def looks_of(names: Iterable[str]) -> dict[str, Look]:
    """Return looks of methods that are shown together; their order does not matter.

    If several methods have the same look, the first by name keeps it and the others get free ones,
    as long as there are any.

    Examples
    --------
    >>> looks_of(["mine", "PTD"]) == {"PTD": LOOKS["PTD"], "mine": look_of("mine")}
    True

    """
    every = sorted(set(names))
    keeps = {look_of(name): name for name in reversed(every)}
    found: dict[str, Look] = {}
    for name in sorted(every, key=lambda name: keeps[look_of(name)] != name):
        found[name] = look_of(name, found.values())
    return found


VARIANTS = (0.35, 0.5, 0.6, 0.2, 0.45)
"""Shares of white in the colours of a rule's variants; of black, if the rule's colour is light."""
LIGHT = 0.55
"""Colours above this lightness count as light: 0 is black, 1 is white."""
LINES: tuple[tuple[float, tuple[float, ...]], ...] = (
    (0, (9, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (1, 2)),
    (0, (8, 2, 2, 2, 2, 2)),
    (0, (3, 3)),
    (0, (12, 1.5, 1.5, 1.5)),
    (0, (2, 4)),
)
MARKERS = ("<", "p", "*", ">", "h", "d", "P")
"""Markers of variants; none resembles the cross that marks diverged runs."""
HATCHES = ("\\\\\\\\", "++++", "ooo", "----", "--||--", "**", "OO")


def labels(algorithms: "DataFrame", columns: Sequence[str]) -> dict[tuple[str, ...], str]:
    """Return labels of algorithms: the rule, and every other column in which they differ.

    Parameters
    ----------
    algorithms : DataFrame
        A row per run, with at least `columns`.
    columns : sequence of str
        The columns that identify an algorithm, among them "rule".

    Returns
    -------
    dict
        From the values of `columns` to a label, in the order of `algorithms`.

    Examples
    --------
    >>> from polars import DataFrame
    >>> frame = DataFrame({"rule": ["TD", "PTD"], "preference": "a", "learner": ["", "b"]})
    >>> labels(frame, ["rule", "preference", "learner"])
    {('TD', 'a', ''): 'TD', ('PTD', 'a', 'b'): 'PTD, b'}

    """
    differs = [name == "rule" or algorithms[name].n_unique() > 1 for name in columns]
    return {
        key: ", ".join(part for part, shown in zip(key, differs, strict=True) if shown and part)
        for key in algorithms.select(columns).unique(maintain_order=True).rows()
    }


def looks(algorithms: "DataFrame", columns: Sequence[str]) -> dict[tuple[str, ...], Look]:
    """Return looks of algorithms, which `columns` identify.

    The first algorithm of a rule has the look of the rule. Further ones are lighter (darker, if the
    rule is light) and have the next line, marker and hatch that no rule uses. The same holds for
    custom rules for which no look is left.

    Parameters
    ----------
    algorithms : DataFrame
        A row per run, with `columns`, "rule" and "rule_name".
    columns : sequence of str

    Returns
    -------
    dict
        From the values of `columns` to a look, in the order of `algorithms`.

    """
    known: dict[tuple[str, ...], str] = {}
    keys, named = (algorithms.select(some).rows() for some in (columns, ["rule", "rule_name"]))
    for key, (rule, name) in zip(keys, named, strict=True):
        known.setdefault(key, rule if rule in LOOKS else name)
    rules = looks_of(known.values())
    taken = [part for look in rules.values() for part in look]
    keeps = {look: name for name, look in reversed(rules.items())}
    found: dict[tuple[str, ...], Look] = {}
    before: Counter[Look] = Counter()
    # A rule whose look belongs to another rule comes after that rule, in any order.
    for own in sorted(known, key=lambda own: keeps[rules[known[own]]] != known[own]):
        look, others = rules[known[own]], len(found) - len(before)
        found[own] = _variant(look, before[look], others, taken) if before[look] else look
        before[look] += 1
    return {own: found[own] for own in known}


def _variant(look: Look, number: int, others: int, taken: Sequence[object]) -> Look:
    """Variant `number` (from 1) of a rule, after `others` variants of any rule.

    Its line, hatch and marker differ from those of rules (`taken`).
    """
    lines = [line for line in LINES if line not in taken]
    hatches = [hatch for hatch in HATCHES if hatch not in taken]
    markers = [marker for marker in MARKERS if marker not in taken]
    mixed = VARIANTS[(number - 1) % len(VARIANTS)]
    return Look(
        _mixed(look.colour, -mixed if _lightness(look.colour) > LIGHT else mixed),
        lines[others % len(lines)],
        hatches[others % len(hatches)],
        markers[others % len(markers)],
    )


def _mixed(colour: str, share: float) -> str:
    """A colour mixed with a share of white, or of black if the share is negative."""
    other = 255 if share > 0 else 0
    mixed = [round(part + abs(share) * (other - part)) for part in _parts(colour)]
    return "#" + "".join(f"{part:02X}" for part in mixed)


def _lightness(colour: str) -> float:
    return float(np.dot(_parts(colour), (0.299, 0.587, 0.114))) / 255


def _parts(colour: str) -> list[int]:
    """Red, green and blue."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
"""From digits to exponents."""


def number_text(value: float, spec: str = ".3g") -> str:
    """Return a number as figures and tables show it: with a minus sign and a raised exponent.

    A number that rounds to 0 has no sign. For people only: programs cannot read these numbers.

    Examples
    --------
    >>> number_text(-0.25), number_text(2443999.1), number_text(0.00005)
    ('−0.25', '2,440,000', '5 × 10⁻⁵')
    >>> number_text(float("-inf"))
    '−∞'
    >>> number_text(-0.00001), number_text(-0.004, ".2f")
    ('−10⁻⁵', '0.00')

    """
    text = format(value, spec)
    if float(text) == 0:
        text = format(0.0, spec)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        power = int(exponent)
        factor = mantissa[:-1] if mantissa.lstrip("+-") == "1" else f"{mantissa} × "
        small = f"{factor}10{str(power).translate(RAISED)}"
        text = f"{float(text):,.0f}" if 0 < power < 9 else small
    return text.replace("-", "−").replace("inf", "∞")


RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "axes.titleweight": "bold",
    "savefig.dpi": 200,
    "svg.hashsalt": "preftd",
}
"""Matplotlib settings for all figures."""
TYPED: Any = {"parse_math": False}
"""Shows texts that users chose as typed: dollar signs do not start mathematics."""


MARK = 3.0
"""The size of markers, in points."""
TITLE_SIZE, LABEL_SIZE, TICK_SIZE = 9.0, 8.0, 7.5
"""Font sizes in points: titles, names of axes, and their numbers and legends."""
SMALL_SIZE, NOTE_SIZE, TINY_SIZE = 7.0, 6.5, 6.0
"""Font sizes of labels next to lines, of notes below figures, and of numbers in pictures of
tasks."""
RETURN_COLOUR, WARNING_COLOUR = "#888888", OTHERS[2].colour
"""Colours of observed returns, and of rows that are not trusted."""
SHADE, LIGHT_SHADE, DARK_SHADE = 0.18, 0.13, 0.25
"""The opacity of bands, of black bands, and of bands behind thick lines."""
HAIR, EDGE, THIN, MEDIUM, THICK = 0.6, 0.7, 0.8, 1.0, 2.0
"""Widths of lines, in points: guides, edges of hollow marks, intervals and arrows, and emphasised
lines."""
OBSERVABLE, HIDDEN, GOAL = "#fbf7ef", "#c3c6cc", "#6b4226"
"""Colours of states: light if observable, grey if hidden, brown where episodes end."""
OUTLINE, CART = "#222222", "#333333"
"""Colours of the edges of states and their text, and of a cart."""


# -- figures of the paper

PAGE, COLUMN = 7.2, 5.4
"""Widths of figures, in inches: of a page, and of figures that stay readable when scaled down to a
column of 3.3 inches."""
PAPER_RC: Any = RC | {
    "axes.labelsize": LABEL_SIZE,
    "xtick.labelsize": TICK_SIZE,
    "ytick.labelsize": TICK_SIZE,
    "legend.fontsize": SMALL_SIZE,
    "legend.frameon": False,
}
"""Matplotlib settings for figures of the paper."""
DOTTED = (0, (1, 1.5))
"""The line of a reference for a method that has its own line."""
INK, TEXT, GREY, FAINT, PALE = "#111111", "#444444", "#777777", "#999999", "#EEEEEE"
"""Colours of everything but methods, from dark to light."""
RUN, SHADED = "#5f86ad", "#f3ecdf"
"""Colours of single runs, and of hidden states behind them."""


class Band(NamedTuple):
    """Points of a line and an interval around each, arrays of shape (points,)."""

    x: Vector
    centre: Vector
    low: Vector
    high: Vector

    @classmethod
    def exact(cls, x: Vector, centre: Vector) -> "Band":
        """Points that have no interval."""
        unknown = np.full(centre.size, np.nan)
        return cls(x, centre, unknown, unknown)


def draw_band(
    axes: "Axes", look: Look, band: Band, width: float, *, marked: bool
) -> "list[Artist]":
    """Draw a line and, if all intervals are finite, a band around it; return the artists."""
    x, centre, low, high = band
    drawn: list[Artist] = []
    drawn += axes.plot(x, centre, linewidth=width, **look.line_style(marked=marked))
    if not np.isfinite(low).all():
        return drawn
    # Values below the limit of a logarithmic axis cannot be drawn.
    bottom, top = axes.get_ylim()
    seen = np.maximum(low, bottom) if axes.get_yscale() == "log" else low
    if x.size == 1:  # a band would have no width
        drawn += axes.plot([x[0], x[0]], [seen[0], high[0]], color=look.colour, linewidth=width)
        return drawn
    # No band where the line has left the panel.
    band_area = axes.fill_between(
        x, seen, high, where=centre <= top, color=look.colour, alpha=SHADE, linewidth=0
    )
    return [*drawn, band_area]


def axes_or_new(given: Any, width: float, height: float) -> "Axes":
    """Return the user's axes, or those of a new figure; the size is in inches."""
    from matplotlib.axes import Axes  # noqa: PLC0415  (slow to load)
    from matplotlib.figure import Figure  # noqa: PLC0415

    if given is None:
        return Figure(figsize=(width, height), layout="constrained").subplots()
    if not isinstance(given, Axes):
        raise InputError(f"axes is {short(given)}: give Axes of matplotlib, or omit it.")
    return given


def save_figure(axes: "Axes", *paths: Path) -> None:
    """Write the figure of these axes to PNG, SVG or PDF files.

    Older ones by preftd are replaced.
    """
    for path in paths:
        if path.suffix not in (".png", ".svg", ".pdf"):
            raise InputError(f"{path} does not end in .png, .svg or .pdf: change the ending.")
    refuse_others(*paths)
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    with laid_out(figure) as box:
        for path in paths:
            look = {"dpi": RC["savefig.dpi"], "bbox_inches": box, "format": path.suffix[1:]}
            if path.suffix == ".svg":
                look["metadata"] = {"Date": None}
            write_output(path, partial(figure.savefig, **look))


def lay_out(figure: "Figure") -> None:
    """Compute the positions of axes without drawing the figure."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)


@contextmanager
def laid_out(figure: "Figure") -> "Iterator[Bbox]":
    """The bounding box of a figure, in inches; positions of axes stay fixed inside the context.

    Otherwise matplotlib computes both again for each file, which draws everything twice.
    """
    from matplotlib import rc_context  # noqa: PLC0415  (slow to load)

    lay_out(figure)
    box = figure.get_tightbbox().padded(PAD)
    engine = figure.get_layout_engine()
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # it reads these settings
    try:
        yield box
    finally:
        if engine is not None:
            figure.set_layout_engine(engine)
