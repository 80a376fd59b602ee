"""Figures for the page: the numbers behind lines are where lines are drawn, and ids are theirs."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from preftd._src.report.figures.lines import Shown, attach
from preftd._src.report.figures.study import FIGURES
from preftd._src.report.page.plot import MOST, Plot, plot_of
from preftd._src.style import Band
from report.made_pages import EVIL, made_results

SVG = "{http://www.w3.org/2000/svg}"


def drawn(points: int = 3, *, log: bool = False, sideways: bool = False) -> tuple[Figure, Plot]:
    """A line of which everything is known, and a note."""
    figure = Figure(figsize=(4, 3), layout="constrained")
    axes = figure.subplots()
    x = np.linspace(1.0, 10.0, points)
    y = x**2 / 7
    line = axes.plot(*((y, x) if sideways else (x, y)), label="a")
    if log:
        axes.set(xscale="log", yscale="log")
    band = Band(x, y, y - 1, np.where(x > 9, np.nan, y + 1))
    attach(line, Shown("a", "PTD", band, "episode", ["0.1"], sideways=sideways))
    attach([axes.text(2, 3, "a")], "a")
    figure.supxlabel("what the\nnote says")
    return figure, plot_of("mine", figure)


def parsed(plot: Plot) -> ElementTree.Element:
    return ElementTree.fromstring(plot.svg)  # noqa: S314  (our own)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("sideways", [False, True])
def test_points_are_where_the_line_is(log: bool, sideways: bool) -> None:
    _, plot = drawn(log=log, sideways=sideways)
    [line] = plot.lines
    group = parsed(plot).find(f".//{SVG}g[@data-method='PTD']")
    assert group is not None
    path = group.find(f"{SVG}path")
    assert path is not None
    words = re.findall(r"[Ml]([-\d.]+) ([-\d.]+)", path.get("d", ""))
    at = np.cumsum(np.array(words, dtype=np.float64), axis=0)
    np.testing.assert_allclose(line["at"], at, atol=0.06)


def test_values_are_those_of_the_line_and_none_where_there_is_none() -> None:
    _, plot = drawn()
    [line] = plot.lines
    assert (line["label"], line["method"], line["across"]) == ("a", "PTD", "episode")
    assert line["x"] == [1, 5.5, 10]
    assert line["centre"] == [0.1429, 4.321, 14.29]
    assert line["high"] == [1.143, 5.321, None]
    assert line["step_sizes"] == ["0.1"]


def test_long_lines_are_thinned_and_keep_their_ends() -> None:
    _, plot = drawn(points=1000)
    [line] = plot.lines
    assert len(line["at"]) == MOST
    assert (line["x"][0], line["x"][-1]) == (1, 10)


def test_the_note_is_for_the_page_and_the_figure_stays_as_it_was() -> None:
    figure, plot = drawn()
    assert plot.note == "what the note says"
    assert "what the" not in plot.svg
    assert all(text.get_visible() for text in figure.texts)
    assert not any(artist.get_gid() for artist in figure.findobj())


def test_labels_of_a_line_belong_to_its_method() -> None:
    _, plot = drawn()
    groups = parsed(plot).findall(f".//{SVG}g[@data-method='PTD']")
    assert [text.text for group in groups for text in group.iter(f"{SVG}text")] == ["a"]


@pytest.mark.parametrize("name", sorted(FIGURES.keys() - {"widths", "along"}))
def test_every_figure_of_a_study_can_be_asked_about_each_method(name: str) -> None:
    plot = plot_of("mine", FIGURES[name](made_results()))
    assert set(plot.methods) == {"TD(λ)", EVIL, "PTD"}
    assert "<img" not in plot.svg
    assert all(line["step_sizes"] for line in plot.lines)
    root = parsed(plot)
    ids = [one.get("id", "mine-") for one in root.iter()]
    assert all(one.startswith("mine-") for one in ids), "two figures of a page share none"
    referred = set(re.findall(r'(?:href="#|url\(#)([^")]+)', plot.svg))
    assert referred <= set(ids)
    assert "<style" not in plot.svg, "it would hold for the whole page"


ODD = [
    ' d="M"',
    ' d="M 1 L"',
    ' id="figure_1"',
    ' style="fill: red"',
    "url(#p1) href=\"#p1\" <svg width='1pt'>",
    "<metadata>a</metadata><style>*{}</style>",
    "<!-- -- --> ]]> &amp; &#0; --",
    "'DejaVu Sans', 'Verdana', sans-serif",
    "\x01\x0b\ufffe\U0001f600 \u202e",
]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("label", ODD)
def test_any_label_is_drawn_as_it_is(label: str) -> None:
    figure = Figure()
    axes = figure.subplots()
    line = axes.plot([1, 2], [3, 4])
    band = Band(*(np.array(x, dtype=np.float64) for x in ([1, 2], [3, 4], [3, 4], [3, 4])))
    written = re.sub("[\x01\x0b\ufffe]", "\ufffd", label)
    attach(line, Shown(label, written, band, "episode", ["0.1"]))
    attach([axes.text(1, 3, label, parse_math=False)], label)
    root = parsed(plot_of("mine", figure))
    groups = [one for one in root.iter() if one.get("data-method") == written]
    assert len(groups) == 2
    texts = [text.text or "" for text in groups[1].iter(f"{SVG}text")]
    assert [" ".join(text.split()) for text in texts] == [" ".join(written.split())]
    assert not any(one.get("style") for one in root.iter())
