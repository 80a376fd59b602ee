"""Advantages of `preftd.torch` in verl: import this file before the trainer starts.

Without a critic, verl takes estimators by name. Run it with algorithm.adv_estimator=preftd_returns:
rewards to come, which cross the output of tools, also where they fall on it.

With a critic, verl hands values to its own GAE only. `use_token_advantages()` puts ours in its
place; run it with algorithm.adv_estimator=gae. Both whiten advantages, as verl does.

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


def use_token_advantages() -> None:
    """Let verl's trainer compute GAE by `preftd_gae`."""
    core_algos.compute_gae_advantage_return = preftd_gae


def _compare() -> None:
    """Without rewards on masked tokens both agree with verl; with them, verl loses them."""
    random = torch.Generator().manual_seed(0)
    mask = (torch.rand(16, 200, generator=random) < 0.6).double()
    reward, values = torch.randn(2, 16, 200, dtype=torch.float64, generator=random)
    config = type("Config", (), {"gamma": 0.99})
    trained = mask.bool()
    for name, paid in (("on trained tokens only", reward * mask), ("on all tokens", reward)):
        verl = core_algos.compute_gae_advantage_return(paid, values, mask, 0.99, 0.95)
        ours = preftd_gae(paid, values, mask, 0.99, 0.95)
        plain = core_algos.compute_reinforce_plus_plus_outcome_advantage(paid, mask, config)
        free = preftd_returns(paid, mask, config)
        print(f"rewards {name}: largest difference of", end="")
        for label, pair in (("GAE", (verl, ours)), ("REINFORCE++", (plain, free))):
            worst = max((a - b)[trained].abs().max().item() for a, b in zip(*pair, strict=True))
            print(f" {label} {worst:.1e}", end=";")
        print()


if __name__ == "__main__":
    _compare()
