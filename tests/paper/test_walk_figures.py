"""The figures of the random walk, by what is drawn in them, from few seeds."""

from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

from paper.seen_in_figures import curves, titles
from preftd.experiments import Here, Results, run
from preftd.paper.study import PaperStudy
from preftd.paper.walk import figures
from preftd.paper.walk import studies as walk
from preftd.report.figures.edge_labels import leaving_point
from preftd.report.looks import shades
from preftd.style import LOOKS
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
    assert titles(figure) == [rule.replace(", ", ",\n") for rule, _ in panels]
    for axes, (rule, letter) in zip(figure.axes, panels, strict=True):
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
        names = [text.get_text() for text in axes.texts]
        assert sorted(names) == sorted(f"{letter} = {value:g}" for value in walk.VALUES)
        grey = [np.dot(line_rgb(line), (0.299, 0.587, 0.114)) for line in lines]
        assert (np.diff(grey) < 0).all(), "curves become darker"


def line_rgb(line: Any) -> list[float]:
    return [int(line.get_color()[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def test_names_stand_where_curves_leave() -> None:
    axes: Any = Figure(figsize=(4, 4)).subplots()
    axes.set(xlim=(0, 4), ylim=(0, 1))
    xs = np.arange(5.0)
    assert leaving_point(axes, xs, np.full(5, 0.25)) == pytest.approx((1, 0.25))
    # From 0.5 at 2 to 1.5 at 3: it is 1 in the middle. An earlier spike is no leaving.
    assert leaving_point(axes, xs, np.array([0, 3, 0.5, 1.5, 9])) == pytest.approx((2.5 / 4, 1))


def test_shades_go_from_light_to_dark_through_the_colour_of_the_rule() -> None:
    seen = shades(LOOKS["TD(λ)"], 13)
    assert LOOKS["TD(λ)"].colour in [look.colour for look in seen]
    assert {look.line for look in seen} == {"solid"}
