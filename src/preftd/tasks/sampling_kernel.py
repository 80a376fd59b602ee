"""The inner loop of sampling: steps drawn from a task's table into buffers, compiled."""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import SUM_TOLERANCE, Dense, Vector

if TYPE_CHECKING:
    from preftd.tasks.task import Task

Whole = NDArray[np.int32]


class Table(NamedTuple):
    """A task's outcomes under the policy that acts, made ready for sampling."""

    first: Whole
    """Rows of state s are first[s] to first[s + 1] − 1."""
    bound: Vector
    """A state's row is the first whose bound exceeds a uniform number."""
    even: Whole
    """How many rows a state has, if they are equally likely (faster to choose from); else 0."""
    state: Whole
    """The state, action and importance ratio of each row."""
    action: Whole
    rho: Vector
    next_state: Whole
    reward: Vector
    spread: Vector
    ends: NDArray[np.bool_]
    starts: Whole
    """States where episodes may start, and the bounds that choose among them."""
    start_bound: Vector
    fixed: Dense
    """Vectors that states show at each visit."""
    shown: Whole
    """The code of what a state shows, for states that show the same at each visit."""
    fresh: NDArray[np.bool_]
    """Whether a state shows a new vector at each visit."""
    discount: float

    @classmethod
    def of(cls, task: "Task") -> Self:
        """The table of a task."""
        rows, (fixed, shown, fresh) = task.outcomes, task.features.codes()
        acts = task.behaviour[rows.state, rows.action]
        chance = rows.probability * acts
        possible = chance > 0
        state, action = rows.state[possible], rows.action[possible]
        first = np.searchsorted(state, np.arange(task.states + 1)).astype(np.int32)
        bound = np.concatenate([_bounds(chance[possible][a:b]) for a, b in pairwise(first)])
        counts = np.diff(first)
        likely = np.abs(chance[possible] - 1 / np.repeat(counts, counts)) < SUM_TOLERANCE
        even = np.where(np.logical_and.reduceat(likely, first[:-1]), counts, 0).astype(np.int32)
        starts = np.flatnonzero(task.start).astype(np.int32)
        return cls(
            first,
            bound,
            even,
            state,
            action,
            task.policy[state, action] / acts[possible],
            rows.next_state[possible],
            rows.reward[possible],
            rows.spread[possible],
            rows.ends[possible],
            starts,
            _bounds(task.start[starts]),
            fixed,
            shown,
            fresh,
            task.discount,
        )


def _bounds(chances: Vector) -> Vector:
    bounds = np.cumsum(chances)
    # Whatever rounding does, some row is chosen.
    bounds[-1] = np.inf
    return bounds


class Buffers(NamedTuple):
    """Where steps are written."""

    code_t: Whole
    code_tp1: Whole
    reward: Vector
    discount_tp1: Vector
    discount_t: Vector
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_]
    row: Whole
    """The row of the table that was drawn, which tells state, action and importance ratio."""
    shower: Whole
    """The state of each fresh vector, in the order in which they are shown."""

    @classmethod
    def of_size(cls, steps: int) -> Self:
        """Room for so many steps, each of which may show two vectors."""
        codes, numbers = np.empty((3, steps), dtype=np.int32), np.empty((3, steps))
        flags, shower = np.empty((2, steps), np.bool_), np.empty(2 * steps, dtype=np.int32)
        reward, discount_tp1, discount_t = numbers
        return cls(
            codes[0],
            codes[1],
            reward,
            discount_tp1,
            discount_t,
            flags[0],
            flags[1],
            codes[2],
            shower,
        )

    def doubled(self) -> Self:
        """The same, with as much room again."""
        return type(self)(*(np.concatenate([a, np.empty_like(a)]) for a in self))


class Position(NamedTuple):
    """Where a sampler stands."""

    state: int
    """The state to leave next, −1 before an episode."""
    code: int
    is_first: bool
    fresh: int
    """How many fresh vectors have been shown since the buffers were empty."""


@njit(cache=True, nogil=True)
def draw_steps(
    moves: np.random.Generator,
    rewards: np.random.Generator,
    table: Table,
    buffers: Buffers,
    written: int,
    episodes: int,
    first_vector: int,
    position: Position,
) -> tuple[int, int, Position]:
    """Draw until the buffers are full or so many episodes have ended (−1: however many).

    Returns how many steps are written, how many episodes are missing, and the new position.
    """
    state, code, is_first, fresh = position
    while written < buffers.code_t.size and episodes != 0:
        if state < 0:
            u = moves.random()
            state = table.starts[np.searchsorted(table.start_bound, u, side="right")]
            is_first = True
            code = table.shown[state]
            if table.fresh[state]:
                buffers.shower[fresh] = state
                code = -1 - first_vector - fresh
                fresh += 1
        u = moves.random()
        row = table.first[state] + int(u * table.even[state])
        if table.even[state] == 0:
            while u >= table.bound[row]:
                row += 1
        reward = table.reward[row]
        if table.spread[row] > 0:
            reward += table.spread[row] * rewards.standard_normal()
        buffers.code_t[written] = code
        buffers.row[written] = row
        buffers.reward[written] = reward
        buffers.is_first[written] = is_first
        buffers.is_last[written] = table.ends[row]
        buffers.discount_t[written] = 0.0 if is_first else table.discount
        buffers.discount_tp1[written] = 0.0 if table.ends[row] else table.discount
        is_first = False
        if table.ends[row]:
            state = -1
            if episodes > 0:
                episodes -= 1
        else:
            state = table.next_state[row]
            code = table.shown[state]
            if table.fresh[state]:
                buffers.shower[fresh] = state
                code = -1 - first_vector - fresh
                fresh += 1
        # At the end there is no next state; the last one stands in, under a discount of 0.
        buffers.code_tp1[written] = code
        written += 1
    return written, episodes, Position(state, code, is_first, fresh)
