"""Figures of results, by what is drawn in them."""

import warnings
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from made_runs import PAPER, frame, run, study
from preftd import InputError
from preftd.experiments.results import Results
from preftd.experiments.score import Score
from preftd.report.figures import draw, fitting
from preftd.report.figures.labels import spread
from preftd.style import LOOKS
from seen import check_texts, drawn, lines_of, texts, written

PAPERS = Results(study(units=(4, 16)), Score())


THREE = {"TD": "TD(λ)", "ETD": "ETD", "PTD": "PTD"}
CASES = {
    "the paper's": PAPERS.runs,
    "one task": study(tasks=1),
    "five tasks": study(tasks=5),
    "variants": study(tasks=1, rules={"TD": "TD(λ)", "PTD": "PTD"}, preferences=list("abc")),
    "too many": study(tasks=1, rules={f"variant {i}": "PTD" for i in range(20)}),
    "all alike": pl.concat(
        [study(tasks=1).filter(rule="PTD").with_columns(rule=pl.lit(str(i))) for i in range(6)]
    ),
    "networks": study(tasks=1, rules=THREE, units=(4, 16, 64)),
    "one algorithm": study(tasks=1, rules={"PTD": "PTD"}),
    "one algorithm, three tasks": study(tasks=3, rules={"PTD": "PTD"}),
    "one's own": study(tasks=1, rules={"TD": "TD(λ)", "mine": "mine", "yours": "yours"}),
    "two step sizes": study(step_sizes=[0.03, 0.3]),
    "near step sizes": study(tasks=3, step_sizes=[0.03, 0.032, 0.04, 0.05, 0.06, 0.065, 0.08]),
    "many step sizes": study(tasks=7, seeds=2, step_sizes=[2.0**-i for i in range(12)]),
}


def called(runs: pl.DataFrame, **names: str) -> pl.DataFrame:
    """The same with other labels: each column's in a pattern, with what it was."""
    return runs.with_columns(
        **{column: pl.format(name, pl.col(column)) for column, name in names.items()}
    )


CASES |= {
    "long titles": called(study(tasks=7, seeds=2), task="a rather long name of a task, {}"),
    "long words": called(study(tasks=7, seeds=2), task="a_rather_long_name_of_a_task_{}"),
    "two long titles": called(study(tasks=2, seeds=2), task="quite " * 14 + "a long name, {}"),
    "one long title": called(study(tasks=1, seeds=2), task="quite " * 14 + "a long name, {}"),
    "dollars": called(
        study(tasks=3, seeds=2, units=(4, 16)), task="$5 or $10, {}", rule=r"$\bad {}$"
    ),
    "one episode": study(tasks=3).with_columns(pl.col("error").list.head(1)),
}


FILLED = [(n, case) for case, runs in CASES.items() for n in fitting(Results(runs, Score()))]


@pytest.mark.parametrize(("name", "case"), FILLED)
def test_no_text_lies_over_another_or_outside(name: str, case: str) -> None:
    results = Results(CASES[case], Score())
    check_texts(drawn(name, results))


@pytest.mark.parametrize("name", ["curves", "step_sizes", "bars"])
@pytest.mark.parametrize("case", ["long titles", "long words", "two long titles", "one long title"])
def test_titles_are_wrapped_into_their_panel_whole(name: str, case: str) -> None:
    runs = CASES[case]
    figure = drawn(name, Results(runs, Score()))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    words = [title.replace("\n", " ").replace(" ", "") for title in titles]
    tasks = runs["task"].unique(maintain_order=True).to_list()
    assert words == [task.replace(" ", "") for task in tasks]
    assert all("\n" in title for title in titles)
    boxes = [text.get_window_extent() for text in texts(figure) if text.get_text() in titles]
    assert all(box.x1 <= figure.bbox.width for box in boxes)
    # The figure grows by their lines, and panels stay as high as they are without.
    short = runs.with_columns(task=pl.col("task").str.tail(1))
    plain = drawn(name, Results(short, Score())).axes[0].get_window_extent().height
    assert figure.axes[0].get_window_extent().height > 0.9 * plain


@pytest.mark.parametrize("name", ["curves", "step_sizes", "widths", "bars"])
def test_labels_are_text_as_typed_and_never_mathematics(name: str, tmp_path: Path) -> None:
    runs = called(CASES["dollars"].filter(pl.col("rule") != "TD"), learner="${}$")
    paths = draw(Results(runs, Score()), [name], tmp_path, "mine")  # $\bad$ cannot be formula
    assert all(path.stat().st_size for path in paths)
    told = " ".join(written(drawn(name, Results(runs, Score())))).replace("\n", " ")
    assert r"$\bad PTD$" in told
    assert "$5 or $10, corridor 0" in told


