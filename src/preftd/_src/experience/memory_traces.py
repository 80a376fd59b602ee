"""Memory traces: exponential averages of observations (Eberhard, Muehlebach and Vernade, 2025).

z_t = λ z_{t−1} + (1 − λ) x_t          z = 0 before an episode starts
"""

from __future__ import annotations

from typing import Any, final

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs
from numpy.typing import ArrayLike, NDArray

from preftd._src.arrays import (
    InputError,
    Vector,
    as_array,
    as_flags,
    check_unit_interval,
    instance,
    vector_of,
)


def memory_traces(observations: ArrayLike, is_first: ArrayLike, decays: ArrayLike) -> Vector:
    """Return the memory traces of a stream, for a log; `MemoryTraces` is for environments.

    Parameters
    ----------
    observations : array of shape (steps, n)
    is_first : array of shape (steps,)
        Whether an episode starts there.
    decays : array of shape (k,)
        λ of each trace, from 0 to 1. With 0, it is the observation itself.

    Returns
    -------
    array of shape (steps, k·n)
        The traces of the first λ, then those of the second, …

    Examples
    --------
    >>> memory_traces([[4.0], [0.0], [0.0]], is_first=[True, False, False], decays=[0, 0.5])
    array([[4. , 2. ],
           [0. , 1. ],
           [0. , 0.5]])

    """
    rows = as_array("observations", observations)
    if rows.ndim != 2:
        raise InputError(f"observations has shape {rows.shape}: give one row for each step.")
    starts = as_flags("is_first", vector_of("is_first", is_first, len(rows)))
    shares = _decays(decays)
    traces = np.zeros((len(rows), shares.size, rows.shape[1]))
    last = np.zeros(traces.shape[1:])
    for t, (row, start) in enumerate(zip(rows, starts, strict=True)):
        traces[t] = last = _after(0 * last if start else last, row, shares)
    return traces.reshape(len(rows), -1)


@final
class MemoryTraces(gymnasium.Wrapper[NDArray[Any], Any, NDArray[Any], Any], RecordConstructorArgs):
    """Replaces observations by exponential averages over an episode.

    Parameters
    ----------
    env : gymnasium.Env
        With a Box space of observations, which are flattened.
    decays : array of shape (k,)
        λ of each average, from 0 to 1. With 0, it is the observation itself.

    Examples
    --------
    >>> environment = MemoryTraces(gymnasium.make("CartPole-v1"), decays=[0.0, 0.5, 0.9])
    >>> environment.reset(seed=0)[0].shape
    (12,)

    """

    def __init__(self, env: gymnasium.Env[Any, Any], decays: ArrayLike = (0.0, 0.5, 0.9)) -> None:
        instance("env", env, gymnasium.Env, "a gymnasium.Env")
        space = env.observation_space
        if not isinstance(space, spaces.Box):
            raise InputError(
                f"the observations are {space}: wrap the environment in "
                "gymnasium.wrappers.FlattenObservation first."
            )
        super().__init__(env)
        self._decays = _decays(decays)
        copies = self._decays.size
        self._type = np.dtype(np.float64 if space.dtype == np.float64 else np.float32)
        self.observation_space = spaces.Box(  # averages start at 0
            np.tile(np.minimum(space.low.ravel(), 0), copies).astype(self._type),
            np.tile(np.maximum(space.high.ravel(), 0), copies).astype(self._type),
            dtype=self._type.type,
        )
        self._nothing = np.zeros((copies, space.low.size))
        self._traces = self._nothing
        RecordConstructorArgs.__init__(self, decays=self._decays.tolist())

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Start an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._traces = self._nothing
        return self._shown(observation), info

    def step(self, action: Any) -> tuple[NDArray[Any], Any, bool, bool, dict[str, Any]]:
        """Take an action."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._shown(observation), reward, terminated, truncated, info

    def _shown(self, observation: ArrayLike) -> NDArray[Any]:
        self._traces = _after(self._traces, as_array("observation", observation), self._decays)
        return self._traces.ravel().astype(self._type)


def _after(traces: Vector, observation: Vector, decays: Vector) -> Vector:
    """The traces after an observation, shape (k, n)."""
    kept = decays[:, None]
    return np.asarray(kept * traces + (1 - kept) * observation.ravel())


def _decays(given: ArrayLike) -> Vector:
    decays = as_array("decays", given)
    if decays.ndim != 1 or not decays.size:
        raise InputError(f"decays has shape {decays.shape}: give a list of numbers, such as [0.9].")
    check_unit_interval("decays", decays)
    return decays
