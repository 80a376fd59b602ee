"""Advantages of `preftd.torch` in OpenRLHF: run this file instead of openrlhf.cli.train_ppo_ray.

    python examples/openrlhf_advantages.py OPTIONS      with options of OpenRLHF, estimator gae

OpenRLHF computes advantages in a process that Ray starts, so each process replaces the method that
computes them. Compared with that method of version 0.11.2; no training was run.
"""

import os
import runpy
from typing import Any

import ray
from torch import Tensor

from preftd.torch import token_advantages

SETTINGS = {
    "TOKENIZERS_PARALLELISM": "true",
    "NCCL_DEBUG": "WARN",
    "RAY_ENABLE_ZERO_COPY_TORCH_TENSORS": "1",
}
"""Of OpenRLHF's processes, if the environment does not have others."""


def advantages_and_returns(
    self: Any, values: Tensor, rewards: Tensor, action_mask: Tensor, gamma: float, lambd: float
) -> tuple[Tensor, Tensor]:
    """Advantages and returns, both of shape (batch, tokens)."""
    del self
    found = token_advantages(rewards, values, action_mask, gamma=gamma, lam=lambd)
    return found.advantages.detach(), found.returns.detach()


def use_token_advantages() -> None:
    """Let OpenRLHF compute GAE by `token_advantages`, in this process."""
    from openrlhf.trainer.ppo_utils.experience_maker import (  # noqa: PLC0415  (in each process)
        RemoteExperienceMaker,
    )

    RemoteExperienceMaker.get_advantages_and_returns = advantages_and_returns


if __name__ == "__main__":
    ray.init(
        runtime_env={
            "worker_process_setup_hook": use_token_advantages,
            "env_vars": {name: os.environ.get(name, one) for name, one in SETTINGS.items()},
        }
    )
    runpy.run_module("openrlhf.cli.train_ppo_ray", run_name="__main__", alter_sys=True)
