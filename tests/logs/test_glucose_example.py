"""The example on glucose, on readings at random: what its log holds, and that it runs."""

from __future__ import annotations

import datetime as dt
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "glucose.py"


@pytest.fixture(scope="module")
def example() -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLE), run_name="example")


def readings(rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    minutes = np.cumsum(rng.choice([1, 5, 20, 400], rows, p=[0.1, 0.85, 0.04, 0.01]))
    slow = np.convolve(rng.normal(size=rows + 99), np.ones(100), mode="valid")
    start = dt.datetime(2024, 1, 1)
    return pl.DataFrame(
        {
            "when": [start + dt.timedelta(minutes=int(one)) for one in minutes],
            "glucose": np.round(150 + 5 * slow),
            "isig": np.where(rng.random(rows) < 0.02, np.nan, 20 + slow + rng.normal(size=rows)),
        }
    ).with_columns(pl.col("isig").fill_nan(None))


@pytest.mark.parametrize("change", [0, 20])
def test_rows_that_are_left_out_take_no_time_above_with_them(
    change: float, example: dict[str, Any]
) -> None:
    given = readings()
    log = example["log_of"](given, change)
    hours = given["when"].diff().dt.total_seconds().to_numpy()[1:] / 3600
    above = hours * (given["glucose"].to_numpy()[:-1] > 180)
    assert log["above"].sum() == pytest.approx(above[hours <= 0.5].sum())
    assert log["above"].null_count() == (hours > 0.5).sum() + 1
    assert log.height == given.height if change == 0 else log.height < given.height / 2


def test_errors_of_all_methods_are_found(
    example: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(example["compare_methods"].__globals__, "DISCOUNTS", (0.3,))
    found = pl.DataFrame(example["compare_methods"](readings()))
    assert set(found["method"]) == {"ridge", "ridge, trusted rows", "TD(0)", "TD(λ)", "PTD"}
    assert (found["low"] <= found["ratio"]).all()
    assert (found["ratio"] <= found["high"]).all()
    some = found.filter(preference="everywhere", which="all")
    assert dict(some.select("method", "ratio").rows())["TD(λ)"] == pytest.approx(1, abs=0.2)
