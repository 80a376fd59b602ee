"""Centres over seeds and their intervals."""

from math import inf
from typing import Any, Literal

import numpy as np
import polars as pl
import pytest
from scipy import stats

from preftd import InputError
from preftd._src.arrays import Dense
from preftd._src.experiments.statistics import interquartile_mean, summarise


def frame_of(values: Dense) -> pl.DataFrame:
    """Groups × seeds, rows shuffled."""
    groups, seeds = values.shape
    rows = pl.DataFrame(
        {
            "group": np.repeat(np.arange(groups), seeds),
            "seed": np.tile(np.arange(seeds), groups),
            "diverged": np.zeros(values.size, dtype=bool),
            "score": values.ravel(),
        }
    )
    return rows.sample(fraction=1, shuffle=True, seed=1)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_students_interval_is_that_of_scipy(level: float) -> None:
    values = np.random.default_rng(0).exponential(size=(4, 7))
    found = summarise(frame_of(values), ["group"], level=level).sort("group")
    right = stats.ttest_1samp(values, 0, axis=1).confidence_interval(level)
    np.testing.assert_allclose(found["centre"], values.mean(axis=1), rtol=1e-14)
    np.testing.assert_allclose(found["low"], right.low, rtol=1e-12)
    np.testing.assert_allclose(found["high"], right.high, rtol=1e-12)
    assert found["seeds"].to_list() == [7] * 4


def test_the_bootstraps_interval_is_near_that_of_scipy() -> None:
    values = np.random.default_rng(0).exponential(size=(1, 40))
    rng = np.random.default_rng(1)
    options: Any = {"method": "percentile", "n_resamples": 20_000, "rng": rng}
    right = stats.bootstrap((values[0],), np.mean, **options).confidence_interval
    found = summarise(frame_of(values), ["group"], interval="bootstrap").row(0, named=True)
    # Ends of 2000 resamples, against those of 20,000: about a twentieth of the width.
    tolerance = 0.05 * (right.high - right.low)
    np.testing.assert_allclose([found["low"], found["high"]], right, atol=tolerance)


def test_the_interquartile_mean_is_that_of_the_middle_half_of_the_seeds() -> None:
    # 10 seeds: two and a half are left out at either end.
    values = np.array([100.0, 1, 2, 3, 4, 5, 6, 7, 8, -50])
    assert interquartile_mean(values) == pytest.approx((2 / 2 + 3 + 4 + 5 + 6 + 7 / 2) / 5)
    # 8 seeds: two, as scipy's trimmed mean does where it divides evenly.
    assert interquartile_mean(values[:8]) == stats.trim_mean(values[:8], 0.25)
    frame = frame_of(values[None])
    found = summarise(frame, ["group"], centre="iqm", interval="bootstrap").row(0, named=True)
    assert found["centre"] == pytest.approx(4.5)
    assert found["low"] < 4.5 < found["high"]
    assert found["low"] > -50
    assert found["high"] < 100


@pytest.mark.parametrize(
    ("centre", "interval"), [("mean", "student"), ("mean", "bootstrap"), ("iqm", "bootstrap")]
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    centre: Literal["mean", "iqm"], interval: Literal["student", "bootstrap"]
) -> None:
    # Normal, so that the truth is 0 for means and middle halves alike. 2000 intervals of 95 %: that
    # of 3 standard errors is 1.5 %. Percentiles of resampled seeds are known to hold a little less:
    # with 40 seeds up to 2 %.
    values = np.random.default_rng(2).normal(size=(2000, 40))
    found = summarise(frame_of(values), ["group"], centre=centre, interval=interval)
    held = ((found["low"] < 0) & (found["high"] > 0)).mean()
    assert 0.95 - (0.015 if interval == "student" else 0.035) < held < 0.965  # type: ignore[operator]


def test_groups_may_have_different_numbers_of_seeds_and_keep_their_order() -> None:
    rows = {"group": ["b", "a", "b", "a", "a"], "seed": [0, 0, 1, 1, 2]}
    frame = pl.DataFrame(rows | {"diverged": [True] + [False] * 4, "score": [1.0, 2, 3, 4, 6]})
    found = summarise(frame, ["group"])
    assert found.select("group", "centre", "seeds", "diverged").rows() == [
        ("b", 2, 2, 1),
        ("a", 4, 3, 0),
    ]


