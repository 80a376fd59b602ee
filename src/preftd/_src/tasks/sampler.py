"""Samplers: episodes and steps of a task, drawn on request.

A sampler has three generators, for moves, rewards and random features, each seeded by the task's
name and the seed. It draws nothing in advance, so the same seed gives the same experience whether
you ask for ten episodes at once or one by one.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple, Self, SupportsIndex, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import MOST_STEPS, SUM_TOLERANCE, Dense, InputError, Vector, as_count, whole
from preftd._src.experience.stream import RECORDED, Codes, Experience
from preftd._src.kernels import kernel
from preftd._src.randomness import generator
from preftd._src.tasks.outcomes import bounds
from preftd._src.tasks.task import Task, as_task
from preftd._src.turns import Turn

_CAPACITY = 4096
"""Steps that buffers hold at first; doubled as needed."""


class SamplingTable(NamedTuple):
    """A task's outcomes under the behaviour policy, prepared for sampling."""

    first: Codes
    """Rows of state s are first[s] to first[s + 1] − 1."""
    bound: Vector
    """A state's row is the first whose bound exceeds a uniform random number."""
    equally_likely: Codes
    """The number of a state's rows if they are equally likely (a faster choice), else 0."""
    state: Codes
    """The state, action and importance ratio of each row."""
    action: Codes
    rho: Vector
    next_state: Codes
    reward: Vector
    spread: Vector
    ends: NDArray[np.bool_]
    starts: Codes
    """The states where episodes may start, and the bounds that choose among them."""
    start_bound: Vector
    fixed: Dense
    """Feature vectors that do not change between visits, shape (vectors, features)."""
    shown: Codes
    """The code of a state's features, if they do not change between visits."""
    fresh: NDArray[np.bool_]
    """Whether a state's features are drawn at each visit."""
    discount: float

    @classmethod
    def of(cls, task: Task) -> Self:
        """Prepare the table of a task."""
        rows, (fixed, shown, fresh) = task.outcomes, task.features.codes()
        acts = task.behaviour[rows.state, rows.action]
        chance = rows.probability * acts
        possible = chance > 0
        state, action = rows.state[possible], rows.action[possible]
        first = np.searchsorted(state, np.arange(task.states + 1)).astype(np.int32)
        bound = np.concatenate([bounds(chance[possible][a:b]) for a, b in pairwise(first)])
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
            bounds(task.start[starts]),
            fixed,
            shown,
            fresh,
            task.discount,
        )


class Buffers(NamedTuple):
    """Buffers for steps: fields of `Experience`, and two more."""

    code_t: Codes
    code_tp1: Codes
    reward: Vector
    discount_tp1: Vector
    discount_t: Vector
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_]
    row: Codes
    """The row of the table that was drawn, which has the state, action and importance ratio."""
    fresh_state: Codes
    """The state of each fresh vector, in the order of visits."""

    @classmethod
    def of_size(cls, steps: int) -> Self:
        """Allocate buffers for this many steps, each of which may need two fresh vectors."""
        codes, numbers = np.empty((3, steps), dtype=np.int32), np.empty((3, steps))
        flags, fresh_state = np.empty((2, steps), np.bool_), np.empty(2 * steps, dtype=np.int32)
        return cls._make((codes[0], codes[1], *numbers, *flags, codes[2], fresh_state))

    def doubled(self) -> Self:
        """Return a copy with twice the capacity."""
        return type(self)(*(np.concatenate([a, np.empty_like(a)]) for a in self))


class SamplerPosition(NamedTuple):
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
    table: SamplingTable,
    buffers: Buffers,
    written: int,
    episodes: int,
    first_vector: int,
    position: SamplerPosition,
) -> tuple[int, int, SamplerPosition]:
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
    return written, episodes, SamplerPosition(state, code, is_first, fresh)


