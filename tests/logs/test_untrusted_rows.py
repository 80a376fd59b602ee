"""What rows with β = 0 show changes neither PTD's weights nor its predictions of other rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from preftd import InputError
from preftd._src.logs import look as look_module
from preftd._src.logs.command import lines
from preftd._src.logs.scores import hold
from preftd._src.report.log_page import write_log_page
from preftd.logs import LogColumns, LogEvaluation, fit
from preftd.preferences import Signal

COLUMNS: dict[str, Any] = {
    "features": ["a", "b", "c"],
    "categories": ["kind"],
    "reward": "r",
    "discount": 0.9,
    "episode": "id",
    "terminated": "end",
}


def made(rows: int = 360, seed: int = 0) -> pl.DataFrame:
    """Episodes with gaps in `b` and `c`, and a column of preferences."""
    rng = np.random.default_rng(seed)
    ids = np.arange(rows) // 12
    gaps = rng.random((2, rows)) < 0.25
    a = rng.normal(size=rows).cumsum()
    return pl.DataFrame(
        {
            "id": ids,
            "a": a,
            "b": pl.Series(np.where(gaps[0], np.nan, rng.normal(5, 2, rows))).fill_nan(None),
            "c": np.where(gaps[1], np.nan, a + rng.normal(size=rows)),
            "kind": rng.choice(["x", "y", "z"], rows, p=[0.4, 0.35, 0.25]),
            "r": a + rng.normal(size=rows),
            "end": (np.arange(rows) % 12 == 11) & (rng.random(rows) < 0.7),
            "ok": rng.choice([0.0, 0.4, 1.0], rows, p=[0.3, 0.2, 0.5]),
        }
    )


def shown_elsewhere(log: pl.DataFrame, beta: np.ndarray[Any, Any], value: Any) -> pl.DataFrame:
    """The same log, which shows something else in rows with β = 0; what is missing stays so."""
    zero, index = pl.Series(beta == 0), pl.int_range(pl.len())
    there = [
        pl.when(zero & pl.col(name).is_not_null() & pl.col(name).is_not_nan())
        .then(pl.lit(float(value)) * (1 + index % 3))
        .otherwise(pl.col(name))
        .alias(name)
        for name in "abc"
    ]
    other = pl.concat_str([pl.lit("other"), (index % 7).cast(pl.String)])
    kind = pl.when(zero & pl.col("kind").is_not_null()).then(other).otherwise(pl.col("kind"))
    return log.with_columns(*there, kind=kind)


class Turns(Signal):
    """Not to trust every third row."""

    def at(self, _visit: Any, memory: Any) -> tuple[float, Any]:
        step = 0 if memory is None else memory
        return float(step % 3 > 0), step + 1


CASES: list[dict[str, Any]] = [
    {"preference": "ok"},
    {"preference": "ok", "encoder": "polynomial:2", "fill": "mean"},
    {"preference": "ok", "encoder": "fourier:2"},
    {"preference": "ok", "encoder": "tiles:4:2", "fill": "zero"},
    {"preference": "ok", "constant": False},
    {"preference": "ok", "episode": None, "terminated": None},
    {"preference": "missing"},
    {"preference": "missing:b"},
    {"preference": "missing:b,c:2", "episode": None, "terminated": None},
    {"preference": "age:b:0.002"},
]


def assert_same_where_trusted(found: LogEvaluation, other: LogEvaluation) -> None:
    beta = found.predictions()["beta"].to_numpy()
    assert (other.predictions()["beta"].to_numpy() == beta).all()
    assert 0.01 < (beta == 0).mean() < 0.9
    ours = [i for i, arm in enumerate(found.summary["arms"]) if arm["key"] == "ptd"]
    assert (other.weights[ours] == found.weights[ours]).all()
    for arm in (one["key"] for one in found.summary["arms"]):
        if arm.startswith("ptd"):
            for name in (f"value_{arm}", f"held_{arm}"):
                both = [one.predictions()[name].to_numpy()[beta > 0] for one in (found, other)]
                assert np.array_equal(both[0], both[1], equal_nan=True), name  # of untested rows


@pytest.mark.parametrize("named", CASES, ids=str)
def test_what_is_shown_where_beta_is_0_has_no_part_in_values(
    named: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preftd._src.logs.parts.PART", 90)
    columns, log = LogColumns(**COLUMNS | named), made()
    given: dict[str, Any] = {"rules": ["td", "ptd"], "folds": 3}
    found = fit(log, columns, tmp_path / "found", **given)
    beta = found.predictions()["beta"].to_numpy()
    for i, value in enumerate((2.0**31 - 1, -1e20)):
        changed = shown_elsewhere(log, beta, value)
        other = fit(changed, columns, tmp_path / str(i), **given)
        assert_same_where_trusted(found, other)


def test_gaps_where_beta_is_0_have_no_part_in_values(tmp_path: Path) -> None:
    columns, log = LogColumns(**COLUMNS | {"preference": "ok"}), made()
    found = fit(log, columns, tmp_path / "found", rules=["ptd"])
    zero = pl.col("ok") == 0
    emptied = log.with_columns(
        [pl.when(~zero).then(pl.col(name)).alias(name) for name in ("a", "b", "c", "kind")]
    )
    other = fit(emptied, columns, tmp_path / "other", rules=["ptd"])
    assert_same_where_trusted(found, other)


def test_methods_do_not_look_at_rows_with_beta_0(tmp_path: Path) -> None:
    columns, log = LogColumns(**COLUMNS | {"preference": "ok"}), made(240)
    given: dict[str, Any] = {"rules": ["ptd"], "methods": ["linear", "network:4"], "folds": 2}
    found = fit(log, columns, tmp_path / "found", **given)
    beta = found.predictions()["beta"].to_numpy()
    for i, value in enumerate((1e6, 1e20)):
        changed = shown_elsewhere(log, beta, value)
        other = fit(changed, columns, tmp_path / str(i), **given)
        assert_same_where_trusted(found, other)
        sizes = [one.summary["questions"][0]["step_sizes"] for one in (found, other)]
        assert sizes[0] == sizes[1]


def test_a_long_log_is_scaled_by_trusted_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only some rows are looked at; if few of them are trusted, others that are."""
    monkeypatch.setattr(look_module, "LOOK", 160)
    for preference in ("ok", "missing:b,c:2"):
        columns = LogColumns(**COLUMNS | {"preference": preference, "episode": None})
        seldom = pl.int_range(pl.len()) % 90 == 89
        few = made(2000).with_columns(
            ok=seldom.cast(pl.Float64),
            b=pl.when(seldom).then(pl.col("b").fill_null(1.0)),
            c=pl.col("c").fill_nan(3.0),
        )
        for name, log in (("some", made(2000)), ("few", few)):
            found = fit(log, columns, tmp_path / f"{preference} {name}", rules=["ptd"])
            beta = found.predictions()["beta"].to_numpy()
            changed = shown_elsewhere(log, beta, 1e6)
            other = fit(changed, columns, tmp_path / f"{preference} {name} other", rules=["ptd"])
            assert (other.weights == found.weights).all()