def test_names_in_a_legend_are_text_as_typed_and_all_there() -> None:
    rules = {f"_{i} for $5 or $10 {chr(92)}bad": "PTD" for i in range(20)}
    figure = drawn("curves", Results(study(tasks=1, seeds=2, rules=rules), Score()))
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(rules)
    assert not any(text.get_parse_math() for text in legend.get_texts())


def test_ticks_of_a_logarithmic_axis_are_still_mathematics() -> None:
    rows = [run(s, [100, 1], task="$5 or $10", rule="$a$") for s in (0, 1)]
    axes = drawn("curves", Results(frame(rows), Score())).axes[0]
    labels = [t.label1 for t in axes.yaxis.get_major_ticks() if t.label1.get_text()]
    assert all(label.get_text().startswith("$") and label.get_parse_math() for label in labels)
    assert labels


@pytest.mark.parametrize("seeds", [1, 5])
def test_a_single_episode_is_a_point_with_its_interval(seeds: int) -> None:
    runs = study(tasks=1, seeds=seeds).with_columns(pl.col("error").list.head(1))
    results = Results(runs, Score())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of limits that are the same
        figure = drawn("curves", results)
    axes, found = figure.axes[0], results.curves()
    low, high = axes.get_xlim()
    every: Any = axes.lines
    inside = [line for line in every if line.get_transform() == axes.transData]
    points = [line for line in inside if len(line.get_xdata()) == 1]
    assert [line.get_ydata()[0] for line in points] == found["centre"].to_list()
    assert all(low < line.get_xdata()[0] < high and line.get_marker() != "None" for line in points)
    assert len({float(line.get_xdata()[0]) for line in points}) == len(points)
    intervals = [tuple(line.get_ydata()) for line in inside if len(line.get_xdata()) == 2]
    assert intervals == (found.select("low", "high").rows() if seeds > 1 else [])
    assert ticks(figure) == ["1"]
    assert any("lines: 95 %" in text for text in written(figure)) == (seeds > 1)


def test_a_task_on_which_everything_diverged_has_a_panel() -> None:
    rows = [run(s, [1, 2], task="a") for s in (0, 1)]
    rows += [run(s, [inf, inf], task="b", diverged=True) for s in (0, 1)]
    assert "PTD\ndiverged" in written(drawn("curves", Results(frame(rows), Score())))


@pytest.mark.parametrize("case", ["networks", "one algorithm", "one algorithm, three tasks"])
def test_bars_have_room_beside_titles_and_notes(case: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of axes for which no room is left
        figure = drawn("bars", Results(CASES[case], Score()))
    note: Any = figure.findobj(lambda one: str(getattr(one, "_text", "")).startswith("Mean of"))[0]
    for axes in figure.axes:
        inches = axes.get_window_extent().height / figure.dpi
        assert inches / len(axes.patches) > 0.14, "numbers of seven points beside each other"
        assert axes.get_window_extent().y0 > note.get_window_extent().y1


def ticks(figure: Figure) -> list[str]:
    """Labels of step sizes in the first panel, of small ticks as well."""
    axis = figure.axes[0].xaxis
    low, high = axis.get_view_interval()
    every = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [
        t.label1.get_text() for t in every if low <= t.get_loc() <= high and t.label1.get_text()
    ]


def test_step_sizes_are_labelled_if_there_is_room_and_otherwise_decades() -> None:
    def labels(step_sizes: list[float]) -> list[str]:
        return ticks(drawn("step_sizes", Results(study(step_sizes=step_sizes), Score())))

    assert labels([0.03, 0.3]) == ["0.03", "0.3"]
    assert labels([0.025, 0.1, 0.5]) == ["0.025", "0.1", "0.5"]
    decades = ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]
    assert labels([0.01, 0.1, 1.0]) == decades[1:]
    assert labels([2.0**-i for i in range(12)]) == decades
    near = labels([0.03, 0.032, 0.04, 0.05, 0.06, 0.065, 0.08])
    assert near[-1] == "0.08"
    assert 1 < len(near) < 7


def test_labels_stay_where_they_want_to_be_if_there_is_room() -> None:
    wanted, heights = np.array([80.0, 10.0, 50.0]), np.full(3, 10.0)
    np.testing.assert_array_equal(spread(wanted, heights, 100.0), wanted)


