"""The figures of the grids, by what is drawn in them, from few and short runs."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from made_runs import frame, run
from paper.made_grids import grid_results
from paper.seen_in_figures import curves, titles
from preftd._src.experiments.measures import Score
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids import figures
from preftd._src.paper.grids import studies as grids
from preftd._src.paper.grids.claims import view_fails
from preftd._src.paper.grids.studies import with_best_interest
from preftd._src.paper.study import PaperStudy
from preftd._src.style import LOOKS
from preftd.experiments import Results
from seen import check_texts, written

SEEDS = 2
FIGURES = {figure.name: figure for figure in figures.FIGURES}


@pytest.fixture(scope="module")
def results() -> dict[PaperStudy, Results]:
    """All studies of the grids, made up; `make test-all` draws computed ones too."""
    return grid_results(true=True, seeds=SEEDS, noise=0.1)


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


@pytest.mark.parametrize(("name", "view"), [("figure_5", "forward"), ("figure_6", "backward")])
def test_networks_are_shown_by_width(
    results: dict[PaperStudy, Results], drawn: dict[str, Figure], name: str, view: str
) -> None:
    figure = drawn[name]
    assert titles(figure) == ["8 × 8", "12 × 12", "16 × 16"] * 2
    places = [(task, size) for task in grids.TASKS for size in grids.SIZES]
    for axes, (task, size) in zip(figure.axes, places, strict=True):
        bars = results[grids.NETWORKS[task, view]].bars()
        seen = {line.get_color(): line for line in curves(axes)}
        for rule in METHODS:
            own = bars.filter(task=f"size {size}", rule=rule)
            sound = own.filter(diverged=0).sort("units")
            line = seen[LOOKS[rule].colour]
            np.testing.assert_array_equal(line.get_xdata(), sound["units"])
            np.testing.assert_allclose(line.get_ydata(), sound["centre"])
    assert f"The {view} view." in " ".join(written(figure))
    assert "90 % intervals" in " ".join(written(figure))


def test_views_are_told_apart_by_marker_and_line_not_by_width_alone(
    drawn: dict[str, Figure],
) -> None:
    rules = [rule for rule in ("PTD", "ETD-variable") for _ in grids.SIZES] * len(grids.TASKS)
    for axes, rule in zip(drawn["held"].axes, rules, strict=True):
        held, forward, backward = curves(axes)
        assert [line.get_marker() for line in (held, forward, backward)] == ["D", "s", "o"]
        assert [line.is_dashed() for line in (held, forward, backward)] == [False, True, False]
        assert forward.get_color() == backward.get_color() == LOOKS[rule].colour
        assert held.get_color() != LOOKS[rule].colour


def test_curves_that_leave_their_panel_are_named_with_their_height() -> None:
    results = made_up()
    study = grids.SEMI_LINEAR["cross_grid", 12]
    spike = pl.concat_list(pl.lit(1234567.0), pl.col("error").list.slice(1))
    high = (pl.col("rule") == "TD(λ)") & (pl.col("stage") == "report")
    changed = pl.when(high).then(spike).otherwise("error").alias("error")
    one = Results(results[study].runs.with_columns(changed), results[study].score)
    told = " ".join(written(FIGURES["figure_a8"].draw({**results, study: one})))
    told = told.replace("\n", " ").replace("\u00a0", " ")
    assert "Curves that leave their panel reach 1,200,000 (grid task 1, 12 × 12)" in told


def test_views_of_linear_learners_are_shown_by_size(
    results: dict[PaperStudy, Results], drawn: dict[str, Figure]
) -> None:
    panels = [(task, rule) for task in grids.TASKS for rule in ("ETD-variable", "PTD")]
    for axes, (task, rule) in zip(drawn["semi_linear_held"].axes, panels, strict=True):
        lines = {line.get_marker(): line for line in curves(axes)}
        for view, marker in (("held", "D"), ("online", "o"), ("true online", "s")):
            for size, height in zip(grids.SIZES, lines[marker].get_ydata(), strict=True):
                found = results[grids.SEMI_LINEAR_VIEWS[task, size]].bars()
                assert height == found.filter(rule=rule, learner=view)["centre"].item()


def test_a_search_has_a_ring_for_each_method_and_panel(
    results: dict[PaperStudy, Results], drawn: dict[str, Figure]
) -> None:
    figure, found = drawn["figure_a11"], results[grids.NETWORKS["cross_grid", "backward"]]
    assert titles(figure) == ["1 unit", "2 units", "4 units", "8 units", "16 units"] * 3
    places = [(size, units) for size in grids.SIZES for units in grids.WIDTHS]
    for axes, (size, units) in zip(figure.axes, places, strict=True):
        chosen = found.chosen.filter(task=f"size {size}", learner=grids.with_units(units))
        rings = [
            (np.asarray(line.get_xdata())[0], line.get_markeredgecolor())
            for line in axes.lines
            if line.get_markerfacecolor() == "none"
        ]
        wanted = [(row["step_size"], LOOKS[row["rule"]].colour) for row in chosen.to_dicts()]
        assert sorted(rings) == sorted(wanted)


def made_up() -> dict[PaperStudy, Results]:
    """Results of a world without noise."""
    return grid_results(true=True, seeds=2, noise=0.0)


def with_one_lost(results: Results, **labels: str) -> Results:
    """The same, but that one reported run of TD(λ) diverged."""
    one = (pl.col("stage") == "report") & (pl.col("seed") == 0) & (pl.col("rule") == "TD(λ)")
    one &= pl.all_horizontal(pl.col(name) == label for name, label in labels.items())
    return Results(results.runs.with_columns(diverged=one | pl.col("diverged")), results.score)


def crosses(axes: Any) -> list[tuple[float, str]]:
    return [
        (line.get_xdata()[0], line.get_color()) for line in axes.lines if line.get_marker() == "x"
    ]


def test_runs_that_diverged_are_crosses_counted_over_a_row() -> None:
    found, name = made_up(), grids.NETWORKS["cross_grid", "forward"]
    found[name] = with_one_lost(found[name], task="size 8", learner="2 units")
    figure = FIGURES["figure_5"].draw(found)
    first, *others = figure.axes
    assert crosses(first) == [(2, LOOKS["TD(λ)"].colour)]
    assert not any(map(crosses, others))
    assert "1 of 30" in written(figure), "two seeds, three sizes, five widths"
    assert "how many of the row" in " ".join(written(figure))


def test_learning_curves_have_no_crosses_but_say_how_many_diverged() -> None:
    found, name = made_up(), grids.SEMI_LINEAR["cross_grid", 16]
    found[name] = with_one_lost(found[name], learner="")
    figure = FIGURES["figure_4"].draw(found)
    assert not any(map(crosses, figure.axes))
    assert "1 of 2 diverged" in " ".join(written(figure))


def test_learning_curves_are_those_of_the_chosen_step_sizes(
    results: dict[PaperStudy, Results], drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_4"]
    assert titles(figure) == ["grid task 1, 16 × 16", "grid task 2, 16 × 16"]
    for axes, task in zip(figure.axes, grids.TASKS, strict=True):
        shown = with_best_interest(results[grids.SEMI_LINEAR[task, 16]])
        learned = shown.curves().filter(learner="")
        seen = {line.get_color(): line for line in curves(axes)}
        assert set(seen) == {LOOKS[rule].colour for rule in METHODS}
        for rule in METHODS:
            own = learned.filter(rule=rule).sort("episode")["centre"]
            np.testing.assert_allclose(seen[LOOKS[rule].colour].get_ydata(), own)


def test_the_best_interest_is_chosen_on_each_task() -> None:
    levels = {"ETD, interest 0.01": 3.0, "ETD, interest 0.05": 1.0, "ETD, interest 0.1": 2.0}
    rows = [
        run(seed, [level if task == "a" else 4 - level], stage=stage, task=task, rule=rule)
        for task in "ab"
        for rule, level in levels.items()
        for stage, seed in (("search", 9), ("report", 0))
    ]
    rows += [run(seed, [7.0], stage=s, task="a") for s, seed in (("search", 9), ("report", 0))]
    found = with_best_interest(Results(frame(rows), Score())).reported
    assert found.select("task", "rule", "score").sort("task", "rule").rows() == [
        ("a", "ETD-fixed", 1.0),
        ("a", "PTD", 7.0),
        ("b", "ETD-fixed", 1.0),
    ]


def test_runs_may_be_worse_than_predicting_0_and_not_diverge() -> None:
    found = made_up()
    for study in grids.SEMI_LINEAR_VIEWS.values():
        calm = found[study].runs.with_columns(diverged=pl.lit(False))
        found[study] = Results(calm, found[study].score)
    for size in grids.SIZES:
        diverges, worse = (
            view_fails("PTD", "held", as_zero=as_zero)[f"task 1, {size} × {size}"].sample(found)
            for as_zero in (False, True)
        )
        assert set(diverges.values) == {np.inf}
        assert set(worse.values) == {0.05}, "the next above 10^1.5 times the best one"


def test_made_up_worlds_have_all_studies(results: dict[PaperStudy, Results]) -> None:
    assert set(made_up()) == set(results)
