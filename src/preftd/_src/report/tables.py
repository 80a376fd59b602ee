"""Results as plain text: the table of a study, and the status of a folder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl

from preftd._src.arrays import InputError
from preftd._src.experiments.cells import CellGroup, ids_of
from preftd._src.experiments.manifest import Manifest, read_manifests, state_of
from preftd._src.experiments.progress import progress_here
from preftd._src.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd._src.experiments.runner import Plan
from preftd._src.experiments.statistics import interquartile_mean, summarise
from preftd._src.experiments.store import Store
from preftd._src.experiments.study import Study
from preftd._src.style import labels, number_text
from preftd._src.terminal import aligned

LEVEL = 0.95
HEAD = ("task", "algorithm", "step size", "score", "IQM", "last episode", "diverged")
SEEDS = "seeds"
GAP = "  "
RUNS = 10
"""The number of most recent runs whose status is listed."""


class NumberCell(str):
    """The text of a cell that begins with a number, and that number, by which rows are sorted."""

    value: float
    __slots__ = ("value",)

    def __new__(cls, value: float, spec: str, after: str = "") -> Self:
        """Write a number by a format, then `after`."""
        cell = super().__new__(cls, number_text(value, spec) + after)
        cell.value = value
        return cell


class StudyTable(NamedTuple):
    """A table: names of columns, rows of texts, and a legend of names and explanations."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    legend: list[tuple[str, str]]


def table_of(results: Results) -> StudyTable:
    """Return a table with a row per task and algorithm, in the order of the study.

    The columns are the chosen step size, the score with its interval, the interquartile mean (IQM),
    the score of the last episode and the number of diverged runs. If seeds are missing, another
    column counts the seeds of each row. A legend explains the columns and which seeds chose the
    step sizes.
    """
    named = labels(results.runs, ALGORITHM[1:])
    found, seeds = _found(results), _seeds(results)
    incomplete = any(row["seeds"] < len(seeds) for row in found.values())
    rows: list[tuple[str, ...]] = []
    for key in results.runs.select(ALGORITHM).unique(maintain_order=True).rows():
        cells = _cells(found[key]) if key in found else _not_reported(results, key)
        count = (str(found[key]["seeds"]) if key in found else "",) if incomplete else ()
        rows.append((key[0], named[key[1:]], *cells, *count))
    head = (*HEAD, SEEDS) if incomplete else HEAD
    return StudyTable(head, rows, _legend(results, seeds, incomplete))


def table(results: Results) -> str:
    """Return the same as plain text."""
    head, below, legend = table_of(results)
    wide = max(map(len, HEAD)) + len(GAP)
    told = [f"{name.ljust(wide)}{text}" for name, text in legend]
    return "\n".join([*aligned([head, *below], GAP), "", *told]) + "\n"


def _seeds(results: Results) -> list[int]:
    """All reported seeds."""
    report = results.runs.filter(pl.col("stage") == "report")
    return report["seed"].unique().sort().to_list()


def _found(results: Results) -> dict[tuple[str, ...], dict[str, Any]]:
    """Statistics of the reported runs, by task and algorithm."""
    runs, by = results.reported, [*ALGORITHM, *STEP_SIZE]
    last = runs.with_columns(results.score.of_episodes.list.last().alias("score"))
    scores = runs.group_by(by, maintain_order=True).agg("score")["score"].to_list()
    every = summarise(runs, by, level=LEVEL).with_columns(
        pl.Series("iqm", [float(interquartile_mean(np.array(some))) for some in scores]),
        summarise(last, by)["centre"].alias("last"),
    )
    return {tuple(row[name] for name in ALGORITHM): row for row in every.to_dicts()}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    half_width, step_size = row["high"] - row["centre"], row["step_size"]
    interval = f" ± {number_text(half_width, '.2g')}" if np.isfinite(half_width) else ""
    return (
        row["schedule"] or ("none" if step_size is None else NumberCell(step_size, "g")),
        NumberCell(row["centre"], ".4g", interval),
        NumberCell(row["iqm"], ".4g"),
        NumberCell(row["last"], ".4g"),
        f"{row['diverged']} of {row['seeds']}",
    )


