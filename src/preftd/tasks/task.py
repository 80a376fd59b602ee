"""A task: a table of outcomes, a policy, and what states show."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from preftd.arrays import (
    Dense,
    InputError,
    Matrix,
    MatrixLike,
    Sparse,
    Vector,
    as_array,
    as_dense,
    as_distribution,
    unit,
)
from preftd.solve import Resolvent
from preftd.tasks.features import Features
from preftd.tasks.graph import check_episodes_end
from preftd.tasks.layout import Layout
from preftd.tasks.mdp import policy_table, share
from preftd.tasks.outcomes import Outcomes
from preftd.tasks.process import MarkovRewardProcess
from preftd.tasks.scored import Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from preftd.tasks.sampler import Sampler
    from preftd.tasks.sampling_kernel import Table

DENSE_STATES = 500
"""Up to this many states, the matrices of a task's process are dense."""


@final
class Task:
    """Something to predict: exact process, sampler, environment and picture, all of one table.

    name        with its parameters; random numbers are found by it
    outcomes    everything that can happen: a table, or its rows
    features    what states show: a matrix, or `Features(mean, covariance)` if it is random
    discount    on every step that does not end an episode
    start       probabilities of the first state; for a chain without episodes the long run's
    observable  whether each state shows itself, and its value is asked for; by default all do
    policy      states × actions, the policy whose values are asked for; by default all actions are
                equally likely
    behaviour   states × actions, the policy that acts; by default the same
    layout      where states are drawn; by default in a circle
    """

    def __init__(  # noqa: PLR0913  (what a task consists of)
        self,
        name: str,
        outcomes: Outcomes | ArrayLike,
        features: Features | MatrixLike,
        discount: float,
        *,
        start: ArrayLike | None = None,
        observable: ArrayLike | None = None,
        policy: ArrayLike | None = None,
        behaviour: ArrayLike | None = None,
        layout: Layout | None = None,
    ) -> None:
        self.name = name
        self.outcomes = outcomes if isinstance(outcomes, Outcomes) else Outcomes.of(outcomes)
        states, actions = self.outcomes.states, self.outcomes.actions
        self.features = Features.of(features, states)
        self.discount = unit("discount", discount)
        everywhere = np.ones(states, dtype=np.bool_)
        self.observable = (
            everywhere if observable is None else _mask("observable", observable, states)
        )
        equal = np.full((states, actions), 1 / actions)
        self.policy = equal if policy is None else policy_table(policy, states, actions)
        self.behaviour = self.policy if behaviour is None else self._covering(behaviour)
        self.layout = layout or Layout.circle(states)
        if start is None and self.episodic:
            raise InputError("start is missing: episodes end, so say where they begin.")
        given = None if start is None else as_distribution("start", start, states)
        if given is not None and self.episodic:
            for acting in (self.policy, self.behaviour):
                moves, ending, _ = self.outcomes.under(acting)
                check_episodes_end(moves, given > 0, ending > 0)
        self.process = self._process(given)
        self.start = self.process.start

    @property
    def states(self) -> int:
        """How many states there are."""
        return self.outcomes.states

    @property
    def values(self) -> Vector:
        """The true value of each state."""
        return self.process.values

    @property
    def episodic(self) -> bool:
        """Whether episodes end."""
        return bool(self.outcomes.ends.any())

    @property
    def off_policy(self) -> bool:
        """Whether the policy that acts differs from the one whose values are asked for."""
        return self.behaviour is not self.policy

    @cached_property
    def mean_episode_length(self) -> float:
        """The expected number of steps of an episode as sampled; infinite if there is no end."""
        if not self.episodic:
            return float("inf")
        moves, _, _ = self.outcomes.under(self.behaviour)
        small = self.states <= DENSE_STATES
        to_the_end = Resolvent(as_dense(moves) if small else moves)
        return float(self.start @ to_the_end.solve(np.ones(self.states)))

    @cached_property
    def table(self) -> Table:
        """The outcomes, made ready for drawing."""
        from preftd.tasks.sampling_kernel import Table  # noqa: PLC0415  (compiles)

        return Table.of(self)

    @cached_property
    def scored(self) -> Scored:
        """What is asked of predictions: observable states and their values."""
        return Scored.of(self)

    def sampler(self, seed: SupportsIndex) -> Sampler:
        """The episodes of a seed, drawn as they are asked for.

        >>> from preftd import tasks
        >>> len(tasks.make("corridor", length=5).sampler(seed=0).episodes(2))
        12
        """
        from preftd.tasks.sampler import Sampler  # noqa: PLC0415  (compiles)

        return Sampler(self, seed)

    def plot(self, beta: ArrayLike | None = None, axes: Axes | None = None) -> Axes:
        """A picture: states, hidden or observable, rewards, and β if given."""
        from preftd.tasks.picture import draw  # noqa: PLC0415  (matplotlib)

        return draw(self, beta, axes)

    def __repr__(self) -> str:
        return f"<Task {self.name}: {self.states} states, {self.features.size} features>"

    def _process(self, start: Vector | None) -> MarkovRewardProcess:
        transition, reward, discount = self._chain(self.policy, start)
        visits = None
        if self.off_policy:
            acting, _, its_discount = self._chain(self.behaviour, start)
            visits = MarkovRewardProcess(acting, 0, its_discount, start).stationary_distribution
        return MarkovRewardProcess(transition, reward, discount, start, visits=visits)

    def _chain(self, policy: Dense, start: Vector | None) -> tuple[Matrix, Vector, Matrix]:
        """(transition with restarts, expected reward, discount) under a policy."""
        moves, ending, reward = self.outcomes.under(policy)
        transition: Sparse = moves
        if start is not None:
            restart = sparse.csr_array(ending[:, None]) @ sparse.csr_array(start[None, :])
            transition = sparse.csr_array(moves + restart)
        # A pair of states may be joined by a move and by a restart; only the move is discounted.
        kept = self.discount * share(moves, transition)
        if self.states <= DENSE_STATES:
            return as_dense(transition), reward, as_dense(kept)
        return transition, reward, kept

    def _covering(self, behaviour: ArrayLike) -> Dense:
        """The policy that acts, checked to take every action that the target policy takes."""
        acting = policy_table(
            behaviour, self.outcomes.states, self.outcomes.actions, name="behaviour"
        )
        missed = (self.policy > 0) & (acting == 0)
        if missed.any():
            state, action = (int(i) for i in np.argwhere(missed)[0])
            raise InputError(
                f"behaviour never takes action {action} in state {state} but policy does: give "
                "every action of policy some probability."
            )
        return acting


def _mask(name: str, given: ArrayLike, states: int) -> NDArray[np.bool_]:
    array = as_array(name, given)
    if array.shape != (states,) or not np.isin(array, (0, 1)).all():
        raise InputError(
            f"{name} has shape {array.shape}: give true or false for each of {states} states."
        )
    return array.astype(np.bool_)
