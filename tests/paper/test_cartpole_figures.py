"""The figures of CartPole, by what is drawn in them, from made-up runs."""

from functools import cache

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

from paper.made_cartpole import POINTS, cartpole_results
from paper.seen_in_figures import curves, titles
from preftd._src.experiments.results import Results
from preftd._src.paper.cartpole import figures as cartpole_figures
from preftd._src.paper.cartpole.claims import MAIN, WHERE
from preftd._src.paper.cartpole.figures import inflation, smooth_curves
from preftd._src.paper.cartpole.studies import CONDITIONS, FOUR_METHODS, METHODS
from preftd._src.paper.claim import Verdict
from preftd._src.paper.study import PaperStudy
from preftd._src.style import LOOKS
from seen import check_texts, written

FIGURES = {figure.name: figure for figure in cartpole_figures.FIGURES}
PLAIN = FOUR_METHODS["no biases"]


@cache
def made_up(true: bool = True) -> dict[PaperStudy, Results]:
    return cartpole_results(true, seeds=4, noise=0.01)


@cache
def drawn(name: str, true: bool = True) -> Figure:
    """A figure, from the studies that it names and no others."""
    figure = FIGURES[name]
    return figure.draw({study: made_up(true)[study] for study in figure.studies})


@pytest.mark.parametrize("name", FIGURES)
def test_no_text_lies_over_another_or_outside(name: str) -> None:
    check_texts(drawn(name))


@pytest.mark.parametrize("name", ["figure_a13", "figure_a13_biases"])
def test_returns_are_above_and_shares_below(name: str) -> None:
    figure, (study,) = drawn(name), FIGURES[name].studies
    assert titles(figure) == [*CONDITIONS, *CONDITIONS]
    runs = made_up()[study].reported
    panels = [(measure, one) for measure in ("return", "preferred") for one in CONDITIONS]
    for axes, (measure, condition) in zip(figure.axes, panels, strict=True):
        seen = {line.get_color(): line for line in curves(axes)}
        for rule in METHODS:
            own = runs.filter(preference=condition, rule=rule)[measure].to_list()
            line = seen[LOOKS[rule].colour]
            np.testing.assert_array_equal(line.get_xdata(), 20 * np.arange(1, POINTS + 1))
            np.testing.assert_allclose(line.get_ydata(), np.mean(own, axis=0))
    assert "50 % intervals" in " ".join(written(figure))


def test_averages_move_over_20_episodes() -> None:
    found, rng = made_up()[PLAIN], np.random.default_rng(0)
    best = found.runs.filter(schedule="best")
    episodes = rng.integers(1, 200, (best.height, 500)).astype(float)
    runs = best.with_columns(pl.Series("return", episodes.tolist()))
    whole = Results(runs, found.score)
    fifths = episodes.reshape(len(episodes), 100, 5).mean(axis=2)
    short = Results(runs.with_columns(pl.Series("return", fifths.tolist())), found.score)
    own = {"rule": "PTD", "preference": "condition 2"}
    by_hand = np.array(whole.reported.filter(**own)["return"].to_list()).mean(axis=0)
    for results, every in ((whole, 1), (short, 5)):
        curve = smooth_curves(results, "return").filter(**own)
        at = curve["episode"].to_numpy()
        np.testing.assert_array_equal(at, np.arange(20, 501, every))
        wanted = [by_hand[episode - 20 : episode].mean() for episode in at]
        np.testing.assert_allclose(curve["centre"], wanted)


def test_the_note_says_how_much_a_choice_on_reported_seeds_would_flatter() -> None:
    found = made_up()[PLAIN]
    lucky = (pl.col("stage") == "search") & (pl.col("rule") == "PTD")
    more = pl.when(lucky).then(pl.col("return").list.eval(pl.element() + 30)).otherwise("return")
    results = Results(found.runs.with_columns(more.alias("return")), found.score)
    by_rule = inflation(results).group_by("rule").agg(pl.col("inflation").mean())
    for rule, of in by_rule.rows():
        assert of == pytest.approx(30 if rule == "PTD" else 0, abs=3)
    most = inflation(results)["inflation"].to_numpy().max()
    figure = FIGURES["figure_a13"].draw({PLAIN: results})
    assert f"return up to {most:.0f} more." in " ".join(written(figure))


@pytest.mark.parametrize("true", [True, False])
def test_choices_have_the_returns_and_verdicts_of_their_studies(true: bool) -> None:
    left, right = drawn("cartpole_choices", true).axes
    assert [label.get_text() for label in left.get_yticklabels()] == list(WHERE)
    for rule, line in zip(METHODS, left.lines, strict=True):
        means = [
            made_up(true)[where.study]
            .reported.filter(rule=rule, preference=where.conditions[0])["score"]
            .to_numpy()
            .mean()
            / (500 if label == "limit 500" else 200)
            for label, where in WHERE.items()
        ]
        np.testing.assert_allclose(np.asarray(line.get_xdata(), dtype=float), means)
    fills = {
        Verdict.REPRODUCED: "full",
        Verdict.INCONCLUSIVE: "left",
        Verdict.NOT_REPRODUCED: "none",
    }
    marks = iter(right.lines)
    seen = set()
    for claims in MAIN.values():
        for what in cartpole_figures.COLUMNS:
            verdict = claims[what].test(made_up(true)).verdict
            assert next(marks).get_fillstyle() == fills[verdict]
            seen.add(verdict)
    assert len(seen) > 1 or true
    assert next(marks, None) is None
