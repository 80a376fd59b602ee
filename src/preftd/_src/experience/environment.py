"""Recorders: experience from any Gymnasium environment and a policy.

A recorder continues where it stopped: two takes of 50 steps equal one of 100. Vector environments
give one stream per environment, in all three autoreset modes of Gymnasium:

    next step   the call after an episode's last step only resets, so it is not recorded
    same step   the last step also resets; its observation is in `info["final_obs"]`
    disabled    the recorder resets the environments whose episodes have ended
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from gymnasium import Env, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from preftd._src.arrays import InputError, as_count, short
from preftd._src.experience.encoders import Encoder, Identity, OneHot
from preftd._src.experience.indices import LARGEST
from preftd._src.experience.stream import Experience
from preftd._src.experience.writer import Writer


class Predictor(Protocol):
    """A policy in the style of Stable-Baselines3."""

    def predict(self, observation: Any) -> tuple[Any, Any]:
        """Return the action for an observation, and the state of the policy."""


Policy: TypeAlias = Callable[[Any], Any] | Predictor
"""A function from an observation to an action (for vector environments, from all to all)."""


@final
class Recorder:
    """Record experience from one environment.

    Parameters
    ----------
    environment : gymnasium.Env
    policy : callable, or object with `predict`
        Turns an observation into an action.
    discount : float
        The discount of each step that does not terminate.
    encoder : Encoder, optional
        Turns observations into features (default: one-hot for Discrete spaces, the observation
        itself for Box spaces).
    seed : int, optional
        Passed to the first reset.

    Examples
    --------
    >>> import gymnasium
    >>> recorder = Recorder(gymnasium.make("CartPole-v1"), lambda x: int(x[2] > 0), discount=0.99)
    >>> len(recorder.take(100))
    100

    """

    def __init__(
        self,
        environment: Env[Any, Any],
        policy: Policy,
        *,
        discount: float,
        encoder: Encoder | None = None,
        seed: int | None = None,
    ) -> None:
        if not isinstance(environment, Env):
            raise InputError(
                f"environment is {short(environment)}: give a gymnasium.Env, such as "
                'gymnasium.make("CartPole-v1").'
            )
        self._environment, self._act = environment, _acting(policy)
        if encoder is None:
            encoder = encoder_for(environment.observation_space)
        self._writer = Writer(encoder, discount)
        self._seed = _as_seed(seed)
        self._fresh = True
        self._observation: Any = None

    def take(self, steps: int) -> Experience:
        """Record the next steps; an unfinished episode continues in the next take.

        Parameters
        ----------
        steps : int

        Returns
        -------
        Experience
            Of length `steps`.

        """
        for _ in range(as_count("steps", steps, 0, LARGEST)):
            if self._fresh:
                self._observation, info = self._environment.reset(seed=self._seed)
                self._seed, self._fresh = None, False
                self._writer.begin(self._observation, info)
            action = self._act(self._observation)
            seen, reward, terminated, truncated, info = self._environment.step(action)
            self._writer.step(action, reward, seen, terminated, truncated, info)
            self._observation, self._fresh = seen, bool(terminated or truncated)
        return self._writer.take()


@final
class VectorRecorder:
    """Record experience from the environments of a vector environment, one stream for each.

    Parameters
    ----------
    environments : gymnasium.vector.VectorEnv
    policy : callable, or object with `predict`
        Turns the observations of all environments into their actions.
    discount, encoder, seed
        As for `Recorder`.

    """

    def __init__(
        self,
        environments: VectorEnv[Any, Any, Any],
        policy: Policy,
        *,
        discount: float,
        encoder: Encoder | None = None,
        seed: int | None = None,
    ) -> None:
        if not isinstance(environments, VectorEnv):
            raise InputError(
                f"environments is {short(environments)}: give a gymnasium.vector.VectorEnv, such "
                'as gymnasium.make_vec("CartPole-v1", num_envs=4).'
            )
        self._environments, self._act = environments, _acting(policy)
        self._mode = _autoreset_mode(environments)
        if encoder is None:
            encoder = encoder_for(environments.single_observation_space)
        self._writers = [Writer(encoder, discount) for _ in range(environments.num_envs)]
        self._over = np.zeros(environments.num_envs, dtype=np.bool_)
        self._observations, info = environments.reset(seed=_as_seed(seed))
        for i, writer in enumerate(self._writers):
            writer.begin(self._observations[i], info_of(info, i))

    def take(self, calls: int) -> list[Experience]:
        """Record the next calls of `step`; unfinished episodes continue in the next take.

        Parameters
        ----------
        calls : int
            How often `step` is called.

        Returns
        -------
        list of Experience
            One stream for each environment.

        """
        for _ in range(as_count("calls", calls, 0, LARGEST)):
            if self._mode is AutoresetMode.DISABLED and self._over.any():
                self._reset(self._over)
            actions = self._act(self._observations)
            seen, rewards, terminated, truncated, info = self._environments.step(actions)
            ended = terminated | truncated
            for i, writer in enumerate(self._writers):
                if self._mode is AutoresetMode.NEXT_STEP and self._over[i]:
                    writer.begin(seen[i], info_of(info, i))
                    continue
                reset_at_once = self._mode is AutoresetMode.SAME_STEP and ended[i]
                last = info["final_obs"][i] if reset_at_once else seen[i]
                writer.step(
                    actions[i], rewards[i], last, terminated[i], truncated[i], info_of(info, i)
                )
                if reset_at_once:
                    writer.begin(seen[i], info_of(info, i))
            self._observations = seen
            self._over = ended & (self._mode is not AutoresetMode.SAME_STEP)
        return [writer.take() for writer in self._writers]

    def _reset(self, over: NDArray[np.bool_]) -> None:
        """Reset the environments whose episodes have ended."""
        self._observations, info = self._environments.reset(options={"reset_mask": over})
        for i in np.flatnonzero(over):
            self._writers[i].begin(self._observations[i], info_of(info, int(i)))


def encoder_for(space: spaces.Space[Any]) -> Encoder:
    """Return the default encoder: one-hot for Discrete spaces, the identity for Box spaces."""
    if isinstance(space, spaces.Discrete) and space.start == 0:
        return OneHot(int(space.n))
    if isinstance(space, spaces.Box):
        return Identity(int(np.prod(space.shape)))
    raise InputError(f"there is no default encoder for {space}: give one as encoder=.")


def _as_seed(given: int | None) -> int | None:
    """A seed as Gymnasium takes it."""
    return None if given is None else as_count("seed", given, 0)


def _autoreset_mode(environments: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """When the environments reset."""
    try:
        return AutoresetMode(environments.metadata["autoreset_mode"])
    except (KeyError, ValueError):
        raise InputError(
            "the environments do not say when they reset: set metadata['autoreset_mode'] to a "
            "gymnasium.vector.AutoresetMode."
        ) from None


def _acting(policy: Policy) -> Callable[[Any], Any]:
    """A function from observations to actions, from either kind of policy."""
    predict = getattr(policy, "predict", None)
    if predict is not None:
        return lambda observation: predict(observation)[0]
    if callable(policy):
        return policy
    raise InputError("policy is neither callable nor has .predict: give a function or an agent.")


def info_of(info: Mapping[str, Any], i: int) -> dict[str, Any]:
    """The entries of a vector environment's info that belong to environment i."""
    return {
        key: info[key][i]
        for key in ("state", "observable")
        if key in info and info.get(f"_{key}", np.ones(i + 1, dtype=np.bool_))[i]
    }
