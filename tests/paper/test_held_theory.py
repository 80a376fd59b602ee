"""The figures on what hidden states do to weights: exact lines compared with simulated ones."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from preftd._src.paper.claim import rows
from preftd._src.paper.corridors import steady
from preftd._src.paper.corridors.leak import (
    CROSSINGS,
    FIGURES,
    HIDDEN,
    SEEDS,
    STEP_SIZE,
    WAYS,
    mean_weights,
    one_crossing,
    simulated,
    still,
)
from preftd._src.paper.corridors.studies import TASKS, at_length
from preftd._src.paper.measures import part
from preftd._src.report.page.plot import plot_of
from preftd.experiments import Here, run
from seen import check_texts, written


@pytest.fixture(scope="module")
def leak() -> Figure:
    return FIGURES[0].draw({})


def test_simulated_weights_agree_with_the_exact_mean_and_spread() -> None:
    """Means of 400 seeds within 4.5 standard errors, at each step; held exactly."""
    seeds = 400
    for way in WAYS:
        found = np.array([simulated(way, 1.0, seed, 1)[0] for seed in range(seeds)]) - 1
        mean, variance = one_crossing(way.view, 1.0)
        off = np.abs(found.mean(axis=0) - mean)
        assert (off <= 4.5 * np.sqrt(variance / seeds) + 1e-12).all()
        if way.view == "held":
            np.testing.assert_array_equal(found, 0)


def test_only_the_paper_s_algorithm_ends_off_the_right_weight() -> None:
    ends = {way.view: mean_weights(way.view, 0.0)[-1] for way in WAYS}
    np.testing.assert_allclose(ends["held"], 1 - (1 - STEP_SIZE) ** CROSSINGS)
    np.testing.assert_allclose(ends["true_online"], ends["held"])
    np.testing.assert_allclose(ends["backward"], still("backward"), atol=1e-5)
    np.testing.assert_allclose(still("backward"), 1 / (1 + STEP_SIZE * HIDDEN), rtol=0.02)


def test_the_leak_is_drawn(leak: Figure) -> None:
    check_texts(leak)
    assert {"online (Algorithm 1)", "true online", "held", "change at G: −0.09 ± 0.06"} <= written(
        leak
    )
    assert [t for t in written(leak) if t.startswith("change")].count("change at G: 0") == 1
    for axes, way in zip(leak.axes[:3], WAYS, strict=True):
        thick = [line for line in axes.lines if line.get_linewidth() == 2]
        np.testing.assert_array_equal(thick[0].get_ydata(), 1 + one_crossing(way.view, 1.0).mean)


def test_errors_that_remain_are_drawn_as_computed_and_as_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steady, "EXACT", np.array(steady.STEP_SIZES))
    found = {}
    for one in steady.STUDIES:
        study = replace(one.study().with_seeds(3), episodes=40)
        found[one] = run(study, tmp_path, executor=Here())
    figure = steady.FIGURES[0].draw(found)
    check_texts(figure)
    asked = plot_of("steady", figure)
    assert asked.methods == ["PTD"]
    told = [line["label"] for line in asked.lines]
    assert {one: told.count(one) for one in told} == {
        f"{label}, {how}": 4 for label in steady.SHOWN for how in ("exact", "measured")
    }
    panels = list(product(TASKS, steady.LENGTHS))
    for axes, (task, length) in zip(figure.axes, panels, strict=True):
        drawn = [line for line in axes.lines if len(np.atleast_1d(line.get_xdata())) == 4]
        exact = [line for line in drawn if line.get_linestyle() == "-"]
        expected = [
            [steady.steady_error(task, length, label, alpha) for alpha in steady.STEP_SIZES]
            for label in steady.SHOWN
        ]
        np.testing.assert_array_equal([line.get_ydata() for line in exact], expected)
        measured = [bars[0].get_ydata() for bars in axes.containers]
        runs = found[steady.STEADY[task]].tried
        means = [
            [
                part(
                    rows(runs, task=at_length(length), learner=label, step_size=alpha), 0.25, 1.0
                ).values.mean()
                for alpha in steady.STEP_SIZES
            ]
            for label in steady.SHOWN
        ]
        np.testing.assert_allclose(measured, means)


def test_readers_can_ask_the_leak(leak: Figure) -> None:
    """Exact means with their spread, and a step size; simulated runs are switched with them."""
    asked = plot_of("leak", leak)
    assert asked.methods == ["PTD"]
    assert len(asked.lines) == 2 * len(WAYS)
    first = next(line for line in asked.lines if line["label"].startswith("online (Algorithm 1)"))
    mean, variance = one_crossing("backward", 1.0)
    np.testing.assert_allclose(first["centre"], 1 + mean, atol=1e-4)
    np.testing.assert_allclose(first["high"], 1 + mean + np.sqrt(variance), atol=1e-3)
    assert first["step_sizes"] == ["0.1"]
    assert asked.svg.count('data-method="PTD"') >= 2 * len(WAYS) * SEEDS
