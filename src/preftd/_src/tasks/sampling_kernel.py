"""The inner loop of sampling: steps drawn from a task's table into buffers, compiled."""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import SUM_TOLERANCE, Dense, Vector
from preftd._src.kernels import kernel

if TYPE_CHECKING:
    from preftd._src.tasks.task import Task

Whole = NDArray[np.int32]


class Table(NamedTuple):
    """A task's outcomes under the behaviour policy, prepared for sampling."""

    first: Whole
    """Rows of state s are first[s] to first[s + 1] − 1."""
    bound: Vector
    """A state's row is the first whose bound exceeds a uniform random number."""
    equally_likely: Whole
    """The number of a state's rows if they are equally likely (a faster choice), else 0."""
    state: Whole
    """The state, action and importance ratio of each row."""
    action: Whole
    rho: Vector
    next_state: Whole
    reward: Vector
    spread: Vector
    ends: NDArray[np.bool_]
    starts: Whole
    """The states where episodes may start, and the bounds that choose among them."""
    start_bound: Vector
    fixed: Dense
    """Feature vectors that do not change between visits, shape (vectors, features)."""
    shown: Whole
    """The code of a state's features, if they do not change between visits."""
    fresh: NDArray[np.bool_]
    """Whether a state's features are drawn afresh at each visit."""
    discount: float

    @classmethod
    def of(cls, task: "Task") -> Self:
        """Prepare the table of a task."""
        rows, (fixed, shown, fresh) = task.outcomes, task.features.codes()
        acts = task.behaviour[rows.state, rows.action]
        chance = rows.probability * acts
        possible = chance > 0
        state, action = rows.state[possible], rows.action[possible]
        first = np.searchsorted(state, np.arange(task.states + 1)).astype(np.int32)
        bound = np.concatenate([_bounds(chance[possible][a:b]) for a, b in pairwise(first)])
        counts = np.diff(first)
        equal = np.abs(chance[possible] - 1 / np.repeat(counts, counts)) < SUM_TOLERANCE
        equally_likely = np.where(np.logical_and.reduceat(equal, first[:-1]), counts, 0).astype(
            np.int32
        )
        starts = np.flatnonzero(task.start).astype(np.int32)
        return cls(
            first,
            bound,
            equally_likely,
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
    """Cumulative probabilities, the last one infinite."""
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
    """The row of the table that was drawn, which has the state, action and importance ratio."""
    fresh_state: Whole
    """The state of each vector drawn afresh, in the order of visits."""

    @classmethod
    def of_size(cls, steps: int) -> Self:
        """Allocate buffers for this many steps, each of which may need two fresh vectors."""
        codes, numbers = np.empty((3, steps), dtype=np.int32), np.empty((3, steps))
        flags, fresh_state = np.empty((2, steps), np.bool_), np.empty(2 * steps, dtype=np.int32)
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
            fresh_state,
        )

    def doubled(self) -> Self:
        """Return a copy with twice the capacity."""
        return type(self)(*(np.concatenate([a, np.empty_like(a)]) for a in self))


class Position(NamedTuple):
    """Where a sampler continues."""

    state: int
    """The current state, −1 before an episode."""
    code: int
    """The code of its features."""
    is_first: bool
    fresh: int
    """The number of fresh vectors since the buffers were empty."""


@kernel
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
    """Draw until the buffers are full or `episodes` episodes have ended (−1: no limit).

    Returns the number of steps written, the number of episodes still missing, and the new position.
    """
    state, code, is_first, fresh = position
    while written < buffers.code_t.size and episodes != 0:
        if state < 0:
            u = moves.random()
            state = table.starts[np.searchsorted(table.start_bound, u, side="right")]
            is_first = True
            code = table.shown[state]
            if table.fresh[state]:
                buffers.fresh_state[fresh] = state
                code = -1 - first_vector - fresh
                fresh += 1
        u = moves.random()
        row = table.first[state] + int(u * table.equally_likely[state])
        if table.equally_likely[state] == 0:
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
                buffers.fresh_state[fresh] = state
                code = -1 - first_vector - fresh
                fresh += 1
        # After the end there is no next state; the last one stands in, with a discount of 0.
        buffers.code_tp1[written] = code
        written += 1
    return written, episodes, Position(state, code, is_first, fresh)
