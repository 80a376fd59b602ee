"""Regressions on realised returns, ridge penalties, splits by time, and the verdict in words."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from logs.made_logs import COLUMNS, gappy, settings_of
from preftd import InputError
from preftd._src.logs import solving, table
from preftd._src.logs.arms import arms_of
from preftd._src.logs.command import lines
from preftd._src.logs.first_pass import add_up, part_sums
from preftd._src.logs.look import look
from preftd._src.logs.parts import plan_parts, read_part
from preftd._src.logs.scores import drawn_together, error_table
from preftd._src.logs.solving import solve
from preftd._src.logs.source import open_source
from preftd._src.logs.summary import errors_of
from preftd._src.logs.verdict import verdict
from preftd._src.style import number_text
from preftd.logs import LogColumns, fit
from preftd.report import write_log_page

ARMS = ("mean", "last", "ridge", "ridge_flags", "ridge_trusted", "ptd")


def realised(log: pl.DataFrame, discount: float, mean: float) -> tuple[Any, Any, Any]:
    """Returns of `r`, whether they are known, and the mean of the rewards before."""
    rows, ids, ends = log.height, log["id"].to_numpy(), log["end"].to_numpy()
    reward = log["r"].to_numpy()
    G, known, past = np.zeros(rows), np.zeros(rows, bool), np.zeros(rows)
    for t in range(rows):
        total, weight = 0.0, 1.0
        for k in range(t, rows):
            if (k + 1 == rows or ids[k + 1] != ids[k]) and not ends[k]:
                total += weight * mean  # the final observation
                break
            total += weight * reward[k]
            weight *= 0.0 if ends[k] else discount
            if ends[k]:
                break
        G[t], known[t] = total, weight <= 0.01
    for t in range(1, rows):
        before = [k for k in range(t) if ids[k] == ids[t]]
        if before:
            weights = discount ** np.arange(len(before))[::-1]
            past[t] = weights @ reward[before] / weights.sum()
    return G, known, past


NAMED: list[dict[str, Any]] = [{}, {"preference": "quality"}, {"discount": 0.5, "fill": "zero"}]


@pytest.mark.parametrize("named", NAMED, ids=str)
def test_regressions_are_those_of_the_rows(
    named: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = gappy(3, 25)
    settings, plan = settings_of(log, tmp_path / "one", rules=ARMS, **named)
    found = solve(settings, part_sums(settings, plan.parts[0]))
    _, x, beta = read_part(settings, plan.parts[0])
    G, known, past = realised(log, settings.columns.discounts[0], float(found.mean[0]))
    missing = np.stack([log["a"].is_nan().to_numpy(), log["b"].is_null().to_numpy()], axis=1)
    flags = missing.astype(float)
    if named.get("preference"):
        flags = np.column_stack([flags, 1 - beta])
    one = np.ones((len(G), 1))
    used: dict[str, tuple[Any, Any]] = {
        "mean": (one, 1.0), "last": (np.column_stack([past, one]), 1.0), "ridge": (x, 1.0),
        "ridge_flags": (np.column_stack([x[:, :-1], flags, one]), 1.0), "ridge_trusted": (x, beta),
    }  # fmt: skip
    wide = np.column_stack([x, flags, past])
    assert found.extras.names[-1] == f"rewards before (r, γ = {settings.columns.discounts[0]})"
    for a, arm in enumerate(ARMS[:-1]):
        z, weight = used[arm]
        w = (np.broadcast_to(weight, known.shape) * known)[:, None]
        ridge = np.diag([1e-6] * (z.shape[1] - 1) + [0.0])
        expected = z @ np.linalg.solve(z.T @ (w * z) + ridge, z.T @ (w[:, 0] * G))
        assert wide @ found.whole[a, :, 0] == pytest.approx(expected, rel=1e-8), arm
    monkeypatch.setattr(table, "CHUNK", 37)
    settings, plan = settings_of(log, tmp_path / "parts", 50, ARMS, **named)
    assert len(plan.parts) > 3
    again = solve(settings, add_up([part_sums(settings, part) for part in plan.parts]))
    assert again.whole == pytest.approx(found.whole, rel=1e-7, abs=1e-9)


def test_each_arm_has_the_penalty_with_the_least_error_on_inner_folds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if each penalty had been tried for all arms, without the fold that is predicted."""
    monkeypatch.setattr(solving, "SHARES", np.array([1e-4, 1e-2, 1.0]))
    log = gappy(5, 60)
    settings, plan = settings_of(log, tmp_path, rules=ARMS, ridge=None)
    total = part_sums(settings, plan.parts[0])
    found, (steps, x, beta) = solve(settings, total), read_part(settings, plan.parts[0])
    G, known, _ = realised(log, 0.9, 0.0)
    for key in ("ridge_trusted", "ptd"):
        a = ARMS.index(key)
        errors = np.zeros(3)
        for held in range(3):
            kept = [fold for fold in range(3) if fold != held]
            for i, share in enumerate(solving.SHARES):
                if key == "ptd":
                    sums = total["sums"][0, 0][kept].sum(axis=0)
                else:
                    sums = total["moments"][0, 0][kept].sum(axis=0)[:3][:, [0, 1, 2, -2]]
                scale = np.diag(sums)[:2].mean()
                w = solving.solved(sums, share * scale, True)[:, 0]
                rows = known & (steps.fold == held)
                errors[i] += (beta[rows] * (x[rows] @ w - G[rows]) ** 2).sum()
        assert found.penalties[a, 0] == solving.SHARES[errors.argmin()]


