"""What can be measured of learning curves and of curves over step sizes, for each seed."""

from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl

from preftd.arrays import Dense, Vector
from preftd.report.paper.claims.samples import Sample, errors, rows
from preftd.tasks import Task, make

CEILING = 10.0
"""What an error counts at most where runs diverge, as in the paper's figure of the walk."""
FINE = 2001
"""At how many places a curve is looked at to find its width: to about 0.002 of its range."""
Axis: TypeAlias = Literal["linear", "decades"]
"""Of step sizes."""


def error_of_zero(task: Task) -> float:
    """Mean squared error of predicting 0: where all methods begin."""
    return float(np.mean(task.scored.values**2))


@cache
def error_of_zero_in(task: str, length: int) -> float:
    """The same, for a corridor."""
    return error_of_zero(make(task, length=length))


def best(runs: pl.DataFrame, **labels: Any) -> Sample:
    """The score of the best of several settings, for each seed as the *other* seeds choose it.

    The least of many noisy numbers is too small an estimate of itself; a setting that others chose
    is fair. For studies without a search, which chooses on seeds of its own.
    """
    seeds, _, scores = _by_setting(rows(runs, **labels))
    if len(seeds) == 1:
        return Sample(seeds, scores.min(axis=1))
    of_others = (scores.sum(axis=0) - scores) / (len(seeds) - 1)
    return Sample(seeds, scores[np.arange(len(seeds)), of_others.argmin(axis=1)])


def widths(runs: pl.DataFrame, of_zero: float | Vector, axis: Axis, **labels: Any) -> Sample:
    """For what range of step sizes the score is more than halfway from that of 0 to its least.

    The width of a U-curve at half its depth, as one measures peaks; along a linear axis of step
    sizes, or in decades. A factor on the step size stretches the first and leaves the second. The
    error of 0 may be another for each seed, in their order.
    """
    seeds, sizes, scores = _by_setting(rows(runs, **labels))
    order = np.argsort(sizes)
    along = np.log10(sizes[order]) if axis == "decades" else sizes[order]
    at = np.linspace(along[0], along[-1], FINE)
    halfway = (of_zero + scores.min(axis=1)) / 2
    curves = np.array([np.interp(at, along, score[order]) for score in scores])
    within = (curves < halfway[:, None]).mean(axis=1)
    return Sample(seeds, within * (along[-1] - along[0]))


def room_above(runs: pl.DataFrame, of_zero: float, **labels: Any) -> Sample:
    """How many decades above its best step size a seed does worse than predicting 0.

    Infinite if it does so at none of the step sizes that were tried: how far it is, is not known.
    """
    seeds, sizes, scores = _by_setting(rows(runs, **labels))
    found = []
    for score in scores:
        least = sizes[score.argmin()]
        worse = sizes[(sizes > least) & (score > of_zero)]
        found.append(np.log10(worse.min() / least) if worse.size else np.inf)
    return Sample(seeds, np.array(found))


def _by_setting(runs: pl.DataFrame) -> tuple[tuple[int, ...], Vector, Dense]:
    """Seeds, step sizes of all settings, and scores up to the ceiling: seeds × settings."""
    capped = runs.with_columns(pl.col("score").fill_nan(CEILING).clip(upper_bound=CEILING))
    groups = capped.group_by("rule", "preference", "step_size", maintain_order=True).agg(
        pl.col("seed").sort(), pl.col("score").sort_by("seed")
    )
    scores = np.array(groups["score"].to_list(), dtype=np.float64).T
    return tuple(groups["seed"][0].to_list()), groups["step_size"].to_numpy(), scores


def part(runs: pl.DataFrame, begin: float, end: float, **labels: Any) -> Sample:
    """Mean error over a part of the episodes: from 0.75 to 1 is the last quarter."""
    seeds, of = errors(runs, **labels)
    episodes = of.shape[1]
    first, last = round(begin * episodes), round(end * episodes)
    return Sample(seeds, of[:, first : max(last, first + 1)].mean(axis=1))


def episodes_until(runs: pl.DataFrame, error: float, **labels: Any) -> Sample:
    """After how many episodes the error is first below this; one more than all, if it never is."""
    seeds, of = errors(runs, **labels)
    below = of < error
    first = np.where(below.any(axis=1), below.argmax(axis=1), of.shape[1])
    return Sample(seeds, first + 1.0)
