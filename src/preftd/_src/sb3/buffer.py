"""Rollout buffers with the advantages of β-returns, and the callback that brings β to them.

    A_t = δ_t + γ_{t+1} (1 − β_{t+1}) A_{t+1}          G_t = V_t + A_t          gain_t from the rule

γ_{t+1} is γ, or γ to the power of the time that the step took. With β ≡ 1 − gae_lambda this is
generalised advantage estimation. Stable-Baselines3 ends an episode that is truncated with the
reward r + γ V(final observation), whatever β is there. That is what the library does as well, with
the discount of that step: a truncated episode bootstraps in full. The end of a rollout does the
same.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator, Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from gymnasium import spaces
from numpy.typing import NDArray
from stable_baselines3.common.buffers import DictRolloutBuffer, RolloutBuffer
from stable_baselines3.common.callbacks import BaseCallback

from preftd._src.arrays import InputError, as_flag, check_finite, short
from preftd._src.learners.returns import beta_advantages
from preftd._src.names import is_text
from preftd._src.rules.rule import as_rule, bootstrapped
from preftd._src.sb3.source import BetaSource, Seen, elapsed_of
from preftd.rules import PTD, Rule

Floats = NDArray[np.float32]


class PreferenceBuffer(RolloutBuffer):
    """A rollout buffer with a preference, for observations that are arrays.

    It goes before another rollout buffer among the bases of a class, as in `DictPreferenceBuffer`.

    Give it to A2C, PPO or `PreferencePPO` as `rollout_buffer_class`, and `preference`, `rule` and
    `weighted` as `rollout_buffer_kwargs`; Stable-Baselines3 fills in the rest. `gae_lambda` has no
    effect: λ is 1 − β.

    Parameters
    ----------
    buffer_size, observation_space, action_space, device, gae_lambda, gamma, n_envs
        As for `RolloutBuffer`.
    preference : str, Signal, float, or callable
        Where β comes from: a key of `info`, one of the library's signals, one number for all, or a
        function of the observation as it is before `VecNormalize`.
    rule : Rule
        Gives each step its gain (default: `PTD()`, for which it is β).
    weighted : bool
        Whether gains enter the targets: advantages are gain · A and returns V + gain · A. For A2C
        this is the weighted update, exactly. `PreferencePPO` weights losses instead, which is exact
        when there are several steps per rollout.
    elapsed : str, optional
        A key of `info`: the time that each step took. The discount of the step is then γ to its
        power (default: each step takes the time 1).

    """

    betas: Floats
    """Shape (steps, environments)."""
    gains: Floats
    """Shape (steps, environments), or flat in the order of the other arrays once sampled."""
    discounts: Floats
    """Of the step that leaves each observation, shape (steps, environments)."""

    def __init__(
        self,
        buffer_size: int,
        observation_space: spaces.Space[Any],
        action_space: spaces.Space[Any],
        *given: Any,
        preference: Any,
        rule: Rule | None = None,
        weighted: bool = False,
        elapsed: str | None = None,
        **named: Any,
    ) -> None:
        if isinstance(observation_space, spaces.Dict) and not isinstance(self, DictRolloutBuffer):
            raise InputError("observations are dictionaries: give DictPreferenceBuffer instead.")
        if elapsed is not None and not is_text(elapsed):
            raise InputError(f"elapsed is {short(elapsed)}: give a key of info.")
        super().__init__(buffer_size, observation_space, action_space, *given, **named)
        self.rule = as_rule(PTD() if rule is None else rule)
        self.weighted = as_flag("weighted", weighted)
        self.standardise = False
        self._source = BetaSource(preference, self.n_envs)
        self.elapsed = elapsed
        # Discounts: of the last step, of the step now, and of that before the rollout.
        self._into = self._out = self._before = np.full(self.n_envs, float(self.gamma))
        self._raw: NDArray[Any] | float = 0.0
        self._carried: Any = 0.0
        self._now: Seen | None = None
        self._next: Seen | None = None
        self.batch_weight = torch.empty(0)
        if self.weighted:
            self.warn_if_nothing_counts()

    def warn_if_nothing_counts(self) -> None:
        """Warn if β is 0 everywhere and the rule gives it no weight."""
        largest = self._source.largest
        if largest is not None and np.float32(largest) == 0:
            (_, gain), _ = self.rule.step(0.0, discount_t=0.0, beta=0.0)
            if gain == 0:
                warnings.warn(
                    f"the preference is 0 everywhere, where {self.rule!r} has a gain of 0, so that "
                    "nothing is learned: give rule=TD() for ordinary learning with λ = 1.",
                    stacklevel=2,
                )

    def state(self) -> dict[str, Any]:
        """Return the memory between rollouts, as arrays in plain containers."""
        now = None if self._now is None else tuple(self._now)
        return {**self._source.state(), "carried": self._carried, "now": now, "into": self._into}

    def load_state(self, state: Mapping[str, Any]) -> None:
        """Continue from what `state` gave; environments that are new have no memory."""
        saved, has_memory = len(state["memory"]), any(one is not None for one in state["memory"])
        if state["preference"] != self._source.name:
            if has_memory:
                warnings.warn(
                    f"the model was saved with the preference {state['preference']} and has "
                    f"{self._source.name}, which starts without memory.",
                    stacklevel=2,
                )
            return
        self._source.load_state(state["memory"], state["before"])
        if saved == self.n_envs:
            self._carried = state["carried"]
            self._into = state.get("into", self._into)  # files of older versions have none
            self._now = None if state["now"] is None else Seen(*state["now"])
        elif has_memory:
            warnings.warn(
                f"the model was saved with {saved} environments and has {self.n_envs}: the memory "
                "of a preference stays with the first ones, and new ones start without.",
                stacklevel=2,
            )

    def reset(self) -> None:
        """Empty the buffer, except for current observations."""
        self.betas = np.zeros((self.buffer_size, self.n_envs), dtype=np.float32)
        self.gains = np.zeros_like(self.betas)
        self.discounts = np.full_like(self.betas, self.gamma)
        super().reset()

    @property
    def has_begun(self) -> bool:
        """Whether it has current observations."""
        return self._now is not None

    def begin(self, seen: Seen) -> None:
        """Take the observations before the first step; called by the callback."""
        self._now = self._source.needed(seen)

    def arrive(
        self, seen: Seen, rewards: NDArray[Any], elapsed: Sequence[float] | None = None
    ) -> None:
        """Take the observations after a step; called by the callback before `add`.

        Parameters
        ----------
        seen : Seen
        rewards : array of shape (environments,)
            As the environments gave them.
        elapsed : sequence of float
            The time that the step took, of each environment, if that is known.

        """
        self._next, self._raw = self._source.needed(seen), rewards.copy()
        if elapsed is not None:
            powers = [self.gamma if one == 1 else self.gamma**one for one in elapsed]
            self._out = np.array(powers)

    def add(self, *given: Any, **named: Any) -> None:
        """Store a step, as `RolloutBuffer` does, with the β of its observation."""
        obs, action, reward, episode_start, *rest = given
        if self._now is None:
            raise InputError(
                "no callback brings β to the rollout buffer: call "
                "learn(..., callback=PreferenceCallback())."
            )
        self.betas[self.pos] = self._source.betas(
            self._now, episode_start, action, reward, self._into
        )
        self._now, self._next = self._next, None
        if self.elapsed is not None and self.gamma > 0:
            # Stable-Baselines3 has added γ V(final observation) where an episode is truncated.
            reward = reward + (self._out / self.gamma - 1) * (reward - self._raw)
        if self.pos == 0:
            self._before = self._into
        self.discounts[self.pos] = self._into = self._out
        super().add(obs, action, reward, episode_start, *rest, **named)

    def compute_returns_and_advantage(
        self, last_values: torch.Tensor, dones: NDArray[np.bool_]
    ) -> None:
        """Compute advantages, returns and gains, each of shape (steps, environments)."""
        last = last_values.clone().cpu().numpy().reshape(1, -1)
        check_finite("values", self.values)
        ends = np.concatenate([self.episode_starts[1:], dones.reshape(1, -1)]).astype(np.bool_)
        self.advantages = beta_advantages(
            self.rewards,
            self.values,
            np.concatenate([self.values[1:], last]),
            np.concatenate([bootstrapped(self.rule, self.betas[1:]), np.ones_like(last)]),
            discount=self.discounts,
            terminated=ends,  # what a truncated episode bootstraps from is in its last reward
        ).astype(np.float32, copy=False)
        before = np.concatenate([self._before[None], self.discounts[:-1]], dtype=np.float32)
        (_, gains), self._carried = self.rule.stream(
            self._carried, discount_t=before * (1 - self.episode_starts), beta=self.betas
        )
        self.gains = gains.astype(np.float32)
        if self.weighted:
            self.advantages = self.advantages * self.gains
        self.returns = self.advantages + self.values

    def get(self, batch_size: int | None = None) -> Generator[Any, None, None]:
        """Sample in batches; `batch_weight` then holds the weights of the last one."""
        if not self.generator_ready:
            mean = float(self.gains.mean())
            self.gains = self.swap_and_flatten(self.gains)
            self._weights = self.gains / mean if mean > 0 else self.gains
        yield from super().get(batch_size)

    def _get_samples(self, batch_inds: NDArray[np.intp], *given: Any) -> Any:
        samples = super()._get_samples(batch_inds, *given)
        self.batch_weight = self._in_batch(self._weights[batch_inds])
        if self.standardise and len(batch_inds) > 1:
            scaled = standardised(samples.advantages, self.batch_weight)
            return samples._replace(advantages=scaled)
        return samples

    def _in_batch(self, numbers: Floats) -> torch.Tensor:
        """Arrange numbers of steps, shape (steps, 1), as samples are."""
        return self.to_torch(numbers.flatten())

    def summary(self) -> dict[str, float]:
        """Return the logged numbers of a rollout, before it is sampled."""
        gains = self.gains.astype(np.float64)
        squares = np.square(gains).sum()
        return {
            "mean_beta": float(self.betas.mean()),
            "preferred_share": float((self.betas > 0).mean()),
            "effective_sample_size": float(gains.sum() ** 2 / squares) if squares > 0 else 0.0,
        }


@final
class LiveState:
    """The state of a buffer at the time a model is saved: loaded, it is what `state` gave."""

    __slots__ = ("buffer",)

    def __init__(self, buffer: PreferenceBuffer) -> None:
        self.buffer = buffer

    def __reduce__(self) -> tuple[Any, ...]:
        """Stable-Baselines3 writes plain containers, no object of this library."""
        return dict, (self.buffer.state(),)


class DictPreferenceBuffer(PreferenceBuffer, DictRolloutBuffer):
    """A `PreferenceBuffer` for observations that are dictionaries."""


def standardised(advantage: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Advantages of weighted mean 0 and variance 1, shape (batch,); equal weights have no effect.

    Steps of weight 0 do not influence others.
    """
    total = weight.sum()
    if total == 0:
        return advantage
    centred = advantage - (weight * advantage).sum() / total
    freedom = total - weight.square().sum() / total  # unbiased: n − 1 for weights of 1
    if freedom <= 1e-6 * total:
        return centred
    return centred / (((weight * centred.square()).sum() / freedom).sqrt() + 1e-8)


