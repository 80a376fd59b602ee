"""CartPole and Acrobot with drop-outs, many at once and several times as quick.

They equal `DropObservations` on Gymnasium's environments, but for the random numbers. An episode
that ends is started again in the same step.
"""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from preftd._src.tasks import cartpole_kernel

Floats = NDArray[np.float64]
SECONDS, MOST_TURN = 0.2, np.array([4 * np.pi, 9 * np.pi])
acrobot: Any = gymnasium.make("Acrobot-v1").unwrapped


def step_cartpole(state: Floats, action: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Change states, shape (environments, 4); return which episodes terminate."""
    return np.array([cartpole_kernel.step(*pair) for pair in zip(state, action, strict=True)])


def step_acrobot(state: Floats, action: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Change states, shape (environments, 4), by one step of Runge and Kutta's method."""

    def slope(now: Floats) -> Floats:
        return np.array(acrobot._dsdt([*now.T, action - 1.0])[:4]).T

    one = slope(state)
    two = slope(state + SECONDS / 2 * one)
    three = slope(state + SECONDS / 2 * two)
    four = slope(state + SECONDS * three)
    state += SECONDS / 6 * (one + 2 * two + 2 * three + four)
    state[:, :2] = (state[:, :2] + np.pi) % (2 * np.pi) - np.pi
    state[:, 2:] = state[:, 2:].clip(-MOST_TURN, MOST_TURN)
    return -np.cos(state[:, 0]) - np.cos(state[:, 0] + state[:, 1]) > 1


def observe_acrobot(state: Floats) -> Floats:
    """Return observations, shape (environments, 6)."""
    cosine, sine = np.cos(state[:, :2]), np.sin(state[:, :2])
    turns = [cosine[:, 0], sine[:, 0], cosine[:, 1], sine[:, 1]]
    return np.column_stack([*turns, state[:, 2:]])


STEP = {"CartPole-v1": step_cartpole, "Acrobot-v1": step_acrobot}
OBSERVE = {"CartPole-v1": np.copy, "Acrobot-v1": observe_acrobot}
START = {"CartPole-v1": 0.05, "Acrobot-v1": 0.1}
LIMIT = 500


class QuickEnvironments:
    """Environments with the interface of Gymnasium's vector environments."""

    def __init__(self, task: str, number: int, dropped: float, deviation: Any, flag: int) -> None:
        plain = gymnasium.make(task)
        self.task, self.number, self.dropped, self.flag = task, number, dropped, flag
        self.deviation = np.asarray(deviation)
        size = plain.observation_space.shape[0] + flag
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (size,))
        self.single_action_space = plain.action_space

    def reset(self, seed: int) -> tuple[Floats, dict[str, Any]]:
        """Start all episodes."""
        self.rng = np.random.default_rng(seed)
        self.state = self._starts(self.number)
        self.steps = np.zeros(self.number, dtype=int)
        seen, real = self._shown()
        return seen, {"observable": real}

    def step(self, action: NDArray[np.int64]) -> tuple[Any, ...]:
        """Take an action in each; "final_obs" is what ended episodes showed last."""
        terminated = STEP[self.task](self.state, action)
        self.steps += 1
        truncated = (self.steps >= LIMIT) & ~terminated
        reward = (
            np.where(terminated, 0.0, -1.0) if self.task == "Acrobot-v1" else np.ones(self.number)
        )
        final, real = self._shown()
        seen, over = final.copy(), terminated | truncated
        if over.any():
            self.state[over], self.steps[over] = self._starts(int(over.sum())), 0
            fresh, fresh_real = self._shown()
            seen[over], real[over] = fresh[over], fresh_real[over]
        return seen, reward, terminated, truncated, {"observable": real, "final_obs": final}

    def close(self) -> None:
        """Nothing is open."""

    def _starts(self, number: int) -> Floats:
        most = START[self.task]
        return self.rng.uniform(-most, most, (number, 4))

    def _shown(self) -> tuple[Floats, NDArray[np.bool_]]:
        """What is seen, shape (environments, size), and whether it is real."""
        seen = OBSERVE[self.task](self.state)
        real = self.rng.random(self.number) >= self.dropped
        noise = self.rng.standard_normal(seen.shape) * self.deviation
        seen = np.where(real[:, None], seen, noise)
        return (np.column_stack([seen, real]) if self.flag else seen), real
