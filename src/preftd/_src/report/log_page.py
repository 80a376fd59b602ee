"""The page of an evaluated log: the data, held-out errors, and the effect of the preference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import matplotlib as mpl
import numpy as np

from preftd._src.arrays import Vector
from preftd._src.files import refuse_others
from preftd._src.logs.arms import log_names
from preftd._src.logs.columns import Age, Missing, as_trust
from preftd._src.logs.part_files import PREDICTIONS
from preftd._src.logs.saved import PAGE, LogEvaluation, load
from preftd._src.logs.verdict import listed, split_text, verdict
from preftd._src.report.log_figures import (
    ROWS,
    calibration_figure,
    episodes_figure,
    errors_figure,
    gaps_figure,
    missing_figure,
    sample,
    with_weights,
)
from preftd._src.report.page.plot import plot_of
from preftd._src.report.page.render import Provenance, Shot, write_page
from preftd._src.style import LABEL_SIZE, RC, number_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_WEIGHTS, MOST_INPUTS, MOST_ERRORS, MOST_FILLS = 24, 60, 400, 40
"""Lines of tables, at most."""
MOST_LEADS = 6
"""Questions whose verdict is at the top."""


class PageCell(NamedTuple):
    """A cell of a table: its text, and the number by which it is sorted."""

    text: str
    value: float | None = None


def write_log_page(found: LogEvaluation | Path | str) -> Path:
    """Write `report.html` into the folder of an evaluated log.

    Parameters
    ----------
    found : LogEvaluation, Path or str
        The result of `preftd.logs.fit`, or its folder.

    Returns
    -------
    Path
        The page. It needs no other file.

    """
    log = found if isinstance(found, LogEvaluation) else load(found)
    refuse_others(log.folder / PAGE)
    summary = log.summary
    with mpl.rc_context(RC | {"axes.labelsize": LABEL_SIZE}):
        shots = {name: _shot(name, figure) for name, figure in _figures(log) if figure is not None}
    return write_page(
        log.folder / PAGE,
        "log.html.j2",
        list(shots.values()),
        title=f"Values from {summary['log']['source']}",
        contents=_contents(shots),
        made=Provenance([], []),
        figures=shots,
        lead=list(lead(summary)),
        trust=_trust(summary),
        facts=_facts(summary),
        notes=summary["notes"],
        inputs=_inputs(summary),
        errors=_errors(summary),
        changes=[_changes(summary, question) for question in summary["questions"][:6]],
        fills=_fills(summary),
        columns=summary["columns"],
    )


def _figures(log: LogEvaluation) -> Iterator[tuple[str, Figure | None]]:
    summary = log.summary
    yield "missing", missing_figure(summary)
    yield "errors", errors_figure(summary)
    path = log.folder / PREDICTIONS
    if path.exists():
        names = log_names(log.columns, [arm["key"] for arm in summary["arms"]])
        episode = None if log.columns.episode is None else names[log.columns.episode]
        rows = sample(path, summary["log"]["rows"], summary["split"]["tested"])
        if summary["log"].get("grouped"):  # the log's order is another
            rows = rows._replace(first=rows.first.sort(episode, maintain_order=True))
        yield "calibration", calibration_figure(summary, rows)
        yield "episodes", episodes_figure(summary, rows, episode)
        yield "gaps", gaps_figure(summary, rows, episode)


HEADINGS = {
    "missing": ("What is missing", "from the first row of the log to the last"),
    "errors": ("Held-out errors", "where readings are good, and where they are not"),
    "calibration": ("Calibration", "whether returns are what is predicted, on average"),
    "episodes": ("Predictions over time", "with the returns that followed"),
    "gaps": ("What the preference changed, and where", "on trusted rows, and as a gap lasts"),
}


def _shot(name: str, figure: Figure) -> Shot:
    return Shot(*HEADINGS[name], plot_of(name, figure))


def _contents(shots: Mapping[str, Shot]) -> list[tuple[str, str]]:
    always = [("use", "What to use"), ("read", "What was read"), ("error", "Errors")]
    curves = [("predicted", "Predictions")] if {"calibration", "episodes"} & set(shots) else []
    rest = [("weights", "Weights"), ("preference", "The preference"), ("made", "How it was made")]
    return [*always, *curves, *rest]


def lead(summary: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield sentences on each question: the recommended method, and its advantage."""
    for question in summary["questions"][:MOST_LEADS]:
        yield question["label"], list(verdict(summary, question))


