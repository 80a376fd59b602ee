"""A figure for the page: SVG with text as text, and the numbers behind every line."""

import io
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from preftd._src.arrays import Dense
from preftd._src.report.figures.lines import Shown, attached
from preftd._src.style import POINTS, RC, laid_out

SVG = "http://www.w3.org/2000/svg"
FONTS = re.compile(r"'DejaVu Sans', '.*sans-serif")
"""The fonts of matplotlib, for which the page has its own."""
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that are invalid in XML, but possible in labels."""
LARGEST = 1.8
"""The most pixels of the page for each unit of the SVG."""
MOST = 120
"""The largest number of points of a line with tooltips, about one per unit."""
DIGITS = 4
"""Significant digits of numbers that readers are shown."""


class Plot(NamedTuple):
    """A figure that a page can show.

    name    the name by which the page refers to it
    svg     its markup
    lines   what is behind each line, for the script: label, method, values, and where they are
    panels  boxes of the panels with their texts: left, top, width, height in units of the SVG
    note    what the figure says at its bottom, which is not in the markup
    """

    name: str
    svg: str
    lines: list[dict[str, Any]]
    panels: list[tuple[float, float, float, float]]
    note: str

    @property
    def methods(self) -> list[str]:
        """The methods that it shows, in the order of drawing."""
        return list(dict.fromkeys(line["method"] for line in self.lines))


def plot_of(name: str, figure: Figure) -> Plot:
    """Return a figure for the page, without changing the figure itself.

    Parameters
    ----------
    name : str
        Letters, digits, `_` and `-`; ids in the markup start with it.
    figure : Figure

    """
    note = figure.get_supxlabel()
    notes = [text for text in figure.texts if note and text.get_text() == note]
    known = list(attached(figure))
    methods = _methods(known)
    ids = {f"shown-{i}": artist for i, (artist, _) in enumerate(known)}
    for text in notes:
        text.set_visible(False)  # the page writes it below the figure, where it can be read
    try:
        for key, artist in ids.items():
            artist.set_gid(key)
        with mpl.rc_context(RC | {"svg.fonttype": "none"}), laid_out(figure) as box:
            file = io.BytesIO()
            look: Any = {"format": "svg", "bbox_inches": box, "transparent": True}
            figure.savefig(file, metadata={"Date": None}, **look)
            lines = list(_lines(known, box))
            panels = [_in_units(axes.get_tightbbox(), axes, box) for axes in figure.axes]
    finally:
        for artist in ids.values():
            artist.set_gid(None)
        for text in notes:
            text.set_visible(True)
    marked = {key: methods.get(artist, "") for key, artist in ids.items()}
    return Plot(name, _markup(name, file.getvalue().decode(), marked), lines, panels, _flat(note))


def _methods(known: list[tuple[Artist, Shown | str]]) -> dict[Artist, str]:
    """The method of each artist; a label belongs to the line in its panel, or any, of that name."""
    by_label: dict[tuple[object, str], str] = {}
    for artist, shown in known:
        if isinstance(shown, Shown):
            by_label[artist.axes, shown.label] = by_label[None, shown.label] = shown.method
    return {
        artist: shown.method
        if isinstance(shown, Shown)
        else by_label.get((artist.axes, shown), by_label.get((None, shown), ""))
        for artist, shown in known
    }


def _lines(known: list[tuple[Artist, Shown | str]], box: Bbox) -> Iterator[dict[str, Any]]:
    """The data of each line, once, at points that lie inside its panel."""
    seen = set[int]()
    for artist, shown in known:
        axes: Any = artist.axes
        if isinstance(shown, str) or axes is None or id(shown) in seen:
            continue
        seen.add(id(shown))
        x, centre, low, high = (np.asarray(part, dtype=np.float64) for part in shown.points)
        at = (centre, x) if shown.sideways else (x, centre)
        shares = axes.transAxes.inverted().transform(axes.transData.transform(np.column_stack(at)))
        inside = np.flatnonzero(((shares > -0.01) & (shares < 1.01)).all(axis=1))
        if not inside.size:
            continue
        inside = inside[np.unique(np.linspace(0, inside.size - 1, MOST).round().astype(int))]
        place = _units(axes.transData.transform(np.column_stack(at)[inside]), axes, box)
        sizes = list(shown.step_sizes)
        if len(sizes) > 1:
            sizes = [sizes[i] for i in inside]
        yield {
            "label": _flat(shown.label),
            "method": shown.method,
            "across": shown.across,
            "step_sizes": sizes,
            "x": _rounded(x[inside]),
            "centre": _rounded(centre[inside]),
            "low": _rounded(low[inside]),
            "high": _rounded(high[inside]),
            "at": place.round(1).tolist(),
        }


def _units(display: Dense, axes: Axes, box: Bbox) -> Dense:
    """Pixels of the figure as positions in the SVG, whose origin is at the top, in points."""
    figure: Any = axes.get_figure(root=True)
    inches = np.asarray(display) / figure.dpi
    return np.column_stack([inches[:, 0] - box.x0, box.y1 - inches[:, 1]]) * POINTS


def _in_units(extent: Any, axes: Axes, box: Bbox) -> tuple[float, float, float, float]:
    corners = np.array([[extent.x0, extent.y1], [extent.x1, extent.y0]])
    (left, top), (right, bottom) = _units(corners, axes, box).round(1).tolist()
    return left, top, round(right - left, 1), round(bottom - top, 1)


def _rounded(values: Dense) -> list[float | None]:
    """Numbers with few digits; None where there is none."""
    return [float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None for x in values.tolist()]


def _flat(note: str) -> str:
    return " ".join(note.split())


def _markup(name: str, text: str, methods: Mapping[str, str]) -> str:
    """The markup to be written into a page: ids are its own, and artists carry their method.

    Looks are attributes, since the page allows only its own styles.
    """
    root = ElementTree.fromstring(NOT_XML.sub("\ufffd", text))  # noqa: S314  (of matplotlib)
    for element in root.iter():
        _tidy(element)
    referred = {
        found[1] for element in root.iter() for one in element.items() if (found := _reference(one))
    }
    for element in root.iter():
        for key, value in element.items():
            if found := _reference((key, value)):
                element.set(key, value.replace(found[1], f"{name}-{found[1]}"))
        own = element.attrib.pop("id", "")
        if methods.get(own):
            element.set("data-method", methods[own])
        elif own == "figure_1":
            element.set("id", f"{name}-drawing")
        elif own in referred:
            element.set("id", f"{name}-{own}")
    # As wide as its column, but letters grow no larger than those of the page.
    root.set("width", f"{LARGEST * float(root.attrib['width'].removesuffix('pt')):.0f}")
    del root.attrib["height"]
    root.attrib |= {"xmlns": SVG, "aria-hidden": "true", "focusable": "false"}
    return ElementTree.tostring(root, encoding="unicode")


def _reference(attribute: tuple[str, str]) -> re.Match[str] | None:
    """The id in an attribute that refers to an element."""
    key, value = attribute
    return re.fullmatch(r"#(.+)" if key == "href" else r"url\(#(.+)\)", value)


def _tidy(element: ElementTree.Element) -> None:
    """Shorten paths and names, turn styles into attributes, and remove what the page has itself."""
    look = _look(element.attrib.pop("style", ""))
    plain = {_local(key): value for key, value in element.items()}
    element.tag, element.attrib = _local(element.tag), plain | look
    if "d" in plain:  # a path of numbers that are not finite has none
        # Paths are most of the file: two decimals are a thousandth of an inch.
        element.set("d", _shorter(plain.get("d", "")))  # of numbers that overflow, there is none
    if element.tag in ("text", "tspan"):
        return
    element.text = None
    for child in list(element):
        child.tail = None
        if _local(child.tag) in ("metadata", "style"):
            element.remove(child)


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]


def _look(style: str) -> dict[str, str]:
    """A style as attributes; the page has its own font in place of matplotlib's.

    >>> _look("fill: none; font: bold 7.5px 'DejaVu Sans', 'Verdana', sans-serif")
    {'fill': 'none', 'font-size': '7.5px', 'font-weight': 'bold'}
    """
    parts = (part.partition(":") for part in style.split(";") if part.strip())
    look = {key.strip(): value.strip() for key, _, value in parts}
    if "font" in look:  # as matplotlib before 3.11 writes it
        *before, size, family = re.split(r" *([\d.]+px) *", look.pop("font"))
        look |= {"font-size": size, "font-family": family}
        for word in " ".join(before).split():
            look["font-style" if word in ("italic", "oblique") else "font-weight"] = word
    if FONTS.fullmatch(look.get("font-family", "")):
        del look["font-family"]
    return look


def _shorter(path: str) -> str:
    """The same path with two decimals; if it has straight lines only, each from the last point.

    >>> _shorter("M 10.123 20 L 11.5 19.25 L 12 19.25 z")
    'M10.12 20l1.38 -0.75l0.5 0z'
    """
    words = path.split()
    if not set(filter(str.isalpha, words)) <= {"M", "L", "z"}:
        return re.sub(r"(\.\d\d)\d+", r"\1", " ".join(words))
    parts, here, i = [], (0, 0), 0
    while i < len(words):
        if words[i] == "z":
            parts.append("z")
            i += 1
            continue
        # Whole hundredths, so that rounding does not add up.
        there = (round(100 * float(words[i + 1])), round(100 * float(words[i + 2])))
        if words[i] == "M":
            parts.append(f"M{there[0] / 100:g} {there[1] / 100:g}")
        else:
            parts.append(f"l{(there[0] - here[0]) / 100:g} {(there[1] - here[1]) / 100:g}")
        here, i = there, i + 3
    return "".join(parts)