def series(rows: int = 800, seed: int = 0) -> pl.DataFrame:
    """A single series, with a time that is not that of rows."""
    rng = np.random.default_rng(seed)
    x = np.zeros(rows)
    for t in range(1, rows):
        x[t] = 0.9 * x[t - 1] + rng.normal()
    when = np.cumsum(rng.integers(1, 10, rows))
    return pl.DataFrame({"x": x, "r": x + rng.normal(size=rows), "when": when})


SPLITS: list[dict[str, Any]] = [{}, {"walk_forward": True}, {"test_after": 2500}]


@pytest.mark.parametrize("split", SPLITS, ids=str)
def test_nothing_that_comes_later_is_learned_from(split: dict[str, Any], tmp_path: Path) -> None:
    """Other rewards from a piece of time on, also those of its own rows, change no prediction."""
    columns = LogColumns(["x"], "r", 0.8, time="when" if "test_after" in split else None)
    log = series()
    found = fit(log, columns, tmp_path / "found", methods=["linear:0.1"], **split)
    shown = found.predictions()
    folds = shown["fold"].to_numpy()
    first, last = found.summary["split"]["tested"], folds[-1]
    values = [name for name in shown.columns if name.startswith("value_") and "last" not in name]
    assert len(values) == 9
    for fold in {first, last}:
        begin = int((folds == fold).argmax())
        other = log.with_columns(
            r=pl.when(pl.int_range(pl.len()) < begin).then("r").otherwise(1000.0)
        )
        again = fit(other, columns, tmp_path / str(fold), methods=["linear:0.1"], **split)
        rows = np.flatnonzero(folds == fold)
        for name in values:
            both = [one[name].to_numpy()[rows] for one in (shown, again.predictions())]
            assert both[0] == pytest.approx(both[1], rel=1e-9), name
    untested = shown.filter(pl.col("fold") < first)
    assert untested.height
    assert np.isnan(untested["value_ptd"].to_numpy()).all()
    assert found.errors()["count"].to_numpy().max() <= shown.height - untested.height
    if "test_after" in split:
        assert ((log["when"].to_numpy() > 2500) == (folds == last)).all()


