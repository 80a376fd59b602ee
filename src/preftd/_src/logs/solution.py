"""The weights that the sums of all parts give: for each fold without it, and of the whole log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.learners.least_squares.systems import _UNSEEN

ROUNDING = 1e-13
"""If a step leaves less than this of a constant on average, it is rounding."""
_PAID = 1e-9
"""A smaller share of what is paid is rounding."""


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


def solve(
    total: dict[str, NDArray[Any]],
    regularisation: float,
    constant: bool = False,
    arms: Sequence[str] = (),
) -> Solution:
    """Return the weights; questions are discounts, and cumulants within.

    Parameters
    ----------
    total : dict
        The sums of all parts.
    regularisation : float
        ε of `solved`.
    constant : bool
        Whether the last feature is always 1.
    arms : sequence of str
        What messages call the arms.

    """
    sums = total["sums"]  # discounts, arms, folds, size, size + cumulants
    discounts, many, folds, size, width = sums.shape
    questions = discounts * (width - size)
    held_out = np.empty((many, folds, size, discounts, width - size))
    whole = np.empty((many, size, discounts, width - size))
    for d in range(discounts):
        for a in range(many):
            label = arms[a] if arms else "the system"
            # In the same order for each fold: what is left out is not added and subtracted.
            whole[a, :, d] = solved(sums[d, a].sum(axis=0), regularisation, constant, label)
            for fold in range(folds):
                kept = np.delete(sums[d, a], fold, axis=0).sum(axis=0)
                held_out[a, fold, :, d] = solved(kept, regularisation, constant, label)
    mean = total["paid"] / total["leaves"].sum(axis=1)[:, None]
    return Solution(
        held_out.reshape(many, folds, size, questions),
        whole.reshape(many, size, questions),
        mean.ravel(),
    )


def solved(
    sums: Dense, regularisation: float, constant: bool = False, label: str = "the system"
) -> Dense:
    """The weights w with (A + ε I) w = b, shape (size, cumulants); with ε = 0, the smallest.

    The weight of a constant feature is not made smaller: values must follow a shift of rewards.
    Where nothing was learned from, weights are 0.
    """
    size = len(sums)
    A, b = sums[:, :size], sums[:, size:]
    if not sums.any():
        return np.zeros(b.shape)
    ridge = np.full(size, regularisation)
    if constant:
        ridge[-1] = 0.0
    try:
        if regularisation == 0:
            return np.asarray(np.linalg.lstsq(A, b, rcond=_UNSEEN)[0])
        found = np.asarray(np.linalg.solve(A + np.diag(ridge), b))
    except np.linalg.LinAlgError:
        found = np.full(b.shape, np.nan)
    if not np.isfinite(found).all():
        raise InputError(
            f"{label} has no finite solution with regularisation {regularisation:g}: give another, "
            "leave out features that others determine, or choose rules without it."
        )
    return found


def check_ends(
    total: dict[str, NDArray[Any]],
    questions: Mapping[str, float],
    arms: Sequence[str],
    constant: bool,
) -> None:
    """Refuse sums that never end, as with γ = 1 where nothing terminates.

    Parameters
    ----------
    total : dict
        The sums of all parts.
    questions : mapping of str to float
        What messages call a question of each discount, and the discount.
    arms : sequence of str
        What messages call the arms.
    constant : bool
        Whether the last feature is always 1.

    """
    remedy = "give a discount below 1, or name the column that says where episodes terminate."
    steps, size = float(total["counts"][0]), total["sums"].shape[3]
    for d, (question, discount) in enumerate(questions.items()):
        leaves = total["leaves"][d]
        if not leaves.any():
            raise InputError(f"{question} has no end, as no step terminates: {remedy}")
        for fold in range(len(leaves)):
            if not np.delete(leaves, fold).any():
                raise InputError(
                    f"{question} has no end without fold {fold}, as no step terminates in the "
                    "others: give a discount below 1, or a log with more episodes that terminate."
                )
        for a, label in enumerate(arms if discount == 1 else ()):
            sums = total["sums"][d, a]
            for fold in range(-1, len(leaves)):
                kept = (sums if fold < 0 else np.delete(sums, fold, axis=0)).sum(axis=0)
                A, b = kept[:, :size], kept[:, size:]
                if constant and kept.any() and abs(A[-1, -1]) <= ROUNDING * steps:
                    raise InputError(
                        f"{label} learns from no row after which {question} has an end: give a "
                        "discount below 1, or trust rows of episodes that terminate."
                    )
                if _has_no_solution(A, b, ROUNDING * steps):
                    raise InputError(
                        f"{label} learns from rows after which {question} has no end, and features "
                        "tell these from the others: give a discount below 1, or leave out episodes"
                        " that do not terminate."
                    )


def _has_no_solution(A: Dense, b: Dense, rounding: float) -> bool:
    """Whether no w has A w = b, as what is paid where A is 0 but for rounding adds up."""
    left, scales, _ = np.linalg.svd(A)
    loose = left[:, scales <= rounding].T @ b
    return bool((np.abs(loose) > _PAID * np.linalg.norm(b, axis=0)).any())
