"""What this field has got wrong elsewhere, each shown to miss when it is done wrong."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from preftd import Experience
from preftd._src.arrays import Vector
from preftd.experience import Indices, Recorder, VectorRecorder
from preftd.learners import LinearLearner
from preftd.rules import RULES

rules = pytest.mark.parametrize("name", sorted(RULES))
views = pytest.mark.parametrize("view", ["backward", "true_online"])


def chain(mistake: str | None) -> float:
    """What a start is worth whose episode pays 1 two steps later, with a trace that never fades.

    The readable update of TD(1), right or with a mistake. The states on the way show nothing.
    """
    x, reward, out = np.array([1.0, 0.0, 0.0]), [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]
    w, trace, discount_t = 0.0, 0.0, 0.0
    for _ in range(200):
        for t in range(3):
            value_next = w * x[t + 1] if t < 2 else 0.0
            delta = reward[t] + out[t] * value_next - w * x[t]
            if mistake == "trace reset before the last update" and out[t] == 0:
                trace = 0.0
            decay = out[t] if mistake == "trace decayed by the next discount" else discount_t
            trace = decay * trace + x[t]
            w += 0.1 * delta * trace
            discount_t = out[t]
    return float(w)


@views
def test_the_last_reward_reaches_the_first_state(view: str) -> None:
    learner = LinearLearner(1, RULES["td"](1.0), 0.1, view=view)
    for _ in range(200):
        for x, paid, y, out in [(1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 0.0)]:
            learner.update([x], paid, [y], discount=out, beta=0.0)
    assert learner.weights[0] == pytest.approx(1, abs=1e-6)
    assert chain(None) == pytest.approx(1, abs=1e-6)
    assert chain("trace decayed by the next discount") == 0
    assert chain("trace reset before the last update") == 0


@views
def test_the_trace_of_an_episode_ends_with_it(view: str) -> None:
    """The second of two one-step episodes pays; the first is worth nothing."""
    learner, late = (LinearLearner(2, RULES["td"](1.0), 0.1, view=view) for _ in "12")
    for _ in range(100):
        for one, out in [(learner, 0.0), (late, 1.0)]:
            one.update([1.0, 0.0], 0.0, [0.0, 1.0], discount=out, beta=0.0)
            one.update([0.0, 1.0], 1.0, [0.0, 0.0], discount=0.0, beta=0.0)
    np.testing.assert_allclose(learner.weights, [0, 1], atol=1e-4)
    assert late.weights[0] > 0.9  # had the end been missed


@rules
@views
def test_an_episode_that_is_cut_short_goes_on_beyond(name: str, view: str) -> None:
    """A state that pays 1 for ever at a discount of 0.9, watched for five steps at a time: 10."""
    right, wrong, missed = (LinearLearner(1, RULES[name](1.0), 0.05, view=view) for _ in range(3))
    for t in range(3000):
        last = t % 5 == 4
        right.update([1.0], 1.0, [1.0], discount=0.9, beta=0.5, truncated=last)
        wrong.update([1.0], 1.0, [1.0], discount=0.0 if last else 0.9, beta=0.5)
        # After the cut another state is watched; its value does not enter the first one's trace.
        missed.update([1.0], 1.0, [0.0] if last else [1.0], discount=0.9, beta=0.5)
    assert right.weights[0] == pytest.approx(10, abs=1e-3)
    assert wrong.weights[0] < 5
    assert missed.weights[0] < 8


class Walk(gymnasium.Env[np.int64, np.int64]):
    """From 0, or in every other episode from 2, to the right: cut short after 3 steps, over at 5.

    A step pays 1. Nothing is left to chance.
    """

    def __init__(self) -> None:
        self.observation_space, self.action_space = spaces.Discrete(6), spaces.Discrete(1)
        self._episode = -1

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._episode += 1
        self._state, self._steps = (0, 2)[self._episode % 2], 0
        return np.int64(self._state), {}

    def step(self, _: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._state, self._steps = self._state + 1, self._steps + 1
        over = self._state == 5
        return np.int64(self._state), 1.0, over, not over and self._steps == 3, {}


def act(observation: Any) -> Any:
    """The only action, for one environment or all."""
    return np.zeros(np.shape(observation), dtype=np.int64) if np.ndim(observation) else 0


def learned(name: str, experience: Experience, view: str) -> Vector:
    """Weights after a stream."""
    learner = LinearLearner(6, RULES[name](1.0), 0.1, view=view)
    return learner.learn(experience, beta=0.7).weights


@rules
@views
@pytest.mark.parametrize("mode", list(AutoresetMode), ids=lambda mode: mode.name)
def test_an_autoreset_does_not_join_episodes(name: str, view: str, mode: AutoresetMode) -> None:
    """Learning is the same from one environment by hand, recorded, and among two that autoreset."""
    environment, by_hand = Walk(), LinearLearner(6, RULES[name](1.0), 0.1, view=view)
    steps, episodes = 0, 0
    while episodes < 400:
        x, over = environment.reset()[0], False
        while not over:
            y, reward, terminated, truncated, _ = environment.step(0)
            by_hand.update(
                Indices([x]),
                reward,
                Indices([y]),
                discount=0.0 if terminated else 0.9,
                beta=0.7,
                truncated=truncated,
            )
            x, over, steps = y, terminated or truncated, steps + 1
        episodes += 1
    alone = Recorder(Walk(), act, discount=0.9).take(steps)
    np.testing.assert_allclose(learned(name, alone, view), by_hand.weights, atol=1e-12)
    calls = steps + (episodes - 1 if mode is AutoresetMode.NEXT_STEP else 0)
    vector = SyncVectorEnv([Walk, Walk], autoreset_mode=mode)
    for stream in VectorRecorder(vector, act, discount=0.9).take(calls):
        np.testing.assert_allclose(learned(name, stream, view), by_hand.weights, atol=1e-12)
    exact = [4.0951, 3.439, 2.71, 1.9, 1.0]
    np.testing.assert_allclose(by_hand.weights[:5], exact, atol=1e-3)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_taking_what_an_autoreset_shows_for_the_next_state_misses(mode: AutoresetMode) -> None:
    vector = SyncVectorEnv([Walk], autoreset_mode=mode)
    learner = LinearLearner(6, RULES["td"](1.0), 0.1)
    seen, _ = vector.reset()
    for _ in range(2000):
        shown, reward, terminated, truncated, _ = vector.step(act(seen))
        learner.update(
            Indices(seen),
            float(reward[0]),
            Indices(shown),
            discount=0.0 if terminated[0] else 0.9,
            beta=0.7,
            truncated=bool(truncated[0]),
        )
        seen = shown
    assert np.abs(learner.weights[:5] - [4.0951, 3.439, 2.71, 1.9, 1.0]).max() > 0.2
