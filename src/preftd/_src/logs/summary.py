"""The summary of an evaluation; the head of `fitting.py` describes its fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.logs.arms import Arm, questions_of
from preftd._src.logs.errors import LEVEL, error_table
from preftd._src.logs.plan import Plan
from preftd._src.logs.scores import UNKNOWN
from preftd._src.logs.solution import Solution
from preftd._src.logs.sums import Settings
from preftd._src.logs.trust import text_of
from preftd.rules import RULES


def summarise_log(
    settings: Settings,
    plan: Plan,
    total: dict[str, NDArray[Any]],
    solution: Solution,
    scores: dict[str, NDArray[Any]],
) -> dict[str, Any]:
    """Return the summary, made of plain numbers, texts, lists and dicts."""
    table, columns, encoding, arms, folds, _ = settings
    steps, terminated, final_rows, single = total["counts"].tolist()
    log = {
        "source": table.label,
        "files": len(table.sources),
        "rows": table.rows,
        "episodes": plan.episodes,
        "units": plan.units,
        "longest": plan.longest,
        "block": plan.block,
        "cuts": plan.cuts,
        "steps": steps,
        "terminated": terminated,
        "final_rows": final_rows,
        "single_rows": single,
        "clipped": int(total["clipped"][0]),
    }
    trusted, zero, rows = total["seen"].tolist()
    questions = []
    for q, question in enumerate(questions_of(columns)):
        middle = float(solution.mean[q])
        errors, differences = error_table(scores["counts"][q], scores["squares"][q], arms, middle)
        raw = encoding.raw(solution.whole[:, :, q].T)
        questions.append(
            question._asdict()
            | {
                "label": question.label,
                "mean": middle,
                "unknown": int(scores["unknown"][q]),
                "errors": errors,
                "differences": differences,
                "weights": {
                    arm.key: raw[:, a].tolist() for a, arm in enumerate(settings.least_squares)
                },
                "step_sizes": {
                    one.arm.key: float(one.states[-1]["step_size"][q]) for one in solution.online
                },
            }
        )
    return {
        "log": log,
        "columns": columns.to_toml(),
        "notes": _notes(settings, log, questions)
        + _notes_on_trust(settings, rows - zero, total["sums"], plan.block),
        "inputs": _inputs(settings, total["gaps"].sum(axis=0)),
        "features": list(encoding.names),
        "preference": {
            "text": text_of(columns.preference), "trusted": trusted, "zero": zero, "rows": rows,
        },
        "bins": _bins(total),
        "arms": [{"key": a.key, "label": a.label, "method": _method(a)} for a in arms],
        "questions": questions,
        "folds": folds,
        "groups": int(scores["counts"].shape[1]),
        "level": LEVEL,
    }  # fmt: skip


def _inputs(settings: Settings, gaps: NDArray[np.int64]) -> list[dict[str, Any]]:
    encoding, rows = settings.encoding, settings.table.rows
    found = []
    for i, name in enumerate(settings.columns.inputs):
        one = {"name": name, "missing": int(gaps[i]), "share": float(gaps[i] / rows)}
        if i < len(encoding.features):
            one |= {"mean": float(encoding.mean[i]), "scale": float(encoding.scale[i])}
        else:
            one |= {"levels": list(encoding.levels[i - len(encoding.features)])}
        found.append(one)
    return found


def _bins(total: dict[str, NDArray[Any]]) -> dict[str, Any]:
    rows = total["trust"][:, 0]
    some = np.maximum(rows, 1)
    return {
        "rows": rows.astype(int).tolist(),
        "beta": (total["trust"][:, 1] / some).tolist(),
        "gaps": (total["gaps"] / some[:, None]).T.tolist(),
    }


def _notes(settings: Settings, log: dict[str, Any], questions: list[dict[str, Any]]) -> list[str]:
    """Sentences on what was done with the log."""
    notes, columns = [], settings.columns
    if log["final_rows"]:
        notes.append(
            f"Episodes that end without termination: {log['final_rows']:,}. The last row of each "
            "is its final observation, and no step leaves it."
        )
    if log["cuts"]:
        notes.append(
            f"Rewards are missing in {log['cuts']:,} rows: episodes are cut there, as where "
            "recording stops."
        )
    if log["block"]:
        notes.append(
            f"Episodes are cut into blocks of {log['block']:,} rows, {log['units']:,} in all, so "
            "that some can be held out; traces are cut between blocks."
        )
    none = [one["label"] for one in questions if not one["errors"]]
    notes += [
        f"No return of {label} is known, so that there is no error of its predictions."
        for label in none
    ]
    unknown = max((one["unknown"] for one in questions), default=0)
    if unknown > log["final_rows"]:
        notes.append(
            f"Up to {unknown:,} rows have no error, as more than {UNKNOWN:.0%} of their return "
            "comes after the recording."
        )
    if columns.off_policy:
        notes.append(
            "Returns are weighted by importance ratios, step by step: they are those of the target "
            "policy on average."
        )
        clip = "are not clipped" if columns.clip is None else f"above {columns.clip:g} become that"
        many = "" if columns.clip is None else f", in {log['clipped']:,} rows"
        notes.append(f"Ratios {clip}{many}.")
    return notes


def _notes_on_trust(
    settings: Settings, some: int, sums: NDArray[np.float64], block: int | None
) -> list[str]:
    """Sentences on how little is learned, given how many rows have β > 0."""
    label = RULES["ptd"](1.0).name
    if label not in {arm.label for arm in settings.arms}:
        return []
    if not some:
        return [f"No row is trusted (β = 0 in all of them): {label} learns nothing and predicts 0."]
    learned = {arm.label: sums[:, a].any() for a, arm in enumerate(settings.least_squares)}
    if not learned.get(label, True):
        where = "episode" if block is None else f"block of {block:,} rows: let them be longer"
        return [
            f"{label} learns nothing and predicts 0, as no row with β > 0 is followed by another, "
            f"or by a termination, in the same {where}."
        ]
    size = settings.encoding.size
    if some <= size:
        return [
            f"Only {some:,} rows have β > 0, for {size:,} features: {label} learns from little."
        ]
    return []


def _method(arm: Arm) -> str:
    """As `as_method` reads it."""
    if arm.method is None:
        return "least squares"
    units = f":{arm.method.units}" if arm.method.kind == "network" else ""
    return f"{arm.method.kind}{units}"
