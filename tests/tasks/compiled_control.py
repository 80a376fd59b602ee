"""A compiled control task, called as an environment."""

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.tasks.control_kernel import reset_kernel, step_kernel
from preftd.tasks import CartPole, CartPoleDropOuts, ControlTask


class Compiled:
    """The kernels of a task with their buffers."""

    def __init__(
        self, task: CartPole | CartPoleDropOuts | ControlTask, rng: np.random.Generator
    ) -> None:
        self.tables, self.rng = task.tables, rng
        self.state, self.observation = np.empty(task.state_size), np.empty(task.observation_size)
        self.seen = np.empty(2, np.int64)

    def reset(self) -> Vector:
        """Start an episode; returns the observation."""
        reset_kernel(self.tables, self.rng, self.state, self.observation, self.seen)
        return self.observation.copy()

    def step(self, action: int) -> tuple[Vector, float, bool]:
        """Take an action; returns observation, reward and whether the episode ended."""
        reward, ended = step_kernel(
            self.tables, self.rng, self.state, action, self.observation, self.seen
        )
        return self.observation.copy(), reward, ended
