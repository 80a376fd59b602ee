"""Texts in figures (titles, labels, ticks and notes) are complete and legible."""

import warnings
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from made_runs import frame, run, study
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.report.figures.lines import spread
from preftd._src.report.figures.study import applicable_figures, draw
from seen import check_texts, drawn, texts, written

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
    "custom rules": study(tasks=1, rules={"TD": "TD(λ)", "mine": "mine", "yours": "yours"}),
    "two step sizes": study(step_sizes=[0.03, 0.3]),
    "near step sizes": study(tasks=3, step_sizes=[0.03, 0.032, 0.04, 0.05, 0.06, 0.065, 0.08]),
    "many step sizes": study(tasks=7, seeds=2, step_sizes=[2.0**-i for i in range(12)]),
}


def called(runs: pl.DataFrame, **names: str) -> pl.DataFrame:
    """The same runs with other labels: a pattern per column, filled with the old label."""
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


QUICK = ("the paper's", "long words", "networks")
"""Cases that every test run draws; `make test-all` draws all."""
QUICK_TITLES = (("curves", "long words"), ("bars", "two long titles"))


def filled() -> Iterator[Any]:
    """Figures and the cases that they can show."""
    for case, runs in CASES.items():
        for name in applicable_figures(Results(runs, Score())):
            yield pytest.param(name, case, marks=[pytest.mark.slow] * (case not in QUICK))


@pytest.mark.parametrize(("name", "case"), list(filled()))
def test_texts_do_not_overlap_or_leave_the_figure(name: str, case: str) -> None:
    results = Results(CASES[case], Score())
    check_texts(drawn(name, results))


LONG = ("long titles", "long words", "two long titles", "one long title")


@pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(name, case, marks=[pytest.mark.slow] * ((name, case) not in QUICK_TITLES))
        for name, case in product(("curves", "step_sizes", "bars"), LONG)
    ],
)
def test_titles_are_wrapped_to_their_panel_and_complete(name: str, case: str) -> None:
    runs = CASES[case]
    figure = drawn(name, Results(runs, Score()))
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    words = [title.replace("\n", " ").replace(" ", "") for title in titles]
    tasks = runs["task"].unique(maintain_order=True).to_list()
    assert words == [task.replace(" ", "") for task in tasks]
    assert all("\n" in title for title in titles)
    boxes = [text.get_window_extent() for text in texts(figure) if text.get_text() in titles]
    assert all(box.x1 <= figure.bbox.width for box in boxes)
    # The figure grows by the lines of titles; panels keep their height.
    short = runs.with_columns(task=pl.col("task").str.tail(1))
    plain = drawn(name, Results(short, Score())).axes[0].get_window_extent().height
    assert figure.axes[0].get_window_extent().height > 0.9 * plain


@pytest.mark.parametrize(
    "name",
    [
        "curves",
        "bars",
        *(pytest.param(n, marks=pytest.mark.slow) for n in ("step_sizes", "widths")),
    ],
)
def test_labels_are_shown_as_typed_and_never_as_mathematics(name: str, tmp_path: Path) -> None:
    runs = called(CASES["dollars"].filter(pl.col("rule") != "TD"), learner="${}$")
    figure, paths = draw(Results(runs, Score()), [name], tmp_path, "mine")[name]
    assert all(path.stat().st_size for path in paths), r"$\bad$ is no valid formula"
    shown = " ".join(written(figure)).replace("\n", " ")
    assert r"$\bad PTD$" in shown
    assert "$5 or $10, corridor 0" in shown


def test_a_legend_shows_all_labels_as_typed() -> None:
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


@pytest.mark.parametrize("case", ["networks", "one algorithm", "one algorithm, three tasks"])
def test_bars_have_space_between_titles_and_notes(case: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that there is no space for axes
        figure = drawn("bars", Results(CASES[case], Score()))
    note: Any = figure.findobj(lambda one: str(getattr(one, "_text", "")).startswith("Mean of"))[0]
    for axes in figure.axes:
        inches = axes.get_window_extent().height / figure.dpi
        assert inches / len(axes.patches) > 0.14, "numbers of seven points do not overlap"
        assert axes.get_window_extent().y0 > note.get_window_extent().y1


def ticks(figure: Figure) -> list[str]:
    """Labels of step sizes in the first panel, including minor ticks."""
    axis = figure.axes[0].xaxis
    low, high = axis.get_view_interval()
    every = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
    return [
        t.label1.get_text() for t in every if low <= t.get_loc() <= high and t.label1.get_text()
    ]


def test_step_sizes_are_labelled_if_they_fit_and_otherwise_powers_of_ten() -> None:
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


def test_labels_keep_their_wanted_positions_if_they_do_not_overlap() -> None:
    wanted, heights = np.array([80.0, 10.0, 50.0]), np.full(3, 10.0)
    np.testing.assert_array_equal(spread(wanted, heights, 100.0), wanted)


def test_spread_labels_do_not_overlap_or_leave_the_space_or_change_order() -> None:
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
