"""Tasks as Gymnasium environments, built from the same table of outcomes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from preftd._src.arrays import InputError, as_count, short
from preftd._src.names import nearest
from preftd._src.tasks.catalogue import make
from preftd._src.tasks.outcomes import first_rows
from preftd._src.tasks.task import Task

if TYPE_CHECKING:
    from preftd._src.tasks.picture import Frames


@final
class TaskEnvironment(gymnasium.Env[NDArray[np.float64], np.int64]):
    """A task as an environment, whose observations are features of shape (features,).

    `info` has the state, whether it is observable, and its true value. After the end of an episode
    the state is −1, not observable, and its value 0.

    Parameters
    ----------
    task : Task or str
        A task, or the name of one in `TASKS`.
    render_mode : {"rgb_array"}, optional
        Whether `render` draws.
    **parameters
        Parameters of a task that is given by name.

    Examples
    --------
    >>> import gymnasium, preftd
    >>> environment = gymnasium.make("preftd/Corridor-v0", length=10)
    >>> observation, info = environment.reset(seed=0)
    >>> info
    {'state': 0, 'observable': True, 'value': 0.5}

    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 4}  # noqa: RUF012  (as Gymnasium's)

    def __init__(
        self, task: Task | str, *, render_mode: str | None = None, **parameters: Any
    ) -> None:
        if render_mode is not None:
            nearest("render mode", render_mode, self.metadata["render_modes"])
        self.render_mode = render_mode
        if isinstance(task, str):
            task = make(task, **parameters)
        elif not isinstance(task, Task):
            raise InputError(f"task is {short(task)}: give a task, or the name of one.")
        elif parameters:
            raise InputError(
                f"parameters ({', '.join(parameters)}) are for a task given by name: omit them."
            )
        self.task = task
        outcomes, features = self.task.outcomes, self.task.features
        self.action_space = spaces.Discrete(outcomes.actions)
        self.observation_space = spaces.Box(-np.inf, np.inf, (features.size,), dtype=np.float64)
        self._fixed, self._shown, self._fresh = features.codes()
        self._first = first_rows(outcomes)
        self._state = -1

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float64], dict[str, Any]]:
        """Start an episode."""
        checked = None if seed is None else as_count("seed", seed, 0)
        super().reset(seed=checked, options=options)
        self._state = int(self.np_random.choice(self.task.states, p=self.task.start))
        return self._see(), self._info()

    def step(
        self, action: np.int64
    ) -> tuple[NDArray[np.float64], float, bool, bool, dict[str, Any]]:
        """Take an action; the observation after the end of an episode is zeros."""
        if self._state < 0:
            raise InputError("no episode has started, or it has ended: call reset first.")
        if not self.action_space.contains(action):
            given: object = action
            shown = given.item() if isinstance(given, np.generic) else given
            raise InputError(
                f"action is {short(shown)}: give a whole number from 0 to "
                f"{self.task.outcomes.actions - 1}."
            )
        outcomes = self.task.outcomes
        pair = self._state * outcomes.actions + int(action)
        rows = slice(self._first[pair], self._first[pair + 1])
        chances = np.cumsum(outcomes.probability[rows])
        chosen = np.searchsorted(chances[:-1], self.np_random.random(), side="right")
        row = int(self._first[pair] + chosen)
        reward = float(outcomes.reward[row])
        if outcomes.spread[row] > 0:
            reward += float(outcomes.spread[row] * self.np_random.standard_normal())
        ends = bool(outcomes.ends[row])
        self._state = -1 if ends else int(outcomes.next_state[row])
        return self._see(), reward, ends, False, self._info()

    def render(self) -> NDArray[np.uint8] | None:
        """Draw the task with its current state marked.

        Returns
        -------
        array of uint8, shape (height, width, 3)
            None unless the render mode is "rgb_array".

        """
        return None if self.render_mode is None else self._frames.of(self._state)

    @cached_property
    def _frames(self) -> Frames:
        """Pictures of the task, whose background is drawn once."""
        from preftd._src.tasks.picture import Frames  # noqa: PLC0415  (matplotlib)

        return Frames(self.task)

    def _see(self) -> NDArray[np.float64]:
        """The features of the current state."""
        state, seen = self._state, np.zeros(self.task.features.size)
        if state < 0:
            return seen
        if self._fresh[state]:
            visit = np.array([state], dtype=np.int32)
            self.task.features.draw(visit, self.np_random, seen[None, :])
        elif self._shown[state] >= 0:
            seen[self._shown[state]] = 1.0
        else:
            seen[:] = self._fixed[-1 - self._shown[state]]
        return seen

    def _info(self) -> dict[str, Any]:
        """The current state, whether it is observable, and its true value."""
        state, ended = self._state, self._state < 0
        return {
            "state": state,
            "observable": not ended and bool(self.task.observable[state]),
            "value": 0.0 if ended else float(self.task.values[state]),
        }
