"""Acting and learning in a Gymnasium environment, single or vector.

In a vector environment, each environment has its own trace, memory of signals and episode; weights
are shared, and at each call of `step` the streams learn in the order of environments. Autoreset
modes of Gymnasium are handled as by the recorders: a call that only resets is ignored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector, short
from preftd._src.experience.environment import VectorStreams, state_of
from preftd._src.learners.base import Memory
from preftd._src.rules.interest import interest_at
from preftd.experience import Visit
from preftd.preferences import Signal

if TYPE_CHECKING:
    from preftd._src.learners.actor_critic.learner import ActorCriticLearner


class Episodes(NamedTuple):
    """The results of some episodes, in the order in which they ended.

    Arrays of shape (episodes,).
    """

    returns: Vector
    """The sum of rewards."""
    discounted: Vector
    """The discounted sum of rewards."""
    steps: Vector
    """The number of steps."""
    preferred: Vector
    """The share of steps with β = 1."""


class _Walk:
    """The state of one stream in an environment."""

    def __init__(
        self, learner: ActorCriticLearner, number: int, signal: Signal, discount: float
    ) -> None:
        self._learner, self._number, self._signal = learner, number, signal
        self._discount = discount
        self._end: float | None = None

    def begin(self, observation: Any, info: Any) -> None:
        """Start an episode."""
        self._learner.stream(self._number).abandon()
        self._x, self._info = _flat(observation), info
        self._led: tuple[float, int | None] = (0.0, None)
        self._weight, self._paid, self._sum = 1.0, 0.0, 0.0
        self._steps = self._preferred = 0

    def act(self) -> int:
        """Draw an action."""
        self._action = int(self._learner.act(self._x))
        return self._action

    def step(
        self, action: Any, reward: Any, seen: Any, terminated: Any, truncated: Any, info: Any
    ) -> tuple[float, float, int, float] | None:
        """Learn from the result of the action.

        Return the results of the episode, if it has ended.
        """
        del action  # it is known
        reward, observation, truncated = float(reward), _flat(seen), bool(truncated)
        learner, stream = self._learner, self._learner.stream(self._number)
        visit = self._visit(stream.discount_t, stream.memory.td_error)
        beta, remembered = self._signal.step(visit, stream.memory.preference)
        interest, of_interest = interest_at(learner.rule.interest, visit, stream.memory.interest)
        delta = learner.update(
            self._x,
            self._action,
            reward,
            observation,
            discount=0.0 if terminated else self._discount,
            beta=beta,
            interest=interest,
            truncated=truncated,
            stream=self._number,
        )
        stream.memory = Memory(remembered, of_interest, delta)
        self._paid += reward
        self._sum += self._weight * reward
        self._weight *= self._discount
        self._steps += 1
        self._preferred += beta == 1
        self._x, self._info, self._led = observation, info, (reward, self._action)
        self._end = reward if terminated else None
        if not (terminated or truncated):
            return None
        return self._paid, self._sum, self._steps, self._preferred / self._steps

    def _visit(self, discount_t: float, td_error: float) -> Visit:
        """The visit that signals see."""
        observable = self._info.get("observable")
        watched = self._signal.watches_learner
        x = np.asarray(self._x, dtype=np.float64).ravel()
        return Visit(
            x if np.ndim(self._x) else np.eye(1, self._learner.size, int(self._x))[0],
            self._steps == 0,
            state_of(self._info),
            None if observable is None else bool(observable),
            self._led[0],
            discount_t,
            self._led[1],
            self._action,
            value=self._learner.predict(self._x) if watched else None,
            td_error=td_error if watched else None,
            reward_end=self._end if self._steps == 0 else None,
        )


def learn_single(
    learner: ActorCriticLearner,
    environment: Any,
    signal: Signal,
    episodes: int,
    discount: float,
    seed: int | None,
) -> Episodes:
    """Learn from `episodes` episodes of one environment."""
    first = _first_action(learner, environment)
    walk, ended = _Walk(learner, 0, signal, discount), []
    for _ in range(episodes):
        observation, info = environment.reset(seed=seed)
        seed = None
        walk.begin(observation, info)
        found = None
        while found is None:
            action = first + walk.act()
            seen, reward, terminated, truncated, info = environment.step(action)
            found = walk.step(action, reward, seen, terminated, truncated, info)
        ended.append(found)
    return _episodes(ended)


def learn_vector(
    learner: ActorCriticLearner,
    environments: Any,
    signal: Signal,
    episodes: int,
    discount: float,
    seed: int | None,
) -> Episodes:
    """Learn until `episodes` episodes of a vector environment have ended."""
    first, count = _first_action(learner, environments), environments.num_envs
    walks = [_Walk(learner, i, signal, discount) for i in range(count)]
    streams = VectorStreams(environments, walks, seed)

    def act(_: Any, over: NDArray[np.bool_]) -> NDArray[Any]:
        """Draw actions, except for environments that are only reset."""
        return np.array([first + (0 if over[i] else walks[i].act()) for i in range(count)])

    ended: list[tuple[float, float, int, float]] = []
    while len(ended) < episodes:
        for found in streams.call(act):
            ended += [found] if found is not None else []
            if len(ended) == episodes:
                break
    for i in range(count):
        learner.stream(i).abandon()
    return _episodes(ended)


def sizes_of(environment: Any) -> tuple[int, int, int]:
    """The size of observations, the number of actions, and the first action."""
    single = "single_" if hasattr(environment, "num_envs") else ""
    observed = getattr(environment, f"{single}observation_space", None)
    action = getattr(environment, f"{single}action_space", None)
    if observed is None or action is None:
        raise InputError(
            f"environment is {short(environment)}: give one of Gymnasium, such as "
            'gymnasium.make("CartPole-v1").'
        )
    if not isinstance(action, spaces.Discrete):
        raise InputError(f"the actions are {action}: use an environment with a Discrete space.")
    if isinstance(observed, spaces.Discrete) and observed.start == 0:
        return int(observed.n), int(action.n), int(action.start)
    if isinstance(observed, spaces.Box) and observed.shape:
        return int(np.prod(observed.shape)), int(action.n), int(action.start)
    raise InputError(
        f"the observations are {observed}: wrap the environment so that they are vectors of a Box "
        "space, or numbers of a Discrete space from 0."
    )


def _first_action(learner: ActorCriticLearner, environment: Any) -> int:
    """The number of the first action; an environment that does not fit the learner is refused."""
    size, actions, first = sizes_of(environment)
    if actions != learner.actions:
        raise InputError(
            f"the environment has {actions} actions, the learner {learner.actions}: make the "
            "learner with the same number."
        )
    if size != learner.size:
        raise InputError(
            f"observations of the environment have {size} numbers, the learner takes "
            f"{learner.size} numbers: make the learner with the same number."
        )
    return first


def _flat(observation: Any) -> Any:
    """An observation as a vector (a copy), or as an integer."""
    array = np.array(observation)
    return int(array) if array.ndim == 0 else array.astype(np.float64).ravel()


def _episodes(ended: list[tuple[float, float, int, float]]) -> Episodes:
    columns: NDArray[np.float64] = np.array(ended, dtype=np.float64).T
    return Episodes(*columns)