def test_labels_do_not_overlap_nor_leave_nor_change_order() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        heights = rng.choice([9.0, 18.0], size=6)
        wanted = rng.uniform(0, 120, size=6)
        placed = spread(wanted, heights, 120.0)
        order = np.argsort(wanted)
        below, above = (placed - heights / 2)[order], (placed + heights / 2)[order]
        assert (below[1:] >= above[:-1] - 1e-9).all()
        assert below[0] >= -1e-9
        assert above[-1] <= 120 + 1e-9


def test_curves_have_a_line_and_a_band_per_algorithm_and_a_name_at_its_end() -> None:
    figure = drawn("curves", Results(study(tasks=3), Score()))
    assert len(figure.axes) == 3
    for panel, axes in enumerate(figure.axes):
        assert axes.get_title(loc="left") == f"corridor {panel}"
        assert len(lines_of(figure, panel, 20)) == 4
        assert len(axes.collections) == 4
    assert set(PAPER) <= written(figure)
    (note,) = [text for text in written(figure) if text.startswith("Mean of")]
    told = "Mean of 5 seeds; bands: 95 % intervals (Student). Step sizes chosen on the same seeds."
    assert note == told
    assert "mean squared error" in written(figure)
    assert "root mean squared error" in written(drawn("curves", Results(study(), Score("rmse"))))


@pytest.mark.parametrize("name", ["curves", "step_sizes", "widths", "bars"])
def test_notes_say_what_counts_at_most(name: str) -> None:
    def note(score: Score) -> str:
        (told,) = [t for t in written(drawn(name, Results(PAPERS.runs, score))) if "seeds" in t]
        return told.replace("\n", " ")

    what = "Errors" if name == "curves" else "Means over episodes"
    assert f". {what} count as 2.5 at most." in note(Score(ceiling=2.5))
    assert "at most" not in note(Score())


def test_long_curves_are_thinned_evenly_to_their_end() -> None:
    figure = drawn("curves", Results(frame([run(s, range(1, 2001)) for s in (0, 1)]), Score()))
    (line,) = lines_of(figure, 0, 20)
    episodes = line.get_xdata()
    np.testing.assert_array_equal(episodes, line.get_ydata())
    assert (episodes[0], episodes[-1], len(episodes)) == (1, 2000, 400)


def test_a_wide_range_is_drawn_on_a_logarithmic_axis_and_a_narrow_one_from_zero() -> None:
    wide = drawn("curves", Results(frame([run(s, [100, 1]) for s in (0, 1)]), Score())).axes[0]
    assert wide.get_yscale() == "log"
    narrow = drawn("curves", Results(frame([run(s, [10, 1]) for s in (0, 1)]), Score())).axes[0]
    assert (narrow.get_yscale(), narrow.get_ylim()[0]) == ("linear", 0)


def test_panels_share_an_axis_unless_one_would_be_flat() -> None:
    def limits(second: float) -> list[tuple[float, float]]:
        rows = [run(s, [1, 2], task="a") for s in (0, 1)]
        rows += [run(s, [second, second / 2], task="b") for s in (0, 1)]
        return [axes.get_ylim() for axes in drawn("curves", Results(frame(rows), Score())).axes]

    near, far = limits(4), limits(12)
    assert near[0] == near[1]
    assert far[0] != far[1]


def test_more_than_six_lines_are_spread_over_panels() -> None:
    figure = drawn("curves", PAPERS)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == [f"corridor {t}\n{u} units" for t in (0, 1) for u in (4, 16)]
    assert all(len(lines_of(figure, panel, 20)) == 4 for panel in range(4))


def test_names_without_room_go_into_a_legend() -> None:
    figure = drawn("curves", Results(CASES["too many"], Score()))
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 20
    assert not drawn("curves", PAPERS).legends


def test_step_sizes_show_scores_chosen_ones_and_how_many_runs_diverged() -> None:
    figure = drawn("step_sizes", Results(study(tasks=1), Score()))
    axes = figure.axes[0]
    assert axes.get_xscale() == "log"
    points = {
        line.get_color(): len(line.get_xdata())
        for line in lines_of(figure, 0, 2)
        if line.get_marker() != "None"
    }
    # TD diverged with the largest of three.
    assert points[LOOKS["TD(λ)"].colour] == 2
    assert points[LOOKS["PTD"].colour] == 3
    crosses = [line for line in lines_of(figure, 0, 1) if line.get_marker() == "x"]
    assert [float(line.get_xdata()[0]) for line in crosses] == [1.0]
    assert crosses[0].get_color() == LOOKS["TD(λ)"].colour
    assert "5 of 15" in written(figure)
    rings = [line for line in lines_of(figure, 0, 1) if line.get_markerfacecolor() == "none"]
    assert [float(line.get_xdata()[0]) for line in rings] == [0.1] * 4
    assert "mean squared error,\nall episodes" in written(figure)


