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


ROWS = [
    Row(
        "torch.beta_returns",
        lambda: {name: given for name, given in tensors().items() if name != "value_t"},
        free=FREE,
    ),
    Row("torch.beta_advantages", tensors, free=FREE),
]
UNCHECKED: dict[str, str] = {}
