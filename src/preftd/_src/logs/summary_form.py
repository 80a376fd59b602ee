"""The form of summary.json: what anyone may have edited is checked before it is used."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from preftd._src.arrays import short
from preftd._src.logs.arms import Question
from preftd._src.logs.errors import KINDS, WHICH

NUMBER = float | None
LARGEST = 1 << 62
"""Whole numbers are less than that."""


def interval(name: str) -> dict[str, Any]:
    """A number and the ends of its interval."""
    return dict.fromkeys((name, f"{name}_low", f"{name}_high"), NUMBER)


FORM: dict[str, Any] = {
    "log": {
        "source": str, "block": int | None,
        **dict.fromkeys(("rows", "episodes", "units", "longest", "steps", "files"), int),
        **dict.fromkeys(("terminated", "final_rows", "single_rows"), int),
    },
    "columns": str,
    "notes": [str],
    "inputs": [{"name": str, "missing": int, "share": float}],
    "features": [str],
    "preference": {"text": str, "trusted": int, "zero": int, "rows": int},
    "bins": {"rows": [int], "beta": [NUMBER], "gaps": [[NUMBER]]},
    "arms": [{"key": str, "label": str, "method": str}],
    "questions": [
        {
            "cumulant": str, "discount": float | str, "suffix": str, "label": str, "mean": NUMBER,
            "unknown": int, "weights": dict,
            "errors": [
                {"arm": str, "prediction": str, "rows": str, "count": int,
                 **interval("rmse"), **interval("relative")}
            ],
            "differences": [
                {"arm": str, "prediction": str, "than": str, "than_prediction": str, "rows": str,
                 **interval("difference")}
            ],
        }
    ],
    "fills": [{"fill": str, "question": str, "arm": str, "rmse": NUMBER, "weights": [NUMBER]}],
    "folds": int, "groups": int, "regularisation": NUMBER, "level": NUMBER, "seconds": NUMBER,
    "version": str,
}  # fmt: skip
"""What summary.json holds at least; the head of `fitting.py` says what it means."""


def read_summary(place: Path) -> dict[str, Any]:
    """The summary, checked to have its form."""
    summary = from_json((place / "summary.json").read_text(encoding="utf-8"))
    check_form("summary", summary, FORM)
    if summary["columns"] != (place / "log.toml").read_text(encoding="utf-8"):
        raise ValueError("log.toml names other columns than summary.json")
    return dict(summary)


def from_json(text: str) -> Any:
    """Return what JSON says, all numbers finite."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None


def _refuse_constant(text: str) -> None:
    raise ValueError(f"JSON has {text}")


def check_form(where: str, given: Any, form: Any) -> None:
    """Refuse a value that has not the form: a type, a list of a form, or a dict of forms."""
    if isinstance(form, dict) and isinstance(given, dict):
        for key, inner in form.items():
            if key not in given:
                raise ValueError(f"{where} has no {key}")
            check_form(f"{where}.{key}", given[key], inner)
    elif isinstance(form, list) and isinstance(given, list):
        for i, one in enumerate(given):
            check_form(f"{where}[{i}]", one, form[0])
    else:
        kind = int | form if form in (NUMBER, float, float | str) else form
        if isinstance(form, dict | list) or isinstance(given, bool) or not isinstance(given, kind):
            raise ValueError(f"{where} is {short(given)}")
        if isinstance(given, int) and abs(given) >= LARGEST:
            raise ValueError(f"{where} is {short(given)}")
        if isinstance(given, str):
            given.encode()  # half of a pair of surrogates cannot be shown


def check_sizes(
    summary: dict[str, Any], questions: Sequence[Question], arms: Sequence[str]
) -> None:
    """Refuse a summary whose parts do not fit together.

    Parameters
    ----------
    summary : dict
    questions : sequence of Question
        Those of the columns.
    arms : sequence of str
        The keys of those that have weights.

    """
    keys, features = [arm["key"] for arm in summary["arms"]], len(summary["features"])
    asked = [(one["label"], one["suffix"]) for one in summary["questions"]]
    if asked != [(one.label, one.suffix) for one in questions] or len(set(keys)) < len(keys):
        raise ValueError("summary.json has other questions, or an arm twice")
    for question in summary["questions"]:
        for key in arms:
            check_form(f"weights of {key}", question["weights"].get(key), [NUMBER])
            if len(question["weights"][key]) != features:
                raise ValueError(f"weights of {key} are not {features}")
        for one in question["errors"] + question["differences"]:
            if one["arm"] not in keys or one["rows"] not in WHICH or one["prediction"] not in KINDS:
                raise ValueError(f"there is no error of {short(one['arm'])} like that")
    if any(len(one["weights"]) != features or one["arm"] not in keys for one in summary["fills"]):
        raise ValueError("fills have other features or arms")
    bins = summary["bins"]
    lengths = {len(one) for one in (bins["rows"], bins["beta"], *bins["gaps"])}
    if len(lengths) > 1 or len(bins["gaps"]) != len(summary["inputs"]):
        raise ValueError("bins have several lengths")
