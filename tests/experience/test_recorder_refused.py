"""Recorders refuse environments, policies and counts that would give wrong streams."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import SyncVectorEnv

from preftd import InputError
from preftd.experience import Identity, Recorder, VectorRecorder


class Says(gymnasium.Env[Any, Any]):
    """Returns a given answer."""

    observation_space = spaces.Box(-1, 1, (2,))
    action_space = spaces.Discrete(2)

    def __init__(self, **said: Any) -> None:
        self._said: dict[str, Any] = {
            "reward": 1.0,
            "terminated": False,
            "truncated": False,
            **said,
        }

    def reset(self, **_: Any) -> Any:
        return np.zeros(2), self._said.get("info", {})

    def step(self, _: Any) -> Any:
        said = self._said
        seen = said.get("seen", np.ones(2))
        return seen, said["reward"], said["terminated"], said["truncated"], said.get("info", {})


def record(steps: Any = 3, action: Any = 0, **said: Any) -> Callable[[], Any]:
    return lambda: Recorder(Says(**said), lambda _: action, discount=0.9).take(steps)


def build(environment: Any = None, **options: Any) -> Callable[[], Any]:
    given = Says() if environment is None else environment
    return lambda: Recorder(given, lambda _: 0, **{"discount": 0.9, **options})


class Silent(SyncVectorEnv):
    """A vector environment that does not say when it resets."""

    def __init__(self) -> None:
        super().__init__([Says])
        self.metadata = {}


class Sizeless:
    """An encoder that is none."""

    def __call__(self, observation: Any) -> Any:
        return observation


class Length:
    """Features of raw observations that differ in length."""

    size = 1

    def __call__(self, observation: Any) -> Any:
        return [len(observation)]


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "fewer than no steps": (record(-5), "^steps is -5: "),
    "steps without end": (record(10**30), "^steps is 10000"),
    "half a step": (record(2.5), "^steps is 2.5: "),
    "a word as reward": (record(reward="high"), "^reward is not an array of real numbers: "),
    "no number": (record(reward=np.nan), "^reward is nan: "),
    "two rewards": (record(reward=[1, 2]), r"^reward has shape \(2,\): "),
    "a word as end": (record(terminated="no"), "^terminated is 'no': give True or False"),
    "nothing as cut": (record(truncated=None), "^truncated is None: give True or False"),
    "an action beyond four bytes": (record(action=2**40), "^action is 1099511627776: "),
    "a word as observable": (record(info={"observable": "no"}), r"observable'\] is 'no': "),
    "too few entries": (record(seen=[1.0]), "^observation has 1 entries, not 2: "),
    "no environment": (build("CartPole-v1"), "^environment is 'CartPole-v1': give a gymnasium.Env"),
    "a word as seed": (build(seed="x"), "^seed is 'x': "),
    "a negative seed": (build(seed=-1), "^seed is -1: "),
    "no encoder": (build(encoder=3), "^encoder is 3: "),
    "an encoder without a size": (build(encoder=Sizeless()), "^encoder is <.*: "),
    "observations of many lengths": (
        lambda: build(Says(seen=np.ones(3)), encoder=Length())().take(3),
        "^observations have 2 numbers and 3: ",
    ),
    "no vector of environments": (
        lambda: VectorRecorder(Says(), lambda _: 0, discount=0.9),  # type: ignore[arg-type]
        "^environments is <.*VectorEnv",
    ),
    "a silent vector of environments": (
        lambda: VectorRecorder(Silent(), lambda _: [0], discount=0.9),
        "^the environments do not say when they reset: ",
    ),
    "fewer than no calls": (
        lambda: VectorRecorder(SyncVectorEnv([Says]), lambda _: [0], discount=0.9).take(-1),
        "^calls is -1: ",
    ),
}


@pytest.mark.parametrize(("call", "message"), WRONG.values(), ids=WRONG)
def test_what_would_be_recorded_wrongly_is_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_a_step_that_is_refused_leaves_no_trace() -> None:
    environment = Says()
    recorder = Recorder(environment, lambda _: 1, discount=0.9)
    environment._said["reward"] = np.nan
    with pytest.raises(InputError, match=r"^reward is nan"):
        recorder.take(1)
    environment._said["reward"] = 5.0
    stream = recorder.take(2)
    assert stream.reward.tolist() == [5, 5]
    assert stream.action is not None
    assert stream.action.tolist() == [1, 1]


@pytest.mark.parametrize("state", [np.zeros(2), 1.5, "start", 2**40])
def test_a_state_that_is_no_integer_is_not_known(state: Any) -> None:
    """Info is the environment's; what it calls a state need not be ours."""
    assert record(info={"state": state})().state is None
    assert record(info={"state": np.int64(7)})().state.tolist() == [7, 7, 7]


def test_an_encoder_that_is_empty_is_used_all_the_same() -> None:
    class Empty:
        """False as a condition, because it has a length of 0."""

        size = 1

        def __len__(self) -> int:
            return 0

        def __call__(self, _: Any) -> Any:
            return [5.0]

    assert build(encoder=Empty())().take(1).features().tolist() == [[5]]
    assert build(encoder=Identity(2))().take(1).features().tolist() == [[0, 0]]