def _trust(summary: Mapping[str, Any]) -> str:
    """The size of the log, and its trusted share."""
    log, beta = summary["log"], summary["preference"]
    share = _percent(beta["trusted"] / max(beta["rows"], 1))
    rows = f"{_counted(log['rows'], 'row')} in {_counted(log['episodes'], 'episode')}"
    return f"{rows}; {share} of the rows are trusted (β of ½ or more)."


def _facts(summary: Mapping[str, Any]) -> list[tuple[str, str]]:
    log, beta = summary["log"], summary["preference"]
    timed = "\ntime = " in summary["columns"]
    trust = told_trust(beta["text"], "time unit" if timed else "row")
    ends = f"{log['terminated']:,} terminated, {log['final_rows']:,} end with a last observation"
    features = f"{len(summary['features']):,} from {_counted(len(summary['inputs']), 'column')}"
    many = [question["groups"] for question in summary["questions"]]
    drawn = " to ".join(f"{one:,}" for one in sorted({min(many), max(many)}))
    folds = f"{split_text(summary)}; intervals of 95 % over {drawn} resampled groups of rows"
    return [
        ("read from", f"{log['source']} ({_counted(log['files'], 'file')})"),
        ("rows", f"{log['rows']:,}; the longest episode has {log['longest']:,}"),
        ("ends of episodes", ends),
        ("features", features),
        ("preference β", f"{trust}: {beta['zero']:,} rows have β = 0"),
        ("held out", folds),
        ("ridge penalty", _penalty(summary)),
        ("computed", f"in {number_text(summary['seconds'])} s by preftd {summary['version']}"),
    ]  # fmt: skip


def _penalty(summary: Mapping[str, Any]) -> str:
    """The choice of the penalty of each method."""
    if summary["regularisation"] is not None:
        return f"{number_text(summary['regularisation'])} for all methods"
    return "chosen for each method by errors on trusted rows of what it learns from"


def told_trust(text: str, counted: str = "row") -> str:
    """Return a description of the source of β, given the text of a preference and the unit of ages.

    >>> told_trust("missing:pressure:2")
    '0 where pressure is missing for more than 2 rows, otherwise 1'
    >>> told_trust("learned")
    'learned from the observations'
    """
    if text == "learned":
        return "learned from the observations"
    trust = as_trust(text)
    if isinstance(trust, Missing):
        what = listed(trust.features, "or", ", ") if trust.features else "a feature"
        longer = f" for more than {_counted(trust.limit, counted)}" if trust.limit else ""
        return f"0 where {what} is missing{longer}, otherwise 1"
    if isinstance(trust, Age):
        what = listed(trust.features, "or", ", ") if trust.features else "any feature"
        halves = number_text(trust.half_life)
        return f"halves with each {halves} {counted}s since {what} was last read"
    if isinstance(trust, float):
        return f"{trust:g} everywhere"
    column = text.removeprefix("column:")  # without this, it is a signal
    return text if column == text else f"the column {column}"


def _inputs(summary: Mapping[str, Any]) -> dict[str, Any]:
    inputs = sorted(summary["inputs"], key=lambda one: -one["share"])
    rows = [
        [
            PageCell(one["name"]),
            PageCell(f"{one['missing']:,}", one["missing"]),
            PageCell(_percent(one["share"]), one["share"]),
            _number(one.get("mean")),
            _number(one.get("scale")),
        ]
        for one in inputs
    ]
    head = ["column", "missing rows", "share", "mean", "standard deviation"]
    return _table(head, rows, MOST_INPUTS)


def _table(head: list[str], rows: list[list[PageCell]], most: int) -> dict[str, Any]:
    """The first rows of a table, and the number of omitted ones."""
    return {"head": head, "rows": rows[:most], "left": max(len(rows) - most, 0)}


def _errors(summary: Mapping[str, Any]) -> dict[str, Any]:
    labels = {arm["key"]: arm["label"] for arm in summary["arms"]}
    rows = [
        [
            *map(PageCell, (question["label"], ROWS[e["rows"]], labels[e["arm"]], e["prediction"])),
            *(PageCell(_span(e, name), e[name]) for name in ("rmse", "relative")),
            PageCell(f"{e['count']:,}", e["count"]),
        ]
        for question in summary["questions"]
        for e in question["errors"]
    ]
    head = ["predicted", "rows", "method", "prediction", "error", "relative to the mean", "count"]
    return _table(head, rows, MOST_ERRORS)


