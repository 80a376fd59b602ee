"""Samplers: episodes and steps of a task, drawn on request.

A sampler has three generators, for moves, rewards and random features, each seeded by the task's
name and the seed. It draws nothing in advance, so the same seed gives the same experience whether
you ask for ten episodes at once or one by one.
"""

from typing import TYPE_CHECKING, SupportsIndex, final

import numpy as np

from preftd._src.arrays import Dense, InputError, as_count, short, whole
from preftd._src.experience.stream import Codes, Experience
from preftd._src.randomness import generator
from preftd._src.tasks.parameters import MOST_STEPS
from preftd._src.tasks.sampling_kernel import Buffers, Position, draw_steps
from preftd._src.turns import Turn

if TYPE_CHECKING:
    from preftd._src.tasks.task import Task

_CAPACITY = 4096
"""Steps that buffers hold at first; doubled as needed."""


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

    def __init__(self, task: "Task", seed: SupportsIndex) -> None:
        if not hasattr(task, "outcomes"):  # Task itself cannot be imported here
            raise InputError(f'task is {short(task)}: give one, such as tasks.make("corridor").')
        self._task, self._turn = task, Turn()
        key = (task.name, whole("seed", seed))
        self._table, self._fixed = task.table, task.table.fixed
        self._moves = generator(*key, "moves")
        self._rewards = generator(*key, "rewards")
        self._noise = generator(*key, "noise")
        self._position = Position(state=-1, code=0, is_first=True, fresh=0)
        self._before: tuple[float, int | None, float | None] = (0.0, None, None)
        self._capacity = _CAPACITY
        # The features of the current state, if they were drawn afresh: the next step starts there.
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
        taken = self._take(self._capacity, as_count("count", count, 1, MOST_STEPS))
        self._capacity = max(_CAPACITY, len(taken) + len(taken) // 4)
        return taken

    def steps(self, count: int) -> Experience:
        """Draw the next steps; an unfinished episode continues in the next call.

        Parameters
        ----------
        count : int
            The number of steps.

        """
        return self._take(as_count("count", count, 1, MOST_STEPS), -1)

    def _take(self, capacity: int, episodes: int) -> Experience:
        """Draw `episodes` episodes, or `capacity` steps if that is −1; threads take turns."""
        with self._turn:
            return self._drawn(capacity, episodes)

    def _drawn(self, capacity: int, episodes: int) -> Experience:
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
            size=self._task.features.size,
            code_t=buffers.code_t[steps],
            code_tp1=buffers.code_tp1[steps],
            dense=dense,
            reward=buffers.reward[steps],
            discount_tp1=buffers.discount_tp1[steps],
            discount_t=buffers.discount_t[steps],
            is_first=buffers.is_first[steps],
            is_last=buffers.is_last[steps],
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

    def _remember(self, position: Position, vectors: Dense) -> None:
        """Remember where the take ended; fresh features there are held for the next take."""
        row = -1 - position.code
        fresh = position.state >= 0 and row >= len(self._fixed)
        self._held = vectors[row : row + 1].copy() if fresh else vectors[:0].copy()
        code = -1 - len(self._fixed) if fresh else position.code
        self._position = Position(position.state, code, position.is_first, 0)
