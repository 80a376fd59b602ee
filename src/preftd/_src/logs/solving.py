"""Weights from the sums of a log, and the ridge penalty of each arm.

The penalty ε in (A + ε I) w = b is a share of the mean of A's diagonal. Which share is chosen in
the same way for all arms: by the squared error, on trusted rows, of predictions of folds that are
held out once more from those that are learned from. The rows that are finally predicted do not
influence the choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.learners.least_squares.systems import _UNSEEN
from preftd._src.logs.arms import Arm
from preftd._src.logs.moments import Extras, extras_of
from preftd._src.logs.parts import Settings
from preftd._src.logs.splits import Split

SHARES = 10.0 ** np.arange(-8, 1)
"""The penalties that are tried, as shares of the mean of the diagonal."""
PLAIN_SHARE = 1e-6
"""The share if no data are left for a choice."""
LARGE = 400
"""With more columns than that, only one fold is held out once more."""
ROUNDING = 1e-13
"""A smaller average remainder of a constant is rounding."""
_PAID = 1e-9
"""A smaller share of rewards is rounding."""


class Solution(NamedTuple):
    """Weights of features and extras, along the last axis but one; questions are the last."""

    held_out: NDArray[np.float64]
    """For each fold, shape (arms, folds, wide, questions); NaN for folds that are not tested."""
    whole: NDArray[np.float64]
    """Of all rows, shape (arms, wide, questions)."""
    mean: Vector
    """The prediction of a constant, shape (questions,): Σ r / Σ (1 − γ)."""
    penalties: NDArray[np.float64]
    """The shares that were chosen for `whole`, shape (arms, questions); NaN if ε was given."""
    extras: Extras = Extras((), False, (), False)
    online: tuple[Any, ...] = ()
    """The results of other methods, an `OnlineValues` each."""
    boosted: Dense | None = None
    """Predictions of all rows by boosting, shape (rows, questions); NaN where it was not tested."""


class System(NamedTuple):
    """The normal equations of an arm, for one or more cumulants at one discount."""

    label: str
    sums: NDArray[np.float64]
    """A and b of each fold, shape (folds, size, size + cumulants), of regressions with one column
    more: what is added to b for each unit of the mean return."""
    columns: NDArray[np.intp]
    """Which features and extras the rows of A belong to."""
    constant: bool
    """Whether the last is always 1."""
    cumulants: range
    mean: _Mean

    def of(self, folds: Sequence[int]) -> Dense:
        """Return A and b of some folds, from their own rewards only."""
        found = np.asarray(self.sums[list(folds)].sum(axis=0))
        size = len(found)
        if found.shape[1] - size == len(self.cumulants):
            return found
        b = found[:, size:-1] + found[:, -1:] * self.mean.of(folds)[self.cumulants]
        return np.concatenate([found[:, :size], b], axis=1)


class _Mean(NamedTuple):
    """The terms of the mean return of some folds: Σ r / Σ (1 − γ)."""

    paid: NDArray[np.float64]
    """Shape (cumulants, folds)."""
    leaves: Vector
    """Shape (folds,)."""

    def of(self, folds: Sequence[int]) -> Vector:
        """Return it for each cumulant; 0 if nothing ends."""
        leaves = self.leaves[list(folds)].sum()
        return np.asarray(
            self.paid[:, list(folds)].sum(axis=1) / leaves if leaves else 0.0 * self.paid[:, 0]
        )


def solve(settings: Settings, total: Mapping[str, NDArray[Any]]) -> Solution:
    """Return the weights, from the sums of all parts; questions are discounts, then cumulants."""
    arms, split, extras = (
        settings.least_squares,
        settings.split,
        extras_of(settings.encoding, settings.arms),
    )
    cumulants = len(settings.columns.reward)
    discounts, wide = len(settings.columns.discounts), settings.encoding.size + len(extras.names)
    held_out = np.zeros((len(arms), split.folds, wide, discounts, cumulants))
    held_out[:, : split.tested] = np.nan
    whole = np.zeros((len(arms), wide, discounts, cumulants))
    penalties = np.full((len(arms), discounts, cumulants), np.nan)
    means = [_Mean(total["paid"], leaves) for leaves in total["leaves"]]
    for d, mean in enumerate(means):
        errors = None
        if settings.regularisation is None:
            errors = _Errors(total["moments"][d, 0], wide)
        for a, arm in enumerate(arms):
            for one in _systems(settings, arm, total, d, extras, mean):
                c = slice(one.cumulants.start, one.cumulants.stop)
                fits = _Fits(one, split, settings.regularisation, errors)
                for fold in range(split.tested, split.folds):
                    held_out[a, fold, one.columns, d, c] = fits.weights(fold)[0]
                whole[a, one.columns, d, c], penalties[a, d, c] = fits.weights(-1)
    questions = discounts * cumulants
    return Solution(
        held_out.reshape(len(arms), split.folds, wide, questions),
        whole.reshape(len(arms), wide, questions),
        np.concatenate([mean.of(range(split.folds)) for mean in means]),
        penalties.reshape(len(arms), questions),
        extras,
    )


def _systems(
    settings: Settings,
    arm: Arm,
    total: Mapping[str, NDArray[Any]],
    d: int,
    extras: Extras,
    mean: _Mean,
) -> Iterator[System]:
    """The systems of an arm at one discount."""
    encoding, cumulants = settings.encoding, len(mean.paid)
    if arm.regression is None:
        sums = total["sums"][d, settings.bootstrapped.index(arm)]
        every = np.arange(encoding.size)
        yield System(arm.label, sums, every, encoding.adds_constant, range(cumulants), mean)
        return
    moments, wide = total["moments"][d], encoding.size + len(extras.names)
    products = moments[0] if arm.regression.trusted else moments.sum(axis=0)
    uses = arm.regression.uses
    for c in range(cumulants):
        columns = extras.chosen(uses, encoding, d * cumulants + c)
        rows = products[:, columns]
        sums = rows[:, :, np.append(columns, [wide + c, rows.shape[2] - 1])]
        constant = encoding.adds_constant or "constant" in uses
        yield System(arm.label, sums, columns, constant, range(c, c + 1), mean)


class _Errors:
    """The excess of squared errors on the trusted rows of a fold over the least possible.

    With M = Σ β z zᵀ, that is (w − w*)ᵀ M (w − w*), where w* are the weights with the least error;
    squared errors themselves would be lost in rounding if returns are far from 0.
    """

    def __init__(self, moments: NDArray[np.float64], wide: int) -> None:
        self._moments, self._wide = moments, wide
        self._best: dict[tuple[int, bytes], Dense] = {}

    def of(self, fold: int, system: System, mean: Vector, weights: Dense) -> Vector:
        """Return it, shape (cumulants,), for weights of shape (size, cumulants)."""
        own = self._moments[fold][system.columns]
        M, key = own[:, system.columns], (fold, system.columns.tobytes())
        if key not in self._best:
            self._best[key] = np.linalg.lstsq(M, own[:, self._wide :], rcond=None)[0]
        best = self._best[key]
        off = weights - (best[:, :-1] + best[:, -1:] * mean)[:, system.cumulants]
        return np.asarray(((M @ off) * off).sum(axis=0))


class _Fits:
    """The weights of a system, learned from different folds."""

    def __init__(
        self, system: System, split: Split, given: float | None, errors: _Errors | None
    ) -> None:
        self._system, self._split, self._given, self._errors = system, split, given, errors
        self._tried: dict[tuple[int, ...], Dense] = {}

    def weights(self, fold: int) -> tuple[Dense, Vector]:
        """Return the weights for a fold, shape (size, cumulants), and the shares of penalties."""
        one, kept = self._system, self._split.training(fold)
        sums, cumulants = one.of(kept), len(one.cumulants)
        if one.sums.shape[2] > len(sums) + cumulants and not sums.any():
            found = np.zeros((len(sums), cumulants))  # no return is known: the mean is left
            if one.constant:
                found[-1] = one.mean.of(kept)[one.cumulants]
            return found, np.full(cumulants, np.nan)
        if self._given is not None:
            found = solved(sums, self._given, one.constant, one.label)
            return found, np.full(cumulants, np.nan)
        shares = self._chosen(fold)
        scale = _scale(sums, one.constant)
        each = {s: solved(sums, s * scale, one.constant, one.label) for s in set(shares.tolist())}
        columns = [each[s][:, c] for c, s in enumerate(shares.tolist())]
        return np.stack(columns, axis=1), shares

    def _chosen(self, fold: int) -> Vector:
        """The share for each cumulant: the one with the least error on inner folds."""
        inner = self._split.validation(fold)
        if len(self._system.columns) > LARGE:
            inner = inner[-1:]
        size = len(self._system.cumulants)
        total = np.zeros((len(SHARES), size))
        for held, kept in inner if self._errors is not None else ():
            mean = self._system.mean.of(kept)
            for i, weights in enumerate(self._path(tuple(kept))):
                assert self._errors is not None
                with np.errstate(over="ignore", invalid="ignore"):
                    total[i] += self._errors.of(held, self._system, mean, weights)
        total[~np.isfinite(total)] = np.inf
        known = np.ptp(np.where(np.isfinite(total), total, 0.0), axis=0) > 0
        return np.where(known, SHARES[total.argmin(axis=0)], PLAIN_SHARE)

    def _path(self, kept: tuple[int, ...]) -> Dense:
        """The weights with each share, learned from some folds; NaN if there are none."""
        if kept not in self._tried:
            one, sums = self._system, self._system.of(kept)
            scale, found = _scale(sums, one.constant), list[Dense]()
            for share in SHARES.tolist():
                try:
                    found.append(solved(sums, share * scale, one.constant))
                except InputError:
                    found.append(np.full((len(sums), len(one.cumulants)), np.nan))
            self._tried[kept] = np.array(found)
        return self._tried[kept]


def _scale(sums: Dense, constant: bool) -> float:
    """The mean of the diagonal of A, without the constant; 1 if that is nothing."""
    diagonal = np.abs(np.diag(sums))[: len(sums) - constant]
    mean = float(diagonal.mean()) if diagonal.size else 0.0
    return mean if mean > 0 and np.isfinite(mean) else 1.0


def solved(
    sums: Dense, regularisation: float, constant: bool = False, label: str = "the system"
) -> Dense:
    """The weights w with (A + ε I) w = b, shape (size, cumulants); with ε = 0, the smallest.

    The weight of a constant feature is not penalised: values must follow a shift of rewards.
    Without training rows, weights are 0.
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
    total: Mapping[str, NDArray[Any]],
    questions: Mapping[str, float],
    arms: Sequence[str],
    split: Split,
    constant: bool,
) -> None:
    """Refuse infinite sums, as with γ = 1 where nothing terminates.

    Parameters
    ----------
    total : dict
        The sums of all parts.
    questions : mapping of str to float
        The name of a question for each discount in messages, and the discount.
    arms : sequence of str
        The names in messages of arms that bootstrap.
    split : Split
    constant : bool
        Whether the last feature is always 1.

    """
    learned = [split.training(fold) for fold in [-1, *range(split.tested, split.folds)]]
    remedy = "give a discount below 1, or name the column that says where episodes terminate."
    steps, size = float(total["counts"][0]), total["sums"].shape[3]
    for d, (question, discount) in enumerate(questions.items()):
        leaves = total["leaves"][d]
        if not steps:
            raise InputError(
                "no row with a reward is followed by another of its episode: name the column that "
                "says which rows belong together, or where episodes terminate."
            )
        if not leaves.any():
            raise InputError(f"{question} has no end, as no step terminates: {remedy}")
        for fold, kept in zip(range(split.tested, split.folds), learned[1:], strict=True):
            if not leaves[kept].any():
                raise InputError(
                    f"{question} has no end without fold {fold}, as no step terminates in what is "
                    "learned from: give a discount below 1, or a log with more episodes that "
                    "terminate."
                )
        for a, label in enumerate(arms if discount == 1 else ()):
            for folds in learned:
                kept = total["sums"][d, a][folds].sum(axis=0)
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
    """Whether no w has A w = b, because rewards where A is 0 up to rounding have a nonzero sum."""
    left, scales, _ = np.linalg.svd(A)
    loose = left[:, scales <= rounding].T @ b
    return bool((np.abs(loose) > _PAID * np.linalg.norm(b, axis=0)).any())