def _not_reported(results: Results, key: tuple[str, ...]) -> tuple[str, ...]:
    """The cells of an algorithm without reported runs: it diverged, or is yet to run."""
    parts = zip(ALGORITHM, key, strict=True)
    tried = results.tried.filter(*(pl.col(name) == part for name, part in parts))
    if key in results.chosen.select(ALGORITHM).rows():
        return ("chosen, not yet run", "", "", "", "")
    diverged = f"{tried['diverged'].sum()} of {tried.height}"
    return ("none: all diverged", "", "", "", diverged)


def _legend(results: Results, seeds: list[int], incomplete: bool) -> list[tuple[str, str]]:
    score, shown = results.score, ranges(seeds) + " (some rows have fewer)" * incomplete
    most = "" if score.ceiling is None else f" (at most {score.ceiling:g})"
    lines = [
        ("step size", _choice(results)),
        ("score", f"{score.name}, mean over {score.span}{most} and seeds {shown}"),
        ("±", f"half the width of the {LEVEL * 100:g} % interval of that mean (Student)"),
        ("IQM", "mean of the middle half of the seeds"),
        ("last episode", f"{score.name} of the last episode{most}, mean over seeds"),
        ("diverged", "diverged runs with this step size (with any, if none could be chosen)"),
    ]
    if incomplete:
        lines.append((SEEDS, "seeds of the row: other cells failed or have not run yet"))
    return lines


def _choice(results: Results) -> str:
    """How the step sizes were chosen."""
    if results.given:
        return "as given by the study"
    if results.runs["step_size"].is_null().all():
        return "none: the learners take no step size"
    best = f"chosen for the {results.score.best} mean score on"
    if "search" not in results.runs["stage"]:
        return f"{best} the reported seeds: scores are optimistically biased"
    seeds = results.tried["seed"].unique().to_list()
    incomplete = bool((results.chosen["seeds"] < len(seeds)).any())
    fewer = " (some rows: fewer)" if incomplete else ""
    return f"{best} seeds {ranges(seeds)}{fewer}, which are not reported"


def ranges(numbers: Iterable[int]) -> str:
    """Return numbers in order, with consecutive ones as a range.

    Examples
    --------
    >>> ranges([7, 0, 1, 2])
    '0–2, 7'

    """
    parts: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in parts) or "yet to run"


def status_lines(out: Path, studies: Sequence[Study]) -> Iterator[str]:
    """Yield lines of text: the folder, the progress of each study, and the last runs."""
    store = Store(out, warn=progress_here().say)
    stored = store.stored()
    held = f"{len(stored):,} cells in {len(store.paths()):,} files"
    yield f"{out}: {held if out.exists() else 'this folder does not exist yet'}"
    for study in studies:
        plan = Plan(study, store)
        yield f"{study.name}: {_progress(plan, stored)}"
    runs = read_manifests(out / "runs")
    for run in runs[-RUNS:]:
        yield f"  {run}" if isinstance(run, InputError) else f"  {_described(run)}"
    if len(runs) > RUNS:
        yield f"  and {len(runs) - RUNS} earlier runs"


def _described(run: Manifest) -> str:
    when = run.started[:19].replace("T", " ")
    computed = f", {run.computed:,} cells computed" if run.ended else ""
    failed = f", {len(run.failures):,} failed" if run.failures else ""
    rounded = f", {run.rounded:,} equal to rounding only" if run.rounded else ""
    return f"{when}  {run.study}: {state_of(run)}{computed}{failed}{rounded}"


def _progress(plan: Plan, stored: set[str]) -> str:
    report = _share(plan.report, stored)
    if not plan.search:
        return report
    search = f"search {_share(plan.search, stored)}"
    if not plan.report:
        return f"{search}; the report starts when the search is complete"
    rest = f"; {len(plan.unfinished)} searches are incomplete" if plan.unfinished else ""
    return f"{search}, report {report}{rest}"


def _share(groups: Sequence[CellGroup], stored: set[str]) -> str:
    wanted = set(ids_of(groups))
    return f"{len(wanted & stored):,} of {len(wanted):,} cells"
