"""A figure for the page: SVG with text as text, and the numbers behind every line."""

import io
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from preftd.arrays import Dense
from preftd.report.figures.shown import Shown, attached
from preftd.style import RC, laid_out

POINTS = 72
"""Units of an SVG per inch."""
FONTS = re.compile(r"'DejaVu Sans', '[^;\"]*sans-serif")
LARGEST = 1.8
"""Pixels of the page, at most, for each unit of the SVG."""
MOST = 120
"""The largest number of points of a line that can be asked, which is about one per unit."""
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
    """Return a figure for the page; the figure itself stays as it is.

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
    """What is behind each line, once, at points that lie inside its panel."""
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
    """Positions in pixels of the figure as positions in the SVG, whose origin is at the top."""
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
    """The markup to be written into a page: ids are its own, and artists carry their method."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", text, flags=re.DOTALL)
    text = FONTS.sub("var(--plot-font)", text)
    # Paths are most of the file: two decimals are a thousandth of an inch.
    text = re.sub(r' d="([^"]*)"', lambda found: f' d="{_shorter(found[1])}"', text)
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', text))

    def own(found: re.Match[str]) -> str:
        if found[1] in methods:
            method = methods[found[1]]
            return f' data-method="{escape(method)}"' if method else ""
        if found[1] == "figure_1":
            return f' id="{name}-drawing"'
        return f' id="{name}-{found[1]}"' if found[1] in referred else ""

    text = re.sub(r' id="([^"]*)"', own, text)
    text = re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", text)
    # As wide as its column, but letters grow no larger than those of the page.
    size = re.compile(r'<svg([^>]*?) width="([\d.]+)pt" height="[^"]*"')

    def resized(found: re.Match[str]) -> str:
        widest = f'style="max-width: {LARGEST * float(found[2]):.0f}px"'
        return f'<svg aria-hidden="true" focusable="false" {widest}{found[1]}'

    return size.sub(resized, text, count=1).strip()


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
