"""The table of a task: everything that can happen, one row for each possible outcome.

    In `state`, `action` leads with `probability` to `next_state`, or ends the episode if it `ends`,
    and pays `reward` plus Gaussian noise of standard deviation `spread`.

The exact process, the sampler and the environment are built from this table, so they agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from preftd.arrays import (
    SUM_TOLERANCE,
    Dense,
    InputError,
    Sparse,
    Vector,
    as_array,
    check_not_negative,
)

Whole = NDArray[np.int32]


@final
@dataclass(frozen=True, eq=False)
class Outcomes:
    """Everything that can happen: arrays of shape (rows,), ordered by state, then action.

    Build it with `Outcomes.of` or `Outcomes.deterministic`.
    """

    state: Whole
    action: Whole
    probability: Vector
    next_state: Whole
    reward: Vector
    ends: NDArray[np.bool_]
    spread: Vector

    @classmethod
    def of(cls, rows: ArrayLike) -> Self:
        """Build the table from rows.

        Parameters
        ----------
        rows : array of shape (rows, 5) or (rows, 6)
            State, action, probability, next state (−1 ends the episode), reward, and optionally the
            standard deviation of the reward.

        Examples
        --------
        >>> Outcomes.of([(0, 0, 0.5, 0, 0), (0, 0, 0.5, -1, 1)]).states
        1

        """
        table = as_array("rows", rows)
        if table.ndim != 2 or table.shape[1] not in (5, 6):
            raise InputError(
                f"rows have shape {table.shape}: give (state, action, probability, next state, "
                "reward) for each, and optionally the reward's standard deviation."
            )
        for name, column in (("state", 0), ("action", 1), ("next state", 3)):
            whole = table[:, column] == np.floor(table[:, column])
            if not whole.all():
                raise InputError(
                    f"row {int(np.argmin(whole))} has {name} {table[np.argmin(whole), column]:g}: "
                    "give a whole number."
                )
        if not (len(table) and table[:, :2].min() >= 0):
            raise InputError(
                "rows are missing, or a state or action is negative: give rows, counting from 0."
            )
        known = (table[:, 3] >= -1) & (table[:, 3] <= table[:, 0].max())
        if not known.all():
            row = int(np.argmin(known))
            raise InputError(
                f"row {row} leads to state {table[row, 3]:g}, which has no rows: "
                "add rows for it, or write −1 for the end."
            )
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        state, action, next_state = (table[:, c].astype(np.int32) for c in (0, 1, 3))
        spread = table[:, 5] if table.shape[1] == 6 else np.zeros(len(table))
        return cls(state, action, table[:, 2], next_state, table[:, 4], next_state < 0, spread)

    @classmethod
    def deterministic(
        cls, next_state: ArrayLike, reward: ArrayLike, spread: ArrayLike = 0.0
    ) -> Self:
        """Build the table of a task in which each action has one outcome.

        Parameters
        ----------
        next_state : array of integers, shape (states, actions)
            −1 ends the episode.
        reward, spread : array that broadcasts to (states, actions)
            The reward, and its standard deviation.

        """
        going = np.asarray(next_state)
        states, actions = going.shape
        columns = (
            np.repeat(np.arange(states), actions),
            np.tile(np.arange(actions), states),
            np.ones(going.size),
            going.ravel(),
            np.broadcast_to(reward, going.shape).ravel(),
            np.broadcast_to(spread, going.shape).ravel(),
        )
        return cls.of(np.stack(columns, axis=1))

    def __post_init__(self) -> None:
        check_not_negative("probability", self.probability)
        check_not_negative("spread", self.spread)
        sums = self._sums()
        wrong = np.abs(sums - 1) > SUM_TOLERANCE
        if wrong.any():
            state, action = (int(i) for i in np.argwhere(wrong)[0])
            raise InputError(
                f"the probabilities of state {state} and action {action} sum to "
                f"{sums[state, action]:.10g}, not 1: give outcomes of every action in every state."
            )

    @property
    def states(self) -> int:
        """The number of states."""
        return int(self.state.max()) + 1

    @property
    def actions(self) -> int:
        """The number of actions."""
        return int(self.action.max()) + 1

    def _sums(self) -> Dense:
        """The sum of probabilities of each state and action, shape (states, actions)."""
        sums = np.zeros((self.states, self.actions))
        np.add.at(sums, (self.state, self.action), self.probability)
        return sums

    def under(self, policy: Dense) -> tuple[Sparse, Vector, Vector]:
        """Average over the actions of a policy, shape (states, actions).

        Returns
        -------
        tuple
            Probabilities of moves between states, shape (states, states), and, of shape (states,),
            of the end of the episode, and the expected reward.

        """
        chance = self.probability * policy[self.state, self.action]
        stays = ~self.ends
        shape = (self.states, self.states)
        moves: Sparse = sparse.csr_array(
            (chance[stays], (self.state[stays], self.next_state[stays])), shape=shape
        )
        moves.sum_duplicates()
        moves.eliminate_zeros()  # where the policy never goes
        ending, reward = np.zeros(self.states), np.zeros(self.states)
        np.add.at(ending, self.state[self.ends], chance[self.ends])
        np.add.at(reward, self.state, chance * self.reward)
        return moves, ending, reward