class PreferenceCallback(BaseCallback):
    """Brings β to a `PreferenceBuffer`: give it to `learn` of A2C or PPO.

    Rollout buffers see neither infos nor observations before `VecNormalize`; a callback does.
    `PreferencePPO` has its own. It logs `preferences/mean_beta`, `preferences/preferred_share` (of
    steps with β above 0) and `preferences/effective_sample_size` (of the gains g of a rollout,
    (Σ g)² / Σ g²).
    """

    def _on_training_start(self) -> None:
        model: Any = self.model
        if not isinstance(getattr(model, "rollout_buffer", None), PreferenceBuffer):
            raise InputError(
                f"{type(model).__name__} has no PreferenceBuffer: give it "
                "rollout_buffer_class=PreferenceBuffer, which A2C and PPO take, or use "
                "PreferenceRecurrentPPO or PreferenceMaskablePPO."
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
        buffer, key = model.rollout_buffer, model.rollout_buffer.elapsed
        times = None if key is None else [elapsed_of(info, key) for info in self.locals["infos"]]
        seen = self._seen(self.locals["new_obs"], infos)
        buffer.arrive(seen, self.locals["rewards"], times)
        return True

    def _on_rollout_end(self) -> None:
        model: Any = self.model
        for name, value in model.rollout_buffer.summary().items():
            self.logger.record(f"preferences/{name}", value)

    def _reset_infos(self) -> Any:
        """The infos of `reset`, if any; wrappers of vector environments do not pass them on."""
        nothing: list[dict[str, Any]] = [{}] * self.training_env.num_envs
        return getattr(self.training_env.unwrapped, "reset_infos", nothing)

    def _seen(self, observations: Any, infos: Any) -> Seen:
        normalised = self.model.get_vec_normalize_env()
        return Seen(
            observations if normalised is None else normalised.get_original_obs(), list(infos)
        )
