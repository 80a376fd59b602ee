"""Valid calls of the theory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np

from fuzz.row import SIGNED, Row
from fuzz.things import chain, corridor, phi, walk
from preftd import ETD, PTD, TD, theory
from preftd.preferences import Observability

BETA = (1.0, 0.5, 0.25)
EACH = "one entry"
"""One number for all states."""


def problem() -> dict[str, Any]:
    return {"process": chain(), "features": phi(), "rule": ETD(), "beta": np.array(BETA)}


def problem_of(*names: str) -> dict[str, Any]:
    return {name: problem()[name] for name in names}


def in_lambda(given: dict[str, Any]) -> dict[str, Any]:
    """The same in terms of λ = 1 − β."""
    return {name: one for name, one in given.items() if name != "beta"} | {
        "lambda_": 1 - given["beta"]
    }


def compared() -> dict[str, Any]:
    return problem_of("process", "features", "beta") | {"rules": [TD(), PTD()]}


def weighed() -> dict[str, Any]:
    return problem() | {"weights": np.array([0.5, 1.0])}


def first_of(_: Any, found: Any) -> Any:
    """The answer, or the first few if there is no end of them."""
    return list(islice(found, 3)) if isinstance(found, Iterator) else found


def crossed() -> dict[str, Any]:
    given: dict[str, Any] = {
        "view": "backward",
        "weights": np.array([1.0, 0.5]),
        "x": np.array([1.0, 0.0]),
    }
    given |= {"hidden": phi(), "y": np.array([0.0, 1.0]), "step_size": 0.125}
    return given | {"reward": np.array([0.5, 0, 0, 1]), "discount": 0.5}


def saved() -> dict[str, Any]:
    tables = {"transition": chain().transition, "features": phi(), "beta": np.array(BETA)}
    return {name: np.array(table) for name, table in tables.items()} | {"discount": 0.5}


def stored(_subject: Any, _answer: Any) -> str:
    return "stored"


def file() -> dict[str, Any]:
    path = Path(FOLDER) / "known.npz"
    theory.save_problem(path, **saved())
    return {"path": path}


FOLDER = mkdtemp()
FREE = {"beta": EACH, "lambda_": EACH, "features": "negative entry, wider"}
WEIGHTS = {
    "weights": SIGNED,
    "beta": EACH,
    "over": f"{EACH}, huge entry",
    "values": f"{EACH}, {SIGNED}",
}
PREFERENCE = {"preference": "type, flag, half"}
CROSSED = dict.fromkeys(("weights", "x", "y"), SIGNED) | {
    "hidden": "negative entry, longer, shorter",
    "reward": f"{EACH}, {SIGNED}",
    "step_size": "huge",
}
ROWS = [
    *(
        Row(f"theory.{name}", lambda: in_lambda(problem()), free=FREE, look=first_of)
        for name in ("diagnose", "fixed_point", "key_matrix", "key_matrices_over_time")
    ),
    Row("theory.compare", lambda: in_lambda(compared()), free=FREE),
    Row("theory.operator", lambda: in_lambda(problem_of("process", "rule", "beta")), free=FREE),
    Row("theory.projected_bellman_error", lambda: in_lambda(weighed()), free=FREE | WEIGHTS),
    *(
        Row(f"theory.{name}", problem, free=FREE)
        for name in ("diagnose", "fixed_point", "key_matrix")
    ),
    Row(
        "theory.compare",
        lambda: problem_of("process", "features", "beta") | {"rules": [TD(), PTD()]},
        free=FREE,
    ),
    Row(
        "theory.key_matrices_over_time",
        problem,
        free=FREE,
        look=lambda _, found: list(islice(found, 3)),
    ),
    Row("theory.operator", lambda: problem_of("process", "rule", "beta"), free=FREE),
    Row(
        "theory.Operator.__call__",
        lambda: {"values": np.array([1.0, 0.5, 0.25])},
        lambda: theory.operator(chain(), PTD(), BETA),
        free=WEIGHTS,
    ),
    Row(
        "theory.projected_bellman_error",
        lambda: problem() | {"weights": np.array([0.5, 1.0])},
        free=FREE | WEIGHTS,
    ),
    Row(
        "theory.value_error",
        lambda: (
            problem_of("process", "features")
            | {"weights": np.array([0.5, 1.0]), "over": np.array([0.5, 0.25, 0.25])}
        ),
        free=FREE | WEIGHTS,
    ),
    Row(
        "theory.project",
        lambda: problem_of("process", "features") | {"values": np.array([0.5, 1.0, 0.0])},
        free=FREE | WEIGHTS,
    ),
    Row(
        "theory.limit",
        lambda: {"task": corridor(), "rule": ETD(), "preference": Observability()},
        free=PREFERENCE,
    ),
    Row("theory.limits", lambda: {"task": corridor(), "rules": [TD(), PTD()], "preference": 0.5}),
    Row(
        "theory.steady_state",
        lambda: {
            "task": corridor(),
            "rule": PTD(),
            "preference": Observability(),
            "step_size": 0.125,
            "view": "held",
        },
        free=PREFERENCE,
    ),
    Row("theory.weight_noise", lambda: {"task": walk(), "rule": PTD(), "preference": 0.5}),
    Row("theory.crossing", crossed, free=CROSSED),
    Row("theory.optimal", lambda: {"task": corridor()}),
    Row(
        "theory.action_values",
        lambda: {
            "outcomes": corridor().outcomes,
            "discount": 0.5,
            "values": np.array([0.5, 1, 0, 0, 0.25]),
        },
        free={"values": SIGNED},
    ),
    Row(
        "theory.mean_trajectory",
        lambda: {
            "key": theory.key_matrix(**problem()),
            "step_size": 0.5,
            "steps": 3,
            "start": np.array([0.5, 0]),
        },
        free={"step_size": SIGNED, "start": SIGNED, "steps": "zero"},
        look=lambda _, weights: weights[:2],  # later ones may overflow
    ),
    Row(
        "theory.report", lambda: {"diagnoses": theory.compare(chain(), phi(), [TD(), PTD()], BETA)}
    ),
    Row("theory.report", lambda: {"diagnoses": theory.diagnose(chain(), phi(), TD(), BETA)}),
    Row("theory.load_problem", file),
    Row(
        "theory.save_problem",
        lambda: {"path": Path(FOLDER) / "written.npz"} | saved(),
        look=stored,
        free={"beta": EACH, "discount": EACH, "features": "negative entry, wider"},
    ),
]
UNCHECKED = {
    "theory.Diagnosis": "a result, which diagnose makes",
    "theory.Problem": "a result, which load_problem makes",
    "theory.Operator": "a result, which operator makes",
}
