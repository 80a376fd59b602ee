"""The figure of CartPole with drop-outs, by what is drawn in it, and what its studies compare."""

from functools import cache

import numpy as np
from matplotlib.figure import Figure

from paper.made_drop_outs import drop_out_results
from paper.seen_in_figures import titles
from preftd._src.experiments.results import Results
from preftd._src.paper.drop_outs.figures import FIGURES, FOUR, ROWS, TITLES
from preftd._src.paper.drop_outs.studies import FACTORIAL, FEATURES, STUDIES
from preftd._src.paper.study import PaperStudy
from preftd._src.style import look_of
from seen import check_texts, written


@cache
def made_up() -> dict[PaperStudy, Results]:
    return drop_out_results(true=True, seeds=4, noise=0.01)


@cache
def drawn() -> Figure:
    return FIGURES[0].draw(made_up())


def test_no_text_lies_over_another_or_outside() -> None:
    check_texts(drawn())


def test_there_is_a_panel_for_each_kind_of_features_and_of_what_is_shown() -> None:
    shown = [f"dropped observations show {what}" for what in ("noise", "zeros")]
    assert titles(drawn()) == [*TITLES.values(), *shown]
    assert set(TITLES) == set(FEATURES)
    assert set(made_up()) == set(STUDIES)


def test_marks_are_at_mean_returns_hollow_where_the_actor_is_weighted_by_1() -> None:
    axes = drawn().axes[list(TITLES).index("tiles")]
    marks = [line for line in axes.lines if line.get_marker() not in ("None", "")]
    assert len(marks) == len(FOUR) * len(ROWS)
    runs = made_up()[FACTORIAL["tiles"]].reported
    for number, method in enumerate(FOUR):
        mark = marks[number * len(ROWS)]
        own = runs.filter(rule=method.rule, learner=f"backward, {method.gain}")
        at = np.asarray(mark.get_xdata(), dtype=np.float64)
        np.testing.assert_allclose(at, own["score"].to_numpy().mean())
        assert mark.get_color() == look_of(method.rule).colour
        assert (mark.get_markerfacecolor() == "white") == (method.gain == "actor 1")


def test_all_lines_by_rate_are_named() -> None:
    names = {"TD(0.9), no preferences", "ETD-variable, actor β"}
    assert names | {method.label for method in FOUR} <= written(drawn())
