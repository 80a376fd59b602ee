"""Diagnoses: whether a rule converges, to what, and if not, why; and reports of them.

The expected update b − A w converges for some step size if every eigenvalue of A has a positive
real part. A positive definite A (its symmetric part) is a stronger condition, which Theorem 3
proves for PTD from

    K = diag(d∘ḡ) (I − P^β),   row sums of K ≥ 0 (Lemma 2),   column sums of K ≥ 0 (Lemma 3)

A negative column sum at s means that s is bootstrapped from more than it is updated. A report is a
table with a column for each rule, then the reasons and remedies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg

from preftd._src.arrays import Dense, InputError, MatrixLike, Vector, short
from preftd._src.rules.rule import as_rule
from preftd._src.style import number_text
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

Kind = TypeVar("Kind")
ROUNDING = 1e-12
"""Relative size below which a computed eigenvalue or sum counts as 0."""


@final
@dataclass(frozen=True, eq=False)
class Diagnosis:
    """The theory of one rule; print it for a readable report."""

    rule: Rule
    key: KeyMatrix
    weights: Vector
    """d ∘ ḡ: the weight of updates of each state, shape (states,)."""
    smallest_eigenvalue: float
    """The smallest eigenvalue of the symmetric part of A, on the determined directions."""
    positive_definite: bool
    """Whether A is positive definite on the determined directions."""
    eigenvalues: NDArray[np.complex128]
    """The eigenvalues of A on the determined directions."""
    stable: bool
    """Whether expected updates converge with a small enough step size."""
    largest_step_size: float
    """Constant step sizes below this converge; 0 if none does, infinity if nothing is updated."""
    row_sums: Vector
    """Of K, shape (states,)."""
    column_sums: Vector
    """Of K, shape (states,)."""
    undetermined: Dense
    """Directions of w that no update changes, as columns: shape (features, directions)."""
    would_determine: NDArray[np.intp]
    """Visited states that would determine these directions, as far as possible, if updated."""
    fixed_point: Vector | None
    """Shape (features,), the smallest if there are many; None if A is singular for another
    reason."""
    value_error: float | None
    """The mean squared error of the values at the fixed point, weighted by visits."""
    preferred_error: float | None
    """The same over states with β > 0 alone, where values are used; None without any."""

    def __repr__(self) -> str:
        verdict = "converges" if self.stable else "diverges"
        return f"<Diagnosis of {self.rule.name}: {verdict}; print it for the reasons>"

    def __str__(self) -> str:
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
    """Diagnose several rules at little more cost than one; `report` compares them in one table.

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
    """Diagnose each rule; shared results are computed once."""
    given = _several("rules", rules, object, "a list, such as [TD(), PTD()]")
    rules = [as_rule(rule) for rule in given]
    return [
        _diagnose(bootstrapping.by(update.rule), features, update)
        for update in expected_updates(bootstrapping, features, rules)
    ]


def _several(name: str, given: Any, kind: type[Kind], remedy: str) -> list[Kind]:
    """One or more members of a kind."""
    try:
        found = list(given)
    except TypeError:
        found = []
    if not found or not all(isinstance(one, kind) for one in found):
        raise InputError(f"{name} is {short(given)}: give {remedy}.")
    return found


def _diagnose(
    bootstrapping: Bootstrapping, features: Features, update: ExpectedUpdate
) -> Diagnosis:
    """Diagnose one rule from its expected update."""
    row_sums = update.weights * bootstrapping.lost_of_ones
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
    """Whether the matrix is positive definite, after scaling to a unit diagonal."""
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


def report(diagnoses: Diagnosis | Sequence[Diagnosis]) -> str:
    """Return a report: a table with a column for each diagnosis, then reasons and remedies.

    Parameters
    ----------
    diagnoses : Diagnosis or sequence of Diagnosis

    """
    if isinstance(diagnoses, Diagnosis):
        diagnoses = [diagnoses]
    diagnoses = _several("diagnoses", diagnoses, Diagnosis, "results of diagnose or compare")
    rows = [["", *(d.rule.name for d in diagnoses)]]
    rows += [[label, *(cell(d) for d in diagnoses)] for label, cell in _ROWS]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    for d in diagnoses:
        lines += ["", f"{d.rule.name}: {reason(d)}"]
        lines += [f"  fix: {remedy}" for remedy in remedies(d)]
    return "\n".join(lines)


def reason(d: Diagnosis) -> str:
    """Return why the rule converges or does not, in a sentence or two."""
    if d.eigenvalues.size == 0:
        shown = d.weights.any()
        cause = "the updated states have features 0" if shown else "no visited state has a weight"
        return f"updates nothing, because {cause}."
    state = int(np.argmin(d.column_sums))
    if not d.stable:
        cause = f"the expected update diverges for every step size: A has {_worst(d)}."
        if _is_negative(d.column_sums):
            cause += (
                f" State {state} is bootstrapped from more than it is updated "
                f"(column sum {_number(d.column_sums[state])})."
            )
        return cause
    if not d.positive_definite:
        return (
            "the expected update converges, but A is not positive definite, so no theorem "
            "guarantees it: with other features of the same states it may diverge."
        )
    if d.undetermined.shape[1]:
        return (
            "the expected update converges in the directions that updated states show; "
            f"the rest of w never changes: {_directions(d)}."
        )
    return "the expected update converges to its one fixed point, because A is positive definite."


