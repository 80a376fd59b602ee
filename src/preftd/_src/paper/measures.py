"""Measures of learning curves and of curves over step sizes: from runs to a number per seed."""

from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from preftd._src.arrays import Dense, Vector
from preftd._src.paper.claim import Sample
from preftd.tasks import Task

CEILING = 10.0
"""An error counts at most this much where runs diverge, as in the paper's figure of the walk."""
FINE = 2001
"""At how many points a curve is evaluated to find its width: to about 0.002 of its range."""
Axis: TypeAlias = Literal["linear", "decades"]
"""Of step sizes."""


def error_of_zero(task: Task) -> float:
    """Mean squared error of predicting 0, with which all methods begin."""
    return float(np.mean(task.scored.values**2))


def best(runs: pl.DataFrame) -> Sample:
    """The score of the best setting, which for each seed is chosen by the *other* seeds.

    The least of many noisy numbers is optimistically biased; a setting chosen by other seeds is
    not. For studies without a search, whose step sizes all run on the seeds that are reported.
    """
    seeds, _, scores = _by_setting(runs)
    if len(seeds) == 1:
        return Sample(seeds, scores.min(axis=1))
    of_others = (scores.sum(axis=0) - scores) / (len(seeds) - 1)
    return Sample(seeds, scores[np.arange(len(seeds)), of_others.argmin(axis=1)])


def widths(runs: pl.DataFrame, of_zero: float | Vector, axis: Axis = "decades") -> Sample:
    """Over which range of step sizes the score is more than halfway from that of 0 to its least.

    This is the width of a U-curve at half its depth, along a linear axis of step sizes or in
    decades. A factor on the step size stretches the first and keeps the second.

    Parameters
    ----------
    runs
        Runs with a score, one per seed and setting.
    of_zero
        The score of predicting 0: a number, or one per seed in ascending order, shape (seeds,).
    axis
        The axis on which the width is measured.
    """
    seeds, sizes, scores = _by_setting(runs)
    order = np.argsort(sizes)
    along = np.log10(sizes[order]) if axis == "decades" else sizes[order]
    at = np.linspace(along[0], along[-1], FINE)
    halfway = (of_zero + scores.min(axis=1)) / 2
    curves = np.array([np.interp(at, along, score[order]) for score in scores])
    within = (curves < halfway[:, None]).mean(axis=1)
    return Sample(seeds, within * (along[-1] - along[0]))


def decades_to_failure(runs: pl.DataFrame, of_zero: float) -> Sample:
    """The decades above its best step size at which a seed does worse than predicting 0.

    Infinite if it does so at none of the step sizes that were tried.
    """
    seeds, sizes, scores = _by_setting(runs)
    found = []
    for score in scores:
        least = sizes[score.argmin()]
        worse = sizes[(sizes > least) & (score > of_zero)]
        found.append(np.log10(worse.min() / least) if worse.size else np.inf)
    return Sample(seeds, np.array(found))


def failing_from(runs: pl.DataFrame, of_zero: float | Vector = np.inf) -> Sample:
    """The smallest step size above the best one with which a seed diverges or is worse than 0.

    Infinite if it does so at none of the step sizes that were tried.

    Parameters
    ----------
    runs
        Runs with a score, one per seed and step size.
    of_zero
        The score of predicting 0: a number, or one per seed in ascending order, shape (seeds,)
        (default: only runs that diverge fail).
    """
    every = runs.sort("seed", "step_size")
    seeds = tuple(every["seed"].unique().sort())
    sizes, scores, diverged = (
        every[name].to_numpy().reshape(len(seeds), -1)
        for name in ("step_size", "score", "diverged")
    )
    at_best = np.where(diverged, np.inf, scores).argmin(axis=1)[:, None]
    fails = diverged | (scores > np.reshape(of_zero, (-1, 1)))
    fails &= np.arange(sizes.shape[1]) >= at_best
    return Sample(seeds, np.where(fails, sizes, np.inf).min(axis=1))


def capped(runs: pl.DataFrame) -> pl.DataFrame:
    """The same runs; a score above the ceiling, or of a run that diverged, is the ceiling."""
    return runs.with_columns(pl.col("score").fill_nan(CEILING).clip(upper_bound=CEILING))


def _by_setting(runs: pl.DataFrame) -> tuple[tuple[int, ...], Vector, Dense]:
    """Seeds, step sizes of all settings, and scores up to the ceiling: seeds × settings."""
    groups = (
        capped(runs)
        .group_by("rule", "preference", "step_size", maintain_order=True)
        .agg(pl.col("seed").sort(), pl.col("score").sort_by("seed"))
    )
    scores = np.array(groups["score"].to_list(), dtype=np.float64).T
    return tuple(groups["seed"][0].to_list()), groups["step_size"].to_numpy(), scores


def part(
    runs: pl.DataFrame, begin: float = 0.0, end: float = 1.0, measure: str = "error"
) -> Sample:
    """Mean of a measure over a part of the episodes: from 0.75 to 1 is the last quarter.

    A run may have a number for each episode, or means over as many consecutive ones.
    """
    seeds, numbers = _by_episode(runs, measure)
    first, last = (round(share * numbers.shape[1]) for share in (begin, end))
    return Sample(seeds, numbers[:, first : max(last, first + 1)].mean(axis=1))


def episodes_until(runs: pl.DataFrame, error: float) -> Sample:
    """The number of episodes until the error is first below `error`.

    If never, one more than all.
    """
    seeds, errors = _by_episode(runs)
    below = errors < error
    first = np.where(below.any(axis=1), below.argmax(axis=1), errors.shape[1])
    return Sample(seeds, first + 1.0)


def _by_episode(runs: pl.DataFrame, measure: str = "error") -> tuple[tuple[int, ...], Dense]:
    """Seeds, and their numbers after each episode: seeds × episodes."""
    found = runs.sort("seed")
    return tuple(found["seed"]), np.array(found[measure].to_list(), dtype=np.float64)


def from_median(sample: Sample) -> Sample:
    """Distances from the median over seeds."""
    return Sample(sample.seeds, np.abs(sample.values - np.median(sample.values)))
