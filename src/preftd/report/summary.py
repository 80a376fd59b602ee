"""A study's results as a table of plain text."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from preftd.experiments.results import ALGORITHM, STEP_SIZE, Results
from preftd.experiments.statistics import summarise
from preftd.report.algorithms import labels

LEVEL = 0.95
HEAD = ("task", "algorithm", "step size", "score", "IQM", "last episode", "diverged")
SEEDS = "seeds"
GAP = "  "


def table(results: Results) -> str:
    """Chosen step size, score with its interval, IQM, last episode and divergences.

    A row per task and algorithm, in the order of the study; below, what the columns mean and which
    seeds chose the step sizes. Where rows lack seeds, a column says how many each has.
    """
    named = labels(results.runs, ALGORITHM[1:])
    found, seeds = _found(results), _seeds(results)
    lacking = any(row["seeds"] < len(seeds) for row in found.values())
    rows: list[tuple[str, ...]] = [(*HEAD, SEEDS) if lacking else HEAD]
    for key in results.runs.select(ALGORITHM).unique(maintain_order=True).rows():
        cells = _cells(found[key]) if key in found else _without(results, key)
        count = (str(found[key]["seeds"]) if key in found else "",) if lacking else ()
        rows.append((key[0], named[key[1:]], *cells, *count))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    lines = [
        GAP.join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", *_legend(results, seeds, lacking)]) + "\n"


def _seeds(results: Results) -> list[int]:
    """All that are reported."""
    report = results.runs.filter(pl.col("stage") == "report")
    return report["seed"].unique().sort().to_list()


def _found(results: Results) -> dict[tuple[str, ...], dict[str, Any]]:
    """By task and algorithm, what the table says of reported runs."""
    runs, by = results.reported, [*ALGORITHM, *STEP_SIZE]
    last = runs.with_columns(results.score.of_episodes.list.last().alias("score"))
    every = summarise(runs, by, level=LEVEL).with_columns(
        summarise(runs, by, centre="iqm", interval="bootstrap")["centre"].alias("iqm"),
        summarise(last, by)["centre"].alias("last"),
    )
    return {tuple(row[name] for name in ALGORITHM): row for row in every.to_dicts()}


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    score = f"{row['centre']:.4g}"
    if np.isfinite(row["high"]):
        score += f" ± {row['high'] - row['centre']:.2g}"
    return (
        row["schedule"] or ("none" if row["step_size"] is None else f"{row['step_size']:g}"),
        score,
        f"{row['iqm']:.4g}",
        f"{row['last']:.4g}",
        f"{row['diverged']} of {row['seeds']}",
    )


def _without(results: Results, key: tuple[str, ...]) -> tuple[str, ...]:
    """Of an algorithm of which nothing is reported: it diverged, or its turn has not come."""
    parts = zip(ALGORITHM, key, strict=True)
    tried = results.tried.filter(*(pl.col(name) == part for name, part in parts))
    if key in results.chosen.select(ALGORITHM).rows():
        return ("chosen, not yet run", "", "", "", "")
    lost = f"{tried['diverged'].sum()} of {tried.height}"
    return ("none: all diverged", "", "", "", lost)


def _legend(results: Results, seeds: list[int], lacking: bool) -> list[str]:
    score, told = results.score, ranges(seeds) + ", as far as a row has them" * lacking
    most = "" if score.ceiling is None else f" (at most {score.ceiling:g})"
    lines = [
        f"step size     {_choice(results)}",
        f"score         {score.name}, mean over {score.span}{most} and seeds {told}",
        f"±             half the width of Student's {LEVEL * 100:g} % interval of that mean",
        "IQM           mean of the middle half of the seeds",
        f"last episode  {score.name} after it{most}, mean over seeds",
        "diverged      runs with this step size (or with any, where none could be chosen)",
    ]
    if lacking:
        lines.append("seeds         how many the row has: other cells failed or were not run yet")
    return lines


def _choice(results: Results) -> str:
    """What chose the step sizes."""
    if results.given:
        return "as given by the study"
    best = f"chosen for the {results.score.best} mean score on"
    if "search" not in results.runs["stage"]:
        return f"{best} the seeds that are reported: scores are optimistically biased"
    seeds = results.tried["seed"].unique().to_list()
    lacking = bool((results.chosen["seeds"] < len(seeds)).any())
    among = " as far as there are runs" if lacking else ""
    return f"{best} seeds {ranges(seeds)}{among}, which are not reported"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers in order, those in a row as a range.

    >>> ranges([7, 0, 1, 2])
    '0–2, 7'
    """
    parts: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1] = (parts[-1][0], number)
        else:
            parts.append((number, number))
    told = ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in parts)
    return told or "still to come"
