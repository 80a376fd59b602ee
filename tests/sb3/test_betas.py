"""The β of each step in a rollout buffer of Stable-Baselines3, and what is computed from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from gymnasium import spaces
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import SubprocVecEnv, VecEnv, VecNormalize

from preftd import ETD, TD
from preftd.preferences import Function, Observability, Signal, Uncertainty
from preftd.sb3 import PreferenceBuffer
from sb3.models import STEPS, environments, model_of, roll
from sb3.own_beta import OwnBeta, OwnBetaInDictionary

torch.set_num_threads(1)


class Watch(BaseCallback):
    """Remembers what each step shows before any wrapper, and rewards before they are changed."""

    def _init_callback(self) -> None:
        self.shown: list[Any] = []
        self.rewards: list[Any] = []
        self.final: list[Any] = []

    def _on_step(self) -> bool:
        env, found = self.training_env, self.locals
        raw: Any = env.get_original_obs() if isinstance(env, VecNormalize) else found["new_obs"]
        self.shown.append(np.array(raw["all"] if isinstance(raw, dict) else raw)[:, 1])
        self.rewards.append(found["rewards"].copy())
        self.final.append([self._final_value(info) for info in found["infos"]])
        return True

    def _final_value(self, info: dict[str, Any]) -> float:
        if not info["TimeLimit.truncated"]:
            return 0.0
        model: Any = self.model
        with torch.no_grad():
            observation = model.policy.obs_to_tensor(info["terminal_observation"])[0]
            return float(model.policy.predict_values(observation))


def dictionaries() -> VecEnv:
    return environments(OwnBetaInDictionary)


@pytest.mark.parametrize(
    ("make", "preference"),
    [
        (environments, "trust"),
        (environments, lambda x: x[1]),
        (environments, Function(lambda x: float(x[1]))),
        (lambda: VecNormalize(environments()), "trust"),
        (lambda: VecNormalize(environments()), lambda x: x[1]),
        (dictionaries, "trust"),
        (dictionaries, lambda x: x["all"][1]),
        (lambda: VecNormalize(dictionaries()), lambda x: x["all"][1]),
        (lambda: SubprocVecEnv([OwnBeta] * 2, start_method="fork"), "trust"),
    ],
)
def test_each_step_has_the_beta_of_its_own_observation(
    make: Callable[[], VecEnv], preference: Any
) -> None:
    """Also of the first one after a reset, which happens within a step, and of a rollout."""
    env, watch = make(), Watch()
    is_dict = isinstance(env.observation_space, spaces.Dict)
    policy = "MultiInputPolicy" if is_dict else "MlpPolicy"
    buffer = roll(model_of(preference=preference, env=env, policy=policy), watch, rollouts=2)
    env.close()
    shown = np.array(watch.shown)
    assert set(np.unique(shown).tolist()) == {0.0, 0.25, 1.0}
    assert buffer.episode_starts.any(axis=0).all()
    np.testing.assert_array_equal(buffer.betas, shown[STEPS - 1 : -1])


def test_observability_is_read_from_info() -> None:
    watch = Watch()
    buffer = roll(model_of(preference=Observability(0.5, 0.125)), watch)
    shown = np.array(watch.shown)[:-1]
    np.testing.assert_array_equal(buffer.betas[1:], np.where(shown > 0, 0.5, 0.125))


def test_an_ensemble_is_asked_about_each_observation() -> None:
    buffer = roll(model_of(preference=Uncertainty(lambda x: [x[0], 0.0], scale=0.5)))
    seen = buffer.observations[..., 0]
    np.testing.assert_allclose(buffer.betas, 0.5 / (0.5 + seen**2 / 2), rtol=1e-6)


class EverySecond(Signal):
    """1 at every second step of an episode, which the memory counts."""

    def at(self, visit: Any, memory: Any) -> tuple[float, Any]:
        count = 0 if visit.is_first else memory + 1
        expected = (0, True, True) if visit.is_first else (0.99, False, False)
        found = visit.discount_t, visit.reward_t == 0, visit.action_tm1 is None
        assert found == expected
        assert visit.action in (0, 1)
        return float(count % 2 == 0), count


def test_a_signal_with_memory_has_one_for_each_environment() -> None:
    buffer, count = roll(model_of(preference=EverySecond())), np.zeros(4)
    for t in range(STEPS):
        count = np.where(buffer.episode_starts[t] == 1, 0, count + 1)
        np.testing.assert_array_equal(buffer.betas[t], count % 2 == 0)


def written_out(buffer: Any, watch: Watch, last: Any, dones: Any, discounts: Any = None) -> Any:
    """G = r + γ (β V' + (1 − β) G'), with β, V' and G' of the next state; a loop."""
    discounts = np.full(STEPS, buffer.gamma) if discounts is None else discounts
    returns = np.zeros((STEPS, buffer.n_envs))
    ends = np.concatenate([buffer.episode_starts[1:], [dones]])
    for t in reversed(range(STEPS)):
        if t == STEPS - 1:
            after = last
        else:
            beta = buffer.betas[t + 1]
            after = beta * buffer.values[t + 1] + (1 - beta) * returns[t + 1]
        after = np.where(ends[t] == 1, watch.final[t], after)
        returns[t] = watch.rewards[t] + discounts[t] * after
    return returns


@pytest.mark.parametrize("kind", [PPO, A2C])
def test_returns_are_beta_returns_and_truncated_episodes_bootstrap_in_full(kind: Any) -> None:
    """Stable-Baselines3 has added γ V(final observation) to the reward of a truncated step."""
    model, watch = model_of(kind, rollout_buffer_class=PreferenceBuffer), Watch()
    buffer = roll(model, watch)
    with torch.no_grad():
        last = model.policy.predict_values(torch.as_tensor(model._last_obs)).numpy().ravel()
    expected = written_out(buffer, watch, last, model._last_episode_starts)
    assert np.count_nonzero(watch.final) > 3
    np.testing.assert_allclose(buffer.returns, expected, rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(buffer.advantages, expected - buffer.values, atol=2e-5)


@pytest.mark.parametrize("lambda_", [0.0, 0.9, 1.0])
def test_a_constant_preference_gives_the_advantages_of_stable_baselines3(lambda_: float) -> None:
    buffer = roll(model_of(preference=1 - lambda_, buffer={"rule": TD()}))
    theirs = PPO("MlpPolicy", environments(), n_steps=STEPS, seed=0, gae_lambda=lambda_)
    theirs.train = lambda: None  # type: ignore[method-assign]
    theirs.learn(4 * STEPS)
    np.testing.assert_array_equal(buffer.rewards, theirs.rollout_buffer.rewards)
    expected = theirs.rollout_buffer.advantages
    np.testing.assert_allclose(buffer.advantages, expected, rtol=1e-5, atol=1e-5)


def test_the_gain_is_that_of_the_rule() -> None:
    buffer = roll(model_of())
    np.testing.assert_array_equal(buffer.gains, buffer.betas)
    assert (roll(model_of(buffer={"rule": TD()})).gains == 1).all()


class Rollouts(BaseCallback):
    """Remembers where episodes start, β and gains of all rollouts."""

    def _init_callback(self) -> None:
        self.rows: list[Any] = []

    def _on_step(self) -> bool:
        return True

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        buffer = model.rollout_buffer
        self.rows += zip(buffer.episode_starts, buffer.betas, buffer.gains, strict=True)


def test_what_a_rule_remembers_is_carried_from_one_rollout_to_the_next() -> None:
    seen = Rollouts()
    roll(model_of(buffer={"rule": ETD(interest=1.0)}), seen, rollouts=2)
    follow_on = np.zeros(4)
    for start, beta, gain in seen.rows:
        follow_on = 0.99 * (1 - start) * follow_on + 1
        np.testing.assert_allclose(gain, 1 - beta + beta * follow_on, rtol=1e-5)
    assert len(seen.rows) == 2 * STEPS
    assert not seen.rows[STEPS][0].all()
