"""Transitions of vector environments, whichever way these reset themselves.

NEXT_STEP  the step after the end of an episode only resets: that stream has no transition then
SAME_STEP  the step that ends an episode shows the first observation of the next one, and the final
           one in `infos["final_obs"]`
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from preftd.arrays import InputError, as_count, short


class VectorStep(NamedTuple):
    """One step of a vector environment; arrays have an entry or a row for each stream."""

    observation: NDArray[Any]
    action: Any
    reward: NDArray[Any]
    next_observation: NDArray[Any]
    """What the action led to; the final observation where an episode ends."""
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    active: NDArray[np.bool_]
    """False where a stream was only reset: it has no transition in this step."""
    infos: dict[str, Any]
    """What came with `observation`."""


def vector_steps(
    environments: VectorEnv[Any, Any, Any],
    policy: Callable[[Any], Any],
    steps: int,
    seed: int | None = None,
) -> Iterator[VectorStep]:
    """Return an iterator over the steps of a vector environment, which is reset first.

    Parameters
    ----------
    environments : gymnasium.vector.VectorEnv
        With observations in one array, and `AutoresetMode` NEXT_STEP or SAME_STEP.
    policy : callable
        policy(observations) gives the actions.
    steps : int
        How many steps of all streams together.
    seed : int, optional
        Of the reset.

    Examples
    --------
    >>> import gymnasium
    >>> environments = gymnasium.make_vec("preftd/Corridor-v0", num_envs=2, length=3)
    >>> found = list(vector_steps(environments, lambda _: np.zeros(2, dtype=int), 5, seed=0))
    >>> [step.active.tolist() for step in found][-2:]
    [[True, True], [False, False]]

    """
    count = as_count("steps", steps)
    if seed is not None:
        seed = as_count("seed", seed, 0)
    if not callable(policy):
        raise InputError(f"policy is {short(policy)}: give a function of observations.")
    if not isinstance(environments, VectorEnv):
        raise InputError(
            f"environments is {short(environments)}: give a vector environment of Gymnasium."
        )
    mode = environments.metadata.get("autoreset_mode")
    if mode not in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        raise InputError(
            f"the environments have autoreset_mode {mode}: make them with NEXT_STEP or SAME_STEP."
        )
    return _steps(environments, policy, count, seed, mode)


def _steps(
    environments: VectorEnv[Any, Any, Any],
    policy: Callable[[Any], Any],
    count: int,
    seed: int | None,
    mode: AutoresetMode,
) -> Iterator[VectorStep]:
    observation, infos = environments.reset(seed=seed)
    observation = _array(observation)
    resets = np.zeros(environments.num_envs, dtype=bool)
    for _ in range(count):
        action = policy(observation)
        following, reward, terminated, truncated, next_infos = environments.step(action)
        following = _array(following)
        ended = np.asarray(terminated | truncated)
        shown = following
        if mode is AutoresetMode.SAME_STEP and ended.any():
            shown = following.copy()
            for i in np.flatnonzero(ended):
                shown[i] = next_infos["final_obs"][i]
        flags = (np.array(terminated), np.array(truncated), ~resets)
        yield VectorStep(observation, action, np.array(reward), shown, *flags, infos)
        if mode is AutoresetMode.NEXT_STEP:
            resets = ended
        observation, infos = following, next_infos


def _array(given: Any) -> NDArray[Any]:
    """Observations as an array of their own: some environments write to it again."""
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "biuf":
        raise InputError(
            f"the observations are {short(given)}: use environments that show arrays of numbers."
        )
    return given.copy()
