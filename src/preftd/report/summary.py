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
GAP = "  "


def table(results: Results) -> str:
    """Chosen step size, score with its interval, IQM, last episode and divergences.

    A row per task and algorithm, in the order of the study; below, what the columns mean and which
    seeds chose the step sizes.
    """
    named = labels(results.runs, ALGORITHM[1:])
    found = _found(results)
    rows: list[tuple[str, ...]] = [HEAD]
    for key in results.runs.select(ALGORITHM).unique(maintain_order=True).rows():
        cells = _cells(found[key]) if key in found else _without(results, key)
        rows.append((key[0], named[key[1:]], *cells))
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    rows.insert(1, tuple("-" * width for width in widths))
    lines = [
        GAP.join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, "", *_legend(results)]) + "\n"


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
        row["schedule"] or f"{row['step_size']:g}",
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


def _legend(results: Results) -> list[str]:
    seeds = ranges(results.runs.filter(pl.col("stage") == "report")["seed"].unique().to_list())
    least = "chosen for the least mean score on"
    if results.given:
        chosen = "as given by the study"
    elif "search" in results.runs["stage"]:
        searched = ranges(results.tried["seed"].unique().to_list())
        chosen = f"{least} seeds {searched}, which are not reported"
    else:
        chosen = f"{least} the seeds that are reported: scores are a little too good"
    return [
        f"step size     {chosen}",
        f"score         {results.score.name}, mean over {results.score.span} and seeds {seeds}",
        f"±             half the width of Student's {LEVEL * 100:g} % interval of that mean",
        "IQM           mean of the middle half of the seeds",
        f"last episode  {results.score.name} after it, mean over seeds",
        "diverged      runs with this step size (or with any, where none could be chosen)",
    ]


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
