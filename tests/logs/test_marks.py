"""A reading such as −999, which repeats far from all others, is pointed out; others are not."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from preftd._src.logs.look import marks_in
from preftd.logs import LogColumns, fit

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(20, 8, 2000)
SPARSE = np.where(RNG.random(2000) < 0.7, 0.0, RNG.gamma(2, 3, 2000))


def put(readings: Any, *values: float, count: int = 40) -> Any:
    """The readings, some of them replaced by values."""
    found = np.array(readings, dtype=float)
    places = RNG.permutation(len(found))
    for i, value in enumerate(values):
        found[places[i * count : (i + 1) * count]] = value
    return found


MARKED = {
    "once in fifty rows": (put(NORMAL, -999), {-999}),
    "in most rows": (put(NORMAL, 9999, count=1500), {9999}),
    "three times": (put(NORMAL, -999, count=3), {-999}),
    "two kinds": (put(NORMAL, -99, -999), {-99, -999}),
    "not a whole number": (put(NORMAL, -999.25), {-999.25}),
    "the largest of 32 bits": (put(NORMAL, 2**31 - 1), {2**31 - 1}),
    "among zeros": (put(SPARSE, -999), {-999}),
    "among whole numbers": (put(RNG.poisson(40, 2000), 65535), {65535}),
    "next to an outlier": (np.append(put(NORMAL, -999), 150.0), {-999}),
}
NOT_MARKED = {
    "numbers": NORMAL,
    "heavy tails": RNG.standard_cauchy(2000),
    "an outlier": np.append(NORMAL, -999.0),
    "an outlier twice": np.append(NORMAL, [-999.0, -999.0]),
    "two values": RNG.choice([0.0, 1000.0], 2000),
    "a code of a category": RNG.choice([1.0, 2.0, 3.0, 900.0], 2000),
    "counts": RNG.poisson(3, 2000),
    "counts with long tails": RNG.geometric(0.02, 2000),
    "clipped": NORMAL.clip(10, 30),
    "clipped heavy tails": np.exp(RNG.normal(0, 2, 2000)).clip(0, 40),
    "many zeros": SPARSE,
    "zeros far from the others": np.where(SPARSE > 0, NORMAL + 500, 0),
    "a few zeros far from the others": put(NORMAL + 500, 0),
    "two groups that vary": np.where(SPARSE > 0, NORMAL, NORMAL - 999),
    "money": np.exp(RNG.normal(3, 1, 2000)).round(0),
    "almost constant": put(np.full(2000, 5.0), 100),
    "few readings": np.array([1.0, 2.0, 3.0, -999.0, -999.0, -999.0]),
}


@pytest.mark.parametrize("name", MARKED)
def test_a_reading_that_repeats_far_from_all_others_is_found(name: str) -> None:
    readings, values = MARKED[name]
    found = list(marks_in(readings))
    assert {value for value, *_ in found} == values
    others = readings[~np.isin(readings, list(values))]
    assert found[-1][2:] == (others.min(), others.max())
    assert all(share == 100 * (readings == value).mean() for value, share, *_ in found)


@pytest.mark.parametrize("name", NOT_MARKED)
def test_there_is_no_false_alarm(name: str) -> None:
    assert list(marks_in(np.asarray(NOT_MARKED[name], dtype=float))) == []


def test_a_note_says_what_to_do_and_it_helps(tmp_path: Path) -> None:
    rows = np.arange(2000)
    frame = pl.DataFrame({"x": put(NORMAL, -999).round(3), "r": NORMAL.round(3), "id": rows // 20})
    frame = frame.with_columns(ok=pl.col("x") != -999)
    frame.write_csv(tmp_path / "log.csv")

    def notes(**given: Any) -> str:
        columns = LogColumns(features=["x"], reward="r", discount=0.5, episode="id", **given)
        found = fit(tmp_path / "log.csv", columns, tmp_path / "out", rules=["ptd"])
        return "\n".join(found.summary["notes"])

    said = "'x' is -999 in 2% of its readings with β > 0, far from all others ("
    assert said in notes()
    assert "make it null (in CSV by --null -999) and use --preference missing" in notes()
    assert "'x' is" not in notes(nulls=["-999.0"], preference="missing")
    assert "'x' is" not in notes(preference="ok"), "β is 0 there"
