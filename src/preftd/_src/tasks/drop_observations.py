"""A Gymnasium wrapper that drops observations at known moments."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, final

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

KEPT = 1000
"""The most observations of an episode that are stored."""


class Kind(NamedTuple):
    """A kind of failure."""

    seen: Callable[[DropObservations], NDArray[Any] | None]
    """What is seen instead; None if there is no replacement yet; the observation is then seen."""
    reach: tuple[float, float] | None = None
    """The smallest and largest number that it shows, if the space may be narrower."""
    remembers: bool = False
    """Whether it needs the observations of this and the last episode."""


def _noise(one: DropObservations) -> NDArray[Any]:
    normal = one.unwrapped.np_random.standard_normal(one._deviation.shape)
    return np.asarray(normal * one._deviation + 0.0).astype(one._type)  # no −0


def _stale(one: DropObservations) -> NDArray[Any] | None:
    return one._before


def _delayed(one: DropObservations) -> NDArray[Any] | None:
    return one._past[max(len(one._past) - 1 - one._burst, 0)] if len(one._past) > 1 else None


def _misleading(one: DropObservations) -> NDArray[Any] | None:
    if one._begins or not one._stretch:
        one._stretch = [*one._last_episode] or [*one._past][:-1]
        starts = max(len(one._stretch) - one._burst, 0) + 1
        del one._stretch[: one.unwrapped.np_random.integers(starts)]
    if len(one._stretch) > 1:
        return one._stretch.pop(0)
    return one._stretch[0] if one._stretch else None


SHOWN = {
    "noise": Kind(_noise, reach=(-np.inf, np.inf)),
    "zeros": Kind(lambda one: np.zeros_like(one._past[-1]), reach=(0.0, 0.0)),
    "stale": Kind(_stale),
    "delayed": Kind(_delayed, remembers=True),
    "misleading": Kind(_misleading, remembers=True),
}
"""What may replace an observation."""


@final
class DropObservations(
    gymnasium.Wrapper[NDArray[Any], Any, NDArray[Any], Any], RecordConstructorArgs
):
    """Replaces observations at random moments, which `info["observable"]` reports.

    Random numbers come from the environment, so `reset(seed=...)` determines them: one uniform
    number for each observation outside a burst, then those of the burst, then its noise.

    Parameters
    ----------
    env : gymnasium.Env
        With a Box space of observations.
    dropped : float
        The probability, from 0 to 1, that an observation is dropped; with bursts, that one begins.
    shown : {"noise", "zeros", "stale", "delayed", "misleading"}
        The replacement: normal numbers of mean 0; zeros; the previous observation, as if the sensor
        were frozen; the observation `burst` steps ago, or the first of the episode; or a stretch of
        observations from a random moment of the last episode (of this one, during the first). The
        first observation of an episode is never stale or delayed.
    deviation : float, or array of the shape of an observation
        The standard deviation of the noise.
    burst : int
        The number of observations in a row that are dropped together. A new episode ends a burst.
    random_burst : bool
        Whether the length of each burst is random with mean `burst`: a burst then ends with
        probability 1 / `burst` at each step.
    entries : int, optional
        The number of entries of an observation that are replaced, drawn for each burst (default:
        all).
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
        random_burst: bool = False,
        entries: int | None = None,
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
        self._kind, self._burst = SHOWN[shown], as_count("burst", burst, 1, MOST_STEPS)
        self._random = as_flag("random_burst", random_burst)
        size = int(np.prod(space.shape))
        self._entries = None if entries is None else as_count("entries", entries, 1, size)
        self._deviation = _deviation(deviation, space)
        self._flag = as_flag("flag", flag)
        if self._flag and (len(space.shape) != 1 or space.dtype.kind != "f"):
            raise InputError(
                f"the observations are {space}: leave out flag, or flatten them into floats first."
            )
        if shown == "noise" and space.dtype.kind != "f":
            raise InputError(
                f"the observations are {space.dtype}, which noise is not: give another shown, such "
                "as 'zeros', or turn them into floats first."
            )
        self._type = space.dtype
        self.observation_space = _space(space, self._kind.reach, flag=self._flag)
        self._left, self._begins = 0, False
        self._hidden: NDArray[np.bool_] | bool = True
        self._before: NDArray[Any] | None = None
        self._past: deque[NDArray[Any]] = self._no_past()
        self._last_episode = self._past
        self._stretch: list[NDArray[Any]] = []
        RecordConstructorArgs.__init__(  # so that env.spec can make it again
            self,
            dropped=self._dropped,
            shown=shown,
            deviation=self._deviation.tolist(),
            burst=self._burst,
            random_burst=self._random,
            entries=self._entries,
            flag=self._flag,
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._left, self._before = 0, None
        # What follows a seed does not depend on what was before it.
        self._last_episode = self._past if seed is None else self._no_past()
        self._past = self._no_past()
        return self._seen(observation, info)

    def step(self, action: Any) -> tuple[NDArray[Any], Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        observation, info = self._seen(observation, info)
        return observation, reward, terminated, truncated, info

    def _seen(self, seen: Any, info: Any) -> tuple[NDArray[Any], dict[str, Any]]:
        observation = np.array(seen)
        self._past.append(observation)
        self._begins = self._left == 0 and self.unwrapped.np_random.random() < self._dropped
        if self._begins:
            self._begin_burst()
        instead = self._kind.seen(self) if self._left > 0 else None
        self._left = max(self._left - 1, 0)
        if instead is not None:
            observation = np.where(self._hidden, instead, observation)
        self._before = observation
        if self._flag:
            observation = np.append(observation, self._type.type(instead is None))
        return observation, {**info, "observable": np.bool_(instead is None)}  # as TorchRL reads it

    def _begin_burst(self) -> None:
        """Draw the length of a burst, and the entries that it replaces."""
        rng = self.unwrapped.np_random
        self._left = int(rng.geometric(1 / self._burst)) if self._random else self._burst
        if self._entries is not None:
            hidden = np.arange(self._past[-1].size) < self._entries
            self._hidden = rng.permutation(hidden).reshape(self._past[-1].shape)

    def _no_past(self) -> deque[NDArray[Any]]:
        """An empty buffer for observations."""
        return deque(maxlen=max(KEPT, self._burst + 1) if self._kind.remembers else 1)


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


def _space(space: spaces.Box, reach: tuple[float, float] | None, *, flag: bool) -> spaces.Box:
    """The space of observations."""
    low, high = space.low, space.high
    if reach is not None:
        low, high = (
            np.minimum(low, low.dtype.type(reach[0])),
            np.maximum(high, high.dtype.type(reach[1])),
        )
    if flag:
        low, high = np.append(low, low.dtype.type(0)), np.append(high, high.dtype.type(1))
    return spaces.Box(low, high, dtype=space.dtype.type)
