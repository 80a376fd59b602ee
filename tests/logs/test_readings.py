"""Fills and ages follow the episode: whatever is computed together, and in predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from preftd._src.logs import table as table_module
from preftd.logs import LogColumns, fit
from preftd.preferences import Displacement, Learned

SEEN = 50


def seldom_read(rows: int = 1200) -> pl.DataFrame:
    """One long episode, with a sensor that is read every 50 rows, and one that is read seldom."""
    rng = np.random.default_rng(0)
    at = np.arange(rows)
    hidden = rng.normal(size=rows).cumsum()
    return pl.DataFrame(
        {
            "x": np.where(at % SEEN == 7, hidden, np.nan),
            "rare": np.where(abs(at % 400 - 7) < 3, 3.0 + at, np.nan),
            "y": rng.normal(size=rows),
            "kind": [("u", "v")[t % 2] if t % 15 == 8 else None for t in range(rows)],
            "ok": rng.choice([0.0, 1.0], rows),
            "r": hidden + rng.normal(size=rows),
        }
    )


PREFERENCES = ["missing:x:49", "missing:x,rare:30", "missing:x,kind:60", "age:x:0.03", "ok"]


@pytest.mark.parametrize("preference", PREFERENCES)
def test_neither_blocks_nor_parts_change_features_or_trust(
    preference: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = LogColumns(["x", "rare", "y"], "r", 0.8, categories="kind", preference=preference)
    log, found = seldom_read(), []
    for i, (block, part, chunk) in enumerate(
        [(240, 1 << 20, 1 << 17), (60, 1 << 20, 1 << 17), (60, 120, 97)]
    ):
        monkeypatch.setattr("preftd._src.logs.look.BACK", 4096 if i < 2 else 20)
        monkeypatch.setattr("preftd._src.logs.parts.PART", part)
        monkeypatch.setattr(table_module, "CHUNK", chunk)
        found.append(fit(log, columns, tmp_path / str(i), rules=["ptd"], folds=3, block=block))
    zero = {one.summary["preference"]["zero"] for one in found}
    assert len(zero) == 1
    if preference == "missing:x:49":
        assert zero == {7}
    for other in found:
        assert other.predictions()["beta"].equals(found[0].predictions()["beta"])
        for one in ("centre", "scale", "mean", "levels"):
            assert np.array_equal(getattr(other.encoding, one), getattr(found[0].encoding, one))
    assert found[2].weights == pytest.approx(found[1].weights, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("signal", [Learned(), Displacement({1: 0.5})], ids=["learned", "moves"])
def test_signals_see_episodes_not_blocks(
    signal: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = LogColumns(["x", "y"], "r", 0.8, preference=signal, terminated="end")
    end = pl.int_range(pl.len()).is_in([269, 500])
    log, betas = seldom_read(600).with_columns(end=end), []
    for i, (block, part) in enumerate([(150, 1 << 20), (30, 1 << 20), (30, 90)]):
        monkeypatch.setattr("preftd._src.logs.parts.PART", part)
        out = tmp_path / str(i)
        found = fit(log, columns, out, rules=["ptd"], folds=3, block=block)
        betas.append(found.predictions()["beta"].to_numpy())
    assert 0 < betas[0].mean() < 1
    assert all((other == betas[0]).all() for other in betas)


@pytest.mark.parametrize("fill", ["last", "mean", "zero"])
@pytest.mark.parametrize("preference", [*PREFERENCES, 1.0])
def test_predict_gives_what_the_weights_give_in_the_log(
    preference: Any, fill: str, tmp_path: Path
) -> None:
    """As an independent loop over rows says."""
    log = seldom_read(450).with_columns(
        id=pl.int_range(pl.len()) // 130, end=pl.int_range(pl.len()) % 41 == 40
    )
    columns = LogColumns(
        ["x", "rare", "y"], "r", 0.8, categories="kind", preference=preference, fill=fill,
        episode="id", terminated="end",
    )  # fmt: skip
    found = fit(log, columns, tmp_path, rules=["ptd"], folds=3)
    e, beta = found.encoding, found.predictions()["beta"].to_numpy()
    kept: dict[tuple[str, bool], Any] = {}
    for t, row in enumerate(log.rows(named=True)):
        if t == 0 or row["id"] != log["id"][t - 1] or log["end"][t - 1]:
            kept = {}
        for name in ("x", "rare", "y", "kind"):
            value = row[name]
            missing = value is None or value != value  # noqa: PLR0124  (NaN)
            if not missing:
                kept[name, False] = value
                if beta[t] > 0:
                    kept[name, True] = value
            elif name == "kind":
                row[name] = kept.get((name, bool(beta[t] > 0))) if fill == "last" else None
            else:
                mean = e.mean[e.columns.features.index(name)] if fill != "zero" else 0.0
                last = kept.get((name, bool(beta[t] > 0)), mean)
                row[name] = last if fill == "last" else mean
        x = [(row[n] - e.centre[i]) / e.scale[i] for i, n in enumerate(e.columns.features)]
        x += [float(row["kind"] == level) for level in e.levels[0][1:]]
        expected = np.dot([*x, 1.0], found.weights[0, :, 0])
        if t == 0:
            predicted = found.predict(log)
        assert predicted[t] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_value_of_a_category_that_is_new_has_no_feature(tmp_path: Path) -> None:
    log = seldom_read(600).with_columns(
        kind=pl.Series(np.random.default_rng(3).choice(["u", "v", "w"], 600, p=[0.5, 0.3, 0.2]))
    )
    columns = LogColumns(["y"], "r", 0.8, categories="kind")
    found = fit(log, columns, tmp_path, rules=["ptd"])
    assert found.encoding.levels[0] == ("u", "v", "w")
    rows = pl.DataFrame({"y": [0.5] * 4, "kind": ["v", "new", None, "u"]})
    v, new, gap, u = found.predict(rows)
    assert new == u != v
    assert gap == u  # the last reading was none of the log's


def test_whole_numbers_of_a_category_may_come_as_other_types(tmp_path: Path) -> None:
    """As pandas makes fractions of columns with gaps."""
    log = seldom_read(600).with_columns(kind=pl.int_range(pl.len()) * 7 % 3)
    found = fit(log, LogColumns(["y"], "r", 0.8, categories="kind"), tmp_path, rules=["ptd"])
    values = found.predict(pl.DataFrame({"y": [0.5] * 5, "kind": [2, 1, None, 0, 9]}))
    assert len(set(values[[0, 1, 3]])) == 3
    for kinds in ([2.0, 1.0, np.nan, 0.0, 9.5], ["2", "1", None, "0", "x"]):
        rows = pl.DataFrame({"y": [0.5] * 5, "kind": kinds})
        assert (found.predict(rows) == values).all()
    nothing = found.predict(pl.DataFrame({"y": [0.5], "kind": [None]}))
    assert nothing == values[-1]


def test_categories_may_be_flags(tmp_path: Path) -> None:
    log = seldom_read(600).with_columns(flag=pl.col("ok") > 0)
    columns = LogColumns(["y"], "r", 0.8, categories="flag")
    found = fit(log, columns, tmp_path, rules=["ptd"])
    as_number = log.with_columns(pl.col("flag").cast(pl.Int64))
    other = fit(as_number, columns, tmp_path / "other", rules=["ptd"])
    assert (found.predict(log) == other.predict(as_number)).all()
