"""Small models with preferences."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.vec_env import DummyVecEnv, VecEnv

from preftd._src.sb3.ppo import WeightedLosses
from preftd.sb3 import PreferenceCallback, PreferencePPO
from sb3.own_beta import OwnBeta

STEPS = 32


def environments(kind: type[OwnBeta] = OwnBeta, number: int = 4) -> DummyVecEnv:
    """Some environments side by side."""
    return DummyVecEnv([kind] * number)


def model_of(
    kind: Any = PreferencePPO,
    preference: Any = "trust",
    *,
    env: VecEnv | None = None,
    buffer: dict[str, Any] | None = None,
    **given: Any,
) -> Any:
    """A model with a preference; `buffer` has other options of the rollout buffer."""
    own = {"preference": preference, **(buffer or {})}
    options = {"n_steps": STEPS, "seed": 0, "device": "cpu", "policy": "MlpPolicy"} | given
    return kind(env=environments() if env is None else env, rollout_buffer_kwargs=own, **options)


def roll(model: Any, callback: Any = None, rollouts: int = 1) -> Any:
    """Collect rollouts without learning from them; returns the buffer."""
    model.train = lambda: None
    others = [] if callback is None else [callback]
    given = others if isinstance(model, WeightedLosses) else [PreferenceCallback(), *others]
    model.learn(rollouts * STEPS * model.n_envs, callback=given)
    del model.train
    return model.rollout_buffer
