"""The estimator of scikit-learn learns and predicts what `fit` does."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from logs.made_logs import gappy
from preftd.failures import InputError
from preftd.logs import LogColumns, fit

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from preftd.sklearn import ValueRegressor

UNRELATED = "rows are drawn independently, so that X does not say which rewards follow"
TOO_SHORT = "the discounted sum of rows so near to the end is not known, and score says so"
CANNOT_APPLY = {
    "check_regressors_train": UNRELATED,
    "check_fit_score_takes_y": TOO_SHORT,
    "check_pipeline_consistency": TOO_SHORT,
}
"""With a discount of 0 all checks apply: a value is then the reward of its row."""


@parametrize_with_checks(
    [ValueRegressor(discount=0.0), ValueRegressor(), ValueRegressor(discount=0.0, method="linear")],
    expected_failed_checks=lambda model: CANNOT_APPLY if model.discount else {},
)  # type: ignore[untyped-decorator]
def test_checks_of_scikit_learn_pass(estimator: Any, check: Any) -> None:
    check(estimator)


def log() -> pl.DataFrame:
    found = gappy().with_columns(kind=pl.Series(["p", "q"] * 1000)[: gappy().height])
    return found.select("id", "a", "b", "kind", "end", "quality", "r")


@pytest.mark.parametrize("method", ["least squares", "linear:0.1"])
@pytest.mark.parametrize("preference", ["missing", "age:2", "quality"])
def test_weights_and_values_are_those_of_a_log(
    method: str, preference: str, tmp_path: Path
) -> None:
    held = method != "least squares"
    columns = LogColumns(
        ["a", "b"], "r", 0.8, ["kind"], "id", terminated="end", preference=preference
    )
    rows = log() if preference == "quality" else log().drop("quality")
    found = fit(rows, columns, tmp_path, rules=["ptd"], methods=[method] if held else [])
    model = ValueRegressor(
        discount=0.8, method=method, preference=preference, episode="id", terminated="end",
        categories=["kind"],
    )  # fmt: skip
    mixed = rows.sort(pl.int_range(pl.len()).over("id"), maintain_order=True)
    model.fit(mixed.drop("r"), mixed["r"])
    arm = "ptd_linear" if held else "ptd"
    np.testing.assert_allclose(
        model.predict(rows.drop("r")), found.predict(rows, arm), rtol=1e-10, atol=1e-10
    )
    if not held:
        expected = found.summary["questions"][0]["weights"]["ptd"]
        np.testing.assert_allclose([*model.coef_, model.intercept_], expected, rtol=1e-8)


def test_groups_are_episodes() -> None:
    rows = log()
    x, y = rows.select("a", "b").to_numpy(), rows["r"].to_numpy()
    by_groups = ValueRegressor(preference="missing").fit(x, y, groups=rows["id"])
    named = ValueRegressor(preference="missing", episode="id").fit(rows.select("id", "a", "b"), y)
    np.testing.assert_array_equal(by_groups.coef_, named.coef_)
    values = named.predict(rows.select("id", "a", "b"))
    np.testing.assert_array_equal(by_groups.predict(x, groups=rows["id"]), values)
    alone = ValueRegressor(preference="missing").fit(x, y)
    assert (alone.predict(x) != alone.predict(x, groups=rows["id"])).any()
    with pytest.raises(InputError, match="give one of them"):
        named.predict(rows.select("id", "a", "b"), groups=rows["id"])


def test_score_is_that_of_discounted_sums_in_trusted_rows_whose_end_is_known() -> None:
    trips, x = np.repeat(np.arange(40), 50), np.tile(np.arange(50.0), 40)
    model = ValueRegressor(discount=0.5).fit(x[:, None], x, groups=trips)
    assert model.score(x[:, None], x, groups=trips) == pytest.approx(1.0, abs=1e-3)
    frame = pl.DataFrame({"x": np.where(trips % 2, x, -99.0), "ok": trips % 2, "trip": trips})
    trusting = ValueRegressor(discount=0.5, preference="ok", episode="trip").fit(frame, x)
    assert trusting.score(frame, x) == pytest.approx(1.0, abs=1e-3)
    assert ValueRegressor(discount=0.5, episode="trip").fit(frame, x).score(frame, x) < 0.9
    with pytest.raises(InputError, match="fewer than two rows"):
        model.score(x[:4, None], x[:4])


def test_it_works_in_pandas_in_searches_and_after_pickling() -> None:
    pandas = pytest.importorskip("pandas")
    rows = log()
    frame = pandas.DataFrame({n: rows[n].to_list() for n in ("id", "a", "b", "r")})
    model = ValueRegressor(discount=0.5, preference="missing", episode="id")
    folds = GroupKFold(3)
    scores = cross_val_score(
        model, frame[["id", "a", "b"]], frame["r"], groups=frame["id"], cv=folds
    )
    assert np.isfinite(scores).all()
    search = GridSearchCV(model, {"discount": [0.0, 0.5]}, cv=folds)
    search.fit(frame[["id", "a", "b"]], frame["r"], groups=frame["id"])
    best = pickle.loads(pickle.dumps(search.best_estimator_))  # noqa: S301  (made here)
    values = best.predict(frame[["id", "a", "b"]])
    np.testing.assert_array_equal(values, search.predict(frame[["id", "a", "b"]]))
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(ValueError, match="feature names should match"):
        best.predict(frame[["id", "b", "a"]])


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"method": "lstsq"}, "method is 'lstsq': give least squares or linear"),
        ({"rule": "td2"}, "there is no rule 'td2'"),
        ({"episode": "trip"}, "there is no column 'trip'"),
        ({"discount": 2.0}, "discount"),
        ({"discount": [0.5, 0.9]}, "discount has shape"),
    ],
)
def test_parameters_that_cannot_be_are_refused(named: dict[str, Any], message: str) -> None:
    rows = log().select("a", "b")
    with pytest.raises(InputError, match=message):
        ValueRegressor(**named).fit(rows, log()["r"])
