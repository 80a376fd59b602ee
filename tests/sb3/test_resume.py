"""A model that is saved, loaded and continued learns what it would have learned without."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv, VecEnvWrapper, VecNormalize

from preftd import ETD, TD, InputError
from preftd._src.sb3.ppo import WeightedLosses
from preftd.preferences import Displacement, Learned
from preftd.sb3 import (
    PreferenceBuffer,
    PreferenceCallback,
    PreferenceMaskablePPO,
    PreferencePPO,
    PreferenceRecurrentPPO,
)
from sb3.models import environments, model_of
from sb3.own_beta import OwnBeta

torch.set_num_threads(1)
FEW = 8
LSTM = {"lstm_hidden_size": 8}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "PreferencePPO": (PreferencePPO, {"n_epochs": 2, "batch_size": 16}),
    "PPO": (PPO, {"n_epochs": 2, "batch_size": 16, "rollout_buffer_class": PreferenceBuffer}),
    "A2C": (A2C, {"rollout_buffer_class": PreferenceBuffer, "buffer": {"weighted": True}}),
    "PreferenceMaskablePPO": (PreferenceMaskablePPO, {"n_epochs": 1, "batch_size": 16}),
    "PreferenceRecurrentPPO": (
        PreferenceRecurrentPPO,
        {"n_epochs": 1, "batch_size": 16, "policy": "MlpLstmPolicy", "policy_kwargs": LSTM},
    ),
}
PREFERENCES: dict[str, tuple[Any, dict[str, Any]]] = {
    "key": ("trust", {}),
    "function": (lambda x: float(x[1]), {}),
    "follow-on": ("trust", {"rule": ETD(interest=1.0)}),
    "elapsed": ("trust", {"rule": ETD(interest=1.0), "elapsed": "dt"}),
    "displacement": (Displacement({0: 0.5}), {}),
    "learned": (Learned(), {}),
}


def learn(model: Any, **given: Any) -> Any:
    own = [] if isinstance(model, WeightedLosses) else [PreferenceCallback()]
    return model.learn(4 * FEW, callback=own, **given)


def rest(model: Any) -> Any:
    """Learn on, with the same random numbers whatever was drawn before."""
    torch.manual_seed(1)
    np.random.seed(1)  # noqa: NPY002  (Stable-Baselines3 draws batches from it)
    return learn(model, reset_num_timesteps=False)


def saved_and_loaded(model: Any, **given: Any) -> Any:
    file = io.BytesIO()
    model.save(file)
    file.seek(0)
    return type(model).load(file, device="cpu", **given)


def small(kind: str, preference: Any, own: Any = None, env: VecEnv | None = None) -> Any:
    make, options = KINDS[kind]
    buffer = {**options.get("buffer", {}), **(own or {})}
    return model_of(make, preference, env=env, **options | {"buffer": buffer, "n_steps": FEW})


def everything(model: Any) -> list[Any]:
    parts = [p.detach().numpy() for p in model.policy.parameters()]
    buffer = model.rollout_buffer
    memory = [np.asarray(one) for one in buffer.state()["memory"] if one is not None]
    return [*parts, buffer.betas, buffer.gains, *memory]


@pytest.mark.parametrize(
    ("kind", "name", "normalised"),
    [
        *(("PreferencePPO", name, False) for name in PREFERENCES),
        ("PreferencePPO", "key", True),
        *((kind, "elapsed", False) for kind in KINDS if kind != "PreferencePPO"),
    ],
)
def test_a_model_resumed_from_its_file_is_the_one_that_was_not_interrupted(
    kind: str, name: str, normalised: bool
) -> None:
    made = []
    for interrupted in (False, True):
        env: VecEnv = VecNormalize(environments()) if normalised else environments()
        model = learn(small(kind, *PREFERENCES[name], env))
        if interrupted:
            states = vars(model).get("_last_lstm_states")  # sb3-contrib does not save them
            model = saved_and_loaded(model, env=env, force_reset=False)
            model._last_lstm_states = states
        made.append(everything(rest(model)))
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", KINDS)
def test_the_memory_of_a_preference_is_saved_and_survives_a_reset(kind: str) -> None:
    model = learn(small(kind, Learned()))
    before = model.rollout_buffer.state()["memory"]
    again = saved_and_loaded(saved_and_loaded(model), env=environments())
    learn(again, reset_num_timesteps=False)
    explained = [Learned().explain(one) for one in again.rollout_buffer.state()["memory"]]
    steps = [Learned().explain(one).steps for one in before]
    assert [one.steps for one in explained] == [count + FEW for count in steps]


class SaveAt(BaseCallback):
    """Saves the model within a rollout."""

    def _on_step(self) -> bool:
        if self.n_calls == FEW // 2:
            self.file = io.BytesIO()
            self.model.save(self.file)
        return True


def test_a_model_saved_within_a_rollout_continues_from_the_observation_it_had() -> None:
    model, callback = small("PreferencePPO", "trust"), SaveAt()
    model.learn(4 * FEW, callback=callback)
    callback.file.seek(0)
    again: Any = PreferencePPO.load(callback.file, model.env, device="cpu", force_reset=False)
    shown = again._last_obs[:, 1]
    learn(again, reset_num_timesteps=False)
    np.testing.assert_array_equal(model.rollout_buffer.betas[FEW // 2 - 1], shown)


def test_a_file_holds_no_object_of_this_librarys_memory() -> None:
    model = learn(small("PreferencePPO", Learned()))
    again = saved_and_loaded(model)
    assert type(again.preference_state) is dict
    assert all(type(one) is np.ndarray for one in again.preference_state["memory"])


def test_another_number_of_environments_keeps_what_fits_and_says_so() -> None:
    model = learn(small("PreferencePPO", Learned()))
    again = saved_and_loaded(model, env=environments(number=2))
    with pytest.warns(UserWarning, match="was saved with 4 environments and has 2: the memory of"):
        again.learn(2 * FEW)
    assert all(one is not None for one in again.rollout_buffer.state()["memory"])


def test_a_file_without_what_was_seen_last_is_refused_in_one_sentence() -> None:
    again = saved_and_loaded(learn(small("PreferencePPO", "trust")), env=environments())
    again = learn(again)
    del again.preference_state
    again = saved_and_loaded(again, env=again.env, force_reset=False)
    with pytest.raises(InputError, match=r"^the model is in the midst .*: load it with force_r"):
        rest(again)


@pytest.mark.parametrize("other", [Displacement({0: 0.5}), Learned(linear=True), "trust"])
def test_a_model_may_be_loaded_with_another_preference_which_has_no_memory_yet(other: Any) -> None:
    model = learn(small("PreferencePPO", Learned()))
    given = {"env": model.env, "rollout_buffer_kwargs": {"preference": other}}
    says = r"with the preference Learned\(linear=False\) and has "
    with pytest.warns(UserWarning, match=says):
        learn(saved_and_loaded(model, **given))
    again = saved_and_loaded(model, **given, force_reset=False)
    with pytest.warns(UserWarning, match=says), pytest.raises(InputError, match=r"^the model is "):
        rest(again)


class WithoutInfos(VecEnvWrapper):
    """A vector environment of someone else, who has never heard of `reset_infos`."""

    unwrapped = property(lambda self: self)

    def __init__(self, venv: VecEnv) -> None:
        super().__init__(venv)
        del self.reset_infos

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def reset(self) -> Any:
        return self.venv.reset()

    def step_wait(self) -> Any:
        return self.venv.step_wait()


def test_a_vector_environment_need_not_keep_what_reset_reported() -> None:
    env = WithoutInfos(DummyVecEnv([OwnBeta] * 2))
    assert not hasattr(env.unwrapped, "reset_infos")
    model = small("PreferencePPO", lambda x: float(x[1]), env=env).learn(2 * FEW)
    shown = model.rollout_buffer.observations[..., 1].reshape(2, FEW).T
    np.testing.assert_array_equal(model.rollout_buffer.betas, shown)
    with pytest.raises(InputError, match=r"^info has no 'trust' but nothing: let the environment"):
        small("PreferencePPO", "trust", env=env).learn(2 * FEW)


@pytest.mark.parametrize("kind", ["PreferencePPO", "A2C"])
def test_a_preference_of_0_warns_that_nothing_is_learned_unless_the_rule_has_weight(
    kind: str,
) -> None:
    with pytest.warns(UserWarning, match=r"PTD\(.*nothing is learned: give rule=TD\(\)"):
        small(kind, 0.0)
    small(kind, 0.0, {"rule": TD()})
    small(kind, 0.0, {"rule": ETD(interest=1.0)})
    small("PPO", 0.0)  # weights bootstrapping alone
