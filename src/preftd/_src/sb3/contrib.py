"""The recurrent and the masked PPO of sb3-contrib, with preferences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import torch

try:
    from sb3_contrib import MaskablePPO, RecurrentPPO
except ModuleNotFoundError as error:
    if error.name != "sb3_contrib":
        raise
    raise ModuleNotFoundError(
        "sb3-contrib is not installed: install it with pip install 'preftd[sb3]'",
        name="sb3_contrib",
    ) from None

from sb3_contrib.common.maskable.buffers import MaskableDictRolloutBuffer, MaskableRolloutBuffer
from sb3_contrib.common.recurrent.buffers import RecurrentDictRolloutBuffer, RecurrentRolloutBuffer

from preftd._src.sb3.buffer import Floats, PreferenceBuffer
from preftd._src.sb3.ppo import WeightedLosses


class MaskablePreferenceBuffer(PreferenceBuffer, MaskableRolloutBuffer):
    """A `PreferenceBuffer` that also stores which actions are allowed."""


class MaskableDictPreferenceBuffer(PreferenceBuffer, MaskableDictRolloutBuffer):
    """The same, for observations that are dictionaries."""


class PaddedBuffer(PreferenceBuffer):
    """A `PreferenceBuffer` whose samples are sequences, padded to the same length."""

    pad_and_flatten: Callable[..., torch.Tensor]

    def _in_batch(self, numbers: Floats) -> torch.Tensor:
        """Padding has weight 0."""
        return self.pad_and_flatten(numbers)


class RecurrentPreferenceBuffer(PaddedBuffer, RecurrentRolloutBuffer):
    """A `PreferenceBuffer` that also stores states of an LSTM."""


class RecurrentDictPreferenceBuffer(PaddedBuffer, RecurrentDictRolloutBuffer):
    """The same, for observations that are dictionaries."""


class PreferenceMaskablePPO(WeightedLosses, MaskablePPO):
    """`MaskablePPO` of sb3-contrib with a preference, as `PreferencePPO` is PPO with one.

    Examples
    --------
    >>> import gymnasium
    >>> from sb3_contrib.common.wrappers import ActionMasker
    >>> environment = ActionMasker(gymnasium.make("CartPole-v1"), lambda _: [True, True])
    >>> model = PreferenceMaskablePPO(
    ...     "MlpPolicy", environment, n_steps=64, rollout_buffer_kwargs={"preference": 0.05}
    ... )
    >>> model.learn(64).num_timesteps
    64

    """

    buffers: ClassVar[Any] = (MaskablePreferenceBuffer, MaskableDictPreferenceBuffer)


class RecurrentPPOWithBuffer(RecurrentPPO):
    """`RecurrentPPO` that takes `rollout_buffer_kwargs`, as PPO does."""

    def __init__(
        self, *given: Any, rollout_buffer_kwargs: dict[str, Any] | None = None, **named: Any
    ) -> None:
        super().__init__(*given, **named | {"_init_setup_model": False})
        self.rollout_buffer_kwargs = rollout_buffer_kwargs or {}
        if named.get("_init_setup_model", True):
            self._setup_model()

    def _setup_model(self) -> None:
        super()._setup_model()
        buffer: Any = self.rollout_buffer_class
        theirs: Any = self.rollout_buffer
        self.rollout_buffer = buffer(
            self.n_steps,
            self.observation_space,
            self.action_space,
            theirs.hidden_state_shape,
            self.device,
            gamma=self.gamma,
            n_envs=self.n_envs,
            **self.rollout_buffer_kwargs,
        )


class PreferenceRecurrentPPO(WeightedLosses, RecurrentPPOWithBuffer):
    """`RecurrentPPO` of sb3-contrib with a preference, as `PreferencePPO` is PPO with one.

    It takes the arguments of `RecurrentPPO`, and `rollout_buffer_kwargs`. The padding of sequences
    has no weight.

    Examples
    --------
    >>> import gymnasium
    >>> from preftd.tasks import DropObservations
    >>> model = PreferenceRecurrentPPO(
    ...     "MlpLstmPolicy",
    ...     DropObservations(gymnasium.make("CartPole-v1"), 0.3),
    ...     n_steps=32,
    ...     rollout_buffer_kwargs={"preference": "observable"},
    ... )
    >>> model.learn(32).num_timesteps
    32

    """

    buffers: ClassVar[Any] = (RecurrentPreferenceBuffer, RecurrentDictPreferenceBuffer)
