"""A value estimator of TorchRL with a β for each state, and a gain for each step."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from tensordict import TensorDictBase
from tensordict.nn import TensorDictModuleBase, dispatch
from torchrl.objectives.utils import hold_out_net
from torchrl.objectives.value import ValueEstimatorBase

from preftd._src.arrays import InputError, unit
from preftd.torch import beta_returns


class PreferenceEstimator(ValueEstimatorBase):  # type: ignore[misc]
    """Advantages and value targets from β-returns, in place of TorchRL's `GAE`.

    It reads β of the *next* state, the entry `("next", "beta")`, and writes "advantage" and
    "value_target". With β ≡ 1 − lmbda they equal those of `GAE`, also with target weights. A
    truncated episode, and the last step of a batch, bootstrap in full.

    `set_keys` renames the entries that are read and written. After `set_keys(gain=...)` that entry
    weights the update of each step: the advantage is gain · A, the target V + gain · A.
    `set_keys(gain="beta")` is Preferential TD. Targets with a gain depend on current values: call
    the estimator in each epoch, and do not let the loss normalise advantages. After
    `set_keys(elapsed=...)` that entry of "next" is the time that the step took, and the discount of
    the step is γ to its power.

    Parameters
    ----------
    gamma : float
        The discount, from 0 to 1.
    value_network : TensorDictModule or None
        Called on a step and on "next". None reads values from the data.
    differentiable : bool
        Whether gradients flow through the estimates.
    time_dim : int, optional
        The axis of time (default: the one named "time", else the last of the batch).

    Examples
    --------
    >>> from tensordict import TensorDict
    >>> zeros, never = torch.zeros(1, 3, 1), torch.zeros(1, 3, 1, dtype=torch.bool)
    >>> after = TensorDict({"reward": zeros, "done": never, "terminated": never}, [1, 3])
    >>> after["state_value"] = torch.tensor([[[1.0], [2.0], [3.0]]])
    >>> after["beta"] = torch.tensor([[0.0, 1.0, 0.0]])
    >>> data = TensorDict({"state_value": zeros, "next": after}, [1, 3])
    >>> PreferenceEstimator(gamma=1.0, value_network=None)(data)["value_target"].flatten()
    tensor([2., 2., 3.])

    """

    @dataclass
    class _AcceptedKeys(ValueEstimatorBase._AcceptedKeys):  # type: ignore[misc]
        beta: Any = "beta"
        gain: Any = None
        elapsed: Any = None

    for _field in fields(_AcceptedKeys):  # set_keys looks for names in this class alone
        setattr(_AcceptedKeys, _field.name, _field.default)
    default_keys = _AcceptedKeys

    def __init__(
        self,
        *,
        gamma: float,
        value_network: TensorDictModuleBase | None,
        differentiable: bool = False,
        time_dim: int | None = None,
        device: torch.device | None = None,
    ) -> None:
        super().__init__(value_network=value_network, differentiable=differentiable, device=device)
        self.gamma, self.time_dim = unit("gamma", gamma), time_dim

    @property
    def in_keys(self) -> list[Any]:
        """What is read."""
        keys = [*super().in_keys, ("next", self.tensor_keys.beta)]
        timed = self.tensor_keys.elapsed
        keys += [] if timed is None else [("next", timed)]
        return keys if self.tensor_keys.gain is None else [*keys, self.tensor_keys.gain]

    @dispatch  # type: ignore[untyped-decorator]
    def forward(
        self,
        tensordict: TensorDictBase,
        *,
        params: TensorDictBase | None = None,
        target_params: TensorDictBase | None = None,
        time_dim: int | None = None,
    ) -> TensorDictBase:
        """Write advantages and value targets.

        Parameters
        ----------
        tensordict : TensorDictBase
            Data of shape (..., steps), as a collector returns them.
        params, target_params : TensorDictBase, optional
            Weights of the value network, for steps and for "next" (default: its own).
        time_dim : int, optional
            The axis of time.

        Returns
        -------
        TensorDictBase
            The same.

        """
        if self.tensor_keys.steps_to_next_obs in tensordict.keys(include_nested=True):
            raise InputError(
                "the data have rewards of several steps, which β-returns do not support: leave "
                "out TorchRL's MultiStep."
            )
        with torch.set_grad_enabled(self.differentiable):
            after: Any = _entry(tensordict, "next")
            shape = _entry(after, self.tensor_keys.reward).shape
            value = self._value(tensordict, params, shape)
            targets = params if target_params is None else target_params
            value_tp1 = self._value(after, targets, shape).detach()
            reward = _entry(after, self.tensor_keys.reward).to(value.dtype)
            beta = _alike(after, self.tensor_keys.beta, shape).to(value.dtype)
            done = _flags(after, self.tensor_keys.done, shape)
            key = self.tensor_keys.terminated
            terminated = done if after.get(key, None) is None else _flags(after, key, shape)
            discount = self._discount(after, value)
            axis = self._get_time_dim(time_dim, tensordict)
            if self.value_network is not None and target_params is not None:
                lead = _lead(value_tp1, value, done, axis)
                reward = reward + discount * (1 - beta) * lead
            returns = beta_returns(
                reward,
                value_tp1,
                beta,
                discount=discount,
                terminated=terminated,
                truncated=done & ~terminated,
                axis=axis,
            )
            advantage = returns - value
            if self.tensor_keys.gain is not None:
                gain = _alike(tensordict, self.tensor_keys.gain, shape)
                advantage = advantage * gain.to(value.dtype)
            tensordict.set(self.tensor_keys.advantage, advantage)
            tensordict.set(self.tensor_keys.value_target, advantage + value)
        return tensordict

    def value_estimate(
        self,
        tensordict: TensorDictBase,
        target_params: TensorDictBase | None = None,
        **options: Any,
    ) -> torch.Tensor:
        """Return the value targets alone, without changing the data."""
        made = self.forward(tensordict.copy(), target_params=target_params, **options)
        target: torch.Tensor = made.get(self.tensor_keys.value_target)
        return target

    def _discount(self, after: TensorDictBase, value: torch.Tensor) -> torch.Tensor | float:
        """γ, or in the shape of values γ to the power of the time that each step took."""
        key = self.tensor_keys.elapsed
        if key is None:
            return self.gamma
        elapsed = _alike(after, key, value.shape).to(value.dtype)
        if not ((elapsed >= 0) & elapsed.isfinite()).all():
            raise InputError(
                f"{key!r} has a number that is negative or not finite: give the time of each step."
            )
        return torch.where(elapsed == 1, self.gamma, self.gamma**elapsed)

    def _value(
        self, data: TensorDictBase, params: TensorDictBase | None, shape: torch.Size
    ) -> torch.Tensor:
        """v(x) in the shape of rewards, by the network or from the data."""
        network, key = self.value_network, self.tensor_keys.value
        if network is not None:
            # Gradients may flow through the estimate, but not to the weights of the network.
            with hold_out_net(network) if params is None else params.detach().to_module(network):
                data.set(key, network(data.select(*network.in_keys, strict=False)).get(key))
        return _alike(data, key, shape)


def _lead(
    value_tp1: torch.Tensor, value: torch.Tensor, done: torch.Tensor, axis: int
) -> torch.Tensor:
    """Target values of next states less the network's own, where an episode continues.

    As in `GAE`, δ bootstraps from target values, and later terms use the network's own values:
    A_t = δ_t + γ (1 − β_{t+1}) A_{t+1}. Unknown values have no lead.
    """
    lead = value_tp1 - value.roll(-1, axis)
    counts = lead.isfinite() & ~done
    counts.movedim(axis, 0)[-1:] = False
    return torch.where(counts, lead, 0.0)


def _entry(data: TensorDictBase, key: Any) -> Any:
    """An entry of the data, checked to exist."""
    found = data.get(key, None)
    if found is None:
        raise InputError(
            f"the data have no {key!r}: let the environment or a network write it, or name another "
            "entry with set_keys."
        )
    return found


def _alike(data: TensorDictBase, key: Any, shape: torch.Size) -> torch.Tensor:
    """An entry in the shape of rewards, which end with an axis of size 1."""
    found: torch.Tensor = _entry(data, key)
    if found.ndim == len(shape) - 1:
        found = found.unsqueeze(-1)
    if found.shape != shape:
        raise InputError(
            f"{key!r} has shape {tuple(found.shape)} but rewards have {tuple(shape)}: give one "
            "for each step."
        )
    return found


def _flags(data: TensorDictBase, key: Any, shape: torch.Size) -> torch.Tensor:
    """An entry that marks ends of episodes."""
    found = _alike(data, key, shape)
    if found.dtype != torch.bool:
        raise InputError(f"{key!r} is a tensor of {found.dtype}: give booleans, such as .bool().")
    return found
