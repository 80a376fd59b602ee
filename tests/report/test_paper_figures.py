"""The paper's figures, by what is drawn in them, from few seeds."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from preftd import tasks
from preftd.experiments import Here, Results, Study, run
from preftd.preferences import Observability
from preftd.report import paper
from preftd.report.algorithms import shades
from preftd.report.figures.exits import leaves
from preftd.report.paper import Order, PaperFigure, convergence, corridors, making, walk
from preftd.report.paper.studies import STUDIES as ALL_STUDIES
from preftd.style import LOOKS
from preftd.theory import limit
from seen import check_texts, written

SEEDS = 2
FIGURES = {
    name: figure
    for name, figure in paper.FIGURES.items()
    if not any("grid" in study or study == "feature net" for study in figure.studies)
}
"""Those of the random walk and the corridors; the grids have tests of their own."""
STUDIES = {
    name: make for name, make in ALL_STUDIES.items() if "grid" not in name and name != "feature net"
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Results]:
    """All studies with few seeds, and those to the limit on only part of the way."""
    folder = tmp_path_factory.mktemp("results")
    needed = dict.fromkeys(name for figure in FIGURES.values() for name in figure.studies)
    studies = {name: STUDIES[name]().with_seeds(SEEDS) for name in needed}
    short = {n: replace(s, episodes=400) if "to the limit" in n else s for n, s in studies.items()}
    return {name: run(study, folder, executor=Here()) for name, study in short.items()}


@pytest.fixture(scope="module")
def drawn(results: dict[str, Results]) -> dict[str, Figure]:
    """Every figure, from the studies that it names and no others."""
    return {
        name: figure.draw({study: results[study] for study in figure.studies})
        for name, figure in FIGURES.items()
    }


def curves(axes: Any) -> list[Any]:
    """Lines through data: no leads to names, no limits."""
    return [
        line
        for line in axes.lines
        if line.get_transform() == axes.transData and len(line.get_xdata()) > 2
    ]


def dashed(axes: Any) -> dict[str, float]:
    """Heights of lines from one side to the other, by colour."""
    across = [line for line in axes.lines if list(line.get_xdata()) == [0, 1]]
    return {line.get_color(): line.get_ydata()[0] for line in across if line.is_dashed()}


def by_colour(axes: Any) -> dict[str, Any]:
    return {line.get_color(): line for line in curves(axes)}


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_outside(drawn: dict[str, Figure], name: str) -> None:
    check_texts(drawn[name])


def test_studies_have_the_names_they_are_found_by() -> None:
    assert [make().name for make in STUDIES.values()] == list(STUDIES)


@pytest.mark.parametrize(
    ("name", "panels"),
    [
        ("figure_2", [("ETD, interest 0.01", "λ"), ("TD(λ)", "λ"), ("PTD", "β")]),
        ("figure_a1", [(f"ETD, interest {i:g}", "λ") for i in walk.INTERESTS]),
    ],
)
def test_the_walk_has_a_curve_for_each_value(
    results: dict[str, Results], drawn: dict[str, Figure], name: str, panels: list[tuple[str, str]]
) -> None:
    figure = drawn[name]
    assert titles(figure) == [rule.replace(", ", ",\n") for rule, _ in panels]
    for axes, (rule, letter) in zip(figure.axes, panels, strict=True):
        assert axes.get_ylim() == (0.2, 0.6)
        assert axes.get_xscale() == "log"
        study = "walk by beta" if letter == "β" else "walk by lambda"
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
    assert leaves(axes, xs, np.full(5, 0.25)) == pytest.approx((1, 0.25))
    # From 0.5 at 2 to 1.5 at 3: it is 1 in the middle. An earlier spike is no leaving.
    assert leaves(axes, xs, np.array([0, 3, 0.5, 1.5, 9])) == pytest.approx((2.5 / 4, 1))


def test_shades_go_from_light_to_dark_through_the_colour_of_the_rule() -> None:
    seen = shades(LOOKS["TD(λ)"], 13)
    assert LOOKS["TD(λ)"].colour in [look.colour for look in seen]
    assert {look.line for look in seen} == {"solid"}


@pytest.mark.parametrize(("name", "lengths"), [("figure_3", (5, 15, 25)), ("figure_a2", (10, 20))])
def test_learning_curves_of_four_methods_and_their_limits(
    results: dict[str, Results], drawn: dict[str, Figure], name: str, lengths: tuple[int, ...]
) -> None:
    figure = drawn[name]
    assert titles(figure) == [f"length {length}" for length in lengths] * 2
    panels = [(task, length) for task in corridors.TASKS for length in lengths]
    for axes, (task, length) in zip(figure.axes, panels, strict=True):
        assert axes.get_ylim()[0] == 0
        found = results[f"{task} four methods"].curves().filter(task=f"length {length}")
        lines, heights = by_colour(axes), dashed(axes)
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
    results: dict[str, Results], drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_a3"]
    assert titles(figure) == [f"length {length}" for length in corridors.LENGTHS] * 2
    panels = [(task, length) for task in corridors.TASKS for length in corridors.LENGTHS]
    every: list[Any] = figure.axes
    for axes, (task, length) in zip(every, panels, strict=True):
        one = results[f"{task} four methods"]
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
    results: dict[str, Results], drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_a4"]
    assert len(figure.axes) == 10
    assert {"ETD, λ = 0.1", "ETD, λ = 0.5", "ETD, λ = 0.9", "PTD"} <= written(figure)
    constant = results["double_corridor constant lambda"].curves().filter(task="length 25")
    ptd = results["double_corridor four methods"].curves().filter(task="length 25", rule="PTD")
    lines = curves(figure.axes[-1])
    wanted = [*(constant.filter(preference=f"λ = {v}") for v in (0.1, 0.5, 0.9)), ptd]
    for line, found in zip(lines, wanted, strict=True):
        np.testing.assert_allclose(line.get_ydata(), found["centre"])
    assert len(dashed(figure.axes[-1])) == 3


def test_values_between_are_shown_in_both_directions(
    results: dict[str, Results], drawn: dict[str, Figure]
) -> None:
    figure = drawn["figure_a5"]
    assert len(figure.axes) == 12
    assert all(len(curves(axes)) == 5 for axes in figure.axes)
    names = {"β = 1, 0", "β = 0.75, 0", "β = 0.5, 0", "β = 1, 0.05", "β = 1, 0.2"}
    names |= {"i = 0.5, 0; β = 1, 0", "i = 0.25, 0", "i = 0.5, 0.05"}
    assert names <= written(figure)
    last = results["double_corridor between"].curves().filter(task="length 25")
    hidden = last.filter(rule="ETD, interest 0.5, 0.05", preference="β = 1, 0")
    np.testing.assert_allclose(curves(figure.axes[-1])[3].get_ydata(), hidden["centre"])
    # Where nothing is updated at hidden states, the limit is 0: two of five have another.
    assert all(len(dashed(axes)) == 2 for axes in figure.axes)


def test_true_online_learners_have_the_look_of_their_method_in_thick_lines(
    results: dict[str, Results], drawn: dict[str, Figure]
) -> None:
    figure = drawn["true_online"]
    assert len(figure.axes) == 6
    for axes in figure.axes:
        lines = curves(axes)
        assert [line.get_linewidth() for line in lines] == [0.8, 2.0] * 3
        colours = [LOOKS[rule].colour for rule in ("TD(λ)", "ETD-variable", "PTD")]
        assert [line.get_color() for line in lines[::2]] == colours
        assert [line.get_color() for line in lines[1::2]] == colours
    known = results["double_corridor true online"].curves().filter(task="length 25", rule="PTD")
    for place, form in ((4, "online"), (5, "true online")):
        found = known.filter(learner=form)["centre"]
        np.testing.assert_allclose(curves(figure.axes[-1])[place].get_ydata(), found)
    told = " ".join(written(figure)).replace("\n", " ")
    assert "that of ETD-variable and PTD is 0." in told


def test_spikes_that_leave_a_panel_are_told(results: dict[str, Results]) -> None:
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
    assert "Spikes that leave their panel reach" in told
    assert "77 (double corridor)" in told
    assert "77 (" not in " ".join(written(calm))


def test_long_runs_are_shown_with_limits_and_what_constant_step_sizes_leave(
    results: dict[str, Results], drawn: dict[str, Figure]
) -> None:
    figure = drawn["limits"]
    for axes, task in zip(figure.axes[:2], corridors.TASKS, strict=True):
        assert axes.get_xscale() == axes.get_yscale() == "log"
        made = tasks.make(task, length=5)
        for rule in ("TD(λ)", "ETD-fixed"):
            known = limit(made, corridors.METHODS[rule], Observability())
            assert dashed(axes)[LOOKS[rule].colour] == pytest.approx(known)
        assert len(curves(axes)) == 4
    for axes, task in zip(figure.axes[2:4], corridors.TASKS, strict=True):
        runs, made = results[f"{task} constant steps"].runs, tasks.make(task, length=5)
        for rule, line in zip(corridors.METHODS, curves(axes), strict=True):
            known = limit(made, corridors.METHODS[rule], Observability())
            for part, height in zip(line.get_xdata(), line.get_ydata(), strict=True):
                here = runs.filter(rule=rule, step_size=corridors.ROUND[rule] * part)
                some = np.array(here["error"].to_list())
                remains = some[:, some.shape[1] // 2 :].mean() - known
                assert height == pytest.approx(remains, abs=1e-12)
            assert list(line.get_xdata()) == [0.25, 0.5, 1]
    for axes, (task, episodes) in zip(figure.axes[4:], corridors.TASKS.items(), strict=True):
        runs = results[f"{task} four methods"].reported
        for rule, line in zip(corridors.METHODS, curves(axes), strict=True):
            for length, height in zip(line.get_xdata(), line.get_ydata(), strict=True):
                errors = runs.filter(rule=rule, task=f"length {length}")["error"].to_list()
                assert np.shape(errors) == (SEEDS, episodes)
                made = tasks.make(task, length=int(length))
                known = limit(made, corridors.METHODS[rule], Observability())
                remains = np.mean(np.array(errors)[:, episodes // 2 :]) - known
                assert height == pytest.approx(remains, abs=1e-12)


@pytest.fixture
def asked(
    monkeypatch: pytest.MonkeyPatch, results: dict[str, Results], drawn: dict[str, Figure]
) -> list[Study]:
    """Studies that are run; their results are there already, and so are the drawings."""
    every: list[Study] = []

    def known(study: Study, *_: Any, **__: Any) -> Results:
        every.append(study)
        return results[study.name]

    def there(name: str, figure: PaperFigure) -> PaperFigure:
        def draw(given: Mapping[str, Results]) -> Figure:
            assert list(given) == list(figure.studies)
            return drawn[name]

        return figure._replace(draw=draw)

    monkeypatch.setattr(making, "run", known)
    monkeypatch.setattr(making, "FIGURES", {n: there(n, f) for n, f in FIGURES.items()})
    return every


def test_figures_are_written_and_no_study_is_run_twice(tmp_path: Path, asked: list[Study]) -> None:
    names = ["figure_3", "figure_a2", "figure_3"]
    lines = list(paper.reproduce(names, Order(tmp_path, seeds=2, workers=1)))
    paths = [tmp_path / "figures" / f"{n}.{e}" for n in names[:2] for e in ("png", "svg")]
    assert lines == [f"wrote {path}" for path in paths]
    assert all(path.stat().st_size > 10_000 for path in paths)
    assert [study.name for study in asked] == [f"{task} four methods" for task in corridors.TASKS]
    assert all(study.seeds == (0, 1) for study in asked)


def test_all_that_can_be_made_has_a_title() -> None:
    assert list(paper.TITLES) == ["counterexamples", *paper.FIGURES]


def test_everything_is_made_if_nothing_is_named(
    tmp_path: Path, asked: list[Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    def page(out: Path, seeds: int, _: Any) -> list[Path]:
        assert seeds == convergence.SEEDS
        return [out / "page"]

    monkeypatch.setattr(making, "reproduce", page)
    monkeypatch.setattr(making, "save_figure", lambda _axes, *_paths: None)
    told: list[str] = []

    def summary(out: Path, found: Mapping[str, Results]) -> Path:
        told.extend(found)
        return out

    monkeypatch.setattr(making, "write_summary", summary)
    shown = {name for figure in FIGURES.values() for name in figure.studies}
    monkeypatch.setattr(making, "STUDIES", {name: STUDIES[name] for name in shown})
    titles = dict.fromkeys(["counterexamples", *FIGURES], "")
    for module in (paper, making):
        monkeypatch.setattr(module, "TITLES", titles)
    lines = list(paper.reproduce([], Order(tmp_path)))
    made = [Path(line.removeprefix("wrote ")).stem for line in lines]
    assert list(dict.fromkeys(made)) == ["page", *FIGURES, tmp_path.stem]
    assert set(told) == shown
    once = [study.name for study in asked]
    assert sorted(once) == sorted({name for figure in FIGURES.values() for name in figure.studies})
    assert {study.seeds for study in asked} == {tuple(range(25)), tuple(range(100))}