def test_episodes_are_cut_where_a_test_begins(tmp_path: Path) -> None:
    """A log of several machines is tested after the same time in each."""
    log = pl.concat([series(200, seed).with_columns(id=pl.lit(seed)) for seed in range(20)])
    columns = LogColumns(["x"], "r", 0.8, episode="id", time="when")
    found = fit(log, columns, tmp_path / "time", rules=["ridge", "ptd"], test_after=600, folds=3)
    late = found.predictions()["fold"].to_numpy() == 3
    assert (late == (log["when"].to_numpy() > 600)).all()
    walked = fit(log, columns, tmp_path / "walk", rules=["ridge"], walk_forward=True, folds=3)
    folds, when = walked.predictions()["fold"].to_numpy(), log["when"].to_numpy()
    assert set(folds.tolist()) == set(range(5))
    assert all(when[folds == f].max() < when[folds == f + 1].min() for f in range(4))
    sizes = np.bincount(folds)
    assert sizes.max() < 1.1 * sizes.min()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"test_after": 5},
            "test_after needs the time of rows: name its column, as time or order.",
        ),
        ({"test_after": True, "time": "when"}, "test_after is True: give a time as in the column"),
        ({"test_after": "x", "time": "when"}, "test_after is 'x': give a time as in the column"),
        ({"test_after": 1e9, "time": "when"}, "test_after is 1000000000.0, and no row is after"),
        ({"test_after": 5, "time": "x"}, "time ('x') goes "),
        ({"test_after": 5, "walk_forward": True}, "both walk_forward and test_after are given"),
    ],
    ids=str,
)
def test_a_split_that_cannot_be_is_refused(
    given: dict[str, Any], said: str, tmp_path: Path
) -> None:
    columns = LogColumns(["x"], "r", 0.8, time=given.pop("time", None))
    with pytest.raises(InputError) as error:
        fit(series(), columns, tmp_path, **given)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize(
    ("dtype", "after"),
    [
        (pl.Datetime("us"), "1970-01-01 00:20:00"),
        (pl.Datetime("ms", "UTC"), "1970-01-01 00:20:00"),
        (pl.Datetime("us", "Asia/Tokyo"), "1970-01-01 09:20:00"),
        (pl.Datetime("us", "Asia/Tokyo"), "1970-01-01T00:20:00Z"),
        (pl.Datetime("us", "Asia/Tokyo"), dt.datetime(1970, 1, 1, 9, 20)),
        (pl.Datetime("us", "Asia/Tokyo"), dt.datetime(1970, 1, 1, 0, 20, tzinfo=dt.UTC)),
        (pl.Int64, 1200),
        (pl.Float64, "1200"),
    ],
    ids=str,
)
def test_times_are_read_as_the_column_has_them(dtype: Any, after: Any, tmp_path: Path) -> None:
    seconds = series()["when"]
    when = pl.from_epoch(seconds, "s").cast(dtype) if dtype.is_temporal() else seconds.cast(dtype)
    columns = LogColumns(["x"], "r", 0.8, order="when")
    found = fit(series().with_columns(when=when), columns, tmp_path, rules=["mean"],
                test_after=after)  # fmt: skip
    late = found.predictions()["fold"].to_numpy() == 5
    assert (late == (seconds.to_numpy() > 1200)).all()


def judged(errors: dict[str, NDArray[Any]], tmp_path: Path) -> list[str]:
    """The verdict on arms whose squared errors are given, by episode."""
    columns = LogColumns(["a", "b"], "r", 0.5, episode="id", terminated="end")
    found = fit(gappy(), columns, tmp_path, rules=list(errors))
    squares = np.zeros((2, 60, 2, len(errors)))
    squares[:, :, 1, :] = np.stack(list(errors.values()), axis=1)
    counts = np.zeros((60, 2, 3))
    counts[:, 1] = [1.0, 0.0, 4.0]
    table, verdicts = error_table(counts, squares, arms_of(list(errors)), 0.0)
    question = {"errors": table, "verdicts": verdicts, "groups": 60}
    return list(verdict(found.summary, question))


def test_the_simplest_of_the_arms_that_cannot_be_told_apart_is_recommended(tmp_path: Path) -> None:
    noise = 1 + 0.2 * np.random.default_rng(0).random((4, 60))
    errors = {"mean": 4 * noise[0], "ridge": noise[1], "td0": 2 * noise[2], "ptd": noise[3]}
    errors["ridge"] *= 1.001 * errors["ptd"].sum() / errors["ridge"].sum()
    (text,) = judged(errors, tmp_path / "near")
    assert text.startswith("On all rows (60 rows): use ridge. PTD has the least held-out error,")
    assert "ridge, which is simpler, cannot be told from it. PTD has 50 % less error" in text
    errors["ptd"] = 0.5 * noise[3]
    (text,) = judged(errors, tmp_path / "far")
    assert text.startswith("On all rows (60 rows): use PTD. It has the least held-out error,")
    assert "The best of the regressions, ridge, has 41.5 % more error" in text


