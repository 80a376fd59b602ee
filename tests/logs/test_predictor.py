"""Predictions of rows as they come in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from logs.made_logs import COLUMNS, gappy
from preftd._src.logs.encoding import code_of, codes_of
from preftd.failures import InputError
from preftd.logs import LogColumns, LogEvaluation, Prediction, fit

NAN = float("nan")


def fitted(folder: Path, methods: tuple[str, ...] = (), **named: Any) -> LogEvaluation:
    log = timed(gappy()).with_columns(kind=pl.Series(["x", "y", None] * 1000)[: gappy().height])
    columns = LogColumns(**COLUMNS | {"categories": ["kind"]} | named)
    return fit(log, columns, folder, rules=["td", "ptd"], methods=methods, predictions=False)


def timed(log: pl.DataFrame) -> pl.DataFrame:
    """A log with times that are not evenly spaced, as dates and as numbers."""
    rng = np.random.default_rng(0)
    log = log.with_columns(hour=rng.integers(1, 2000, log.height).cumsum() / 3600)
    when = pl.datetime(2024, 5, 1) + pl.duration(seconds=(pl.col("hour") * 3600).round())
    return log.with_columns(when=when)


def rows_by_time() -> pl.DataFrame:
    """Rows of several machines as they come in."""
    log = timed(gappy(1, episodes=40)).with_columns(kind=pl.lit("y"))
    return log.sort(pl.int_range(pl.len()).over("id") + pl.col("id") % 7, maintain_order=True)


@pytest.mark.parametrize(
    "named",
    [
        {},
        {"preference": "age:2", "encoder": "fourier:2"},
        {"preference": "quality", "encoder": "polynomial:3", "fill": "mean"},
        {"preference": 0.5, "encoder": "tiles:4:2", "fill": "zero"},
        {"preference": "age:900", "time": "when", "time_unit": "1s"},
        {"preference": "missing:a:3", "time": "hour", "time_unit": 0.7},
    ],
)
def test_rows_one_by_one_in_batches_and_at_once_are_predicted_alike_to_the_bit(
    tmp_path: Path, named: dict[str, Any]
) -> None:
    found = fitted(tmp_path, ("linear:0.1", "network:4:0.01"), **named)
    rows = rows_by_time()
    for arm in ("td", "ptd", "ptd_linear", "ptd_network"):
        single, batched = found.predictor(arm), found.predictor(arm)
        one = [single.predict(row) for row in rows.iter_rows(named=True)]
        parts = [batched.predict_rows(part) for part in rows.iter_slices(37)]
        together = pl.concat(parts)
        np.testing.assert_array_equal(np.array(one), together.to_numpy())
        np.testing.assert_array_equal(found.predict(rows, arm), together["value"])
        assert single.episodes == batched.episodes


@pytest.mark.parametrize("time", [None, "when"])
@pytest.mark.parametrize("preference", ["age:2", "missing:a:1", "quality"])
def test_preferences_are_those_with_which_the_log_was_learned_from(
    tmp_path: Path, preference: str, time: str | None
) -> None:
    unit = None if time is None else "5m"
    columns = LogColumns(**COLUMNS | {"preference": preference, "time": time, "time_unit": unit})
    found = fit(timed(gappy()), columns, tmp_path, rules=["ptd"])
    shown = found.predictor().predict_rows(timed(gappy()))
    assert shown["beta"].equals(found.predictions()["beta"])


def test_an_episode_is_remembered_until_it_ends(tmp_path: Path) -> None:
    predictor = fitted(tmp_path).predictor("ptd")
    row = {"a": 5.0, "b": 1.0, "kind": "y"}
    gap: dict[str, Any] = {"a": None, "b": NAN, "kind": None}
    fresh = predictor.predict(gap, episode="new")
    first = predictor.predict(row, episode=7)
    assert (first.beta, first.age) == (1.0, 0.0)
    again = [predictor.predict(gap, episode=7) for _ in range(2)]
    assert again == [Prediction(first.value, 0.0, 1.0), Prediction(first.value, 0.0, 2.0)]
    predictor.end(7)
    assert predictor.predict(gap, episode=7) == fresh == (fresh.value, 0.0, np.inf)
    predictor.predict(row | {"end": True, "id": 7})
    assert predictor.episodes == ("new",)
    assert predictor.predict(gap, episode=7) == fresh
    ended = pl.DataFrame([row | {"id": 8, "end": True}, gap | {"id": 8, "end": False}])
    assert predictor.predict_rows(ended).row(1) == fresh


def test_the_episode_seen_longest_ago_is_forgotten_first(tmp_path: Path) -> None:
    predictor = fitted(tmp_path).predictor(most=2)
    row = {"a": 5.0, "b": 1.0, "kind": "y"}
    for episode in (1, 2, 1, 3):
        predictor.predict(row, episode)
    assert predictor.episodes == (1, 3)


def test_a_row_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    predictor = fitted(tmp_path, preference="quality").predictor()
    row: dict[str, Any] = {"id": 1, "a": 5.0, "b": 1.0, "kind": "y"}
    gap = row | {"a": None}
    predictor.predict(row)
    expected = predictor.predict(gap)
    for change, said in (
        ({"a": np.inf}, "infinite"),
        ({"a": "5"}, "give a number"),
        ({"quality": 2.0}, "give numbers in"),
        ({"id": None}, "no 'id'"),
        ({"id": [1]}, "episode is"),
    ):
        with pytest.raises(InputError, match=said):
            predictor.predict(row | {"a": 9.0} | change)
    with pytest.raises(InputError, match="infinite in row 1"):
        predictor.predict_rows(pl.DataFrame([row | {"a": 9.0}, row | {"a": -np.inf}]))
    after = predictor.predict(gap)
    assert (after.value, after.age) == (expected.value, expected.age + 1)


def test_columns_may_be_more_and_only_those_of_features_must_be_there(tmp_path: Path) -> None:
    found = fitted(tmp_path, preference="quality")
    predictor = found.predictor()
    row: dict[str, Any] = {"id": 1, "a": 5.0, "b": 1.0, "kind": "x"}
    plain = predictor.predict(row)
    assert np.isnan(plain.beta)
    known = predictor.predict(row | {"quality": 0.3, "new": "column"})
    assert known == (plain.value, 0.3, 0.0)
    most_frequent = found.encoding.levels[0][0]
    unseen, usual = (predictor.predict(row | {"kind": k}) for k in ("never seen", most_frequent))
    assert unseen.value == usual.value
    with pytest.raises(InputError, match="there is no column 'b': "):
        predictor.predict({"id": 1, "a": 5.0, "kind": "x"})


def test_a_value_of_a_category_has_the_same_code_however_it_is_given() -> None:
    codes = {3: 0.0, 1: 1.0, 5: 2.0}
    for given, code in ((5, 2.0), (5.0, 2.0), ("5", 2.0), (True, 1.0), (5.5, 0.0), ("x", 0.0)):
        assert code_of(given, codes) == code
        assert codes_of(pl.Series([given, None]), codes).tolist() == pytest.approx(
            [code, NAN], nan_ok=True
        )
    assert code_of(5, {"3": 0.0, "5": 1.0}) == 1.0


def test_a_single_row_does_not_start_the_threads_of_polars(tmp_path: Path) -> None:
    if not Path("/proc/self/task").is_dir():
        pytest.skip("threads are counted in /proc")
    fitted(tmp_path)
    program = f"""
from pathlib import Path
import preftd
predictor = preftd.load({str(tmp_path)!r}).predictor()
predictor.predict({{"id": 1, "a": 5.0, "b": None, "kind": "y"}})
names = [one.read_text().strip() for one in Path("/proc/self/task").glob("*/comm")]
assert not {{"polars-0", "polars-1"}} & {{*names}}, names
"""
    subprocess.run([sys.executable, "-c", program], check=True)