@pytest.mark.parametrize("interval", ["student", "bootstrap"])
def test_nothing_is_known_of_one_seed_or_of_infinite_values(
    interval: Literal["student", "bootstrap"],
) -> None:
    alone = summarise(frame_of(np.array([[3.0]])), ["group"], interval=interval)
    assert alone.select("centre", "low", "high").row(0) == (3, -inf, inf)
    infinite = summarise(frame_of(np.array([[3.0, inf, 1.0]])), ["group"], interval=interval)
    assert infinite.select("centre", "low", "high").row(0) == (inf, -inf, inf)
    large = summarise(frame_of(np.array([[1e308, 1.5e308, 1e308]])), ["group"], interval=interval)
    assert large.select("centre", "low", "high").row(0) == (inf, -inf, inf)


def test_the_middle_half_bears_a_few_infinite_values() -> None:
    values = np.array([[1.0, 2, 3, 4, 5, 6, 7, inf]])
    found = summarise(frame_of(values), ["group"], centre="iqm", interval="bootstrap")
    assert found["centre"][0] == 4.5
    assert found["low"][0] > 1
    values[0, -2] = inf  # often enough in the middle half of resampled seeds
    found = summarise(frame_of(values), ["group"], centre="iqm", interval="bootstrap")
    assert found.select("centre", "high").row(0) == (4.5, inf)


def test_the_same_numbers_come_again_in_any_order_and_company() -> None:
    values = np.random.default_rng(0).normal(size=(3, 9))
    every = frame_of(values)
    some = every.filter(pl.col("group") == 1).reverse()
    for centre in ("mean", "iqm"):
        one: Any = {"by": ["group"], "centre": centre, "interval": "bootstrap"}
        together = summarise(every, **one).filter(pl.col("group") == 1)
        assert together.rows() == summarise(some, **one).rows()


def test_a_seed_that_is_there_twice_is_refused_saying_what_differs() -> None:
    frame = pl.DataFrame(
        {
            "rule": ["TD"] * 4,
            "step_size": [0.1, 0.1, 0.2, 0.2],
            "cell": list("abcd"),
            "seed": [0, 3, 1, 3],
            "diverged": [False] * 4,
            "score": [1.0, 2, 3, 4],
        }
    )
    told = "seed 3 is there 2 times in one group: add step_size to by."
    with pytest.raises(InputError) as refused:
        summarise(frame, ["rule"])
    assert str(refused.value) == told
    assert summarise(frame, ["rule", "step_size"]).height == 2
    with pytest.raises(
        InputError, match="seed 0 is there 2 times in one group: leave out the copy"
    ):
        summarise(pl.concat([frame, frame.head(1)]), ["rule", "step_size"])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"by": "group"}, "by is 'group': give a list of columns"),
        ({"by": []}, r"by is \[\]: give a list of columns"),
        ({"by": ["seed"]}, "by names the seed"),
        ({"by": ["grup"]}, "no column 'grup': did you mean 'group'?"),
        ({"by": ["group"], "value": "scores"}, "no column 'scores': did you mean 'score'?"),
        ({"by": ["group"], "level": 95}, "level is 95: give a number between 0 and 1"),
        ({"by": ["group"], "centre": "median"}, "no centre 'median'"),
        ({"by": ["group"], "interval": "t"}, "no interval 't'"),
        ({"by": ["group"], "centre": "iqm"}, "Student's interval is one of means: give"),
    ],
)
def test_what_cannot_be_summarised_is_refused(given: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        summarise(frame_of(np.ones((2, 3))), **given)


def test_missing_values_are_refused() -> None:
    frame = pl.DataFrame({"a": [0, 0], "seed": [0, 1], "diverged": False, "score": [1.0, None]})
    with pytest.raises(InputError, match=r"score\[1\] is missing or NaN: leave such rows out."):
        summarise(frame, ["a"])
    with pytest.raises(InputError, match=r"score\[1\] is missing or NaN"):
        summarise(frame.with_columns(pl.col("score").fill_null(np.nan)), ["a"])
