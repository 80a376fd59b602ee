"""PPO whose losses are weighted by the gain of each step, in each of its forms."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from gymnasium import spaces
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback, ConvertCallback
from stable_baselines3.common.on_policy_algorithm import OnPolicyAlgorithm
from stable_baselines3.common.type_aliases import MaybeCallback

from preftd._src.arrays import InputError, short
from preftd._src.sb3.buffer import DictPreferenceBuffer, PreferenceBuffer, PreferenceCallback


class WeightedLosses(OnPolicyAlgorithm):
    """Goes before PPO, in any of its forms, among the bases of a class."""

    buffers: ClassVar[tuple[type[PreferenceBuffer], type[PreferenceBuffer]]] = (
        PreferenceBuffer,
        DictPreferenceBuffer,
    )
    """For observations that are arrays, and for dictionaries."""
    normalize_advantage: bool

    def _setup_model(self) -> None:
        if "preference" not in self.rollout_buffer_kwargs:
            raise InputError(
                "there is no preference: give one, such as "
                'rollout_buffer_kwargs={"preference": Observability(0.05, 0.0)}.'
            )
        if self.rollout_buffer_kwargs.get("weighted"):
            raise InputError("weighted would count gains twice: leave it out, it is for A2C.")
        if self.rollout_buffer_class is None:
            is_dict = isinstance(self.observation_space, spaces.Dict)
            self.rollout_buffer_class = self.buffers[is_dict]
        if not issubclass(self.rollout_buffer_class, self.buffers):
            raise InputError(
                f"rollout_buffer_class is {short(self.rollout_buffer_class)}: leave it out, or "
                f"give a {self.buffers[0].__name__}."
            )
        super()._setup_model()
        assert isinstance(self.rollout_buffer, PreferenceBuffer)
        self.rollout_buffer.warn_if_nothing_counts()

    def _init_callback(self, callback: MaybeCallback, progress_bar: bool = False) -> BaseCallback:
        if callback is not None and not isinstance(callback, list | BaseCallback):
            callback = ConvertCallback(callback)
        others = callback if isinstance(callback, list) else [callback] if callback else []
        return super()._init_callback([PreferenceCallback(), *others], progress_bar)

    def train(self) -> None:
        """Learn from the rollout, each step with its weight."""
        buffer, policy, standardise = self.rollout_buffer, self.policy, self.normalize_advantage
        assert isinstance(buffer, PreferenceBuffer)
        evaluate = policy.evaluate_actions

        def weighted(*given: Any, **named: Any) -> tuple[torch.Tensor, torch.Tensor, Any]:
            value, log_prob, entropy = evaluate(*given, **named)
            weight = buffer.batch_weight
            return scaled(value.flatten(), weight), scaled(log_prob, weight), entropy

        buffer.standardise, self.normalize_advantage = standardise, False
        vars(policy)["evaluate_actions"] = weighted
        try:
            super().train()
        finally:
            del vars(policy)["evaluate_actions"]  # the method of the class again
            buffer.standardise, self.normalize_advantage = False, standardise


class PreferencePPO(WeightedLosses, PPO):
    """PPO with a preference: it says where to bootstrap, and how much each step counts.

    The policy loss and the value loss of a step are weighted by its gain divided by the mean gain
    of the rollout; so a constant preference β above 0 gives PPO with gae_lambda = 1 − β. One of 0
    needs `rule=TD()` for that: `PTD()` learns nothing where β is 0. Advantages are standardised
    with the same weights. The entropy bonus has no weights, and neither have the losses that are
    logged.

    It takes the arguments of Stable-Baselines3's PPO. `rollout_buffer_kwargs` must hold
    `preference`, and may hold `rule`: see `PreferenceBuffer`. No callback is needed.

    Examples
    --------
    >>> import gymnasium
    >>> from preftd.preferences import Observability
    >>> from preftd.tasks import DropObservations
    >>> model = PreferencePPO(
    ...     "MlpPolicy",
    ...     DropObservations(gymnasium.make("CartPole-v1"), 0.3),
    ...     n_steps=64,
    ...     rollout_buffer_kwargs={"preference": Observability(observable=0.05, hidden=0.0)},
    ... )
    >>> model.learn(64).num_timesteps
    64

    """


def scaled(number: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The same numbers, shape (batch,), with gradients multiplied by weights.

    A loss that is a mean over steps then has the gradient of the weighted mean.
    """
    still = number.detach()
    return still + weight * (number - still)
