"""The figures of the random walk, by what is drawn in them, from few seeds."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from paper.seen_in_figures import curves, titles
from preftd._src.paper.study import PaperStudy
from preftd._src.paper.walk import figures
from preftd._src.paper.walk import studies as walk
from preftd.experiments import Here, Results, run
from seen import check_texts

FIGURES = {figure.name: figure for figure in figures.FIGURES}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[PaperStudy, Results]:
    folder = tmp_path_factory.mktemp("results")
    return {one: run(one.study().with_seeds(2), folder, executor=Here()) for one in walk.STUDIES}


@pytest.fixture(scope="module")
def drawn(results: dict[PaperStudy, Results]) -> dict[str, Figure]:
    """Every figure, from the studies that it names and no others."""
    return {
        name: figure.draw({study: results[study] for study in figure.studies})
        for name, figure in FIGURES.items()
    }


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_outside(drawn: dict[str, Figure], name: str) -> None:
    check_texts(drawn[name])


@pytest.mark.parametrize(
    ("name", "panels"),
    [
        ("figure_2", [("ETD, interest 0.01", "λ"), ("TD(λ)", "λ"), ("PTD", "β")]),
        ("figure_a1", [(f"ETD, interest {i:g}", "λ") for i in walk.INTERESTS]),
    ],
)
def test_the_walk_has_a_curve_for_each_value(
    results: dict[PaperStudy, Results],
    drawn: dict[str, Figure],
    name: str,
    panels: list[tuple[str, str]],
) -> None:
    figure = drawn[name]
    *drawn_panels, _ = figure.axes
    assert titles(figure)[:-1] == [rule for rule, _ in panels]
    for axes, (rule, letter) in zip(drawn_panels, panels, strict=True):
        assert axes.get_ylim() == (0.2, 0.6)
        assert axes.get_xscale() == "log"
        study = walk.BY_BETA if letter == "β" else walk.BY_LAMBDA
        scores = results[study].step_sizes().filter(rule=rule).sort("step_size")
        lines = curves(axes)
        assert len(lines) == 10
        for line, value in zip(lines, walk.VALUES, strict=True):
            one = scores.filter(preference=f"{letter} = {value:g}")
            np.testing.assert_allclose(line.get_xdata(), sorted(walk.STEP_SIZES))
            np.testing.assert_allclose(line.get_ydata(), one["centre"])
        grey = [np.dot(line_rgb(line), (0.299, 0.587, 0.114)) for line in lines]
        assert (np.diff(grey) < 0).all(), "curves become darker"


def line_rgb(line: Any) -> list[float]:
    return [int(line.get_color()[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def test_the_best_of_all_curves_is_ringed_and_named(
    results: dict[PaperStudy, Results], drawn: dict[str, Figure]
) -> None:
    scores = results[walk.BY_BETA].step_sizes()
    best = scores.filter(pl.col("centre") == pl.col("centre").min()).row(0, named=True)
    axes = drawn["figure_2"].axes[2]
    (ring,) = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    at = float(np.asarray(ring.get_xdata())[0]), float(np.asarray(ring.get_ydata())[0])
    assert at == (best["step_size"], best["centre"])
    (told,) = [text.get_text() for text in axes.texts]
    wanted = f"least: {best['centre']:.3f}\n{best['preference']}, α = {best['step_size']:g}"
    assert told == wanted


@pytest.mark.parametrize("name", FIGURES)
def test_a_scale_says_which_colour_stands_for_which_value(
    drawn: dict[str, Figure], name: str
) -> None:
    figure = drawn[name]
    scale = figure.axes[-1]
    labels = [label.get_text() for label in scale.get_yticklabels()]
    assert labels == [f"{value:g}" for value in walk.VALUES]
    (cells,) = [one for one in scale.collections if isinstance(one, QuadMesh)]
    shown = [to_hex(colour) for colour in cells.to_rgba(np.arange(len(walk.VALUES)))]
    assert shown == [line.get_color() for line in curves(figure.axes[0])]