def remedies(d: Diagnosis) -> list[str]:
    """Return the remedy; empty if none is needed."""
    advice = []
    if d.eigenvalues.size and not d.positive_definite:
        advice.append(
            "use PTD with the same β, or one λ for all states; either makes A positive definite."
        )
    if d.would_determine.size:
        advice.append(
            f"let updates reach {_states(d.would_determine)}: β > 0 there, and interest if the "
            "rule has it."
        )
    if d.undetermined.shape[1] > d.would_determine.size:
        advice.append(
            "drop features: no visited state distinguishes "
            + ("the remaining ones." if d.would_determine.size else "them.")
        )
    return advice


def _least(sums: Vector) -> str:
    """The least sum and its state; rounding errors are 0."""
    state = int(np.argmin(sums))
    least = 0.0 if not _is_negative(sums) and abs(sums[state]) < ROUNDING else sums[state]
    return f"{_number(least)} ({state})"


def _is_negative(sums: Vector) -> bool:
    """Whether a sum is negative by more than rounding."""
    return bool(sums.min() < -ROUNDING * max(1.0, float(np.abs(sums).max())))


def _worst(d: Diagnosis) -> str:
    """The eigenvalue with the least real part."""
    worst = d.eigenvalues[np.argmin(d.eigenvalues.real)]
    if worst.imag:
        return f"the eigenvalues {_number(worst.real)} ± {_number(abs(worst.imag))}i"
    return f"the eigenvalue {_number(worst.real)}"


def _verdict(d: Diagnosis) -> str:
    """Whether the rule converges."""
    if d.eigenvalues.size == 0:
        return "does nothing"
    return "converges" if d.stable else "diverges"


def _definite(d: Diagnosis) -> str:
    """Whether A is positive definite."""
    if not d.positive_definite or d.eigenvalues.size == 0:
        return "no"
    return "where determined" if d.undetermined.shape[1] else "yes"


def _smallest_eigenvalue(d: Diagnosis) -> str:
    """The smallest eigenvalue of the symmetric part of A."""
    return _number(d.smallest_eigenvalue) if d.eigenvalues.size else "–"


def _step_size(d: Diagnosis) -> str:
    """The bound on constant step sizes."""
    if not d.stable:
        return "none"
    return "any" if np.isinf(d.largest_step_size) else _number(d.largest_step_size)


def _undetermined(d: Diagnosis) -> str:
    """The number of undetermined directions."""
    count = d.undetermined.shape[1]
    return f"{count} of {d.key.b.size}" if count else "none"


def _fixed_point(d: Diagnosis) -> str:
    """The fixed point, at most three weights."""
    if d.fixed_point is None:
        return "none"
    rounding = ROUNDING * np.abs(d.fixed_point).max()
    shown = ", ".join(_number(w if abs(w) > rounding else 0.0) for w in d.fixed_point[:3])
    return f"[{shown}, …]" if d.fixed_point.size > 3 else f"[{shown}]"


def _error(d: Diagnosis, error: float | None) -> str:
    """A value error, or a dash; rounding errors of exact values become 0."""
    if error is None or d.fixed_point is None:
        return "–"
    rounding = ROUNDING * np.abs(d.fixed_point).max()
    return _number(error if np.sqrt(error) > rounding else 0.0)


def _directions(d: Diagnosis) -> str:
    """The undetermined directions, at most three."""
    shown = ["".join(_terms(direction)) for direction in d.undetermined.T[:3]]
    more = d.undetermined.shape[1] - len(shown)
    return "; ".join(shown) + (f"; and {more} more" if more > 0 else "")


def _terms(direction: Vector) -> Iterator[str]:
    """A direction as a sum of weights, such as w[0] + w[1] − 0.5 w[2]."""
    parts = [(i, x) for i, x in enumerate(direction) if x]
    for position, (i, x) in enumerate(parts[:6]):
        size = _number(abs(x))
        sign = ("−" if x < 0 else "") if position == 0 else (" − " if x < 0 else " + ")
        yield f"{sign}w[{i}]" if size == "1" else f"{sign}{size} w[{i}]"
    if len(parts) > 6:
        yield " + …"


def _states(states: NDArray[np.intp]) -> str:
    """The numbers of states, at most six."""
    shown = ", ".join(str(s) for s in states[:6])
    more = len(states) - 6
    return (
        ("state " if len(states) == 1 else "states ")
        + shown
        + (f" and {more} more" if more > 0 else "")
    )


def _number(x: float) -> str:
    """A number with four digits."""
    return number_text(x, ".4g")


_ROWS = [
    ("expected update", _verdict),
    ("positive definite", _definite),
    ("least eigenvalue of (A + Aᵀ)/2", _smallest_eigenvalue),
    ("largest step size", _step_size),
    ("least row sum (its state)", lambda d: _least(d.row_sums)),
    ("least column sum (its state)", lambda d: _least(d.column_sums)),
    ("undetermined directions", _undetermined),
    ("fixed point", _fixed_point),
    ("value error there, all states", lambda d: _error(d, d.value_error)),
    ("value error there, β > 0", lambda d: _error(d, d.preferred_error)),
]
