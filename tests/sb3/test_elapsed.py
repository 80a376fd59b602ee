"""Steps that take time, with Stable-Baselines3: γ to the power of the time that each took."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from stable_baselines3 import A2C, PPO

from preftd import ETD, TD, InputError
from preftd.preferences import Signal
from preftd.sb3 import PreferenceBuffer
from sb3.models import STEPS, environments, model_of, roll
from sb3.own_beta import OwnBeta, OwnBetaOnTime
from sb3.test_betas import Watch, written_out

torch.set_num_threads(1)
TIMED: dict[str, Any] = {"elapsed": "dt"}


class WatchTime(Watch):
    """Remembers how long each step took, too, and the gains of each rollout."""

    def _init_callback(self) -> None:
        super()._init_callback()
        self.times: list[Any] = []
        self.gains: list[Any] = []
        self.starts: list[Any] = []

    def _on_step(self) -> bool:
        self.times.append([info["dt"] for info in self.locals["infos"]])
        return super()._on_step()

    def _on_rollout_end(self) -> None:
        buffer = self.locals["rollout_buffer"]
        self.gains += [*buffer.gains]
        self.starts += [*buffer.episode_starts]


@pytest.mark.parametrize("rule", [TD(), ETD(interest=1.0)])
def test_steps_that_take_the_time_1_give_the_bits_of_steps_without_time(rule: Any) -> None:
    plain = roll(model_of(buffer={"rule": rule}, env=environments(OwnBetaOnTime)), rollouts=2)
    timed = model_of(buffer={"rule": rule} | TIMED, env=environments(OwnBetaOnTime))
    timed = roll(timed, rollouts=2)
    for name in ("advantages", "returns", "gains", "rewards", "betas"):
        np.testing.assert_array_equal(getattr(timed, name), getattr(plain, name))


@pytest.mark.parametrize("kind", [PPO, A2C])
@pytest.mark.parametrize("preference", ["trust", 0.1])
def test_returns_are_those_of_a_semi_markov_process(kind: Any, preference: Any) -> None:
    """With a constant β, generalised advantage estimation; truncated steps are discounted alike."""
    model = model_of(kind, preference, rollout_buffer_class=PreferenceBuffer, buffer=TIMED)
    watch = WatchTime()
    buffer = roll(model, watch)
    with torch.no_grad():
        last = model.policy.predict_values(torch.as_tensor(model._last_obs)).numpy().ravel()
    discounts = buffer.gamma ** np.array(watch.times)
    assert len(np.unique(discounts)) == 4
    assert np.count_nonzero(watch.final) > 3
    expected = written_out(buffer, watch, last, model._last_episode_starts, discounts)
    np.testing.assert_allclose(buffer.returns, expected, rtol=2e-5, atol=2e-5)
    wrong = written_out(buffer, watch, last, model._last_episode_starts)
    assert np.abs(buffer.returns - wrong).max() > 0.01


def test_gains_are_discounted_by_the_time_of_the_step_before() -> None:
    """F = γ F + 1 and gain = 1 − β + β F; a rollout continues the previous one."""
    watch = WatchTime()
    model = model_of(preference=0.5, buffer={"rule": ETD(interest=1.0)} | TIMED)
    buffer = roll(model, watch, rollouts=2)
    follow_on, times = np.zeros(4), np.array(watch.times)
    assert len(watch.gains) == len(times) == 2 * STEPS
    for t, (gain, start) in enumerate(zip(watch.gains, watch.starts, strict=True)):
        follow_on = (1 - start) * buffer.gamma ** times[t - 1] * follow_on + 1
        np.testing.assert_allclose(gain, 0.5 + 0.5 * follow_on, rtol=1e-5)


class Discounts(Signal):
    """Checks that a signal sees the discount of the step before."""

    def at(self, visit: Any, memory: Any) -> tuple[float, Any]:
        step = 0 if visit.is_first else memory + 1
        assert visit.discount_t == (0 if visit.is_first else 0.99 ** (0.5 * (step % 4)))
        return 1.0, step


def test_a_signal_sees_the_discount_of_the_step() -> None:
    roll(model_of(preference=Discounts(), buffer=TIMED), rollouts=2)


class Backwards(OwnBeta):
    """Steps that take less than no time."""

    def _time(self) -> float:
        return -0.5


def test_times_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match=r"^info\['dt'\] is -0.5: give the time that a step took"):
        roll(model_of(env=environments(Backwards), buffer=TIMED))
    with pytest.raises(InputError, match=r"^info has no 'minutes' but .*'dt'.*: let the environ"):
        roll(model_of(buffer={"elapsed": "minutes"}))
    with pytest.raises(InputError, match=r"^elapsed is 3: give a key of info."):
        model_of(buffer={"elapsed": 3})
