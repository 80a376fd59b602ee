"""Markov reward processes, exactly: values and long-run visits of a chain with rewards.

With P(s, s') the probability of going from s to s', γ(s, s') the discount of that transition, and
r(s) the expected reward on leaving s,

    Pγ = P ∘ γ                  discounted transitions
    v  = r + Pγ v               the true values
    dᵀ = dᵀ P                   the stationary distribution: visits in the long run

The end of an episode is a transition to the start of the next one with discount 0. So the value of
the next episode does not count, and d counts visits over many episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from preftd._src.arrays import Matrix, MatrixLike, Vector, as_distribution, is_sparse
from preftd._src.solve import Resolvent
from preftd._src.tasks.graph import check_values_exist, recurrent_states
from preftd._src.tasks.mdp import average_over_actions
from preftd._src.tasks.stationary import stationary_distribution
from preftd._src.tasks.tables import discounted, expected, transition_table


@final
class MarkovRewardProcess:
    """A chain with rewards and discounts, checked when built and immutable.

    Parameters
    ----------
    transition : array or scipy.sparse matrix of shape (states, states)
        Probabilities; rows sum to 1. A sparse matrix stays sparse.
    reward : float, array of shape (states,), or array or sparse matrix of shape (states, states)
        Expected reward: one for all, per state (on leaving it), or per transition.
    discount : float, array of shape (states,), or array or sparse matrix of shape (states, states)
        One for all, per state (on entering it), or per transition. Entries that a sparse matrix
        does not store are 0.
    start : array of shape (states,), optional
        Probabilities of the first state (default: the stationary distribution).
    visits : array of shape (states,), optional
        How often the data visit each state, if another policy acts (default: the stationary
        distribution).

    Examples
    --------
    >>> process = MarkovRewardProcess([[0, 1], [1, 0]], reward=[1, 0], discount=0.5)
    >>> process.values
    array([1.33333333, 0.66666667])
    >>> process.stationary_distribution
    array([0.5, 0.5])

    """

    def __init__(
        self,
        transition: MatrixLike,
        reward: MatrixLike,
        discount: MatrixLike,
        start: ArrayLike | None = None,
        *,
        visits: ArrayLike | None = None,
    ) -> None:
        self.transition: Matrix = transition_table("transition", transition)
        self.states: int = self.transition.shape[0]
        self.reward: Vector = expected(self.transition, "reward", reward)
        self.discounted_transition: Matrix = discounted(self.transition, "discount", discount)
        check_values_exist(self.transition, self.discounted_transition)
        self._start = None if start is None else as_distribution("start", start, self.states)
        self._visits = None if visits is None else as_distribution("visits", visits, self.states)
        if visits is None:
            recurrent_states(self.transition)  # refuse now what has no one long run

    @classmethod
    def from_mdp(
        cls,
        transitions: Sequence[MatrixLike] | ArrayLike,
        policy: ArrayLike,
        reward: MatrixLike | Sequence[MatrixLike],
        discount: MatrixLike | Sequence[MatrixLike],
        start: ArrayLike | None = None,
    ) -> Self:
        """Build the process that a policy induces in a Markov decision process.

        Parameters
        ----------
        transitions : sequence of (states, states) matrices, one per action
        policy : array of shape (states, actions) or (states,)
            Probabilities, or one action (an integer) per state.
        reward : float, array of shape (states,) or (states, actions), or a matrix per action
            The matrices have shape (states, states).
        discount : float, array or matrix as for the process, or a matrix per action
        start : array of shape (states,), optional
            Probabilities of the first state (default: the stationary distribution).

        Examples
        --------
        >>> stay, swap = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
        >>> MarkovRewardProcess.from_mdp([stay, swap], [1, 1], reward=1, discount=0.5).values
        array([2., 2.])

        """
        return cls(*average_over_actions(transitions, policy, reward, discount), start)

    @property
    def start(self) -> Vector:
        """Probabilities of the first state, shape (states,)."""
        return self.visits if self._start is None else self._start

    @property
    def off_policy(self) -> bool:
        """Whether another policy than that of the chain visits its states."""
        return self._visits is not None

    @property
    def visits(self) -> Vector:
        """How often the data visit each state, shape (states,); on-policy, in the long run."""
        return self.stationary_distribution if self._visits is None else self._visits

    @cached_property
    def stationary_distribution(self) -> Vector:
        """How often the chain visits each state in the long run, shape (states,)."""
        recurrent = recurrent_states(self.transition)
        within = self.transition[recurrent][:, recurrent]
        visits = np.zeros(self.states)
        visits[recurrent] = stationary_distribution(within)
        visits.setflags(write=False)
        return visits

    @cached_property
    def discounted_visits(self) -> Resolvent:
        """(I − Pγ)⁻¹: discounted sums over the future; transposed, over the past."""
        return Resolvent(self.discounted_transition)

    @cached_property
    def values(self) -> Vector:
        """The expected discounted sum of future rewards at each state, shape (states,)."""
        values = self.discounted_visits.solve(self.reward)
        values.setflags(write=False)
        return values

    def __repr__(self) -> str:
        kind = "sparse" if is_sparse(self.transition) else "dense"
        return f"MarkovRewardProcess({self.states} states, {kind})"
