"""Recorders: experience from any Gymnasium environment and a policy.

A recorder continues where it stopped: two takes of 50 steps equal one of 100. Vector environments
give one stream per environment, in all three autoreset modes of Gymnasium:

    next step   the call after an episode's last step only resets, so it is not recorded
    same step   the last step also resets; its observation is in `info["final_obs"]`
    disabled    the recorder resets the environments whose episodes have ended
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, final

import numpy as np
from gymnasium import Env, spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray

from preftd._src.arrays import InputError, as_array, as_count, as_flag, number, short, unit, whole
from preftd._src.experience.encoders import Encoder, Identity, OneHot
from preftd._src.experience.indices import LARGEST, Indices, as_indices
from preftd._src.experience.stream import RECORDED, Experience


@final
class Writer:
    """Collects the steps of one stream; `take` returns them and continues where they ended."""

    def __init__(self, encoder: Encoder, discount: float) -> None:
        given: object = encoder
        if not callable(given) or not hasattr(given, "size"):
            raise InputError(
                f"encoder is {short(encoder)}: give one, such as Identity(size=4), or a callable "
                "with a size."
            )
        self._size = as_count("size of the encoder", encoder.size, 1, LARGEST)
        self._encoder, self._discount = encoder, unit("discount", discount)
        self._discount_t, self._is_first = 0.0, True
        self._before: tuple[float, int | None, float | None] = (0.0, None, None)
        self._now: tuple[Any, Mapping[str, Any]] = (None, {})
        self._pending = False
        self._ones: int | None = None
        self._clear()

    def _clear(self) -> None:
        """Start an empty take."""
        self._rows: list[NDArray[np.float64]] = []
        self._indices: list[NDArray[np.int32]] = []
        self._steps: list[tuple[int, int, float, float, float, bool, bool]] = []
        self._actions: list[int | None] = []
        self._reward_before, self._action_before, self._reward_end = self._before
        self._seen: list[Any] = []
        self._infos: list[Mapping[str, Any]] = []

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Start an episode with this observation."""
        self._discount_t, self._is_first = 0.0, True
        self._see(observation, info)
        self._pending = True

    def step(
        self,
        action: Any,
        reward: Any,
        seen: Any,
        terminated: Any,
        truncated: Any,
        info: Mapping[str, Any],
    ) -> None:
        """Record an action taken at the last observation, its reward and what was seen next.

        Everything is checked first: a step that is refused changes nothing.
        """
        code, (observation, own_info) = self._code, self._now
        chosen = as_action(action)
        if not (isinstance(reward, float) and math.isfinite(reward)):  # else it takes long to check
            reward = number("reward", reward)
        discount = 0.0 if as_flag("terminated", terminated) else self._discount
        ends = as_flag("truncated", truncated) or bool(terminated)
        self._see(seen, info)
        self._actions.append(chosen)
        self._infos.append(own_info)
        self._seen.append(observation)
        self._steps.append(
            (code, self._code, reward, discount, self._discount_t, self._is_first, ends)
        )
        self._discount_t, self._is_first = discount, False
        end = reward if ends and discount == 0 else None
        self._before = (0.0, None, end) if ends else (reward, chosen, None)
        self._pending = not ends

    def take(self) -> Experience:
        """Return the steps recorded since the last take."""
        columns = list(zip(*self._steps, strict=True)) or [()] * len(RECORDED)
        recorded: Any = dict(zip(RECORDED, map(np.array, columns), strict=True))
        taken = Experience(
            **recorded,
            size=self._size,
            dense=np.array(self._rows).reshape(-1, self._size),
            active=self._active(),
            state=_all_known([state_of(info) for info in self._infos]),
            observable=_observable(self._infos),
            observation=self._raw(),
            action=_all_known(self._actions),
            reward_before=self._reward_before,
            action_before=self._action_before,
            reward_end=self._reward_end,
        )
        self._clear()
        if self._pending:
            # The next step starts from what was observed last, so the next take holds it too.
            self._see(*self._now)
        return taken

    def _see(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Encode an observation, store its features and remember its code."""
        encoded = self._encoder(observation)
        # A copy, because environments may reuse the array of an observation.
        self._now = (copy.deepcopy(observation), info)
        if isinstance(encoded, Indices):
            indices = self._checked(encoded)
            if indices.size == 1:
                self._code = int(indices[0])
            else:
                self._indices.append(indices)
                self._code = len(self._indices) - 1
            return
        plain = type(encoded) is np.ndarray and encoded.dtype == np.float64
        vector = encoded if plain else as_array("the encoder's result", encoded, finite=False)
        if vector.shape != (self._size,):
            raise InputError(
                f"the encoder's result has shape {vector.shape}: let it return {self._size} "
                "numbers, or Indices."
            )
        self._rows.append(vector.copy())
        self._code = -len(self._rows)

    def _checked(self, encoded: Indices) -> NDArray[np.int32]:
        """The indices, checked to be as many as in earlier observations."""
        indices = as_indices("the encoder's result", encoded, self._size)
        if indices.size == 0 or self._ones not in (None, indices.size):
            raise InputError(
                f"the encoder returned {indices.size} indices, but {self._ones or 1} earlier: "
                "let it return the same number for every observation, at least one."
            )
        self._ones = indices.size
        return indices.copy()

    def _active(self) -> NDArray[np.int32] | None:
        """The indices of the ones, shape (codes, ones), where there is more than one each."""
        return np.stack(self._indices) if self._indices else None

    def _raw(self) -> NDArray[np.float64] | None:
        """The raw observations, shape (steps, n), if they are numbers and differ from features."""
        if isinstance(self._encoder, Identity) or not self._seen:
            return None
        try:
            first = as_array("observation", self._seen[0], finite=False)
        except InputError:  # text, a dictionary or the like: it has no place in an array
            return None
        rows = [as_array("observation", x, finite=False).ravel() for x in self._seen]
        other = next((row.size for row in rows if row.size != first.size), None)
        if other is not None:
            raise InputError(
                f"observations have {first.size} numbers and {other}: let the environment show "
                "the same number each time."
            )
        return np.array(rows)


def as_action(action: Any) -> int | None:
    """Return an action as an integer, or None if it is not one (as in a Box space)."""
    try:
        chosen = whole("action", action)
    except InputError:
        return None
    return as_count("action", chosen, -LARGEST, LARGEST)


def state_of(info: Mapping[str, Any]) -> int | None:
    """Return the state, if it is known; `info` may contain something else by that name."""
    state = info.get("state")
    if isinstance(state, int | np.integer) and abs(int(state)) <= LARGEST:
        return int(state)
    return None


def _all_known(numbers: list[int | None]) -> NDArray[np.int32] | None:
    """Actions or states as an array, if all are known."""
    return np.array(numbers, dtype=np.int32) if numbers and None not in numbers else None


def _observable(infos: list[Mapping[str, Any]]) -> NDArray[np.bool_] | None:
    """Whether each observation shows its state, if this is known for all."""
    if not infos or not all("observable" in info for info in infos):
        return None
    return np.array([as_flag("info['observable']", info["observable"]) for info in infos])


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
        self._act = _acting(policy)
        if encoder is None:
            encoder = encoder_for(environments.single_observation_space)
        self._writers = [Writer(encoder, discount) for _ in range(environments.num_envs)]
        self._streams = VectorStreams(environments, self._writers, _as_seed(seed))

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
            for _ in self._streams.call(lambda seen, _: self._act(seen)):
                pass
        return [writer.take() for writer in self._writers]


class OneStream(Protocol):
    """Receives the episodes of one environment of a vector environment."""

    def begin(self, observation: Any, info: Mapping[str, Any]) -> None:
        """Start an episode with this observation."""

    def step(
        self, action: Any, reward: Any, seen: Any, terminated: Any, truncated: Any, info: Any
    ) -> Any:
        """Record the result of an action."""


@final
class VectorStreams:
    """The streams of a vector environment, one for each of its environments; resets all of them.

    Parameters
    ----------
    environments : gymnasium.vector.VectorEnv
    streams : sequence of OneStream
    seed : int, optional
        Passed to the first reset.

    """

    def __init__(self, environments: Any, streams: Sequence[OneStream], seed: int | None) -> None:
        self._environments, self._streams = environments, streams
        self._mode = _autoreset_mode(environments)
        self._begin(np.ones(len(streams), dtype=np.bool_), seed=seed)

    def _begin(self, where: NDArray[np.bool_], **options: Any) -> None:
        """Reset some environments."""
        self._seen, info = self._environments.reset(**options)
        self._over = np.zeros(len(self._streams), dtype=np.bool_)
        for i in np.flatnonzero(where).tolist():
            self._streams[i].begin(self._seen[i], info_of(info, i))

    def call(self, act: Callable[[Any, NDArray[np.bool_]], Any]) -> Iterator[Any]:
        """Call `step` once, and yield the result of each stream, in the order of environments.

        act returns the actions for observations, and for environments that this call only resets
        """
        mode = self._mode
        if mode is AutoresetMode.DISABLED and self._over.any():
            self._begin(self._over, options={"reset_mask": self._over})
        actions, over = act(self._seen, self._over), self._over
        seen, rewards, terminated, truncated, info = self._environments.step(actions)
        ended = (terminated | truncated) & ~over
        for i, stream in enumerate(self._streams):
            own, at_once = info_of(info, i), mode is AutoresetMode.SAME_STEP and ended[i]
            if not over[i]:
                last = info["final_obs"][i] if at_once else seen[i]
                yield stream.step(actions[i], rewards[i], last, terminated[i], truncated[i], own)
            if over[i] or at_once:
                stream.begin(seen[i], own)
        self._seen, self._over = seen, ended & (mode is not AutoresetMode.SAME_STEP)


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
