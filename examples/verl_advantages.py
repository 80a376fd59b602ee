"""Advantages of `preftd.torch` in verl, whose processes must all import this file.

Put it on your PYTHONPATH and start training with VERL_USE_EXTERNAL_MODULES=verl_advantages.

Without a critic, verl takes estimators by name. Run it with algorithm.adv_estimator=preftd_returns:
rewards to come, which cross the output of tools, also where they fall on it.

With a critic, verl hands values to its own GAE only. `use_token_advantages()` puts ours in its
place: call it in a module of yours, name that one in VERL_USE_EXTERNAL_MODULES, and run verl with
algorithm.adv_estimator=gae. Both whiten advantages, as verl does.

    python examples/verl_advantages.py      compares them with verl's functions on random batches
"""

from typing import Any

import torch
from torch import Tensor
from verl.trainer.ppo import core_algos
from verl.utils.torch_functional import masked_whiten

from preftd.torch import token_advantages, token_returns


@core_algos.register_adv_est("preftd_returns")
def preftd_returns(
    token_level_rewards: Tensor, response_mask: Tensor, config: Any, **_: Any
) -> tuple[Tensor, Tensor]:
    """Advantages and returns without a critic, both of shape (batch, tokens)."""
    returns = token_returns(token_level_rewards, response_mask, gamma=config.gamma)
    return masked_whiten(returns, response_mask) * response_mask, returns


def preftd_gae(
    token_level_rewards: Tensor, values: Tensor, response_mask: Tensor, gamma: float, lam: float
) -> tuple[Tensor, Tensor]:
    """Advantages and returns with a critic, as verl's trainer calls for them."""
    found = token_advantages(token_level_rewards, values, response_mask, gamma=gamma, lam=lam)
    return masked_whiten(found.advantages, response_mask), found.returns


VERL_GAE = core_algos.compute_gae_advantage_return


def use_token_advantages() -> None:
    """Let verl's trainer compute GAE by `preftd_gae`."""
    core_algos.compute_gae_advantage_return = preftd_gae


def differences(masked_tokens_pay: bool) -> dict[str, float]:
    """Largest differences from verl's own functions, on random batches."""
    random = torch.Generator().manual_seed(0)
    mask = (torch.rand(16, 200, generator=random) < 0.6).double()
    reward, values = torch.randn(2, 16, 200, dtype=torch.float64, generator=random)
    config = type("Config", (), {"gamma": 0.99})
    paid = reward if masked_tokens_pay else reward * mask
    pairs = {
        "GAE": (
            VERL_GAE(paid, values, mask, 0.99, 0.95),
            preftd_gae(paid, values, mask, 0.99, 0.95),
        ),
        "REINFORCE++": (
            core_algos.compute_reinforce_plus_plus_outcome_advantage(paid, mask, config),
            preftd_returns(paid, mask, config),
        ),
    }
    return {
        name: max((a - b)[mask.bool()].abs().max().item() for a, b in zip(*pair, strict=True))
        for name, pair in pairs.items()
    }


if __name__ == "__main__":
    for paid, masked_tokens_pay in (("trained tokens only", False), ("all tokens", True)):
        for name, worst in differences(masked_tokens_pay).items():
            print(f"rewards on {paid}, {name}: {worst:.1e}")