def test_step_sizes_far_above_where_lines_begin_do_not_flatten_the_others() -> None:
    rows = [
        run(s, [x], step_size=a) for s in (0, 1) for a, x in ((0.1, 1.0), (0.2, 0.5), (0.4, 1e5))
    ]
    assert drawn("step_sizes", Results(frame(rows), Score())).axes[0].get_ylim()[1] < 2


def test_decreasing_step_sizes_are_lines_of_their_own() -> None:
    decreasing = [
        run(0, [2], step_size=a, schedule=f"Decreasing(initial={a}, delay=10, power=1)")
        for a in (0.1, 0.2)
    ]
    rows = [run(0, [1], step_size=a) for a in (0.1, 0.2)]
    figure = drawn("step_sizes", Results(frame([*rows, *decreasing]), Score()))
    assert {"PTD", "PTD, Decreasing(delay=10, power=1)"} <= written(figure)


def test_widths_have_a_line_per_rule_over_all_widths() -> None:
    figure = drawn("widths", PAPERS)
    assert len(figure.axes) == 2
    for panel in range(2):
        lines = lines_of(figure, panel, 2)
        whole = [line for line in lines if list(line.get_xdata()) == [4, 16]]
        assert len(whole) == 4
    assert set(PAPER) <= written(figure)
    twice = pl.concat(
        [
            PAPERS.runs.with_columns(learner=pl.col("learner") + pl.lit(f", {o}"))
            for o in ("sgd", "adam")
        ]
    )
    both = drawn("widths", Results(twice.filter(pl.col("rule") == "PTD"), Score()))
    assert {"PTD, units, sgd", "PTD, units, adam"} <= written(both)
    with pytest.raises(InputError, match="no learner of the study is a network: draw another"):
        drawn("widths", Results(study(), Score()))


def test_bars_are_as_long_as_scores_and_say_them() -> None:
    results = Results(study(tasks=2), Score())
    figure = drawn("bars", results)
    for panel, axes in enumerate(figure.axes):
        rows = results.bars().filter(task=f"corridor {panel}")
        patches: Any = axes.patches
        np.testing.assert_allclose([bar.get_width() for bar in patches], rows["centre"])
        assert axes.get_xlim()[0] == 0
        for centre, high in rows.select("centre", "high").rows():
            assert f"{centre:.3g} ± {high - centre:.2g}" in written(figure)


def diverging() -> pl.DataFrame:
    """PTD diverged for one of three fresh seeds, TD with every step size, ETD never."""
    rows = [run(0, [inf, inf], stage="search", rule="TD", rule_name="TD(λ)", diverged=True)]
    for rule in ("ETD", "PTD"):
        rows.append(run(0, [1, 1], stage="search", rule=rule, rule_name=rule))
        for seed in (1, 2, 3):
            lost = rule == "PTD" and seed == 1
            error = [1, 1e300] if lost else [1, 0.5]
            rows.append(run(seed, error, rule=rule, rule_name=rule, diverged=lost))
    return frame(rows)


def test_divergence_is_shown_and_does_not_flatten_the_others() -> None:
    results = Results(diverging(), Score())
    curves = drawn("curves", results)
    assert {"TD\ndiverged", "PTD\n1 of 3 diverged", "ETD"} <= written(curves)
    assert curves.axes[0].get_ylim()[1] < 2
    bars = drawn("bars", results)
    assert {"diverged", "1 of 3 diverged", "0.75 ± 0"} <= written(bars)
    assert len(bars.axes[0].patches) == 1
    capped = drawn("bars", Results(results.runs.filter(pl.col("rule") != "TD"), Score(ceiling=2)))
    assert len(capped.axes[0].patches) == 2
    assert any(text.endswith(", 1 of 3 diverged") for text in written(capped))


def test_what_cannot_be_drawn_is_refused() -> None:
    runs = diverging()
    with pytest.raises(InputError, match="every run diverged with every step size: try smaller"):
        drawn("curves", Results(runs.filter(rule="TD"), Score()))
    with pytest.raises(InputError, match="only the search: finish the study first"):
        drawn("bars", Results(runs.filter(stage="search"), Score()))
    assert drawn("step_sizes", Results(runs.filter(rule="TD"), Score())).axes


@pytest.mark.parametrize("name", ["curves", "widths", "bars"])
def test_one_seed_has_no_interval(name: str) -> None:
    figure = drawn(name, Results(study(seeds=1, units=(4, 16)), Score()))
    assert not any(len(axes.collections) for axes in figure.axes)
    assert any(text.startswith("One seed, no interval") for text in written(figure))
