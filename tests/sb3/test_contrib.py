"""The recurrent and the masked PPO of sb3-contrib, with preferences: laws of `PreferencePPO`."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO, RecurrentPPO
from sb3_contrib.common.recurrent.type_aliases import RNNStates
from stable_baselines3 import PPO
from stable_baselines3.common.logger import KVWriter, Logger

from preftd import ETD, TD, InputError
from preftd.sb3 import (
    PreferenceBuffer,
    PreferenceMaskablePPO,
    PreferencePPO,
    PreferenceRecurrentPPO,
)
from sb3.models import STEPS, environments, model_of, roll
from sb3.own_beta import OwnBeta, OwnBetaInDictionary
from sb3.test_betas import Rollouts, Watch, written_out
from sb3.test_update import gradient, weights

torch.set_num_threads(1)
SMALL: dict[str, Any] = {"lstm_hidden_size": 8, "net_arch": [8]}
KINDS: dict[str, tuple[Any, Any, str, dict[str, Any]]] = {
    "recurrent": (PreferenceRecurrentPPO, RecurrentPPO, "LstmPolicy", {"policy_kwargs": SMALL}),
    "masked": (PreferenceMaskablePPO, MaskablePPO, "Policy", {}),
}
ALL = {**KINDS, "plain": (PreferencePPO, PPO, "Policy", {})}
FORMS: dict[str, tuple[type[OwnBeta], str]] = {
    "arrays": (OwnBeta, "Mlp"),
    "dictionaries": (OwnBetaInDictionary, "MultiInput"),
}


def options_of(kind: str, form: str = "arrays") -> dict[str, Any]:
    shown, policy = FORMS[form]
    own, _, ending, options = ALL[kind]
    return {"kind": own, "env": environments(shown), "policy": policy + ending, **options}


@pytest.mark.parametrize(("form", "rule"), [("arrays", {}), ("dictionaries", {"rule": TD()})])
@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_preference_is_the_ppo_of_sb3_contrib(
    kind: str, form: str, rule: dict[str, Any]
) -> None:
    """With batches that cut sequences, so that they are padded."""
    few: dict[str, Any] = {"n_epochs": 2, "batch_size": 48}
    plain = options_of(kind, form) | {"n_steps": STEPS, "seed": 0, "device": "cpu"} | few
    del plain["kind"]
    theirs = KINDS[kind][1](gae_lambda=0.9, **plain).learn(2 * 4 * STEPS)
    model = model_of(preference=0.1, buffer=rule, **options_of(kind, form), **few)
    torch.testing.assert_close(weights(model.learn(2 * 4 * STEPS)), weights(theirs))
    moved = model.rollout_buffer.actions
    np.testing.assert_array_equal(moved, theirs.rollout_buffer.actions)


class WatchRewards(Watch):
    """Does not ask for final values, which depend on the state of an LSTM."""

    def _final_value(self, info: dict[str, Any]) -> float:
        del info
        return 0.0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_betas_gains_and_returns_are_those_written_out(kind: str, form: str) -> None:
    """Where each step takes a time of its own, truncated ones included."""
    watch = WatchRewards()
    plain = roll(model_of(**options_of(kind, form)), watch)
    final = (plain.rewards - np.array(watch.rewards)) / plain.gamma
    assert np.count_nonzero(final) > 3
    watch.final = list(final)
    model = model_of(buffer={"rule": ETD(interest=1.0), "elapsed": "dt"}, **options_of(kind, form))
    last, buffer = remembering_the_last_values(model), roll(model)
    shown = buffer.observations["all"] if form == "dictionaries" else buffer.observations
    np.testing.assert_array_equal(buffer.betas, shown[..., 1])
    expected = written_out(buffer, watch, last[0], model._last_episode_starts, buffer.discounts)
    np.testing.assert_allclose(buffer.returns, expected, rtol=2e-5, atol=2e-5)
    follow_on, before = np.zeros(4), np.zeros(4)
    for start, beta, gain, out in zip(
        buffer.episode_starts, buffer.betas, buffer.gains, buffer.discounts, strict=True
    ):
        follow_on, before = (1 - start) * before * follow_on + 1, out
        np.testing.assert_allclose(gain, 1 - beta + beta * follow_on, rtol=1e-5)


def remembering_the_last_values(model: Any) -> list[Any]:
    """The values that the end of each rollout is bootstrapped from."""
    found: list[Any] = []
    compute = model.rollout_buffer.compute_returns_and_advantage

    def remember(last_values: Any, dones: Any) -> None:
        found.append(last_values.numpy().ravel())
        compute(last_values, dones)

    model.rollout_buffer.compute_returns_and_advantage = remember
    return found


def test_losses_of_sequences_are_weighted_and_padding_counts_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first update equals that of the same sequences one by one, which have no padding."""
    own = {"policy_kwargs": SMALL | {"optimizer_class": torch.optim.SGD}, "max_grad_norm": 9e9}
    whole = {"n_epochs": 1, "batch_size": 4 * STEPS, "learning_rate": 1e-2}
    model = model_of(**options_of("recurrent") | own | whole)
    buffer, before = roll(model), weights(model)
    gain, advantage = buffer.gains.astype(float), buffer.advantages.astype(float)
    centred = advantage - np.average(advantage, weights=gain)
    scaled = centred / np.sqrt(np.cov(advantage.ravel(), aweights=gain.ravel()))
    loss, lengths = torch.tensor(0.0), set()
    for i in range(4):
        starts = np.flatnonzero(buffer.episode_starts[:, i] == 1)
        for rows in np.split(np.arange(STEPS), starts[starts > 0]):
            lengths.add(len(rows))
            pairs = [
                tuple(torch.as_tensor(part[rows[0]][:, i : i + 1]) for part in parts)
                for parts in (
                    (buffer.hidden_states_pi, buffer.cell_states_pi),
                    (buffer.hidden_states_vf, buffer.cell_states_vf),
                )
            ]
            value, log_prob, _ = model.policy.evaluate_actions(
                torch.as_tensor(buffer.observations[rows, i]),
                torch.as_tensor(buffer.actions[rows, i].ravel()),
                RNNStates(*pairs),
                torch.as_tensor(buffer.episode_starts[rows, i]),
            )
            weight, a, b = (
                torch.as_tensor(part[rows, i]) for part in (gain / gain.mean(), scaled, advantage)
            )
            value = value.flatten()
            squares = (value.detach() + b - value) ** 2
            loss = loss + (weight * (-a * log_prob + 0.5 * squares)).sum() / (4 * STEPS)
    assert len(lengths) > 3  # so that there is padding
    expected = -0.01 * gradient(model, loss.float())
    monkeypatch.setattr(np.random, "randint", lambda _: 0)  # cuts no sequence in two
    model.train()
    torch.testing.assert_close(weights(model) - before, expected, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_buffers_and_weights_that_cannot_work_are_refused(kind: str) -> None:
    with pytest.raises(InputError, match=r"^there is no preference: give one"):
        KINDS[kind][0](options_of(kind)["policy"], environments())
    with pytest.raises(InputError, match=r"^weighted would count gains twice: "):
        model_of(buffer={"weighted": True}, **options_of(kind))
    if kind == "masked":
        message = "^rollout_buffer_class is .*: leave it out, or give a MaskablePreferenceBuffer"
        with pytest.raises(InputError, match=message):
            model_of(rollout_buffer_class=PreferenceBuffer, **options_of(kind))


class Written(KVWriter):
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def write(self, key_values: dict[str, Any], *_: Any) -> None:
        self.rows.append(dict(key_values))


@pytest.mark.parametrize("kind", ALL)
def test_each_rollout_logs_its_preferences(kind: str) -> None:
    model, log, rollouts = model_of(**options_of(kind)), Written(), Rollouts()
    model.set_logger(Logger(None, [log]))
    roll(model, rollouts, rollouts=2)
    for row, part in zip(log.rows, (slice(STEPS), slice(STEPS, None)), strict=True):
        _, betas, gains = (np.array(numbers) for numbers in zip(*rollouts.rows[part], strict=True))
        assert row["preferences/mean_beta"] == pytest.approx(betas.mean())
        assert row["preferences/preferred_share"] == np.mean(betas > 0)
        size = gains.sum() ** 2 / (gains**2).sum()
        assert row["preferences/effective_sample_size"] == pytest.approx(size)
        assert row["time/total_timesteps"]


def test_sb3_contrib_is_needed_by_its_own_algorithms_only(monkeypatch: pytest.MonkeyPatch) -> None:
    package = import_module("preftd.sb3")
    monkeypatch.delitem(sys.modules, "preftd._src.sb3.contrib")
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    assert package.PreferencePPO.__name__ == "PreferencePPO"
    with pytest.raises(ModuleNotFoundError, match=r"^sb3-contrib is not installed: install it"):
        package.PreferenceRecurrentPPO  # noqa: B018  (loads it)
