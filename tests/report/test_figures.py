"""What figures of results show."""

import warnings
from math import inf
from typing import Any

import numpy as np
import polars as pl
import pytest

from made_runs import PAPER, frame, run, study
from preftd import InputError
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.paper.figures import VIEWS, draw_views
from preftd._src.report.figures.lines import HOLLOW
from preftd._src.style import LOOKS
from report.test_figure_texts import CASES, PAPERS, ticks
from seen import drawn, lines_of, written


@pytest.mark.parametrize("seeds", [1, 5])
def test_a_single_episode_is_a_point_with_its_interval(seeds: int) -> None:
    runs = study(tasks=1, seeds=seeds).with_columns(pl.col("error").list.head(1))
    results = Results(runs, Score())
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that both limits are the same
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


def test_curves_have_a_line_a_band_and_an_end_label_per_algorithm() -> None:
    figure = drawn("curves", Results(study(tasks=3), Score()))
    assert len(figure.axes) == 3
    for panel, axes in enumerate(figure.axes):
        assert axes.get_title(loc="left") == f"corridor {panel}"
        assert len(lines_of(figure, panel, 20)) == 4
        assert len(axes.collections) == 4
    assert set(PAPER) <= written(figure)
    (note,) = [text for text in written(figure) if text.startswith("Mean of")]
    expected = (
        "Mean of 5 seeds; bands: 95 % intervals (Student). Step sizes chosen on the same seeds."
    )
    assert note == expected
    assert "mean squared error" in written(figure)
    assert "root mean squared error" in written(drawn("curves", Results(study(), Score("rmse"))))


@pytest.mark.parametrize("name", ["curves", "step_sizes", "widths", "bars"])
def test_notes_say_at_what_scores_are_capped(name: str) -> None:
    def note(score: Score) -> str:
        (text,) = [t for t in written(drawn(name, Results(PAPERS.runs, score))) if "seeds" in t]
        return text.replace("\n", " ")

    what = "Errors" if name == "curves" else "Means over episodes"
    assert f". {what} are capped at 2.5." in note(Score(ceiling=2.5))
    assert "capped" not in note(Score())


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


def test_labels_that_do_not_fit_go_into_a_legend() -> None:
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


def test_a_wide_interval_does_not_stretch_the_axis() -> None:
    """Two seeds: the interval of 1 and 2 reaches from −4.9 to 7.9."""
    figure = drawn("curves", Results(frame([run(0, [1.0] * 3), run(1, [2.0] * 3)]), Score()))
    assert 2 < figure.axes[0].get_ylim()[1] < 3


def test_step_sizes_with_very_large_errors_do_not_flatten_the_others() -> None:
    rows = [
        run(s, [x], step_size=a) for s in (0, 1) for a, x in ((0.1, 1.0), (0.2, 0.5), (0.4, 1e5))
    ]
    assert drawn("step_sizes", Results(frame(rows), Score())).axes[0].get_ylim()[1] < 2


def test_decreasing_step_sizes_have_separate_lines() -> None:
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


def test_bars_show_scores_as_lengths_and_numbers() -> None:
    results = Results(study(tasks=2), Score())
    figure = drawn("bars", results)
    for panel, axes in enumerate(figure.axes):
        rows = results.bars().filter(task=f"corridor {panel}")
        patches: Any = axes.patches
        np.testing.assert_allclose([bar.get_width() for bar in patches], rows["centre"])
        assert axes.get_xlim()[0] == 0
        # Each interval is drawn twice: in black, with white around it.
        drawn_from_to: Any = [line.get_xdata() for line in axes.lines[::2]]
        np.testing.assert_allclose(drawn_from_to, rows.select("low", "high").to_numpy())
        for centre, high in rows.select("centre", "high").rows():
            assert f"{centre:.3g} ± {high - centre:.2g}" in written(figure)


def diverging() -> pl.DataFrame:
    """PTD diverged for one of three reported seeds, TD with every step size, ETD never."""
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


def test_a_point_of_which_some_runs_diverged_is_hollow_and_the_mean_of_the_others() -> None:
    errors = {0.1: [1.0, 1.0, 1.0], 1.0: [2.0, 1.0, inf], 10.0: [inf, inf, inf]}
    rows = [
        run(seed, [error], step_size=size, diverged=error == inf)
        for size, some in errors.items()
        for seed, error in enumerate(some)
    ]
    figure = drawn("step_sizes", Results(frame(rows), Score()))
    points = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "white"]
    assert [np.asarray(line.get_xydata()).tolist() for line in points] == [[[1.0, 1.5]]]
    assert any(HOLLOW in " ".join(text.split()) for text in written(figure))


def test_a_point_along_a_number_is_hollow_if_some_of_its_runs_diverged() -> None:
    """In figures of a study, and of the views of the paper's linear learners."""
    rows = [
        run(seed, [error], task=f"noise {at}", learner=view, stage=stage, diverged=error == inf)
        for view in VIEWS
        for at, last in ((1, 3.0), (2, inf if view == "held" else 3.0), (3, 3.0))
        for seed, stage, error in ((0, "search", 1.0), (1, "report", 2.0), (2, "report", last))
    ]
    results = Results(frame(rows), Score())
    numbers = {f"noise {at}": at for at in (1, 2, 3)}
    for figure in (drawn("along", results), draw_views({"": results}, numbers, "noise", 0.95)):
        lines = [line for axes in figure.axes for line in axes.lines]
        points = [line for line in lines if line.get_markerfacecolor() == "white"]
        assert [np.asarray(line.get_xydata()).tolist() for line in points] == [[[2.0, 2.0]]]
        assert any(HOLLOW in " ".join(text.split()) for text in written(figure))


def test_figures_without_reported_runs_are_refused() -> None:
    runs = diverging()
    with pytest.raises(InputError, match="every run diverged with every step size: try smaller"):
        drawn("curves", Results(runs.filter(rule="TD"), Score()))
    with pytest.raises(InputError, match="only the search has runs, the report has none: finish"):
        drawn("bars", Results(runs.filter(stage="search"), Score()))
    assert drawn("step_sizes", Results(runs.filter(rule="TD"), Score())).axes


@pytest.mark.parametrize("name", ["curves", "widths", "bars"])
def test_one_seed_has_no_interval(name: str) -> None:
    figure = drawn(name, Results(study(seeds=1, units=(4, 16)), Score()))
    assert not any(len(axes.collections) for axes in figure.axes)
    assert any(text.startswith("One seed, no interval") for text in written(figure))
