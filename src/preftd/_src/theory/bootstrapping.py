"""Bootstrapping: the expected β-return, and the transition matrix P^β between bootstraps.

    B = diag(β), C = I − B, Pγ = transition probabilities times discounts, r = expected reward

    G(v)   = (I − PγC)⁻¹ (r + PγB v)        expected β-return if the values are v   (equation 4)
    P^β    = (I − PγC)⁻¹ PγB                where the return bootstraps, discounted
    I − P^β = (I − PγC)⁻¹ (I − Pγ)

None of these depends on the rule, so they are computed once for all rules of a comparison. Only the
expected gain ḡ, which weights the updates of a state, does.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from preftd._src.arrays import Dense, InputError, Matrix, Vector, is_sparse, short
from preftd._src.rules.rule import as_rule
from preftd._src.solve import Resolvent
from preftd._src.theory.gain import expected_gain
from preftd.rules import Rule, as_beta
from preftd.tasks import MarkovRewardProcess, Task


@final
class Bootstrapping:
    """A process together with how much it bootstraps from each of its states.

    Parameters
    ----------
    process : MarkovRewardProcess
    beta : array of shape (states,)
    task : Task, optional
        With a task, the interest of a rule may be any signal that depends on the state alone.

    """

    def __init__(
        self, process: MarkovRewardProcess, beta: Vector, task: Task | None = None
    ) -> None:
        self.process, self.beta, self.task = process, beta, task

    @classmethod
    def of(
        cls, process: MarkovRewardProcess, beta: ArrayLike | None, lambda_: ArrayLike | None
    ) -> Self:
        """Check the arguments of a user; give one of `beta` and `lambda_`."""
        as_process(process)
        return cls(process, as_beta(beta, lambda_, (process.states,)))

    @cached_property
    def _continued(self) -> Resolvent:
        """(I − PγC)⁻¹: sums until the return bootstraps."""
        kept = self.process.discounted_transition
        if is_sparse(kept):
            continued = sparse.csr_array(kept @ sparse.diags_array(1 - self.beta, format="csr"))
            continued.eliminate_zeros()
            return Resolvent(continued)
        return Resolvent(kept * (1 - self.beta))

    def lookahead(self, values: Vector) -> Vector:
        """Return G(v), the expected β-return from each state, shape (states,)."""
        one_step = self.process.discounted_transition @ (self.beta * values)
        return self._continued.solve(self.process.reward + one_step)

    def gain(self, rule: Rule) -> Vector:
        """Return ḡ, the rule's expected gain at each state in the long run, shape (states,)."""
        return expected_gain(
            as_rule(rule),
            self.beta,
            self.process.visits,
            lambda now: self.process.discounted_visits.solve(now, transposed=True),
            self.task,
        )

    def reward_until_bootstrap(self) -> Vector:
        """Return (I − PγC)⁻¹ r, shape (states,)."""
        return self._continued.solve(self.process.reward)

    def lost(self, values: Dense) -> Dense:
        """Return (I − P^β) v for v of shape (states,) or (states, columns)."""
        return self._continued.solve(values - self.process.discounted_transition @ values)

    def lost_transposed(self, weights: Vector) -> Vector:
        """Return (I − P^β)ᵀ x, shape (states,)."""
        sums = self._continued.solve(weights, transposed=True)
        return np.asarray(sums - self.process.discounted_transition.T @ sums)

    def transition(self) -> Matrix | sparse_linalg.LinearOperator:
        """Return P^β, n × n: a matrix for a dense process, a linear operator for a sparse one."""
        kept = self.process.discounted_transition
        if not is_sparse(kept):
            return self._continued.solve(kept * self.beta)

        # Functions with types, not lambdas, whose types mypy takes seconds to infer.
        def times(v: Dense) -> Dense:
            weighted: Vector = self.beta * v.ravel()
            return self._continued.solve(np.asarray(kept @ weighted))

        def transposed_times(v: Dense) -> Dense:
            sums = self._continued.solve(v.ravel(), transposed=True)
            return np.asarray(self.beta * (kept.T @ sums))

        return sparse_linalg.LinearOperator(
            kept.shape, matvec=times, rmatvec=transposed_times, dtype=np.float64
        )


def as_process(given: Any) -> MarkovRewardProcess:
    """Return the process, or refuse what is none."""
    if not isinstance(given, MarkovRewardProcess):
        raise InputError(
            f"process is {short(given)}: give a MarkovRewardProcess, such as a task's .process."
        )
    return given
