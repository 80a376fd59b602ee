"""Valid calls of what works on tensors."""

from __future__ import annotations

from typing import Any

import torch

from fuzz.row import Row
from fuzz.rows.specifications import streams

NUMBER = "number, half, negative"
"""One number stands for all entries."""
FREE = {
    **dict.fromkeys(("reward", "value_t", "value_tp1"), NUMBER),
    "beta_tp1": "half",
    "terminated": "flag",
    "truncated": "flag",
    "axis": "zero, negative",
}


def tensors() -> dict[str, Any]:
    given = streams()
    return {
        name: torch.tensor(one) if hasattr(one, "dtype") else one for name, one in given.items()
    }


TOKENS = {"gamma": "half", "lam": "half", "truncated": "flag"}


def tokens() -> dict[str, Any]:
    mask = torch.tensor([[True, False, True], [True, True, False]])
    return {
        "reward": torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5]]),
        "value": torch.tensor([[0.5, 0.0, 1.5], [1.0, 0.5, 0.0]]),
        "mask": mask,
        "gamma": 0.9,
        "lam": 0.8,
        "turn": torch.tensor([[0, 0, 1], [0, 1, 1]]),
        "segment": torch.zeros(2, 3, dtype=torch.int64),
        "truncated": torch.tensor([[False, False, True], [False, False, False]]),
        "final_value": torch.full((2, 3), 0.5),
        "masked_reward": "carry",
    }


ROWS = [
    Row(
        "torch.beta_returns",
        lambda: {name: given for name, given in tensors().items() if name != "value_t"},
        free=FREE,
    ),
    Row("torch.beta_advantages", tensors, free=FREE),
    Row("torch.token_advantages", tokens, free=TOKENS),
    Row(
        "torch.token_returns",
        lambda: {
            name: tokens()[name] for name in ("reward", "mask", "gamma", "segment", "masked_reward")
        },
        free=TOKENS,
    ),
    Row(
        "torch.length_adaptive_lambda",
        lambda: {"mask": tokens()["mask"], "alpha": 0.5, "segment": tokens()["segment"]},
        free={"alpha": "huge"},
    ),
]
UNCHECKED: dict[str, str] = {}
