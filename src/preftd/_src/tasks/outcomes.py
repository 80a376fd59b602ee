"""The table of a task: everything that can happen, one row for each possible outcome.

    In `state`, `action` leads with `probability` to `next_state`, or ends the episode if it `ends`,
    and pays `reward` plus Gaussian noise of standard deviation `spread`.

The exact process, the sampler and the environment are built from this table, so they agree.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from preftd._src.arrays import (
    SUM_TOLERANCE,
    Dense,
    InputError,
    Sparse,
    Vector,
    as_array,
    check_not_negative,
    check_size,
)
from preftd._src.experience.indices import LARGEST
from preftd._src.tasks.process import policy_table

Whole = NDArray[np.int32]


@final
@dataclass(frozen=True, eq=False)
class Outcomes:
    """Everything that can happen: arrays of shape (rows,), in any order.

    Once built, they are ordered by state, then action, and cannot be changed. It is shorter to
    build them with `Outcomes.of` or `Outcomes.deterministic`.
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
        state, action, probability, next_state, reward = table[:, :5].T
        spread = table[:, 5] if table.shape[1] == 6 else np.zeros(len(table))
        ends = next_state < 0
        return cls(state, action, probability, next_state, reward, ends, spread)

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
        going = as_array("next_state", next_state)
        if going.ndim != 2:
            raise InputError(
                f"next_state has shape {going.shape}: give a row for each state and a column for "
                "each action."
            )
        states, actions = going.shape
        columns = (
            np.repeat(np.arange(states), actions),
            np.tile(np.arange(actions), states),
            np.ones(going.size),
            going.ravel(),
            _for_each("reward", reward, going.shape),
            _for_each("spread", spread, going.shape),
        )
        return cls.of(np.stack(columns, axis=1))

    def __post_init__(self) -> None:
        kinds = dict.fromkeys(("state", "action", "next_state"), np.int32) | {"ends": np.bool_}
        given = {name: as_array(name, getattr(self, name)) for name in _COLUMNS}
        _check_columns(given)
        order = np.lexsort((given["action"], given["state"]))
        for name, column in given.items():
            ready = column[order].astype(kinds.get(name, np.float64), copy=False)
            ready.setflags(write=False)
            object.__setattr__(self, name, ready)
        self._check_sums()

    @property
    def states(self) -> int:
        """The number of states."""
        return int(self.state.max()) + 1

    @property
    def actions(self) -> int:
        """The number of actions."""
        return int(self.action.max()) + 1

    def _check_sums(self) -> None:
        """Refuse a state and action whose probabilities do not sum to 1."""
        if self.states * self.actions > len(self.state):
            # Some have no rows, so do not make an array of all that rows may name.
            pairs = np.unique(self.state * np.int64(self.actions) + self.action)
            missing = np.flatnonzero(np.append(pairs, -1) != np.arange(pairs.size + 1))[0]
            state, action = divmod(int(missing), self.actions)
            total = 0.0
        else:
            sums = np.zeros((self.states, self.actions))
            np.add.at(sums, (self.state, self.action), self.probability)
            wrong = np.abs(sums - 1) > SUM_TOLERANCE
            if not wrong.any():
                return
            state, action = (int(i) for i in np.argwhere(wrong)[0])
            total = float(sums[state, action])
        raise InputError(
            f"the probabilities of state {state} and action {action} sum to {total:.10g}, not 1: "
            "give outcomes of every action in every state."
        )

    def under(self, policy: Dense) -> tuple[Sparse, Vector, Vector]:
        """Average over the actions of a policy, shape (states, actions).

        Returns
        -------
        tuple
            Probabilities of moves between states, shape (states, states), and, of shape (states,),
            of the end of the episode, and the expected reward.

        """
        policy = policy_table(policy, self.states, self.actions)
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


_COLUMNS = [field.name for field in fields(Outcomes)]


def first_rows(table: Outcomes) -> NDArray[np.int64]:
    """Return the first row of each pair of a state and an action, s · actions + a.

    The last entry, one more than there are pairs, is the number of rows.
    """
    pairs = table.state.astype(np.int64) * table.actions + table.action
    return np.searchsorted(pairs, np.arange(table.states * table.actions + 1))


def bounds(chances: Vector) -> Vector:
    """Return bounds: the first that exceeds a uniform random number chooses; the last is ∞."""
    found = np.cumsum(chances)
    found[-1] = np.inf  # whatever rounding does, one is chosen
    return found


def _check_columns(given: dict[str, Vector]) -> None:
    """Refuse columns that are not those of a table; the message names the first bad row."""
    rows = given["state"].shape
    for name, column in given.items():
        if column.ndim != 1 or column.shape != rows:
            raise InputError(f"{name} has shape {column.shape}: give one number for each row.")
    for name in ("state", "action", "next_state"):
        whole = given[name] == np.floor(given[name])
        if not whole.all():
            row = int(np.argmin(whole))
            said = name.replace("_", " ")
            raise InputError(f"row {row} has {said} {given[name][row]:g}: give a whole number.")
    state, action, next_state = given["state"], given["action"], given["next_state"]
    if not rows[0] or min(state.min(), action.min()) < 0:
        raise InputError(
            "rows are missing, or a state or action is negative: give rows, counting from 0."
        )
    if max(state.max(), action.max()) >= LARGEST:
        raise InputError("a state or action is 2³¹ or more: count them from 0, without gaps.")
    known = (next_state >= -1) & (next_state <= state.max())
    if not known.all():
        row = int(np.argmin(known))
        raise InputError(
            f"row {row} leads to state {next_state[row]:g}, which has no rows: "
            "add rows for it, or write −1 for the end."
        )
    unclear = given["ends"] != (next_state < 0)
    if unclear.any():
        row = int(np.argmax(unclear))
        raise InputError(
            f"row {row} has ends {given['ends'][row]:g} but next_state {next_state[row]:g}: "
            "let both or neither say that the episode ends."
        )
    check_not_negative("probability", given["probability"])
    check_not_negative("spread", given["spread"])
    check_size("reward", given["reward"])
    check_size("spread", given["spread"])


def _for_each(name: str, given: ArrayLike, shape: tuple[int, ...]) -> Vector:
    """Numbers for all states and actions, flattened."""
    array = as_array(name, given)
    try:
        return np.broadcast_to(array, shape).ravel()
    except ValueError:
        raise InputError(
            f"{name} has shape {array.shape} but next_state has {shape}: give one number, or one "
            "for each state and action."
        ) from None