def test_what_is_within_a_horizon_is_resampled_together() -> None:
    rows = np.repeat([10.0, 0.0, 10.0, 10.0, 10.0, 0.0], 2).reshape(6, 2, 1) / 2
    scores = {
        "counts": np.tile(rows, (1, 1, 1, 3)),
        "squares": np.arange(12.0).reshape(1, 2, 6, 1, 1),
        "begins": np.array([1, 0, 0, 0, 1, 1]),
        "opens": np.array([50]),
        "spent": np.array([50 * np.log(100) / 20]),  # 1 % is left after 20 rows
    }
    counts, squares = drawn_together(scores, 0, 0)
    assert counts[:, :, 0].sum(axis=1).tolist() == [20, 10, 10]
    assert squares[0].ravel().tolist() == [0 + 1 + 2, 3, 4]


def test_intervals_need_more_than_one_stretch_as_long_as_the_horizon(tmp_path: Path) -> None:
    log = pl.concat([series(400, seed).with_columns(id=pl.lit(seed)) for seed in range(3)])
    columns = LogColumns(["x"], "r", 0.97, episode="id", order="when")
    for ids, known in (3, True), (1, False):
        some = log.filter(pl.col("id") < ids)
        found = fit(some, columns, tmp_path / f"{ids}", rules=["ridge"], test_after=1000)
        (question,) = found.summary["questions"]
        assert question["groups"] == ids
        assert (question["errors"][0]["rmse_low"] is not None) == known
        assert f"are compared: {ids}. They are too few" in found.verdict()[-1]


def test_inside_gaps_what_is_held_may_be_best(tmp_path: Path) -> None:
    log, columns = gappy(), LogColumns(**COLUMNS | {"preference": "missing"})
    found = fit(log, columns, tmp_path / "log", rules=["ridge", "ptd"])
    squares = np.ones((2, 60, 2, 2))
    squares[1, :, :, 1] = 0.25 * (1 + np.random.default_rng(0).random((60, 2)))
    *_, verdicts = error_table(np.ones((60, 2, 3)), squares, arms_of(["ridge", "ptd"]), 0.0)
    assert [one["use"] for one in verdicts] == ["ridge", "held_ptd"]
    (question,) = found.summary["questions"]
    question |= {"verdicts": verdicts}
    text = found.verdict()[1]
    assert ": use PTD, held. It has the least held-out error" in text
    assert text.endswith("A saved model does not predict with PTD, held.")
    shown = [line for line in lines(found) if line.startswith("PTD, held")]
    error = errors_of(question, arm="ptd", prediction="held", rows="untrusted")[0]["rmse"]
    assert number_text(error) in shown[0]
    assert "use PTD, held" in write_log_page(found).read_text(encoding="utf-8")


def test_ridge_penalties_are_given_or_chosen(tmp_path: Path) -> None:
    columns = LogColumns(**COLUMNS)
    chosen = fit(gappy(), columns, tmp_path / "chosen", folds=3).summary["questions"][0]
    assert set(chosen["penalties"].values()) <= {*solving.SHARES.tolist(), solving.PLAIN_SHARE}
    given = fit(gappy(), columns, tmp_path / "given", folds=3, regularisation=0.1)
    assert set(given.summary["questions"][0]["penalties"].values()) == {None}
    assert given.summary["regularisation"] == 0.1


def test_arms_with_flags_predict_rows_one_by_one_as_they_do_frames(tmp_path: Path) -> None:
    log = gappy()
    found = fit(log, LogColumns(**COLUMNS | {"constant": False}), tmp_path, folds=3)
    for arm in ("ridge_flags", "mean", "ridge_trusted"):
        values = found.predict(log, arm)
        one_by_one = found.predictor(arm)
        shown = [one_by_one.predict(row).value for row in log.head(40).iter_rows(named=True)]
        assert shown == values[:40].tolist()
    flags = found.predict(log, "ridge_flags") - found.predict(
        log.with_columns(a=1.0), "ridge_flags"
    )
    assert np.abs(flags).max() > 0
    with pytest.raises(InputError, match="the arm last needs the rewards before a row: "):
        found.predict(log, "last")


