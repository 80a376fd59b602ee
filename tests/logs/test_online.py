"""Linear and network learners in the held view, besides least squares."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import preftd
from logs.made_logs import COLUMNS, first_part, gappy, settings_of
from preftd import PTD, InputError, LinearLearner
from preftd._src.logs.arms import METHODS, as_method
from preftd._src.logs.online import OnlineFold
from preftd._src.logs.parts import read_steps
from preftd.experiments import Processes
from preftd.logs import LogColumns, fit

METHODS_OF: list[Any] = ["linear", "network:8"]


def test_methods_learn_the_log_and_load_again(tmp_path: Path) -> None:
    columns = LogColumns(**COLUMNS | {"discount": [0.5, 0.9]})
    found = fit(
        gappy(episodes=200), columns, tmp_path / "here", rules=["ptd"], methods=METHODS_OF, folds=3
    )
    errors = found.errors().filter(prediction="value", rows="trusted")
    rmse = errors["rmse"].to_numpy()
    assert rmse.max() < 2 * rmse[errors["arm"].to_numpy() == "ptd"].max()
    assert errors["arm"].unique().sort().to_list() == ["ptd", "ptd_linear", "ptd_network"]
    again, rows = preftd.load(found.folder), gappy().head(9)
    for arm in ("ptd_linear", "ptd_network"):
        for question in (0, 1):
            values = found.predict(rows, arm, question)
            assert values.shape == (9,)
            assert (again.predict(rows, arm, question) == values).all()
        sizes = [one["step_sizes"][arm] for one in found.summary["questions"]]
        assert set(sizes) <= set(METHODS[arm.removeprefix("ptd_")])


@pytest.mark.slow
def test_two_workers_learn_the_same(tmp_path: Path) -> None:
    columns, log = LogColumns(**COLUMNS), gappy(episodes=200)
    given: dict[str, Any] = {"rules": ["ptd"], "methods": METHODS_OF, "folds": 3}
    here = fit(log, columns, tmp_path / "here", **given)
    with Processes(2) as two:
        other = fit(log, columns, tmp_path / "two", executor=two, **given)
    for name in here.predictions().columns:
        assert other.predictions()[name].equals(here.predictions()[name])


def test_the_linear_method_is_the_linear_learner(tmp_path: Path) -> None:
    columns = LogColumns(**COLUMNS)
    found = fit(gappy(), columns, tmp_path / "out", rules=["ptd"], methods=["linear:0.3"], folds=3)
    settings, plan = settings_of(gappy(), tmp_path / "parts")
    experience, beta, final_beta = first_part(settings, plan)
    learner = LinearLearner(experience.size, PTD(), 0.3 / 3, view="held", bounded=True)
    learner.learn(experience, beta=beta, final_beta=final_beta)
    whole = gappy(gaps=0.0).head(5)
    features = (whole.select("a", "b").to_numpy() - settings.encoding.centre) / (
        settings.encoding.scale
    )
    expected = learner.predict(np.column_stack([features, np.ones(5)]))
    assert found.predict(whole, "ptd_linear") == pytest.approx(expected)


def test_what_is_held_out_has_no_part_in_weights_or_step_size(tmp_path: Path) -> None:
    """Not even in the scale of rewards: they are a million times larger there."""
    learned = []
    for factor in (1.0, 1e6):
        settings, plan = settings_of(gappy(), tmp_path / "look")
        fold = read_steps(settings, plan.parts[0]).fold
        changed = gappy().with_columns(
            r=pl.when(pl.Series(fold == 1)).then(pl.col("r") * factor).otherwise("r")
        )
        settings, plan = settings_of(changed, tmp_path / "parts")
        job = OnlineFold(settings, plan, settings.arms[0], as_method("linear"), np.zeros(1), 1)
        learned.append(job.learned())
    assert learned[0].keys() == learned[1].keys()
    for name, array in learned[0].items():
        assert (learned[1][name] == array).all()
    whole = job._replace(fold=-1).learned()
    assert not (whole["0.weights"] == learned[0]["0.weights"]).all()


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (["linar"], "did you mean 'linear'"),
        (["linear:x"], "give it as linear:0.1"),
        (["linear:-1"], "give it as linear:0.1"),
        (["linear", "linear:0.1"], "each kind once"),
        ("linear", "give a list"),
        ([3], "give a text"),
    ],
)
def test_methods_that_are_none_are_refused(methods: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        fit(gappy(), LogColumns(**COLUMNS), tmp_path, methods=methods)
