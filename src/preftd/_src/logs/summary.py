"""The summary of an evaluation: its contents, and checks, since anyone may have edited it.

The head of `fitting.py` describes its fields.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import short
from preftd._src.logs.arms import BOOSTING, Question, questions_of
from preftd._src.logs.columns import text_of
from preftd._src.logs.parts import LogPlan, Settings
from preftd._src.logs.returns import UNKNOWN
from preftd._src.logs.scores import KINDS, LEVEL, WHICH, drawn_together, error_table
from preftd._src.logs.solving import Solution
from preftd._src.logs.splits import FEW
from preftd.rules import RULES

NUMBER = float | None
LEAST_SQUARES = "least squares"
DIFFERENT, SELECTED = 0.2, 0.05
"""Rows with an error are a selected group if the mean of a feature differs from that of other rows
by DIFFERENT standard deviations, or the mean of β by SELECTED, and other rows are that share."""
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
    "extras": [str],
    "split": {"folds": int, "ordered": bool, "tested": int},
    "preference": {"text": str, "trusted": int, "zero": int, "rows": int},
    "bins": {"rows": [int], "beta": [NUMBER], "gaps": [[NUMBER]]},
    "arms": [{"key": str, "label": str, "method": str}],
    "questions": [
        {
            "cumulant": str, "discount": float | str, "suffix": str, "label": str, "mean": NUMBER,
            "unknown": int, "groups": int,
            "weights": dict, "extra_weights": dict, "penalties": dict,
            "verdicts": [
                {"rows": str, "best": str | None, "use": str | None,
                 "more": [{"arm": str, **interval("more")}]}
            ],
            "selection": [
                {"rows": int, "trusted": NUMBER, "reward": NUMBER, "ended": NUMBER,
                 "inputs": [NUMBER]}
            ],
            "errors": [
                {"arm": str, "prediction": str, "rows": str, "count": int,
                 **interval("rmse"), **interval("relative")}
            ],
        }
    ],
    "fills": [{"fill": str, "question": str, "arm": str, "rmse": NUMBER, "weights": [NUMBER]}],
    "folds": int, "regularisation": NUMBER, "level": NUMBER, "seconds": NUMBER,
    "version": str,
}  # fmt: skip
"""The required contents of summary.json; the head of `fitting.py` explains them."""


def summarise_log(
    settings: Settings,
    plan: LogPlan,
    total: dict[str, NDArray[Any]],
    solution: Solution,
    scores: dict[str, NDArray[Any]],
) -> dict[str, Any]:
    """Return the summary, made of plain numbers, texts, lists and dicts."""
    table, columns, encoding = settings.table, settings.columns, settings.encoding
    given = table if table.origin is None else table.origin.table
    steps, terminated, final_rows, single = total["counts"].tolist()
    log = {
        "source": table.label,
        "files": len(given.sources),
        "grouped": given is not table,
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
    questions = summarise_questions(settings, solution, scores)
    sums = total["sums"]
    learned = {arm.label: bool(sums[:, a].any()) for a, arm in enumerate(settings.bootstrapped)}
    return {
        "log": log,
        "columns": columns.to_toml(),
        "notes": _notes(settings, log, questions)
        + _notes_on_trust(settings, rows - zero, learned, plan.block),
        "inputs": _inputs(settings, total["gaps"].sum(axis=0)),
        "features": list(encoding.names),
        "extras": list(solution.extras.names),
        "split": settings.split._asdict(),
        "preference": {
            "text": text_of(columns.preference), "trusted": trusted, "zero": zero, "rows": rows,
        },
        "bins": _bins(total),
        "arms": [
            {"key": arm.key, "label": arm.label,
             "method": arm.method.text if arm.method else LEAST_SQUARES if arm.solves else BOOSTING}
            for arm in settings.arms
        ],
        "questions": questions,
        "level": LEVEL,
    }  # fmt: skip


def summarise_questions(
    settings: Settings, solution: Solution, scores: dict[str, NDArray[Any]]
) -> list[dict[str, Any]]:
    """Return errors and weights of each question."""
    questions = []
    for q, question in enumerate(questions_of(settings.columns)):
        middle = float(solution.mean[q])
        counts, squares = drawn_together(scores, q, q // len(settings.columns.reward))
        errors, verdicts = error_table(counts, squares, settings.arms, middle)
        size = settings.encoding.size
        raw = settings.encoding.raw(solution.whole[:, :size, q].T)
        questions.append(
            question._asdict()
            | {
                "label": question.label,
                "mean": middle,
                "unknown": int(scores["unknown"][q]),
                "groups": len(counts),
                "errors": errors,
                "verdicts": verdicts,
                "weights": {
                    arm.key: raw[:, a].tolist() for a, arm in enumerate(settings.least_squares)
                },
                "extra_weights": {
                    arm.key: solution.whole[a, size:, q].tolist()
                    for a, arm in enumerate(settings.regressions)
                },
                "penalties": {
                    arm.key: float(p) if np.isfinite(p) else None
                    for arm, p in zip(settings.least_squares, solution.penalties[:, q], strict=True)
                },
                "selection": [_described(settings, one) for one in scores["described"][q]],
                "step_sizes": {
                    one.key: float(one.states[-1]["step_size"][q]) for one in solution.online
                },
            }
        )
    return questions


def _described(settings: Settings, sums: NDArray[np.float64]) -> dict[str, Any]:
    """Means of rows: β, reward; and of features, weighed by β, in standard deviations."""
    rows, names = sums[0], settings.columns.features
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.append(sums[:4] / rows, sums[4:] / sums[1])
    plain = settings.columns.encoder is None
    found = [float(x) if np.isfinite(x) else None for x in means]
    return {
        "rows": int(rows), "trusted": found[1], "reward": found[2], "ended": found[3],
        "inputs": found[4 : 4 + len(names)] if plain else [],
    }  # fmt: skip


def errors_of(question: Mapping[str, Any], **wanted: str) -> list[dict[str, Any]]:
    """Return the errors of a question that are wanted, such as those with rows="all"."""
    return [e for e in question["errors"] if all(e[key] == one for key, one in wanted.items())]


def _inputs(settings: Settings, gaps: NDArray[np.int64]) -> list[dict[str, Any]]:
    encoding, rows = settings.encoding, settings.table.rows
    features, found = len(settings.columns.features), []
    for i, name in enumerate(settings.columns.inputs):
        one = {"name": name, "missing": int(gaps[i]), "share": float(gaps[i] / rows)}
        if i < features:
            one |= {"mean": float(encoding.mean[i]), "scale": float(encoding.scale[i])}
        else:
            one |= {"levels": list(encoding.levels[i - features])}
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
    """Notes on the processing of the log."""
    notes, columns = [], settings.columns
    if log["grouped"]:
        notes.append(
            f"Rows with the same {columns.episode!r} are not together: they were sorted by "
            f"{columns.episode!r} and {columns.time or columns.order!r}."
        )
    notes += settings.notes
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
    split = settings.split
    if split.ordered:
        tested = split.folds - split.tested
        what = f"{tested} later pieces are" if tested > 1 else "last piece is"
        few = tested > 1 and log["episodes"] < FEW * tested
        why = f", as its number of episodes is only {log['episodes']:,}" if few else ""
        notes.append(
            f"The log is cut into {split.folds} pieces of time{why}. The {what} predicted, from "
            "what was recorded before: the others have no predictions."
        )
    if log["block"]:
        notes.append(
            f"Episodes are cut into blocks of {log['block']:,} rows, {log['units']:,} in all; "
            "traces are cut between blocks."
        )
    none = [one["label"] for one in questions if not one["errors"]]
    notes += [
        f"{label}: no row that was predicted has a known return, so there is no error."
        for label in none
    ]
    for one in questions:
        notes += _notes_on_selection(settings, log, one)
    if columns.off_policy:
        notes.append(
            "Returns are weighted by importance ratios, step by step: they are those of the target "
            "policy on average."
        )
        clip = "are not clipped" if columns.clip is None else f"above {columns.clip:g} become that"
        many = "" if columns.clip is None else f", in {log['clipped']:,} rows"
        notes.append(f"Ratios {clip}{many}.")
    return notes


def _notes_on_selection(
    settings: Settings, log: dict[str, Any], question: dict[str, Any]
) -> list[str]:
    """Sentences on rows without an error: how many, why, and how those with one differ."""
    without, scored = question["selection"]
    label, columns = question["label"], settings.columns
    censored = question["unknown"] - log["final_rows"]
    notes = []
    if censored > 0:
        notes.append(
            f"{label}: {censored:,} of {log['rows']:,} rows are censored, as more than "
            f"{UNKNOWN:.0%} of their return comes after the recording: they have no error, and "
            "regressions do not learn from them."
        )
    if not without["rows"] or not scored["rows"]:
        return notes
    if censored >= SELECTED * log["rows"] and scored["ended"] >= 0.5:
        notes.append(
            f"{label}: {scored['ended']:.0%} of the rows with an error have one because their "
            "episode terminates, and returns of the others are mostly not known. Regressions learn "
            "what follows in episodes that terminate, and errors are those of such episodes, which "
            "favours regressions."
        )
    differ = [
        (abs(b - a), f"{name} by {b - a:+.1f} standard deviations".replace("-", "−"))
        for name, a, b in zip(columns.features, without["inputs"], scored["inputs"], strict=False)
        if a is not None and b is not None and abs(b - a) >= DIFFERENT
    ]
    texts = [text for _, text in sorted(differ, reverse=True)[:3]]
    shares = [100 * one["trusted"] for one in (scored, without)]
    if abs(shares[0] - shares[1]) >= 100 * SELECTED:
        texts.append(f"mean β, {shares[0] / 100:.2f} and not {shares[1] / 100:.2f}")
    if texts and without["rows"] >= SELECTED * log["rows"]:
        notes.append(
            f"{label}: rows with an error are a selected group. They differ from those without one "
            f"in {', '.join(texts)}: errors may differ where returns are not known."
        )
    return notes


def _notes_on_trust(
    settings: Settings, some: int, learned: Mapping[str, bool], block: int | None
) -> list[str]:
    """Sentences on how little is learned, given how many rows have β > 0."""
    label = RULES["ptd"](1.0).name
    if label not in {arm.label for arm in settings.arms}:
        return []
    if not some:
        return [f"No row is trusted (β = 0 in all of them): {label} learns nothing and predicts 0."]
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
        flag = isinstance(given, bool) and form is not bool
        if isinstance(form, dict | list) or flag or not isinstance(given, kind):
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
        for one in question["errors"]:
            if one["arm"] not in keys or one["rows"] not in WHICH or one["prediction"] not in KINDS:
                raise ValueError(f"there is no error of {short(one['arm'])} like that")
    if any(len(one["weights"]) != features or one["arm"] not in keys for one in summary["fills"]):
        raise ValueError("fills have other features or arms")
    bins = summary["bins"]
    lengths = {len(one) for one in (bins["rows"], bins["beta"], *bins["gaps"])}
    if len(lengths) > 1 or len(bins["gaps"]) != len(summary["inputs"]):
        raise ValueError("bins have several lengths")
