"""The callback that brings observations and infos to a rollout buffer."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from preftd.arrays import InputError
from preftd.sb3.buffer import PreferenceBuffer
from preftd.sb3.source import Seen


class PreferenceCallback(BaseCallback):
    """Brings β to a `PreferenceBuffer`: give it to `learn` of A2C or PPO.

    Rollout buffers see neither infos nor observations before `VecNormalize`; a callback does.
    `PreferencePPO` has its own.
    """

    def _on_training_start(self) -> None:
        model: Any = self.model
        if not isinstance(getattr(model, "rollout_buffer", None), PreferenceBuffer):
            raise InputError(
                f"{type(model).__name__} has no PreferenceBuffer: give it "
                "rollout_buffer_class=PreferenceBuffer, which A2C and PPO take (recurrent policies "
                "are not supported)."
            )
        if model._last_episode_starts.all():  # else the buffer knows what was seen last
            model.rollout_buffer.begin(self._seen(model._last_obs, self._reset_infos()))

    def _on_step(self) -> bool:
        model: Any = self.model
        both = zip(self.locals["infos"], self._reset_infos(), self.locals["dones"], strict=True)
        infos = [fresh if done else info for info, fresh, done in both]
        model.rollout_buffer.arrive(self._seen(self.locals["new_obs"], infos))
        return True

    def _reset_infos(self) -> Any:
        """What `reset` reported; wrappers of vector environments do not pass it on."""
        return self.training_env.unwrapped.reset_infos

    def _seen(self, observations: Any, infos: Any) -> Seen:
        normalised = self.model.get_vec_normalize_env()
        return Seen(
            observations if normalised is None else normalised.get_original_obs(), list(infos)
        )