def weights_table(
    summary: Mapping[str, Any], question: Mapping[str, Any]
) -> Sequence[tuple[str, list[float | None]]]:
    """Return the weights of features and extras, in units of the log's columns; None if not used.

    Features with the largest effects (weights times standard deviations) are first, the constant
    is last.
    """
    scale, arms = _scales(summary), with_weights(summary)
    weights = [question["weights"][arm["key"]] for arm in arms]
    used = [any(x for x, name in zip(w, summary["features"], strict=True) if name != "1")
            for w in weights]  # fmt: skip
    rows: list[tuple[str, list[float | None]]] = [
        (name, [w[i] if own or name == "1" else None for w, own in zip(weights, used, strict=True)])
        for i, name in enumerate(summary["features"])
    ]
    last = {name: max(abs(x or 0.0) for x in own) * scale[i] for i, (name, own) in enumerate(rows)}
    rows.sort(key=lambda one: (one[0] == "1", -last[one[0]]))
    more = question["extra_weights"]
    for i, name in enumerate(summary["extras"]):
        own = [more[arm["key"]][i] if arm["key"] in more else None for arm in arms]
        rows.append((name, [x or None for x in own]))
    return [(name, own) for name, own in rows if name == "1" or any(x for x in own)]


def weights_change(
    summary: Mapping[str, Any], own: Mapping[str, Any], other: Mapping[str, Any]
) -> float | None:
    """Return the size of a change of effects, as a share of their size; None if they are 0.

    The constant feature does not count.
    """
    scale = _scales(summary)
    counts = np.array([name != "1" for name in summary["features"]])
    before, after = (np.array(one["weights"])[counts] * scale[counts] for one in (own, other))
    size = float(np.linalg.norm(before))
    return float(np.linalg.norm(after - before)) / size if size else None


def _scales(summary: Mapping[str, Any]) -> Vector:
    """Standard deviations of features, where they are known; otherwise 1."""
    scale = {one["name"]: one.get("scale") or 1.0 for one in summary["inputs"]}
    return np.array([scale.get(name, 1.0) for name in summary["features"]])


def _changes(summary: Mapping[str, Any], question: Mapping[str, Any]) -> dict[str, Any]:
    found = weights_table(summary, question)
    rows = [[PageCell(name), *map(_number, weights)] for name, weights in found]
    head = ["feature", *(arm["label"] for arm in with_weights(summary))]
    return {"label": question["label"], **_table(head, rows, MOST_WEIGHTS)}


def _fills(summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """The effect of the fill on weights and errors, a line for each question, arm and fill."""
    found = summary["fills"]
    if not found:
        return None
    lines = summary["columns"].splitlines()
    own = {(f["question"], f["arm"]): f for f in found if f'fill = "{f["fill"]}"' in lines}
    labels = {arm["key"]: arm["label"] for arm in summary["arms"]}
    rows = []
    for one in found:
        change = weights_change(summary, own[one["question"], one["arm"]], one)
        texts = [one["question"], labels[one["arm"]], one["fill"]]
        share = "–" if change is None else _percent(change)
        rows.append([*map(PageCell, texts), PageCell(share, change), _number(one["rmse"])])
    head = ["predicted", "method", "fill", "change of weights", "error, all rows"]
    return _table(head, rows, MOST_FILLS)


def _number(value: float | None) -> PageCell:
    return PageCell("–") if value is None else PageCell(number_text(value), value)


def _percent(share: float) -> str:
    text = number_text(100 * share)
    if 0 < share < 1 and text in ("0", "100"):
        text = "less than 0.01" if share < 0.5 else "more than 99.9"
    return f"{text} %"


def _span(error: Mapping[str, Any], name: str) -> str:
    if error[name] is None:
        return "–"
    ends = [error[f"{name}_low"], error[f"{name}_high"]]
    if None in ends:
        return number_text(error[name])
    return f"{number_text(error[name])} [{', '.join(number_text(x) for x in ends)}]"


def _counted(count: float, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
