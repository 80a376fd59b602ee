"""Diagnoses: whether a rule converges, to what, and if not, why.

The expected update b − A w converges for some step size if every eigenvalue of A has a positive
real part. A positive definite A (its symmetric part) is a stronger condition, which Theorem 3
proves for PTD from

    K = diag(d∘ḡ) (I − P^β),   row sums of K ≥ 0 (Lemma 2),   column sums of K ≥ 0 (Lemma 3)

A negative column sum at s means that s is bootstrapped from more than it is updated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from preftd._src.arrays import Dense, InputError, MatrixLike, Vector, short
from preftd._src.rules.rule import as_rule
from preftd._src.theory.bootstrapping import Bootstrapping
from preftd._src.theory.errors import value_error
from preftd._src.theory.expected_update import (
    ExpectedUpdate,
    KeyMatrix,
    NoFixedPointError,
    expected_updates,
)
from preftd.rules import Rule
from preftd.tasks import Features, MarkovRewardProcess

ROUNDING = 1e-12
"""Relative size below which a computed eigenvalue or sum counts as 0."""


@final
@dataclass(frozen=True, eq=False)
class Diagnosis:
    """What the theory says about one rule; print it for a readable report."""

    rule: Rule
    key: KeyMatrix
    weights: Vector
    """d ∘ ḡ: how much each state is updated, shape (states,)."""
    smallest_eigenvalue: float
    """The smallest of the symmetric part of A, on the determined directions."""
    positive_definite: bool
    """Whether A is positive definite on the determined directions."""
    eigenvalues: NDArray[np.complex128]
    """Those of A on the determined directions."""
    stable: bool
    """Whether expected updates converge with a small enough step size."""
    largest_step_size: float
    """Constant step sizes below this converge; 0 if none does, infinity if nothing is updated."""
    row_sums: Vector
    """Those of K, shape (states,)."""
    column_sums: Vector
    """Those of K, shape (states,)."""
    undetermined: Dense
    """Directions of w that no update changes, as columns: shape (features, directions)."""
    would_determine: NDArray[np.intp]
    """Visited states that would determine these directions, as far as possible, if updated."""
    fixed_point: Vector | None
    """Shape (features,), the smallest if there are many; None if A is singular by accident."""
    value_error: float | None
    """The mean squared error of the values at the fixed point, weighted by visits."""
    preferred_error: float | None
    """The same over states with β > 0 alone, which is where values are used; None without any."""

    def __repr__(self) -> str:
        verdict = "converges" if self.stable else "diverges"
        return f"<Diagnosis of {self.rule.name}: {verdict}; print it for the reasons>"

    def __str__(self) -> str:
        from preftd._src.theory.explain import report  # noqa: PLC0415  (it reads diagnoses)

        return report([self])


def diagnose(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rule: Rule,
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> Diagnosis:
    """Find out whether a rule converges, to what, and why.

    Parameters
    ----------
    process : MarkovRewardProcess
    features : Features, or array or sparse matrix of shape (states, features)
    rule : Rule
    beta : float or array of shape (states,)
        The preference; or give `lambda_`, which is 1 − β.
    lambda_ : float or array of shape (states,)

    Examples
    --------
    >>> from preftd import TD
    >>> chain = MarkovRewardProcess([[0.5, 0.5], [0.5, 0.5]], reward=0, discount=0.99)
    >>> diagnose(chain, [[0.5], [1]], TD(), lambda_=[0.99, 0.8]).stable
    False

    """
    return compare(process, features, [rule], beta, lambda_=lambda_)[0]


def compare(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rules: Sequence[Rule],
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> list[Diagnosis]:
    """Diagnose several rules at little more cost than one; `report` shows them side by side.

    Parameters
    ----------
    process, features, beta, lambda_
        As for `diagnose`.
    rules : sequence of Rule

    Returns
    -------
    list of Diagnosis
        One for each rule.

    """
    bootstrapping = Bootstrapping.of(process, beta, lambda_)
    return diagnoses(bootstrapping, Features.of(features, process.states), rules)


def diagnoses(
    bootstrapping: Bootstrapping, features: Features, rules: Sequence[Rule]
) -> list[Diagnosis]:
    """Diagnose each rule; what they share is computed once."""
    rules = as_rules(rules)
    lost = bootstrapping.lost(np.ones(bootstrapping.process.states))
    return [
        _diagnose(bootstrapping, features, update, update.weights * lost)
        for update in expected_updates(bootstrapping, features, rules)
    ]


def as_rules(given: Any) -> list[Rule]:
    """Return one or more rules, or refuse what is none."""
    try:
        rules = [as_rule(rule) for rule in given]
    except TypeError:
        rules = []
    if not rules:
        raise InputError(f"rules is {short(given)}: give a list, such as [TD(), PTD()].")
    return rules


def _diagnose(
    bootstrapping: Bootstrapping, features: Features, update: ExpectedUpdate, row_sums: Vector
) -> Diagnosis:
    """Diagnose one rule from its expected update."""
    process = bootstrapping.process
    symmetric = (update.reduced + update.reduced.T) / 2
    definite = _is_positive_definite(symmetric)
    eigenvalues = np.linalg.eigvals(update.reduced).astype(np.complex128)
    stable = definite or bool(
        (eigenvalues.real > ROUNDING * np.abs(eigenvalues).max(initial=0.0)).all()
    )
    try:
        fixed_point = update.fixed_point
    except NoFixedPointError:
        fixed_point = None
    return Diagnosis(
        rule=update.rule,
        key=update.key,
        weights=update.weights,
        smallest_eigenvalue=float(np.linalg.eigvalsh(symmetric).min(initial=np.inf)),
        positive_definite=definite,
        eigenvalues=eigenvalues,
        stable=stable,
        largest_step_size=_largest_step_size(eigenvalues) if stable else 0.0,
        row_sums=row_sums,
        column_sums=bootstrapping.lost_transposed(update.weights),
        undetermined=readable_basis(update.undetermined),
        would_determine=_would_determine(features, update, process.visits),
        fixed_point=fixed_point,
        value_error=None if fixed_point is None else value_error(process, features, fixed_point),
        preferred_error=_preferred_error(bootstrapping, features, fixed_point),
    )


def _preferred_error(
    bootstrapping: Bootstrapping, features: Features, fixed_point: Vector | None
) -> float | None:
    """The value error over visited states with β > 0."""
    process = bootstrapping.process
    preferred = process.visits * (bootstrapping.beta > 0)
    if fixed_point is None or not preferred.any():
        return None
    return value_error(process, features, fixed_point, over=preferred)


def _is_positive_definite(symmetric: Dense) -> bool:
    """Whether it is, decided after scaling to a unit diagonal: rare states are not rounding."""
    diagonal = np.diag(symmetric)
    if (diagonal <= 0).any():
        return False
    scale = np.sqrt(diagonal)
    scaled = symmetric / np.outer(scale, scale)
    return bool(np.linalg.eigvalsh(scaled).min(initial=1.0) > ROUNDING)


def _largest_step_size(eigenvalues: NDArray[np.complex128]) -> float:
    """The bound on α: |1 − α λ| < 1 for an eigenvalue λ if and only if α < 2 Re λ / |λ|²."""
    size = np.abs(eigenvalues)
    with np.errstate(over="ignore"):  # infinite if eigenvalues are tiny; their squares would vanish
        return float((2 * (eigenvalues.real / size) / size).min(initial=np.inf))


def readable_basis(basis: Dense) -> Dense:
    """Return a basis of the same span in which each column is 1 where the others are 0."""
    if basis.shape[1] == 0:
        return basis
    pivots = linalg.qr(basis.T, mode="r", pivoting=True)[1][: basis.shape[1]]
    clear = basis @ np.linalg.inv(basis[np.sort(pivots)])
    return np.where(np.abs(clear) < ROUNDING, 0.0, clear)


def _would_determine(
    features: Features, update: ExpectedUpdate, visits: Vector
) -> NDArray[np.intp]:
    """Visited states that are not updated and would determine undetermined directions."""
    not_updated = np.flatnonzero((update.weights == 0) & (visits > 0))
    if update.undetermined.shape[1] == 0 or not_updated.size == 0:
        return not_updated[:0]
    shown = features.rows(not_updated) @ update.undetermined
    triangle, pivots = linalg.qr(shown.T, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle[:, : triangle.shape[0]]))
    useful = int((size > ROUNDING * size.max(initial=0.0)).sum())
    return np.sort(not_updated[pivots[:useful]])
