"""Held-out errors of predictions, with intervals: groups of units are resampled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense
from preftd._src.experiments.statistics import RESAMPLES
from preftd._src.logs.arms import Arm
from preftd._src.logs.scores_kernel import RETURNS, ROWS, SQUARES
from preftd._src.randomness import generator

LEVEL = 0.95
KINDS = ("value", "held")
ROUNDING = 1e-13
"""Returns that differ by less than this share of their mean are the same."""
WHICH = {"all": [0, 1], "trusted": [1], "untrusted": [0]}
"""Rows by whether β ≥ ½."""


def error_table(
    counts: NDArray[np.float64],
    squares: NDArray[np.float64],
    arms: tuple[Arm, ...],
    middle: float,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Errors of the arms at one question, and how those of the last arm of least squares differ.

    Parameters
    ----------
    counts : array of shape (groups, 2, 3)
        Sums of returns are of those less `middle`, as `add_errors` counts them.
    squares : array of shape (2, groups, 2, arms)
        Of values and of held predictions.
    arms : tuple of Arm
    middle : float

    Returns
    -------
    tuple of lists of dict
        Rows of two tables: see the head of `fitting.py`.

    """
    drawn = resamples(len(counts))
    errors, differences = [], []
    for which, rows in WHICH.items():
        total = counts[:, rows].sum(axis=1)
        if not total[:, ROWS].sum():
            continue
        spread = _ratio(drawn, total, _spread)
        spread[spread <= ROUNDING * abs(middle)] = np.nan  # all returns are the same
        found = {}
        for kind, name in enumerate(KINDS):
            summed = squares[kind][:, rows].sum(axis=1)
            for a, arm in enumerate(arms):
                rmse = _ratio(drawn, np.column_stack([summed[:, a], total[:, ROWS]]), _root)
                found[arm.key, name] = rmse
                errors.append(
                    {"arm": arm.key, "prediction": name, "rows": which,
                     "count": int(total[:, ROWS].sum()), **_interval("rmse", rmse),
                     **_interval("relative", rmse / spread)}
                )  # fmt: skip
        best = [arm for arm in arms if arm.method is None][-1]
        pairs = [(name, arm.key, name) for name in KINDS for arm in arms if arm != best]
        for name, key, other in [*pairs, ("held", best.key, "value")]:
            with np.errstate(invalid="ignore"):  # both may be infinite
                change = found[best.key, name] - found[key, other]
            differences.append(
                {"arm": best.key, "prediction": name, "than": key, "than_prediction": other,
                 "rows": which, **_interval("difference", change)}
            )  # fmt: skip
    return errors, differences


def resamples(groups: int) -> Dense:
    """How often each group is drawn, shape (1 + RESAMPLES, groups); at first, once each."""
    drawn = generator("log", groups).multinomial(groups, np.full(groups, 1 / groups), RESAMPLES)
    return np.vstack([np.ones(groups), drawn])


def _ratio(drawn: Dense, sums: Dense, of: Any) -> Dense:
    """A number computed from sums over groups, for each resample."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(of((drawn @ sums).T))


def _root(sums: Dense) -> Dense:
    return np.asarray(np.sqrt(sums[0] / sums[1]))


def _spread(sums: Dense) -> Dense:
    """The error of predicting the mean of the returns."""
    mean = sums[RETURNS] / sums[ROWS]
    return np.asarray(np.sqrt(np.maximum(sums[SQUARES] / sums[ROWS] - mean**2, 0.0)))


def _interval(name: str, numbers: Dense) -> dict[str, float | None]:
    """The number itself, and where the middle of its resamples begins and ends."""
    known = numbers[1:][np.isfinite(numbers[1:])]
    ends: list[float | None] = [None, None]
    if len(known) == RESAMPLES:
        ends = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    own = float(numbers[0]) if np.isfinite(numbers[0]) else None
    return {name: own, f"{name}_low": ends[0], f"{name}_high": ends[1]}
