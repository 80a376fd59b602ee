"""The operator of Theorem 1, and its generalisation to every rule.

    T v = v + ḡ ∘ (G(v) − v)

With the gain of PTD, ḡ = β, this is T^β v = B (I − PγC)⁻¹ (r + PγB v) + (I − B) v. With that of
TD(λ), ḡ = 1, it is the expected λ-return. For every rule b − A w = Φᵀ D (T Φw − Φw) (Theorem 2).
"""

from __future__ import annotations

from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import linalg as sparse_linalg

from preftd._src.arrays import Matrix, Vector, per_state
from preftd._src.theory.bootstrapping import Bootstrapping
from preftd.rules import Rule
from preftd.tasks import MarkovRewardProcess


@final
class Operator:
    """T for one process, rule and β; call it with values of shape (states,)."""

    def __init__(self, bootstrapping: Bootstrapping, rule: Rule) -> None:
        self._bootstrapping = bootstrapping
        self._gain = bootstrapping.gain(rule)

    def __call__(self, values: ArrayLike) -> Vector:
        """Return T v, the expected target of the rule, shape (states,)."""
        v = per_state("values", values, self._gain.size)
        return np.asarray(v + self._gain * (self._bootstrapping.lookahead(v) - v))

    @cached_property
    def transition(self) -> Matrix | sparse_linalg.LinearOperator:
        """P^β, the same for all rules: a matrix for a dense process, else a LinearOperator."""
        return self._bootstrapping.transition()


def operator(
    process: MarkovRewardProcess,
    rule: Rule,
    beta: ArrayLike | None = None,
    *,
    lambda_: ArrayLike | None = None,
) -> Operator:
    """Return T; the true values are a fixed point, the only one if all gains are positive.

    Parameters
    ----------
    process : MarkovRewardProcess
    rule : Rule
    beta : float or array of shape (states,)
        The preference; or give `lambda_`, which is 1 − β.
    lambda_ : float or array of shape (states,)

    Examples
    --------
    >>> from preftd import PTD
    >>> chain = MarkovRewardProcess([[0, 1], [1, 0]], reward=[1, 0], discount=0.5)
    >>> T = operator(chain, PTD(), beta=[1, 0])
    >>> T([0, 7])
    array([1., 7.])
    >>> T.transition
    array([[0.25, 0.  ],
           [0.5 , 0.  ]])

    """
    return Operator(Bootstrapping.of(process, beta, lambda_), rule)
