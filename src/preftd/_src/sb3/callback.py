"""The callback that brings observations and infos to a rollout buffer."""

from __future__ import annotations

from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from preftd._src.arrays import InputError
from preftd._src.sb3.buffer import LiveState, PreferenceBuffer
from preftd._src.sb3.source import Seen


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
        buffer: PreferenceBuffer = model.rollout_buffer
        saved = vars(model).get("preference_state")
        if isinstance(saved, dict):
            buffer.load_state(saved)
        model.preference_state = LiveState(buffer)  # attributes are saved with the model
        if model._last_episode_starts.all():  # else the buffer knows what was seen last
            buffer.begin(self._seen(model._last_obs, self._reset_infos()))
        elif not buffer.has_begun:
            raise InputError(
                "the model is in the midst of an episode of which its file does not tell β: load "
                "it with force_reset=True."
            )

    def _on_step(self) -> bool:
        model: Any = self.model
        both = zip(self.locals["infos"], self._reset_infos(), self.locals["dones"], strict=True)
        infos = [fresh if done else info for info, fresh, done in both]
        model.rollout_buffer.arrive(self._seen(self.locals["new_obs"], infos))
        return True

    def _reset_infos(self) -> Any:
        """What `reset` reported, if anything; wrappers of vector environments do not pass it on."""
        nothing: list[dict[str, Any]] = [{}] * self.training_env.num_envs
        return getattr(self.training_env.unwrapped, "reset_infos", nothing)

    def _seen(self, observations: Any, infos: Any) -> Seen:
        normalised = self.model.get_vec_normalize_env()
        return Seen(
            observations if normalised is None else normalised.get_original_obs(), list(infos)
        )
