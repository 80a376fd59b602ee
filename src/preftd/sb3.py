"""Preferences in Stable-Baselines3: a rollout buffer, a callback and PPO; needs the extra `sb3`."""

from typing import TYPE_CHECKING

from preftd._src.lazy import lazy

try:
    import stable_baselines3 as _stable_baselines3  # noqa: F401  (is it installed?)
except ModuleNotFoundError as error:
    if error.name != "stable_baselines3":
        raise
    raise ModuleNotFoundError(
        "Stable-Baselines3 is not installed: install it with pip install 'preftd[sb3]'",
        name="stable_baselines3",
    ) from None

if TYPE_CHECKING:
    from preftd._src.sb3.buffer import (
        DictPreferenceBuffer,
        PreferenceBuffer,
        PreferenceCallback,
    )
    from preftd._src.sb3.contrib import PreferenceMaskablePPO, PreferenceRecurrentPPO
    from preftd._src.sb3.ppo import PreferencePPO

__getattr__, __dir__ = lazy(
    __name__,
    {
        "buffer": "DictPreferenceBuffer PreferenceBuffer PreferenceCallback",
        "contrib": "PreferenceMaskablePPO PreferenceRecurrentPPO",
        "ppo": "PreferencePPO",
    },
)

__all__ = [
    "DictPreferenceBuffer",
    "PreferenceBuffer",
    "PreferenceCallback",
    "PreferenceMaskablePPO",
    "PreferencePPO",
    "PreferenceRecurrentPPO",
]
