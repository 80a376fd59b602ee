"""Preferences in Stable-Baselines3: a rollout buffer, a callback and PPO; needs the extra `sb3`."""

try:
    import stable_baselines3 as _stable_baselines3  # noqa: F401  (is it installed?)
except ModuleNotFoundError as error:
    if error.name != "stable_baselines3":
        raise
    raise ModuleNotFoundError(
        "Stable-Baselines3 is not installed: install it with pip install 'preftd[sb3]'",
        name="stable_baselines3",
    ) from None

from preftd._src.sb3.buffer import (
    DictPreferenceBuffer,
    PreferenceBuffer,
    PreferenceCallback,
)
from preftd._src.sb3.ppo import PreferencePPO

__all__ = ["DictPreferenceBuffer", "PreferenceBuffer", "PreferenceCallback", "PreferencePPO"]
