"""Valid calls of logs."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import polars as pl

from fuzz.row import Row
from preftd._src.experiments.progress import Silent
from preftd.experiments import Here
from preftd.logs import LogColumns, LogEvaluation, fit


def log() -> pl.DataFrame:
    rows = np.arange(60)
    return pl.DataFrame({"x": rows % 3.0, "r": rows % 2.0, "end": rows % 6 == 5})


def columns() -> LogColumns:
    return LogColumns(features=["x"], reward="r", discount=0.5, terminated="end")


@cache
def evaluated() -> LogEvaluation:
    return fit(log(), columns(), mkdtemp(), rules=["ptd"])


def given() -> dict[str, Any]:
    found: dict[str, Any] = {"source": log(), "columns": columns(), "out": mkdtemp()}
    found |= {"rules": ["ptd"], "methods": [], "folds": 2, "regularisation": 0.5, "block": 5}
    found |= {"walk_forward": True, "test_after": None}
    return found | {"predictions": True, "executor": Here(), "progress": Silent()}


def described() -> dict[str, Any]:
    found: dict[str, Any] = {"features": ["x"], "reward": "r", "discount": 0.5, "episode": "id"}
    found |= {"order": "t", "terminated": "end", "truncated": "cut", "preference": 0.5}
    found |= {
        "rho": "rho",
        "clip": 2.0,
        "fill": "last",
        "reward_is": "after",
        "missing_reward": "cut",
        "constant": True,
        "nulls": ["NA"],
    }
    return found | {
        "categories": ["kind"],
        "encoder": "polynomial:2",
        "behaviour": None,
        "target": None,
        "time": "t",
        "time_unit": "5m",
    }


def numbers(_: Any, found: LogEvaluation) -> Any:
    """What does not depend on the clock."""
    return found.weights, found.errors().shape


NAME = "word, long word, line, None"
"""A column may have any name; some need not be given."""
NAMES = f"{NAME}, words, pair, number"
TOML = Path(mkdtemp()) / "log.toml"
TOML.write_text(columns().to_toml())
ROWS: list[Row] = [
    Row("logs.Age", lambda: {"half_life": 2.0, "features": ["x"]},
        free={"half_life": "huge", "features": "word, words, long word, line, empty"}),
    Row("logs.Column", lambda: {"name": "x"}, free={"name": "word, long word, line"}),
    Row("logs.Missing", lambda: {"features": ["x"], "limit": 2},
        free={"limit": "zero, int32, int64, trillion",
              "features": "word, words, long word, line, empty"}),
    Row("logs.as_trust", lambda: {"given": 0.5},
        free={"given": "word, long word, line, text"}),
    Row("logs.LogColumns", described,
        free={"features": "word, words, long word, line, empty",
              "reward": NAMES, "episode": NAME, "order": NAME, "terminated": NAME,
              "truncated": NAME, "rho": "word, long word, line", "categories":
              "word, words, long word, line, empty", "discount": "word, long word, line, pair",
              "preference": "word, long word, line, text", "clip": "huge, None",
              "encoder": "None", "behaviour": "None", "target": "None",
              "nulls": "word, words, long word, line, empty, text",
              "time": "word, long word, line", "time_unit": "number, huge, None"}),
    Row("logs.LogColumns.from_mapping",
        lambda: {"given": {"features": ["x"], "reward": "r", "discount": 0.5}}),
    Row("logs.LogColumns.from_toml", lambda: {"path": TOML}),
    Row("logs.fit", given, look=numbers,
        free={"out": "*", "block": "None, int32, int64, trillion", "regularisation": "huge, None",
              "methods": "empty", "predictions": "*"}),
    Row("logs.LogEvaluation.verdict", lambda: {"question": 0}, evaluated,
        free={"question": "zero"}),
    Row("logs.load", lambda: {"folder": str(evaluated().folder)}, look=numbers),
    Row("logs.LogEvaluation.predictor",
        lambda: {"arm": "ptd", "question": 0, "most": 2}, evaluated,
        look=lambda _, made: made.predict({"x": 1.0}),
        free={"arm": "None", "question": "zero", "most": "int32, int64, trillion"}),
    Row("logs.Predictor.predict", lambda: {"row": {"x": 1.0}, "episode": 7},
        lambda: evaluated().predictor(),
        look=lambda _, made: made, free={"row": "mapping", "episode": "*"}),
    Row("logs.Predictor.predict_rows", lambda: {"frame": log().head(5)},
        lambda: evaluated().predictor()),
    Row("logs.Predictor.end", lambda: {"episode": 7}, lambda: evaluated().predictor(),
        look=lambda subject, _: subject.episodes, free={"episode": "*"}),
    Row("logs.LogEvaluation.predict",
        lambda: {"frame": log().head(5), "arm": "ptd", "question": 0}, evaluated,
        free={"arm": "None", "question": "zero"}),
]  # fmt: skip
UNCHECKED = {
    "logs.LogEvaluation": "made by the library",
    "logs.Predictor": "made by the library",
}