def test_boosting_is_that_of_scikit_learn_on_the_other_folds(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    from sklearn.ensemble import HistGradientBoostingRegressor  # noqa: PLC0415  (an extra)

    log, columns = gappy(episodes=200), LogColumns(**COLUMNS)
    found = fit(log, columns, tmp_path, rules=["ridge"], methods=["boosting"], folds=3)
    shown = found.predictions()
    fold, G = shown["fold"].to_numpy(), shown["return"].to_numpy()
    settings, plan = settings_of(log, tmp_path / "parts")
    _, x, _ = read_part(settings, plan.parts[0])
    z = np.column_stack([x, log["a"].is_nan(), log["b"].is_null()])
    for held in range(3):
        model = HistGradientBoostingRegressor(early_stopping=False, random_state=0)
        kept, rows = (fold != held) & ~np.isnan(G), fold == held
        expected = model.fit(z[kept], G[kept]).predict(z[rows])
        assert shown["value_boosting"].to_numpy()[rows] == pytest.approx(expected)
    assert found.summary["arms"][-1]["label"] == "gradient boosting"
    assert found.predict(log).shape == (log.height,)
    with pytest.raises(InputError, match="boosting is compared, not stored: "):
        found.predict(log, "boosting")


def test_a_return_is_learned_from_once_it_is_known(tmp_path: Path) -> None:
    """Also if that is some pieces of time later; what comes after that piece is not."""
    log, columns = series(300, 4), LogColumns(["x"], "r", 0.97)
    table = open_source(log, tmp_path)
    plan = plan_parts(table, columns, 4, 100)
    settings = look(table, columns, plan, arms_of(["ridge"]), 1e-6)
    found = solve(settings, add_up([part_sums(settings, part) for part in plan.parts]))
    parts = [read_part(settings, part) for part in plan.parts]
    fold = np.concatenate([steps.fold[: steps.own] for steps, *_ in parts])
    x = np.concatenate([x[: steps.own] for steps, x, _ in parts])
    reward = log["r"].to_numpy()
    needed = int(np.ceil(np.log(0.01) / np.log(0.97)))
    assert needed > np.bincount(fold).max()  # more than a piece of time
    for f in range(2, 6):
        kept = reward[: int((fold < f).sum())]
        mean = kept.sum() / (0.03 * len(kept))
        rows, goal = [], []
        for t in range(len(kept) - needed + 1):
            end = int((fold <= fold[t + needed - 1]).sum())
            if end > len(kept):
                continue
            weights = 0.97 ** np.arange(end - t)
            goal.append(weights @ reward[t:end] + 0.97 ** (end - t) * mean)
            rows.append(t)
        z, expected = x[rows], np.array([0.0, mean])  # as long as none is known
        if rows:
            expected = np.linalg.solve(z.T @ z + np.diag([1e-6, 0.0]), z.T @ np.array(goal))
        assert found.held_out[0, f, :, 0] == pytest.approx(expected, rel=1e-8)


def test_scored_rows_that_are_a_selected_group_are_told(tmp_path: Path) -> None:
    """Few machines fail, whose returns alone are known; their rows are hotter."""
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(80), 30)
    fails = ids % 4 == 0
    log = pl.DataFrame(
        {"id": ids, "heat": rng.normal(size=len(ids)) + fails, "cost": rng.normal(size=len(ids)),
         "failed": fails & (np.arange(len(ids)) % 30 == 29)}
    )  # fmt: skip
    columns = LogColumns(["heat"], "cost", 0.95, episode="id", terminated="failed")
    found = fit(log, columns, tmp_path / "all", rules=["ridge"])
    without, scored = found.summary["questions"][0]["selection"]
    assert (scored["rows"], scored["ended"], without["rows"]) == (600, 1.0, 1800)
    expected = log.filter(pl.Series(fails))["heat"].mean()
    raw = scored["inputs"][0] * log["heat"].std() + log["heat"].mean()
    assert raw == pytest.approx(expected, rel=1e-3)
    notes = " ".join(found.summary["notes"])
    assert "1,740 of 2,400 rows are censored" in notes
    assert "100% of the rows with an error have one because their episode terminates" in notes
    assert "They differ from those without one in heat by +0.9 standard deviations" in notes
    ordered = fit(log, columns, tmp_path / "on", rules=["ridge"], walk_forward=True)
    without, scored = ordered.summary["questions"][0]["selection"]
    assert without["rows"] + scored["rows"] == (ordered.predictions()["fold"] >= 2).sum()
    assert "They differ from those without one in heat by" in " ".join(ordered.summary["notes"])
