"""The weights that the sums of all parts give: for each fold without it, and of the whole log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, InputError, Vector
from preftd.learners.least_squares.systems import _UNSEEN


class Solution(NamedTuple):
    """Weights of features, along the axis before the last; questions are the last axis."""

    held_out: NDArray[np.float64]
    """Without each fold, shape (arms, folds, size, questions)."""
    whole: NDArray[np.float64]
    """Of all rows, shape (arms, size, questions)."""
    mean: Vector
    """What a constant would predict, shape (questions,): Σ r / Σ (1 − γ)."""
    online: tuple[Any, ...] = ()
    """What other methods have learned, an `OnlineValues` each."""


def add_up(parts: Sequence[dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
    """Add what parts counted, in their order: however they were computed, the sum is the same."""
    total = {name: np.array(array) for name, array in parts[0].items()}
    for part in parts[1:]:
        for name, array in part.items():
            total[name] += array
    return total


def solve(total: dict[str, NDArray[Any]], regularisation: float) -> Solution:
    """Return the weights; questions are discounts, and cumulants within."""
    sums = total["sums"]  # discounts, arms, folds, size, size + cumulants
    discounts, arms, folds, size, width = sums.shape
    questions = discounts * (width - size)
    held_out = np.empty((arms, folds, size, discounts, width - size))
    whole = np.empty((arms, size, discounts, width - size))
    for d in range(discounts):
        for a in range(arms):
            # In the same order for each fold: what is left out is not added and subtracted.
            whole[a, :, d] = solved(sums[d, a].sum(axis=0), regularisation)
            for fold in range(folds):
                kept = np.delete(sums[d, a], fold, axis=0).sum(axis=0)
                held_out[a, fold, :, d] = solved(kept, regularisation)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nan_to_num(total["paid"] / total["leaves"][:, None], posinf=0.0, neginf=0.0)
    return Solution(
        held_out.reshape(arms, folds, size, questions),
        whole.reshape(arms, size, questions),
        mean.ravel(),
    )


def solved(sums: Dense, regularisation: float) -> Dense:
    """The weights w with (A + ε I) w = b, shape (size, cumulants); with ε = 0, the smallest."""
    size = len(sums)
    A, b = sums[:, :size], sums[:, size:]
    try:
        if regularisation == 0:
            return np.asarray(np.linalg.lstsq(A, b, rcond=_UNSEEN)[0])
        found = np.asarray(np.linalg.solve(A + regularisation * np.eye(size), b))
    except np.linalg.LinAlgError:
        found = np.full(b.shape, np.nan)
    if not np.isfinite(found).all():
        raise InputError(
            f"the system has no finite solution with regularisation {regularisation:g}: give "
            "another, or leave out features that others determine."
        )
    return found
