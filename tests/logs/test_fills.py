"""What stands for missing numbers has no part in PTD, and the summary tells what it has in TD."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from logs.made_logs import COLUMNS, gappy
from preftd.logs import LogColumns, evaluate, fills


def test_changes_are_those_of_an_evaluation_with_the_other_fill(tmp_path: Path) -> None:
    log, columns = gappy(episodes=90), LogColumns(**COLUMNS | {"discount": [0.5, 0.9]})
    one, two = (
        evaluate(log, columns.with_fill(fill), tmp_path / fill, folds=3, predictions=False)
        for fill in ("last", "mean")
    )
    trusted = log.filter(pl.col("a").is_not_nan() & pl.col("b").is_not_null())
    assert one.summary["fills"]["rows"] == log.height
    some = [change for change in one.summary["fills"]["changes"] if change["fill"] == "mean"]
    assert len(some) == 8
    for change in some:
        before, after = (
            found.predict(trusted, change["arm"], change["question"]) for found in (one, two)
        )
        expected = float(np.sqrt(np.mean((after - before) ** 2)))
        assert change["change"] == pytest.approx(expected, abs=1e-12)
        assert change["relative"] == pytest.approx(expected / before.std(), abs=1e-12)
        if change["arm"] == "ptd":
            assert change["change"] == 0
        else:
            assert change["relative"] > 0.01


def test_a_long_log_is_measured_in_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fills, "ROWS", 100)
    monkeypatch.setattr("preftd.logs.plan.PART", 200)
    log = gappy(episodes=90)
    found = evaluate(log, LogColumns(**COLUMNS), tmp_path, folds=3, rules=["td0"])
    assert 100 <= found.summary["fills"]["rows"] < log.height / 2


def test_nothing_is_measured_where_nothing_is_missing(tmp_path: Path) -> None:
    found = evaluate(gappy(gaps=0.0), LogColumns(**COLUMNS), tmp_path, folds=3, rules=["td0"])
    assert found.summary["fills"] is None
