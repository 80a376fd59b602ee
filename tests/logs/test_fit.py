"""What an evaluation writes: held-out predictions, returns, errors, weights that load again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import preftd
from logs.made_logs import COLUMNS, gappy, settings_of
from preftd import PTD
from preftd._src.logs import scores, table
from preftd._src.logs.arms import Arm
from preftd._src.logs.encoding import Gatherer
from preftd._src.logs.returns import UNKNOWN, returns
from preftd.logs import LogColumns, LogEvaluation, fit

NAMED: dict[str, Any] = COLUMNS | {"reward": ["r", "s"], "discount": [0.5, 0.9]}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> LogEvaluation:
    return fit(gappy(), LogColumns(**NAMED), tmp_path_factory.mktemp("out"), folds=3)


def test_returns_are_those_of_the_log(found: LogEvaluation) -> None:
    log, shown = gappy(), found.predictions()
    for reward, discount in (("r", 0.5), ("s", 0.9)):
        mean = next(
            one["mean"]
            for one in found.summary["questions"]
            if (one["cumulant"], one["discount"]) == (reward, discount)
        )
        returns = shown[f"return_{reward}_{discount:g}"].to_numpy()
        for episode in range(60):
            rows = np.flatnonzero(log["id"].to_numpy() == episode)
            G, unknown = mean, 1.0
            for t in rows[::-1]:
                if t == rows[-1] and not log["end"][int(t)]:
                    assert np.isnan(returns[t])
                    continue
                ends = bool(log["end"][int(t)])
                G = log[reward][int(t)] + (0.0 if ends else discount * G)
                unknown = 0.0 if ends else discount * unknown
                if unknown <= UNKNOWN:
                    assert returns[t] == pytest.approx(G)
                else:
                    assert np.isnan(returns[t])


def test_predictions_come_from_the_other_folds(found: LogEvaluation) -> None:
    log, shown = gappy(), found.predictions()
    with np.load(found.folder / "weights.npz") as stored:
        held_out = stored["held_out"]
    for fold in range(3):
        rows = np.flatnonzero(shown["fold"].to_numpy() == fold)
        for episode in np.unique(log["id"].to_numpy()[rows]):
            own = log.filter(pl.col("id") == episode)
            at = np.flatnonzero(log["id"].to_numpy() == episode)
            assert set(at) <= set(rows)  # whole episodes
            other = LogEvaluation(
                found.folder, found.columns, found.summary, held_out[:, fold], found.encoding
            )
            for arm in ("td0", "ptd"):
                expected = other.predict(own, arm, "s, γ = 0.9")
                assert shown[f"value_{arm}_s_0.9"].to_numpy()[at] == pytest.approx(expected)


def test_held_predictions_follow_their_recurrence(found: LogEvaluation) -> None:
    log, shown = gappy(), found.predictions()
    beta = shown["beta"].to_numpy()
    missing = log["a"].is_nan() | log["b"].is_null()
    assert beta == pytest.approx(1.0 - missing.to_numpy())
    ids, rewards = log["id"].to_numpy(), log["r"].to_numpy()
    for question, discount, most in (("r_0.9", 0.9, 6), ("r_0.5", 0.5, 1)):
        value = shown[f"value_ptd_{question}"].to_numpy()
        expected, since = value.copy(), 0
        for t in range(1, len(value)):
            since = 0 if beta[t] or ids[t] != ids[t - 1] else since + 1
            if 1 <= since <= most:  # a larger power of the discount is less than a half
                expected[t] = (expected[t - 1] - rewards[t - 1]) / discount
        assert shown[f"held_ptd_{question}"].to_numpy() == pytest.approx(expected)


def test_held_predictions_blend_where_trust_is_partial(tmp_path: Path) -> None:
    named = COLUMNS | {"preference": "quality", "discount": 0.9}
    found = fit(gappy(gaps=0.0), LogColumns(**named), tmp_path, rules=["ptd"], folds=3)
    log, shown = gappy(gaps=0.0), found.predictions()
    beta, value, held = (shown[n].to_numpy() for n in ("beta", "value_ptd", "held_ptd"))
    blended = 0
    for t in range(1, len(log)):
        if log["id"][t] == log["id"][t - 1] and beta[t] == 0.3 and beta[t - 1] == 1:
            carried = (held[t - 1] - log["r"][t - 1]) / 0.9
            assert held[t] == pytest.approx(0.3 * value[t] + 0.7 * carried)
            blended += 1
    assert blended > 10


def test_errors_are_those_of_the_predictions(found: LogEvaluation) -> None:
    shown, errors = found.predictions(), found.errors()
    G, beta = shown["return_r_0.9"].to_numpy(), shown["beta"].to_numpy()
    kinds = {
        "all": beta >= 0,
        "trusted": beta >= 0.5,
        "untrusted": beta < 0.5,
    }
    for which, rows in kinds.items():
        known = rows & ~np.isnan(G)
        for kind in ("value", "held"):
            predicted = shown[f"{kind}_etd_r_0.9"].to_numpy()
            one = errors.filter(question="r, γ = 0.9", arm="etd", prediction=kind, rows=which).row(
                0, named=True
            )
            rmse = np.sqrt(((predicted - G)[known] ** 2).mean())
            assert one["count"] == known.sum()
            assert one["rmse"] == pytest.approx(rmse)
            assert one["relative"] == pytest.approx(rmse / G[known].std())
            assert one["rmse_low"] < rmse < one["rmse_high"]


def test_what_was_read_is_counted(found: LogEvaluation) -> None:
    log, text = gappy(), (found.folder / "summary.json").read_text()
    assert json.loads(text) == found.summary
    read = found.summary["log"]
    assert (read["rows"], read["episodes"]) == (len(log), 60)
    assert read["terminated"] == log["end"].sum()
    assert read["final_rows"] == 60 - read["terminated"]
    assert read["steps"] == read["rows"] - read["final_rows"]
    gaps = [one["missing"] for one in found.summary["inputs"]]
    assert gaps == [log["a"].is_nan().sum(), log["b"].null_count()]
    bins = found.summary["bins"]
    weighted = np.array(bins["gaps"]) @ np.array(bins["rows"])
    assert weighted == pytest.approx(gaps)
    assert np.dot(bins["beta"], bins["rows"]) == pytest.approx(found.predictions()["beta"].sum())
    assert any("final observation" in note for note in found.summary["notes"])


def test_an_evaluation_loads_again(found: LogEvaluation) -> None:
    again = preftd.load(found.folder)
    assert again.columns == found.columns
    rows = gappy().head(9)
    assert again.predict(rows, "td") == pytest.approx(found.predict(rows, "td"), rel=1e-15)
    raw = again.summary["questions"][0]["weights"]["ptd"]
    whole = rows.drop_nulls().filter(pl.col("a").is_not_nan())
    by_hand = whole["a"] * raw[0] + whole["b"] * raw[1] + raw[2]
    assert again.predict(whole) == pytest.approx(by_hand.to_numpy())


def test_a_continuing_log_is_cut_into_blocks_whose_returns_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = gappy(1, 90)
    columns = LogColumns(features=["a", "b"], reward="r", discount=0.8, preference="missing")
    found = fit(log, columns, tmp_path / "whole", folds=3)
    assert found.summary["log"]["block"] == -(-len(log) // 30)
    G = found.predictions()["return"].to_numpy()
    total = found.summary["questions"][0]["mean"]
    for t in range(len(log) - 2, -1, -1):
        total = log["r"][t] + 0.8 * total
        assert np.isnan(G[t]) or G[t] == pytest.approx(total)
    assert np.isnan(G).sum() < 30
    monkeypatch.setattr(table, "CHUNK", 53)
    monkeypatch.setattr("preftd._src.logs.parts.PART", 400)
    parts = fit(log, columns, tmp_path / "parts", folds=3)
    for name in ("return", "value_td", "held_ptd", "beta"):
        assert parts.predictions()[name].to_numpy() == pytest.approx(
            found.predictions()[name].to_numpy(), rel=1e-8, nan_ok=True
        )


def test_other_fills_change_td_and_leave_ptd(found: LogEvaluation, tmp_path: Path) -> None:
    weights: dict[tuple[str, str], list[Any]] = {}
    for one in found.summary["fills"]:
        weights.setdefault((one["arm"], one["question"]), []).append(one["weights"])
    assert len(weights) == 2 * 4
    for (arm, _), several in weights.items():
        assert len(several) == 3
        changes = np.ptp(several, axis=0).max()
        assert changes == 0 if arm == "ptd" else changes > 1e-3
    columns = LogColumns(**NAMED | {"fill": "zero"})
    other = fit(gappy(), columns, tmp_path, folds=3)
    assert other.summary["fills"] == found.summary["fills"]
    whole = fit(gappy(gaps=0.0), columns, tmp_path, folds=3, rules=["td"])
    assert whole.summary["fills"] == []


def test_returns_weigh_each_step_by_its_ratio() -> None:
    """G_t = ρ_t (r + γ G_{t+1}), up to a termination, and the mean where recording stops."""
    reward, rho = np.array([1.0, 2.0, 4.0, 8.0]), np.array([0.5, 2.0, 3.0, 0.25])
    discount, opens = np.array([0.5, 0.0, 0.5, 0.5]), np.ones(4, np.bool_)
    stays, out, unknown = np.array([True, False, True, False]), np.empty(4), np.empty(4)
    returns(reward, discount, rho, stays, opens, 10.0, out, unknown)
    last = 0.25 * (8 + 0.5 * 10)
    assert out.tolist() == [0.5 * (1 + 0.5 * 4), 4.0, 3 * (4 + 0.5 * last), last]
    assert unknown.tolist() == [0.0, 0.0, 0.25, 0.5]


def test_intervals_of_errors_reach_1_96_standard_errors_to_either_side() -> None:
    groups, arm = 400, Arm("ptd", "PTD", PTD())
    square = 1 + 0.2 * np.random.default_rng(0).normal(size=groups)
    counts, squares = np.zeros((groups, 2, 3)), np.zeros((2, groups, 2, 1))
    counts[:, 1] = [1.0, 0.0, 1.0]
    squares[:, :, 1, 0] = square
    (error, *_), *_ = scores.error_table(counts, squares, (arm,), 0.0)
    deviation = square.std() / np.sqrt(groups) / (2 * error["rmse"])
    width = error["rmse_high"] - error["rmse_low"]
    assert width == pytest.approx(2 * 1.96 * deviation, rel=0.06)


def test_a_gap_is_filled_by_the_last_trusted_reading_of_its_episode(tmp_path: Path) -> None:
    """Also where it stands in a piece without a gap, whose last row is not trusted."""
    log = gappy(gaps=0.0)
    encoding = settings_of(log, tmp_path, preference="quality")[0].encoding
    pieces = [pl.DataFrame({"a": a, "b": [0.0] * len(a)}) for a in ([1.0, 2.0, 9.0], [None, 5.0])]
    gatherer = Gatherer(encoding)
    given = [([True, False, False], [1.0, 1.0, 0.0]), ([False, False], [1.0, 1.0])]
    for piece, (begins, beta) in zip(pieces, given, strict=True):
        rows = gatherer.rows(gatherer.columns(piece), np.array(begins), np.array(beta))
        ((_, found),) = gatherer.blocks(rows, str)
    assert found[0, 0] == pytest.approx((2.0 - encoding.centre[0]) / encoding.scale[0])
    assert rows.gaps.tolist() == [1, 0]