@final
class Sampler:
    """Draw the experience of one task and seed, in order.

    Parameters
    ----------
    task : Task
    seed : int

    Examples
    --------
    >>> from preftd import tasks
    >>> walk = tasks.make("random_walk")
    >>> one_by_one = walk.sampler(seed=3)
    >>> first, second = one_by_one.episodes(1), one_by_one.episodes(1)
    >>> len(first) + len(second) == len(walk.sampler(seed=3).episodes(2))
    True

    """

    def __init__(self, task: Task, seed: SupportsIndex) -> None:
        self._task, self._turn = as_task(task), Turn()
        key = (task.name, whole("seed", seed))
        self._table, self._fixed = task.table, task.table.fixed
        self._moves = generator(*key, "moves")
        self._rewards = generator(*key, "rewards")
        self._noise = generator(*key, "noise")
        self._position = SamplerPosition(state=-1, code=0, is_first=True, fresh=0)
        self._before: tuple[float, int | None, float | None] = (0.0, None, None)
        self._capacity = _CAPACITY
        # The fresh features of the current state, if it has any: the next step starts there.
        self._held = np.empty((0, task.features.size))

    def episodes(self, count: int) -> Experience:
        """Draw the next episodes; an unfinished one is finished and counts as the first.

        Parameters
        ----------
        count : int
            The number of episodes.

        """
        if not self._task.episodic:
            raise InputError(f"{self._task.name} has no episodes: ask for steps.")
        wanted = as_count("count", count, 1, MOST_STEPS)
        with self._turn:
            taken = self._take(self._capacity, wanted)
            self._capacity = max(_CAPACITY, len(taken) + len(taken) // 4)
            return taken

    def steps(self, count: int) -> Experience:
        """Draw the next steps; an unfinished episode continues in the next call.

        Parameters
        ----------
        count : int
            The number of steps.

        """
        wanted = as_count("count", count, 1, MOST_STEPS)
        with self._turn:
            return self._take(wanted, -1)

    def _take(self, capacity: int, episodes: int) -> Experience:
        """Draw `episodes` episodes, or `capacity` steps if that is −1."""
        buffers, position, written = Buffers.of_size(capacity), self._position, 0
        first_vector = len(self._fixed) + len(self._held)
        while True:
            written, episodes, position = draw_steps(
                self._moves,
                self._rewards,
                self._table,
                buffers,
                written,
                episodes,
                first_vector,
                position,
            )
            if episodes <= 0:
                break
            buffers = buffers.doubled()
        dense = self._vectors(buffers.fresh_state[: position.fresh])
        self._remember(position, dense)
        steps, table = slice(written), self._table
        rows = buffers.row[steps]
        states, actions = table.state[rows], table.action[rows]
        reward_before, action_before, reward_end = self._before
        if written:
            last = written - 1
            reward = float(buffers.reward[last])
            ended = buffers.is_last[last] and buffers.discount_tp1[last] == 0
            self._before = reward, int(actions[-1]), reward if ended else None
        return Experience.unchecked(  # each array is drawn or looked up in the tables of the task
            **{name: getattr(buffers, name)[steps] for name in RECORDED},
            size=self._task.features.size,
            dense=dense,
            state=states,
            observable=self._task.observable[states],
            action=actions,
            rho=table.rho[rows] if self._task.off_policy else None,
            reward_before=reward_before,
            action_before=action_before,
            reward_end=reward_end,
        )

    def _vectors(self, states: Codes) -> Dense:
        """The vectors of a take: those that do not change, the one held over, the fresh ones."""
        known = len(self._fixed) + len(self._held)
        vectors = np.empty((known + len(states), self._task.features.size))
        vectors[: len(self._fixed)] = self._fixed
        vectors[len(self._fixed) : known] = self._held
        self._task.features.draw(states, self._noise, vectors[known:])
        return vectors

    def _remember(self, position: SamplerPosition, vectors: Dense) -> None:
        """Remember where the take ended; fresh features there are held for the next take."""
        row = -1 - position.code
        fresh = position.state >= 0 and row >= len(self._fixed)
        self._held = vectors[row : row + 1].copy() if fresh else vectors[:0].copy()
        code = -1 - len(self._fixed) if fresh else position.code
        self._position = SamplerPosition(position.state, code, position.is_first, 0)
