"""The expected update of a rule, b − A w, exactly.

    A = Φᵀ diag(d∘ḡ) (I − P^β) Φ + Σ_s (d∘ḡ)(s) Σ_s              (Lemma 1, appendix form)
    b = Φᵀ diag(d∘ḡ) (I − PγC)⁻¹ r

Φ holds the mean features. The last term of A is present if features are random, drawn at each
visit with covariance Σ_s: the trace of an update at s contains the same noisy φ as the prediction.

States with weight 0 have no effect. If the features of the others do not span all directions, w is
free along the rest, `undetermined`, and the fixed point is the one without a part along them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import Dense, MatrixLike, Vector
from preftd._src.theory.bootstrapping import Bootstrapping
from preftd.rules import Rule
from preftd.tasks import Features, MarkovRewardProcess

_BLOCK = 1 << 22
"""The number of entries computed at a time, to bound the memory."""


class KeyMatrix(NamedTuple):
    """A, shape (features, features), and b, shape (features,): the expected update is b − A w."""

    A: Dense
    b: Vector


class NoFixedPointError(ArithmeticError):
    """No weights make the expected update 0, or infinitely many do."""


@final
@dataclass(frozen=True, eq=False)
class ExpectedUpdate:
    """The expected update of a rule with given features and preference."""

    rule: Rule
    weights: Vector
    """d ∘ ḡ, shape (states,)."""
    key: KeyMatrix
    determined: Dense
    """Directions of w that updated states show, as orthonormal columns."""
    undetermined: Dense
    """The other directions of w, as orthonormal columns."""

    @property
    def reduced(self) -> Dense:
        """A on the determined directions."""
        return self.determined.T @ self.key.A @ self.determined

    @property
    def fixed_point(self) -> Vector:
        """The w with A w = b, the smallest if there are many, shape (features,)."""
        reduced, target = self.reduced, self.determined.T @ self.key.b
        # Scale the rows first: a rarely visited state makes a small row, not a singular matrix.
        scale = np.abs(reduced).max(axis=1, initial=0.0)
        singular = bool((scale == 0).any())
        if not singular and scale.size:
            reduced, target = reduced / scale[:, None], target / scale
            singular = bool(np.linalg.cond(reduced) > 1 / np.finfo(np.float64).eps)
        if singular:
            raise NoFixedPointError(
                f"the key matrix of {self.rule.name} is singular, so it has no single fixed point: "
                "change β a little, or use PTD."
            )
        return self.determined @ np.linalg.solve(reduced, target)


def expected_updates(
    bootstrapping: Bootstrapping, features: Features, rules: Sequence[Rule]
) -> list[ExpectedUpdate]:
    """Return the expected update of each rule; shared results are computed once."""
    process, own = bootstrapping.process, [bootstrapping.by(rule) for rule in rules]
    weights = [process.visits * bootstrapping.gain(rule) for rule in rules]
    matrices = [features.mean_covariance(w) for w in weights]
    distinct = {id(one): one for one in own}
    rewards = {name: one.reward_until_bootstrap() for name, one in distinct.items()}
    block = max(1, _BLOCK // process.states)
    for first in range(0, features.size, block):
        columns = slice(first, first + block)
        shown = features.columns(columns)
        lost = {name: one.lost(shown) for name, one in distinct.items()}
        for matrix, weight, one in zip(matrices, weights, own, strict=True):
            matrix[:, columns] += features.transposed_times(weight[:, None] * lost[id(one)])
    updates = []
    for rule, weight, matrix, one in zip(rules, weights, matrices, own, strict=True):
        key = KeyMatrix(matrix, features.transposed_times(weight * rewards[id(one)]))
        updates.append(ExpectedUpdate(rule, weight, key, *span(features, weight > 0)))
    return updates


def span(features: Features, seen: NDArray[np.bool_]) -> tuple[Dense, Dense]:
    """Return orthonormal bases of the span of some states' features, and of its complement."""
    states = np.flatnonzero(seen)
    triangle: Dense = np.zeros((0, features.size))
    rows = max(features.size, _BLOCK // features.size)
    for first in range(0, states.size, rows):
        part = features.rows(states[first : first + rows])
        triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, part]), mode="r"))
    noise = features.mean_covariance(seen.astype(np.float64))
    eigenvalues, directions = np.linalg.eigh(noise)
    spread = np.sqrt(np.maximum(eigenvalues, 0))[:, None] * directions.T
    everything = np.concatenate([triangle, spread])
    scale = np.linalg.norm(everything, axis=0)
    scale[scale == 0] = 1
    _, singular, right = np.linalg.svd(everything / scale)
    tolerance = np.finfo(np.float64).eps * max(features.states, features.size)
    rank = int((singular > tolerance * singular.max(initial=0.0)).sum())
    if rank == features.size:
        return np.eye(rank), np.zeros((rank, 0))
    # Undo the scaling of columns: divide kernel vectors by it.
    kernel = np.linalg.qr(right[rank:].T / scale[:, None])[0]
    complement = np.linalg.qr(kernel, mode="complete")[0][:, kernel.shape[1] :]
    return complement, kernel


def expected_update(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rule: Rule,
    beta: ArrayLike | None = None,
    lambda_: ArrayLike | None = None,
) -> ExpectedUpdate:
    """Return the expected update of one rule."""
    bootstrapping = Bootstrapping.of(process, beta, lambda_)
    return expected_updates(bootstrapping, Features.of(features, process.states), [rule])[0]


def key_matrix(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rule: Rule,
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> KeyMatrix:
    """Return (A, b); the rule's expected update is b − A w.

    Parameters
    ----------
    process : MarkovRewardProcess
    features : Features, or array or sparse matrix of shape (states, features)
    rule : Rule
    beta : float or array of shape (states,)
        The preference; or give `lambda_`, which is 1 − β.
    lambda_ : float or array of shape (states,)

    Returns
    -------
    KeyMatrix
        A of shape (features, features), b of shape (features,).

    Examples
    --------
    >>> from preftd import PTD, TD
    >>> chain = MarkovRewardProcess([[0.5, 0.5], [0.5, 0.5]], reward=0, discount=0.99)
    >>> key_matrix(chain, [[0.5], [1]], TD(), lambda_=[0.99, 0.8]).A.round(4)
    array([[-0.0429]])
    >>> key_matrix(chain, [[0.5], [1]], PTD(), lambda_=[0.99, 0.8]).A.round(5)
    array([[0.00997]])

    """
    return expected_update(process, features, rule, beta, lambda_).key


def fixed_point(
    process: MarkovRewardProcess,
    features: Features | MatrixLike,
    rule: Rule,
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> Vector:
    """Return the weights at which the expected update is 0, the smallest if there are many.

    The rule need not converge to them: see `diagnose`.

    Parameters
    ----------
    process, features, rule, beta, lambda_
        As for `key_matrix`.

    Returns
    -------
    array of shape (features,)

    Examples
    --------
    >>> from preftd import PTD
    >>> chain = MarkovRewardProcess([[0, 1], [1, 0]], reward=[1, 0], discount=0.5)
    >>> fixed_point(chain, [[1, 0], [0, 1]], PTD(), beta=[1, 0.5])
    array([1.33333333, 0.66666667])

    """
    return expected_update(process, features, rule, beta, lambda_).fixed_point
