"""The figures of both corridor tasks, by what is drawn in them, from few seeds."""

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from paper.seen_in_figures import curves, titles
from preftd import tasks
from preftd._src.experiments.cells import Expansion
from preftd._src.paper.corridors import figures, limits
from preftd._src.paper.corridors import studies as corridors
from preftd._src.paper.study import PaperStudy
from preftd._src.style import LOOKS
from preftd.experiments import Here, Results, run
from preftd.preferences import Observability
from preftd.theory import limit
from seen import check_texts, written

Made: TypeAlias = dict[PaperStudy, Results]
SEEDS = 2
FIGURES = {figure.name: figure for figure in (*figures.FIGURES, *limits.FIGURES)}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All studies with few seeds, and those to the limit with fewer episodes."""
    folder = tmp_path_factory.mktemp("results")
    found = {}
    for one in dict.fromkeys(one for figure in FIGURES.values() for one in figure.studies):
        study = one.study().with_seeds(SEEDS)
        if one in corridors.TO_THE_LIMIT.values():
            study = replace(study, episodes=400)
        found[one] = run(study, folder, executor=Here())
    return found


@pytest.fixture(scope="module")
def drawn(results: Made) -> dict[str, Figure]:
    """Every figure, from the studies that it names and no others."""
    return {
        name: figure.draw({study: results[study] for study in figure.studies})
        for name, figure in FIGURES.items()
    }


def at_the_end(results: Made, studies: dict[str, PaperStudy]) -> pl.DataFrame:
    """What the last panel shows: the double corridor of length 25."""
    return results[studies["double_corridor"]].curves().filter(task="length 25")


def hairlines(axes: Any) -> dict[str, float]:
    """Heights of lines from one side to the other, by colour."""
    across = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
    return {line.get_color(): line.get_ydata()[0] for line in across if line.get_linewidth() < 1}


def by_colour(axes: Any) -> dict[str, Any]:
    return {line.get_color(): line for line in curves(axes)}


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_outside(drawn: dict[str, Figure], name: str) -> None:
    check_texts(drawn[name])


@pytest.mark.parametrize(("name", "lengths"), [("figure_3", (5, 15, 25)), ("figure_a2", (10, 20))])
def test_learning_curves_of_four_methods_and_their_limits(
    results: Made,
    drawn: dict[str, Figure],
    name: str,
    lengths: tuple[int, ...],
) -> None:
    figure = drawn[name]
    assert titles(figure) == [f"length {length}" for length in lengths] * 2
    panels = [(task, length) for task in corridors.TASKS for length in lengths]
    for axes, (task, length) in zip(figure.axes, panels, strict=True):
        assert axes.get_ylim()[0] == 0
        found = results[corridors.FOUR_METHODS[task]].curves().filter(task=f"length {length}")
        lines, heights = by_colour(axes), hairlines(axes)
        assert len(lines) == len(axes.collections) == 4
        for rule, method in corridors.METHODS.items():
            colour = LOOKS[rule].colour
            np.testing.assert_allclose(lines[colour].get_ydata(), found.filter(rule=rule)["centre"])
            known = limit(tasks.make(task, length=length), method, Observability())
            if rule in ("TD(λ)", "ETD-fixed"):
                assert heights[colour] == pytest.approx(known)
                assert known < axes.get_ylim()[1]
            else:
                assert colour not in heights
    assert any(
        "that of ETD-variable and PTD is 0." in told.replace("\n", " ") for told in written(figure)
    )
    assert set(corridors.METHODS) <= written(figure)
    ranges = [axes.get_ylim() for axes in figure.axes]
    assert len(set(ranges[: len(lengths)])) == len(set(ranges[len(lengths) :])) == 1


def test_the_search_shows_every_step_size_with_rings_and_crosses(
    results: Made, drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_a3"]
    assert titles(figure) == [f"length {length}" for length in corridors.LENGTHS] * 2
    panels = [(task, length) for task in corridors.TASKS for length in corridors.LENGTHS]
    every: list[Any] = figure.axes
    for axes, (task, length) in zip(every, panels, strict=True):
        one = results[corridors.FOUR_METHODS[task]]
        here = pl.col("task") == f"length {length}"
        plain = [line for line in axes.lines if line.get_transform() == axes.transData]
        rings = [line for line in plain if line.get_markerfacecolor() == "none"]
        chosen = one.chosen.filter(here)["step_size"].to_list()
        assert sorted(float(ring.get_xdata()[0]) for ring in rings) == sorted(chosen)
        crosses = [line for line in axes.lines if line.get_marker() == "x"]
        lost = one.step_sizes().filter(here, pl.col("diverged") > 0)
        assert lost.height > 0
        assert len(crosses) == lost.height
        # The same method has its crosses at the same height in every panel of a row.
        first = every[0 if task == "corridor" else 5]
        rows = {line.get_color(): line.get_ydata()[0] for line in crosses}
        for line in (line for line in first.lines if line.get_marker() == "x"):
            assert rows.get(line.get_color(), line.get_ydata()[0]) == line.get_ydata()[0]


def test_etd_with_constant_lambda_has_ptd_beside_it(
    results: Made, drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_a4"]
    assert len(figure.axes) == 10
    assert {"ETD, λ = 0.1", "ETD, λ = 0.5", "ETD, λ = 0.9", "PTD"} <= written(figure)
    constant = (
        results[corridors.CONSTANT_LAMBDA["double_corridor"]].curves().filter(task="length 25")
    )
    ptd = (
        results[corridors.FOUR_METHODS["double_corridor"]]
        .curves()
        .filter(task="length 25", rule="PTD")
    )
    lines = curves(figure.axes[-1])
    wanted = [*(constant.filter(preference=f"λ = {v}") for v in (0.1, 0.5, 0.9)), ptd]
    for line, found in zip(lines, wanted, strict=True):
        np.testing.assert_allclose(line.get_ydata(), found["centre"])
    assert len(hairlines(figure.axes[-1])) == 3


def test_values_between_are_shown_in_both_directions(
    results: Made, drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_a5"]
    assert len(figure.axes) == 12
    assert all(len(curves(axes)) == 5 for axes in figure.axes)
    names = {f"observable: {one}" for one in ("β = 0.75", "β = 0.5", "interest 0.25")}
    names |= {f"hidden: {one}" for one in ("β = 0.05", "β = 0.2", "interest 0.05")}
    names |= {"as in the paper"}
    assert names <= written(figure)
    last = at_the_end(results, corridors.BETWEEN)
    hidden = last.filter(rule="ETD, interest 0.5, 0.05", preference="β = 1, 0")
    np.testing.assert_allclose(curves(figure.axes[-1])[3].get_ydata(), hidden["centre"])
    # Where nothing is updated at hidden states, the limit is 0: two of five have another.
    assert all(len(hairlines(axes)) == 2 for axes in figure.axes)


def test_true_online_learners_have_the_colour_of_their_method_and_are_dashed(
    results: Made, drawn: dict[str, Figure]
) -> None:
    figure = drawn["true_online"]
    assert len(figure.axes) == 6
    for axes in figure.axes:
        lines = curves(axes)
        assert [line.is_dashed() for line in lines] == [False, True] * 3
        assert not any(line.is_dashed() for line in axes.lines if line.get_linewidth() < 1)
        colours = [LOOKS[rule].colour for rule in ("TD(λ)", "ETD-variable", "PTD")]
        assert [line.get_color() for line in lines[::2]] == colours
        assert [line.get_color() for line in lines[1::2]] == colours
    known = (
        results[corridors.TRUE_ONLINE["double_corridor"]]
        .curves()
        .filter(task="length 25", rule="PTD")
    )
    for place, form in ((4, "online"), (5, "true online")):
        found = known.filter(learner=form)["centre"]
        np.testing.assert_allclose(curves(figure.axes[-1])[place].get_ydata(), found)
    told = " ".join(written(figure)).replace("\n", " ")
    assert "that of ETD-variable and PTD is 0." in told


def test_views_are_compared_by_their_mean_errors(results: Made, drawn: dict[str, Figure]) -> None:
    figure = drawn["held_corridors"]
    panels = [(task, rule) for task in corridors.TASKS for rule in ("ETD-variable", "PTD")]
    assert titles(figure) == [rule for _, rule in panels]
    for axes, (task, rule) in zip(figure.axes, panels, strict=True):
        found = results[corridors.IN_VIEWS[task]].bars().filter(rule=rule)
        lines = {line.get_marker(): line for line in curves(axes)}
        for view, marker in (("held", "D"), ("online", "o"), ("true online", "s")):
            own, line = found.filter(learner=view), lines[marker]
            np.testing.assert_allclose(line.get_ydata(), own["centre"])
            np.testing.assert_allclose(line.get_xdata(), corridors.LENGTHS, atol=0.41)
            assert (line.get_color() == LOOKS[rule].colour) == (view != "held")
        every: list[Any] = list(axes.collections)
        bars = [bar for one in every for bar in one.get_segments()]
        ends = sorted((low, high) for (_, low), (_, high) in bars)
        np.testing.assert_allclose(ends, sorted(found["low", "high"].rows()))
    assert {"online", "true online", "held"} <= written(figure)
    assert "Errors are averaged over all episodes." in " ".join(written(figure)).replace("\n", " ")


@pytest.mark.parametrize("task", corridors.TASKS)
def test_what_two_studies_share_is_computed_once(task: str) -> None:
    """Views have the seeds and, among others, the step sizes of the study of two forms."""
    views, forms = (
        {one for group in Expansion(study[task].study()).search for one in group.ids}
        for study in (corridors.IN_VIEWS, corridors.TRUE_ONLINE)
    )
    both, shared = views & forms, len(corridors.FORMS) * len(corridors.AT_TRUTH)
    settings = shared * len(corridors.STEP_SIZES[task]) * len(corridors.LENGTHS)
    assert len(both) == settings * corridors.SEEDS


def test_spikes_that_leave_a_panel_are_told(results: Made) -> None:
    """One is put into a run: the axis stays as it was, and the note says how high it is."""
    draw = FIGURES["figure_a2"].draw
    names = FIGURES["figure_a2"].studies
    plain, spiky = results[names[0]], results[names[1]]
    here = (pl.col("task") == "length 20") & (pl.col("rule") == "PTD")
    here &= pl.col("stage") == "report"
    later = pl.col("error").list.slice(150)
    error = pl.concat_list(pl.col("error").list.head(149), pl.lit(77.0), later)
    runs = spiky.runs.with_columns(pl.when(here).then(error).otherwise("error").alias("error"))
    calm = draw({names[0]: plain, names[1]: spiky})
    figure = draw({names[0]: plain, names[1]: Results(runs, spiky.score)})
    assert [axes.get_ylim() for axes in figure.axes] == [axes.get_ylim() for axes in calm.axes]
    told = " ".join(written(figure)).replace("\n", " ")
    assert "Curves that leave their panel reach" in told
    assert "77 (double corridor, length 20)" in told
    assert "77 (" not in " ".join(written(calm))


def test_long_runs_are_shown_with_limits_and_what_constant_step_sizes_leave(
    results: Made, drawn: dict[str, Figure]
) -> None:
    figure = drawn["limits"]
    for axes, task in zip(figure.axes[:2], corridors.TASKS, strict=True):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        made = tasks.make(task, length=5)
        for rule in ("TD(λ)", "ETD-fixed"):
            known = limit(made, corridors.METHODS[rule], Observability())
            assert hairlines(axes)[LOOKS[rule].colour] == pytest.approx(known)
        assert len(curves(axes)) == 4
    for axes, task in zip(figure.axes[2:4], corridors.TASKS, strict=True):
        runs, made = results[corridors.CONSTANT_STEPS[task]].runs, tasks.make(task, length=5)
        for rule, line in zip(corridors.METHODS, curves(axes), strict=True):
            known = limit(made, corridors.METHODS[rule], Observability())
            for part, height in zip(line.get_xdata(), line.get_ydata(), strict=True):
                here = runs.filter(rule=rule, step_size=corridors.ROUND[rule] * part)
                some = np.array(here["error"].to_list())
                remains = some[:, some.shape[1] // 2 :].mean() - known
                assert height == pytest.approx(remains, abs=1e-12)
            assert list(line.get_xdata()) == [0.25, 0.5, 1]
    for axes, (task, episodes) in zip(figure.axes[4:], corridors.TASKS.items(), strict=True):
        runs = results[corridors.FOUR_METHODS[task]].reported
        for rule, line in zip(corridors.METHODS, curves(axes), strict=True):
            for length, height in zip(line.get_xdata(), line.get_ydata(), strict=True):
                errors = runs.filter(rule=rule, task=f"length {length}")["error"].to_list()
                assert np.shape(errors) == (SEEDS, episodes)
                made = tasks.make(task, length=int(length))
                known = limit(made, corridors.METHODS[rule], Observability())
                remains = np.mean(np.array(errors)[:, episodes // 2 :]) - known
                assert height == pytest.approx(remains, abs=1e-12)
