"""Valid calls of rules."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.row import Row
from preftd import ETD, PTD
from preftd.preferences import Observability
from preftd.rules import Carried
from preftd.tasks import make

MORE = "huge"
"""For numbers of 0 or more."""


def step() -> dict[str, Any]:
    return {"carried": 0.5, "discount_t": 0.5, "beta": 0.25, "interest": 0.5, "rho": 1.5}


def stream() -> dict[str, Any]:
    steps = {"discount_t": np.array([0, 0.5, 0.5]), "beta": np.array([1, 0.25, 0.5])}
    return steps | {"interest": np.array([1.0, 0.5, 2.0]), "rho": np.array([1.0, 0.5, 1.5])}


def along() -> dict[str, Any]:
    taken = make("corridor", length=2).sampler(0).episodes(2)
    given = {"rule": ETD(), "preference": Observability(), "experience": taken}
    return given | {"rho": np.arange(len(taken)) / 4, "carried": Carried(0.5)}


def along_beta() -> dict[str, Any]:
    given = along()
    per_step = {name: np.full(len(given["experience"]), 0.5) for name in ("beta", "interest")}
    return given | {"preference": None} | per_step


def shares(given: str, other: str) -> dict[str, Any]:
    return {given: np.array([0.25, 0.5, 1]), other: None, "shape": (3,)}


def in_lambda(given: dict[str, Any]) -> dict[str, Any]:
    """The same in terms of λ = 1 − β."""
    return {name: one for name, one in given.items() if name != "beta"} | {
        "lambda_": 1 - given["beta"]
    }


FREE_SHARES = {"beta": "one entry, None", "lambda_": "one entry, None", "shape": "number"}
FREE_STEP = {"carried": MORE, "interest": MORE, "rho": MORE}
FREE_STREAM = {
    "carried": MORE,
    "discount_t": "more axes",
    "beta": "one entry",
    "lambda_": "one entry",
    "interest": "huge entry, one entry",
    "rho": "huge entry, one entry",
}
ROWS = [
    Row("rules.ETD", lambda: {"interest": 0.5}, free={"interest": "huge, pair, array"}),
    Row(
        "rules.ETD",
        lambda: {"interest": np.array([0.5, 1.0])},
        free={"interest": "longer, shorter, one entry, huge entry"},
    ),
    Row("rules.FromBeta", lambda: {"function": np.sqrt}),
    Row("rules.Rule.step", step, on=ETD, free=FREE_STEP),
    Row("rules.Rule.step", step, on=PTD, free=FREE_STEP),
    Row("rules.Rule.coefficients", stream, on=ETD, free=FREE_STREAM),
    Row("rules.Rule.coefficients", stream, on=PTD, free=FREE_STREAM),
    Row("rules.Rule.stream", lambda: stream() | {"carried": 0.5}, on=ETD, free=FREE_STREAM),
    Row("rules.Rule.step", lambda: in_lambda(step()), on=ETD, free=FREE_STEP),
    Row("rules.Rule.coefficients", lambda: in_lambda(stream()), on=ETD, free=FREE_STREAM),
    Row(
        "rules.Rule.stream",
        lambda: in_lambda(stream()) | {"carried": 0.5},
        on=ETD,
        free=FREE_STREAM,
    ),
    Row("rules.as_beta", lambda: shares("beta", "lambda_"), free=FREE_SHARES),
    Row("rules.as_beta", lambda: shares("lambda_", "beta"), free=FREE_SHARES),
    Row(
        "rules.stream_coefficients",
        along,
        free={"rho": "huge entry, one entry", "preference": "half"},
    ),
    Row(
        "rules.stream_coefficients",
        along_beta,
        free={
            "preference": "None",
            "beta": "one entry",
            "interest": "None, huge, huge entry, one entry",
            "rho": "huge entry, one entry",
        },
    ),
]
UNCHECKED = {
    "rules.Rule.advance": "step for floats, which learners have checked",
    "rules.ETD.gain": "a formula: step and coefficients check, then call it",
    "rules.Rule.bootstrap": "a formula: step and coefficients check, then call it",
    "rules.PTD.gain": "a formula: step and coefficients check, then call it",
    "rules.TD.gain": "a formula: step and coefficients check, then call it",
    "rules.FromBeta.of": "a formula: step and coefficients check, then call it",
}
