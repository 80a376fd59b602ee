"""Environments that show their own β, so that what a buffer stores can be checked."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class OwnBeta(gymnasium.Env[Any, Any]):
    """Shows (random number, β); episodes terminate at random, or are truncated after 7 steps."""

    action_space = spaces.Discrete(2)
    observation_space: spaces.Space[Any] = spaces.Box(-9, 9, (2,), np.float32)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._step = 0
        return self._show()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._step += 1
        observation, info = self._show()
        terminated = bool(self.np_random.random() < 0.1)
        reward = float(self.np_random.normal() + int(action))
        return observation, reward, terminated, self._step == 7, info

    def _show(self) -> tuple[Any, dict[str, Any]]:
        beta = float(self.np_random.choice([0.0, 0.0, 0.25, 1.0]))
        shown = np.array([self.np_random.normal(), beta], np.float32)
        return self._form(shown), {"trust": beta, "observable": beta > 0, "dt": self._time()}

    def _time(self) -> float:
        """How long the step took."""
        return 0.5 * (self._step % 4)

    def _form(self, shown: Any) -> Any:
        return shown

    def action_masks(self) -> list[bool]:
        """Which actions are allowed, for PPO with masks."""
        return [True, self._step % 3 > 0]


class OwnBetaOnTime(OwnBeta):
    """The same, where each step takes the time 1."""

    def _time(self) -> float:
        return 1.0


class OwnBetaInDictionary(OwnBeta):
    """The same, as a dictionary."""

    observation_space = spaces.Dict({"all": OwnBeta.observation_space})

    def _form(self, shown: Any) -> Any:
        return {"all": shown}
