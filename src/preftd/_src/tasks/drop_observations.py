"""A Gymnasium wrapper that drops observations at known moments."""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    MOST_STEPS,
    InputError,
    as_array,
    as_count,
    as_flag,
    check_not_negative,
    instance,
    short,
    unit,
)

SHOWN = ("noise", "zeros", "stale")
"""What may replace an observation."""


@final
class DropObservations(
    gymnasium.Wrapper[NDArray[Any], Any, NDArray[Any], Any], RecordConstructorArgs
):
    """Replaces observations at random moments, which `info["observable"]` reports.

    Random numbers come from the environment, so `reset(seed=...)` determines them: one uniform
    number for each observation outside a burst, then its noise if it is dropped.

    Parameters
    ----------
    env : gymnasium.Env
        With a Box space of observations.
    dropped : float
        The probability, from 0 to 1, that an observation is dropped; with bursts, that a burst
        begins.
    shown : {"noise", "zeros", "stale"}
        The replacement: normal numbers of mean 0, zeros, or the previous observation. The first
        observation of an episode is never stale.
    deviation : float, or array of the shape of an observation
        The standard deviation of the noise.
    burst : int
        The number of observations in a row that are dropped together. A new episode ends a burst.
    flag : bool
        Whether the observation, which then has one axis, ends with a 1 if it is real and a 0 if it
        was dropped.

    Examples
    --------
    >>> environment = DropObservations(gymnasium.make("CartPole-v1"), dropped=1.0, shown="zeros")
    >>> observation, info = environment.reset(seed=0)
    >>> observation.tolist(), bool(info["observable"])
    ([0.0, 0.0, 0.0, 0.0], False)

    """

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        dropped: float = 0.5,
        *,
        shown: str = "noise",
        deviation: ArrayLike = 1.0,
        burst: int = 1,
        flag: bool = False,
    ) -> None:
        instance("env", env, gymnasium.Env, "a gymnasium.Env")
        space = env.observation_space
        if not isinstance(space, spaces.Box):
            raise InputError(f"the observations are {space}: drop those of a Box space.")
        super().__init__(env)
        self._dropped = unit("dropped", dropped)
        given: object = shown
        if not isinstance(given, str) or shown not in SHOWN:
            raise InputError(f"shown is {short(shown)}: give one of {', '.join(SHOWN)}.")
        self._shown, self._burst = shown, as_count("burst", burst, 1, MOST_STEPS)
        self._deviation = _deviation(deviation, space)
        self._flag = as_flag("flag", flag)
        if self._flag and (len(space.shape) != 1 or space.dtype.kind != "f"):
            raise InputError(
                f"the observations are {space}: leave out flag, or flatten them into floats first."
            )
        if shown == "noise" and space.dtype.kind != "f":
            raise InputError(
                f"the observations are {space.dtype}, which noise is not: give shown='zeros' or "
                "'stale', or turn them into floats first."
            )
        self._type = space.dtype
        self.observation_space = _space(space, shown, flag=self._flag)
        self._left, self._before = 0, np.zeros(space.shape, space.dtype)
        RecordConstructorArgs.__init__(  # so that env.spec can make it again
            self,
            dropped=self._dropped,
            shown=shown,
            deviation=self._deviation.tolist(),
            burst=self._burst,
            flag=self._flag,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._left = 0
        return self._seen(observation, info, first=True)

    def step(self, action: Any) -> tuple[NDArray[Any], Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self._seen(observation, info, first=False)
        return observation, reward, terminated, truncated, info

    def _seen(self, seen: Any, info: Any, *, first: bool) -> tuple[NDArray[Any], dict[str, Any]]:
        if self._left == 0 and self.unwrapped.np_random.random() < self._dropped:
            self._left = self._burst
        observable = self._left == 0 or (first and self._shown == "stale")
        self._left = max(self._left - 1, 0)
        observation = np.array(seen) if observable else self._instead()
        self._before = observation
        if self._flag:
            observation = np.append(observation, self._type.type(observable))
        return observation, {**info, "observable": np.bool_(observable)}  # as TorchRL reads it

    def _instead(self) -> NDArray[Any]:
        """The replacement of an observation."""
        if self._shown == "stale":
            return self._before.copy()
        if self._shown == "zeros":
            return np.zeros_like(self._before)
        normal = self.unwrapped.np_random.standard_normal(self._deviation.shape)
        return np.asarray(normal * self._deviation + 0.0).astype(self._type)  # no −0


def _deviation(given: ArrayLike, space: spaces.Box) -> NDArray[np.float64]:
    """The standard deviations of noise, in the shape of an observation."""
    spread = as_array("deviation", given)
    check_not_negative("deviation", spread)
    if spread.shape not in ((), space.shape):
        raise InputError(
            f"deviation has shape {spread.shape} but observations have {space.shape}: give one "
            "number, or one for each of theirs."
        )
    return np.broadcast_to(spread, space.shape)


def _space(space: spaces.Box, shown: str, *, flag: bool) -> spaces.Box:
    """The space of observations."""
    low, high = space.low, space.high
    if shown == "noise":
        low, high = np.full_like(low, -np.inf), np.full_like(high, np.inf)
    elif shown == "zeros":
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    if flag:
        low, high = np.append(low, low.dtype.type(0)), np.append(high, high.dtype.type(1))
    return spaces.Box(low, high, dtype=space.dtype.type)
