"""Bootstrapping: expected β-returns and gains, and their operator.

    B = diag(bootstrap(β)), which is diag(β) for the rules of the library

    C = I − B, Pγ = transition probabilities times discounts, r = expected reward

    G(v)   = (I − PγC)⁻¹ (r + PγB v)        expected β-return if the values are v   (equation 4)
    P^β    = (I − PγC)⁻¹ PγB                where the return bootstraps, discounted
    I − P^β = (I − PγC)⁻¹ (I − Pγ)

These are the same for all rules that bootstrap alike, and computed once for them. Only the expected
gain ḡ, which weights the updates of a state, differs:

    TD      1                       PTD     β
    ETD     (1 − β) i + β f / d               f = (I − Pγᵀ)⁻¹ (d ∘ i) = d ∘ E[F | s]

Since a gain is affine in F, its expectation is the gain at E[F | s] = f / d. Off-policy, d are the
visits of the behaviour policy and P is the chain of the target policy, because F contains the
importance ratios. The operator of Theorem 1, generalised to every rule, is

    T v = v + ḡ ∘ (G(v) − v)

With the gain of PTD, ḡ = β, this is T^β v = B (I − PγC)⁻¹ (r + PγB v) + (I − B) v. With that of
TD(λ), ḡ = 1, it is the expected λ-return. For every rule b − A w = Φᵀ D (T Φw − Φw) (Theorem 2).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, Self, final

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from preftd._src.arrays import (
    Dense,
    Matrix,
    Vector,
    check_not_negative,
    instance,
    is_sparse,
    per_state,
)
from preftd._src.rules.interest import interest_per_state
from preftd._src.rules.rule import as_rule, bootstrapped
from preftd._src.solve import Resolvent
from preftd.rules import Rule, as_beta
from preftd.tasks import MarkovRewardProcess, Task


def expected_gain(
    rule: Rule,
    beta: Vector,
    visits: Vector,
    accumulate: Callable[[Vector], Vector],
    task: Task | None = None,
) -> Vector:
    """Return ḡ, shape (states,).

    Parameters
    ----------
    rule : Rule
    beta, visits : array of shape (states,)
    accumulate : callable
        Turns the interest of one step, d ∘ i, into f, both of shape (states,).
    task : Task, optional
        Needed if the interest is a signal.

    """
    if rule.interest is None:
        nothing = np.zeros_like(visits)
        return rule.gain(beta, nothing, nothing)
    given = interest_per_state(rule.interest, beta, task)
    interest = per_state("interest", given, visits.size)
    check_not_negative("interest", interest)
    past = accumulate(visits * interest)
    # The follow-on of a state that is never visited is its own interest.
    follow_on = np.divide(past, visits, out=interest.copy(), where=visits > 0)
    return rule.gain(beta, interest, follow_on)


@final
class Bootstrapping:
    """A process together with the β of its states.

    Parameters
    ----------
    process : MarkovRewardProcess
    beta : array of shape (states,)
    task : Task, optional
        With a task, the interest of a rule may be any signal that depends on the state alone.
    share : array of shape (states,), optional
        The share that is bootstrapped from each state (default: β).

    """

    def __init__(
        self,
        process: MarkovRewardProcess,
        beta: Vector,
        task: Task | None = None,
        share: Vector | None = None,
    ) -> None:
        self.process, self.beta, self.task = process, beta, task
        self.share = beta if share is None else share
        self._others = {self.share.tobytes(): self}

    def by(self, rule: Rule) -> Bootstrapping:
        """The process with the bootstrapping of a rule; shared by rules that agree."""
        share = bootstrapped(as_rule(rule), self.beta)
        made = Bootstrapping(self.process, self.beta, self.task, share)
        return self._others.setdefault(share.tobytes(), made)

    @classmethod
    def of(
        cls, process: MarkovRewardProcess, beta: ArrayLike | None, lambda_: ArrayLike | None
    ) -> Self:
        """Check the user's arguments; give one of `beta` and `lambda_`."""
        as_process(process)
        return cls(process, as_beta(beta, lambda_, (process.states,)))

    @cached_property
    def _continued(self) -> Resolvent:
        """(I − PγC)⁻¹: sums until the return bootstraps."""
        kept = self.process.discounted_transition
        if is_sparse(kept):
            continued = sparse.csr_array(kept @ sparse.diags_array(1 - self.share, format="csr"))
            continued.eliminate_zeros()
            return Resolvent(continued)
        return Resolvent(kept * (1 - self.share))

    def lookahead(self, values: Vector) -> Vector:
        """Return G(v), the expected β-return from each state, shape (states,)."""
        one_step = self.process.discounted_transition @ (self.share * values)
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

    @cached_property
    def lost_of_ones(self) -> Vector:
        """The row sums of I − P^β, shape (states,)."""
        return self.lost(np.ones(self.process.states))

    def lost_transposed(self, weights: Vector) -> Vector:
        """Return (I − P^β)ᵀ x, shape (states,)."""
        sums = self._continued.solve(weights, transposed=True)
        return np.asarray(sums - self.process.discounted_transition.T @ sums)

    def transition(self) -> Matrix | sparse_linalg.LinearOperator:
        """Return P^β, n × n: a matrix for a dense process, a linear operator for a sparse one."""
        kept = self.process.discounted_transition
        if not is_sparse(kept):
            return self._continued.solve(kept * self.share)

        # Functions with types, not lambdas, whose types mypy takes seconds to infer.
        def times(v: Dense) -> Dense:
            weighted: Vector = self.share * v.ravel()
            return self._continued.solve(np.asarray(kept @ weighted))

        def transposed_times(v: Dense) -> Dense:
            sums = self._continued.solve(v.ravel(), transposed=True)
            return np.asarray(self.share * (kept.T @ sums))

        return sparse_linalg.LinearOperator(
            kept.shape, matvec=times, rmatvec=transposed_times, dtype=np.float64
        )


def as_process(given: Any) -> MarkovRewardProcess:
    """Return the process, checked to be one."""
    remedy = "a MarkovRewardProcess, such as a task's .process"
    return instance("process", given, MarkovRewardProcess, remedy)


@final
class Operator:
    """T for one process, rule and β; call it with values of shape (states,)."""

    def __init__(self, bootstrapping: Bootstrapping, rule: Rule) -> None:
        self._bootstrapping = bootstrapping.by(rule)
        self._gain = bootstrapping.gain(rule)

    def __call__(self, values: ArrayLike) -> Vector:
        """Return T v, the expected target of the rule, shape (states,)."""
        v = per_state("values", values, self._gain.size)
        return np.asarray(v + self._gain * (self._bootstrapping.lookahead(v) - v))

    @cached_property
    def transition(self) -> Matrix | sparse_linalg.LinearOperator:
        """P^β, the same for all rules that bootstrap by β: a matrix, or a LinearOperator."""
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
