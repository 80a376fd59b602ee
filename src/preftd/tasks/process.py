"""Markov reward processes: the exact truth about a chain and its rewards.

With P(s, s') the probability of going from s to s', γ(s, s') the discount on the way, and r(s) the
expected reward on leaving s,

    Pγ = P ∘ γ                  what is left of a value after one step
    v  = r + Pγ v               the true values
    dᵀ = dᵀ P                   how often each state is visited in the long run

The end of an episode is a transition to where the next one starts, with discount 0: nothing of the
next episode's value comes back, and d counts visits over many episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from preftd.arrays import Matrix, MatrixLike, Vector, as_distribution, is_sparse
from preftd.solve import Resolvent
from preftd.tasks.graph import check_values_exist, recurrent_states
from preftd.tasks.mdp import average_over_actions
from preftd.tasks.stationary import stationary_distribution
from preftd.tasks.tables import discounted, expected, transition_table


@final
class MarkovRewardProcess:
    """A chain with rewards and discounts, checked when built and not changed after.

    transition  n × n, dense or scipy.sparse (which stays sparse); rows sum to 1
    reward      expected reward: a number, one per state (on leaving it), or n × n per transition
    discount    a number, one per state (on entering it), or n × n per transition, where what a
                sparse matrix does not store is 0
    start       probabilities of the first state; by default those of the long run
    visits      how often each state is updated, if another policy acts; by default as often as the
                chain visits it in the long run

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
        self._recurrent = recurrent_states(self.transition)
        self._start = None if start is None else as_distribution("start", start, self.states)
        self._visits = None if visits is None else as_distribution("visits", visits, self.states)

    @classmethod
    def from_mdp(
        cls,
        transitions: Sequence[MatrixLike] | ArrayLike,
        policy: ArrayLike,
        reward: MatrixLike | Sequence[MatrixLike],
        discount: MatrixLike | Sequence[MatrixLike],
        start: ArrayLike | None = None,
    ) -> Self:
        """The chain that a policy makes of a Markov decision process.

        transitions  one n × n matrix per action
        policy       n × actions probabilities, or one action (a whole number) per state
        reward       a number, one per state, n × actions, or one n × n matrix per action
        discount     as for the process, or one n × n matrix per action

        >>> stay, swap = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
        >>> MarkovRewardProcess.from_mdp([stay, swap], [1, 1], reward=1, discount=0.5).values
        array([2., 2.])
        """
        return cls(*average_over_actions(transitions, policy, reward, discount), start)

    @property
    def start(self) -> Vector:
        """Probabilities of the first state."""
        return self.stationary_distribution if self._start is None else self._start

    @property
    def visits(self) -> Vector:
        """How often each state is visited by the data; on-policy, the stationary distribution."""
        return self.stationary_distribution if self._visits is None else self._visits

    @cached_property
    def stationary_distribution(self) -> Vector:
        """How often each state is visited in the long run; 0 where visits cease."""
        within = self.transition[self._recurrent][:, self._recurrent]
        visits = np.zeros(self.states)
        visits[self._recurrent] = stationary_distribution(within)
        visits.setflags(write=False)
        return visits

    @cached_property
    def discounted_visits(self) -> Resolvent:
        """(I − Pγ)⁻¹: discounted sums over what follows; transposed, over what came before."""
        return Resolvent(self.discounted_transition)

    @cached_property
    def values(self) -> Vector:
        """The expected discounted sum of rewards from each state on."""
        values = self.discounted_visits.solve(self.reward)
        values.setflags(write=False)
        return values

    def __repr__(self) -> str:
        kind = "sparse" if is_sparse(self.transition) else "dense"
        return f"MarkovRewardProcess({self.states} states, {kind})"