def test_a_feature_of_which_no_reading_is_looked_at_is_searched_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_module, "LOOK", 160)
    monkeypatch.setattr(look_module, "FEWEST", 1)
    number = pl.int_range(pl.len())
    log = made(2000).with_columns(b=pl.when(number.is_between(40, 45)).then(number.cast(float)))
    columns = LogColumns(**COLUMNS | {"categories": []})
    found = fit(log, columns, tmp_path, rules=["ptd"])
    assert found.encoding.mean[1] == pytest.approx(42.5)


def test_a_signal_is_scaled_again_by_what_it_trusts(tmp_path: Path) -> None:
    columns = LogColumns(**COLUMNS | {"preference": Turns()})
    found = fit(made(), columns, tmp_path / "found", rules=["ptd"])
    beta = found.predictions()["beta"].to_numpy()
    changed = shown_elsewhere(made(), beta, 1e6)
    assert_same_where_trusted(found, fit(changed, columns, tmp_path / "other", rules=["ptd"]))


@pytest.mark.parametrize("value", [0.0, 1e6, 2.0**31 - 1, 1e20])
def test_a_sensor_that_fails_leaves_the_weight_of_its_readings(
    value: float, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(5, 1, 4000)
    failed = rng.random(4000) < 0.2
    log = pl.DataFrame({"x": np.where(failed, value, x), "ok": ~failed, "r": 2 * x})
    columns = LogColumns(["x"], "r", 0.0, preference="ok")
    found = fit(log, columns, tmp_path)
    assert found.summary["questions"][0]["weights"]["ptd"] == pytest.approx([2.0, 0.0], abs=1e-6)


def test_a_feature_that_is_constant_where_rows_are_trusted_has_no_weight(tmp_path: Path) -> None:
    log = made().with_columns(a=pl.when(pl.col("ok") > 0).then(4.5).otherwise("a"))
    columns = LogColumns(**COLUMNS | {"preference": "ok"})
    found = fit(log, columns, tmp_path)
    assert found.summary["questions"][0]["weights"]["ptd"][columns.features.index("a")] == 0
    encoded = LogColumns(**COLUMNS | {"preference": "ok", "encoder": "fourier:1"})
    with pytest.raises(InputError, match=r"'a' is 4\.5 in every row with β > 0: leave it out"):
        fit(log, encoded, tmp_path)


@pytest.mark.parametrize("encoder", [None, "polynomial:2"])
def test_products_that_overflow_are_named(encoder: str | None, tmp_path: Path) -> None:
    columns, log = LogColumns(**COLUMNS | {"preference": "ok", "encoder": encoder}), made()
    changed = shown_elsewhere(log, log["ok"].to_numpy(), 1e200)
    with pytest.raises(InputError, match=r"sums of TD\(0\) are not finite: .*null"):
        fit(changed, columns, tmp_path / "all")
    found = fit(log, columns, tmp_path / "found", rules=["ptd"])
    other = fit(changed, columns, tmp_path / "other", rules=["ptd"])
    assert (other.weights == found.weights).all()
    write_log_page(other)


@pytest.mark.parametrize("preference", [0.0, "never", "missing"])
def test_a_log_of_which_nothing_is_trusted_has_a_note(preference: Any, tmp_path: Path) -> None:
    turns = pl.int_range(pl.len()) % 2 == 0
    log = made().with_columns(
        never=pl.lit(0.0), a=pl.when(turns).then("a"), b=pl.when(~turns).then("b")
    )
    columns = LogColumns(**COLUMNS | {"preference": preference})
    found = fit(log, columns, tmp_path)
    (note,) = (one for one in found.summary["notes"] if "β = 0" in one)
    assert note == "No row is trusted (β = 0 in all of them): PTD learns nothing and predicts 0."
    assert note in list(lines(found))
    assert (found.weights[-1] == 0).all()
    if preference == "missing":
        write_log_page(found)


def test_few_trusted_rows_have_a_note(tmp_path: Path) -> None:
    few = (pl.int_range(pl.len()) % 150 == 7).cast(pl.Float64)
    log = made().with_columns(few=few, b=pl.col("b").fill_null(pl.int_range(pl.len()) % 5))
    columns = LogColumns(
        **COLUMNS | {"preference": "few", "categories": [], "features": ["a", "b"]}
    )
    found = fit(log, columns, tmp_path, rules=["ptd"])
    assert (
        "Only 3 rows have β > 0, for 3 features: PTD learns from little." in found.summary["notes"]
    )


def test_held_predictions_do_not_rest_on_rows_with_beta_0() -> None:
    """Also where a unit begins with such a row, and where one is held for long."""
    rng = np.random.default_rng(0)
    rows = 400
    beta, first = rng.choice([0.0, 0.5, 1.0], rows, p=[0.6, 0.3, 0.1]), rng.random(rows) < 0.1
    values, paid = rng.normal(size=(rows, 2)), rng.normal(size=(rows, 2))
    before = np.broadcast_to([0.9, 1.0], (rows, 2)).copy()
    found = []
    for shown in (0.0, 1e6, np.inf):
        seen = np.where(beta[:, None] > 0, values, values + shown)
        out = np.empty_like(values)
        hold(seen, beta, first, before, paid, np.zeros((3, 2)), out)
        found.append(out[beta > 0])
    assert np.isfinite(found[0]).all()
    assert all((other == found[0]).all() for other in found)
