"""A Gymnasium wrapper that drops observations at times."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray

from preftd.arrays import InputError, as_array, check_not_negative, short, unit


@final
class DropOuts(gymnasium.Wrapper[NDArray[Any], Any, NDArray[Any], Any]):
    """Replaces each observation with probability `dropped` by normal noise of mean 0, or by zeros.

    `info["observable"]` says whether the observation is a real one. Random numbers are those of the
    environment: one uniform number for each observation, then its noise if it is dropped.

    Parameters
    ----------
    environment : gymnasium.Env
        With a Box space of observations.
    dropped : float
        The probability, from 0 to 1.
    deviation : float, or array of the shape of an observation
        The standard deviation of the noise; 0 shows zeros.

    Examples
    --------
    >>> environment = DropOuts(gymnasium.make("CartPole-v1"), dropped=1.0, deviation=0.0)
    >>> observation, info = environment.reset(seed=0)
    >>> observation.tolist(), info["observable"]
    ([0.0, 0.0, 0.0, 0.0], False)

    """

    def __init__(
        self, environment: gymnasium.Env[Any, Any], dropped: float, deviation: ArrayLike
    ) -> None:
        if not isinstance(environment, gymnasium.Env):
            raise InputError(f"environment is {short(environment)}: give a gymnasium.Env.")
        space = environment.observation_space
        if not isinstance(space, spaces.Box):
            raise InputError(f"the observations are {space}: drop those of a Box space.")
        super().__init__(environment)
        self._dropped = unit("dropped", dropped)
        spread = as_array("deviation", deviation)
        check_not_negative("deviation", spread)
        if spread.shape not in ((), space.shape):
            raise InputError(
                f"deviation has shape {spread.shape} but observations have {space.shape}: give one "
                "number, or one for each of theirs."
            )
        if spread.any() and space.dtype.kind != "f":
            raise InputError(
                f"the observations are {space.dtype}, which noise is not: give deviation=0, or "
                "turn them into floats first."
            )
        self._deviation = np.broadcast_to(spread, space.shape)
        self._type = space.dtype
        low: Any = -np.inf
        high: Any = np.inf
        if space.dtype.kind != "f":  # only zeros are seen instead, and integers are not infinite
            low, high = np.minimum(space.low, 0), np.maximum(space.high, 0)
        self.observation_space = spaces.Box(low, high, space.shape, space.dtype.type)

    def reset(self, **options: Any) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(**options)
        return self._seen(observation, info)

    def step(self, action: Any) -> tuple[NDArray[Any], Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self._seen(observation, info)
        return observation, reward, terminated, truncated, info

    def _seen(self, observation: Any, info: Any) -> tuple[NDArray[Any], dict[str, Any]]:
        rng = self.unwrapped.np_random
        observable = bool(rng.random() >= self._dropped)
        if not observable:
            noise = rng.standard_normal(self._deviation.shape) * self._deviation + 0.0  # no −0
            observation = noise.astype(self._type)
        return observation, {**info, "observable": observable}
