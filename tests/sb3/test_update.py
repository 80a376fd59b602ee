"""Weighted updates of A2C and PPO, as gradients written out, and what is refused."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import RecurrentPPO
from stable_baselines3 import A2C, PPO

from preftd import TD, InputError
from preftd._src.sb3.buffer import standardised
from preftd.preferences import Displacement, Function
from preftd.sb3 import DictPreferenceBuffer, PreferenceBuffer, PreferenceCallback, PreferencePPO
from sb3.models import STEPS, environments, model_of, roll
from sb3.own_beta import OwnBetaInDictionary

torch.set_num_threads(1)
PLAIN: dict[str, Any] = {"optimizer_class": torch.optim.SGD}
OWN: dict[str, Any] = {"rollout_buffer_class": PreferenceBuffer}
WHOLE: dict[str, Any] = {"n_epochs": 1, "batch_size": 4 * STEPS}


def weights(model: Any) -> torch.Tensor:
    """All parameters of a policy, in one row."""
    return torch.cat([p.detach().flatten() for p in model.policy.parameters()]).clone()


def gradient(model: Any, loss: torch.Tensor) -> torch.Tensor:
    """The gradient of a loss, in one row, clipped as models do."""
    model.policy.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(model.policy.parameters(), model.max_grad_norm)
    return torch.cat([p.grad.flatten() for p in model.policy.parameters()])


def of_rollout(model: Any) -> tuple[torch.Tensor, ...]:
    """Values and log-probabilities of a rollout, and its gains and advantages, all flat."""
    buffer = model.rollout_buffer
    flat = [torch.as_tensor(part.reshape(4 * STEPS, -1)) for part in (buffer.observations,)]
    actions = torch.as_tensor(buffer.actions.reshape(-1))
    value, log_prob, _ = model.policy.evaluate_actions(*flat, actions)
    numbers = [torch.as_tensor(part.reshape(-1)) for part in (buffer.gains, buffer.advantages)]
    return value.flatten(), log_prob, *numbers


def test_the_update_of_a2c_is_the_weighted_one() -> None:
    """Δ = Σ gain A ∇v and Σ gain A ∇log π, with A of the plain buffer and v as it was."""
    own: dict[str, Any] = {
        "rollout_buffer_class": PreferenceBuffer,
        "policy_kwargs": PLAIN,
        "max_grad_norm": 9e9,
    }
    plain = model_of(A2C, **own)
    roll(plain)
    value, log_prob, gain, advantage = of_rollout(plain)
    target = value.detach() + advantage
    loss = (gain * (-advantage * log_prob + 0.5 * (target - value) ** 2)).mean()
    expected = -plain.learning_rate * gradient(plain, loss)
    model = model_of(A2C, buffer={"weighted": True}, **own)
    roll(model)
    before = weights(model)
    model.train()
    torch.testing.assert_close(weights(model) - before, expected, rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize("normalise", [False, True])
@pytest.mark.parametrize("clip", [None, 0.1])
def test_both_losses_of_ppo_are_weighted(normalise: bool, clip: float | None) -> None:
    """At the first step of a rollout, where the ratio of policies is 1."""
    options: dict[str, Any] = {
        "policy_kwargs": PLAIN,
        "normalize_advantage": normalise,
        "clip_range_vf": clip,
    }
    model = model_of(max_grad_norm=9e9, learning_rate=1e-2, **WHOLE, **options)
    roll(model)
    before = weights(model)
    value, log_prob, gain, advantage = of_rollout(model)
    weight, scaled = gain / gain.mean(), advantage
    if normalise:
        scaled = advantage - np.average(advantage, weights=gain)
        scaled = scaled / np.sqrt(np.cov(advantage, aweights=gain))
    squares = (value.detach() + advantage - value) ** 2
    loss = (weight * (-scaled * log_prob + 0.5 * squares)).mean()
    expected = -0.01 * gradient(model, loss.float())
    model.train()
    torch.testing.assert_close(weights(model) - before, expected, rtol=1e-3, atol=1e-6)


def test_a_constant_preference_is_ordinary_ppo() -> None:
    few: dict[str, Any] = {"n_epochs": 2}
    theirs = PPO("MlpPolicy", environments(), n_steps=STEPS, seed=0, gae_lambda=0.9, **few)
    theirs.learn(2 * 4 * STEPS)
    for buffer in ({}, {"rule": TD()}):
        model = model_of(preference=0.1, buffer=buffer, **few).learn(2 * 4 * STEPS)
        torch.testing.assert_close(weights(model), weights(theirs))
    other = model_of(preference="trust", **few).learn(2 * 4 * STEPS)
    assert not torch.allclose(weights(other), weights(theirs))


def test_a_preference_of_0_is_ppo_with_a_lambda_of_1_if_the_rule_is_td() -> None:
    theirs = PPO("MlpPolicy", environments(), n_steps=STEPS, seed=0, gae_lambda=1.0, n_epochs=1)
    expected = weights(theirs.learn(4 * STEPS))
    model = model_of(preference=0.0, buffer={"rule": TD()}, n_epochs=1).learn(4 * STEPS)
    torch.testing.assert_close(weights(model), expected)


def test_what_is_shown_where_beta_is_0_has_no_effect() -> None:
    """Neither on the critic nor on the actor: not even by the mean of the advantages."""
    learned = []
    for change in (False, True):
        torch.manual_seed(0)
        np.random.seed(0)  # noqa: NPY002  (Stable-Baselines3 draws batches from it)
        model = model_of(batch_size=64, n_epochs=3)
        roll(model)
        if change:
            hidden = model.rollout_buffer.betas == 0
            assert 0.3 < hidden.mean() < 0.7
            model.rollout_buffer.observations[hidden] += 3.0
            model.rollout_buffer.values[hidden] -= 2.0
        # The end of a rollout is bootstrapped from in full, so both have the same.
        last = torch.zeros(4, 1)
        model.rollout_buffer.compute_returns_and_advantage(last, np.zeros(4, dtype=np.bool_))
        model.train()
        learned.append(weights(model))
    torch.testing.assert_close(learned[0], learned[1], rtol=1e-3, atol=1e-5)


def test_standardised_numbers_do_not_depend_on_what_has_no_weight() -> None:
    numbers, some = torch.tensor([1.0, 2.0, 4.0, 50.0]), torch.tensor([1.0, 1.0, 1.0, 0.0])
    plain = (numbers[:3] - numbers[:3].mean()) / numbers[:3].std()
    torch.testing.assert_close(standardised(numbers, some)[:3], plain)
    assert (standardised(numbers, 0 * some) == numbers).all()
    assert standardised(numbers, torch.tensor([0.0, 2.0, 0.0, 0.0]))[1] == 0


def test_a_rollout_without_weight_changes_nothing() -> None:
    with pytest.warns(UserWarning, match="nothing is learned"):
        model = model_of(preference=0.0)
    before = weights(model)
    assert (weights(model.learn(4 * STEPS)) == before).all()


def test_a_model_can_be_saved_and_continued(tmp_path: Path) -> None:
    model = model_of(preference=lambda x: float(x[1]), n_epochs=1).learn(4 * STEPS)
    model.save(tmp_path / "model")
    again = PreferencePPO.load(tmp_path / "model", environments(), device="cpu")
    assert (weights(model) == weights(again)).all()
    again.learn(4 * STEPS, reset_num_timesteps=False)
    assert again.num_timesteps == 2 * 4 * STEPS
    model.learn(4 * STEPS, callback=lambda *_: True, reset_num_timesteps=False)


@pytest.fixture
def without_stable_baselines3(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("preftd.sb3")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)


@pytest.mark.usefixtures("without_stable_baselines3")
def test_the_extra_is_named_where_it_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"^Stable-Baselines3 is not installed: install"):
        import_module("preftd.sb3")


def learn(kind: Any, callback: Any = None, **given: Any) -> Any:
    return lambda: model_of(kind, **given).learn(8, callback=callback)


DICTIONARIES = {"kind": PreferencePPO, "policy": "MultiInputPolicy"}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (learn(PPO, **OWN), "no callback brings β to the rollout buffer: call"),
        (
            learn(PreferencePPO, preference="truth"),
            "info has no 'truth' but 'dt', 'obs.*'trust': ",
        ),
        (learn(PreferencePPO, preference=1.5), "preference reaches 1.5: "),
        (learn(PreferencePPO, preference=lambda _: 2.0), "beta is 2.0: "),
        (learn(PreferencePPO, preference=[None]), "preference is "),
        (learn(PreferencePPO, buffer={"weighted": True}), "weighted would count gains twice: "),
        (learn(PreferencePPO, buffer={"rule": "PTD"}), "rule is 'PTD': "),
        (learn(A2C, buffer={"weighted": "yes"}, **OWN), "weighted is 'yes': "),
        (lambda: PreferencePPO("MlpPolicy", environments()), "there is no preference: "),
        (
            learn(PreferencePPO, rollout_buffer_class=PPO),
            "rollout_buffer_class is <class.*PPO'>: leave it out",
        ),
        (
            lambda: PPO("MlpPolicy", "CartPole-v1", n_steps=64).learn(64, PreferenceCallback()),
            "PPO has no PreferenceBuffer: ",
        ),
        (
            lambda: RecurrentPPO("MlpLstmPolicy", "CartPole-v1").learn(8, PreferenceCallback()),
            "RecurrentPPO has no PreferenceBuffer: .*or use PreferenceRecurrentPPO",
        ),
        (
            learn(env=environments(OwnBetaInDictionary), **OWN, **DICTIONARIES),
            "observations are dictionaries: give DictPreferenceBuffer",
        ),
        (
            learn(
                env=environments(OwnBetaInDictionary),
                preference=Displacement({0: 1.0}),
                rollout_buffer_class=DictPreferenceBuffer,
                **DICTIONARIES,
            ),
            "<.*Displacement.*> compares numbers but observations are dictionaries: ",
        ),
    ],
)
def test_what_cannot_work_is_refused_in_one_sentence(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        call()


def test_a_signal_that_watches_the_learner_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    signal = Function(lambda _: 1.0)
    monkeypatch.setattr(Function, "watches_learner", True)
    with pytest.raises(InputError, match=r"watches the learner, which Stable-Baselines3 does not"):
        model_of(preference=signal)
