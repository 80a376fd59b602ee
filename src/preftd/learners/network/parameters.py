"""The weights of one network, and how they are drawn."""

from __future__ import annotations

from typing import NamedTuple, SupportsIndex

import numpy as np

from preftd.arrays import Dense, Vector
from preftd.randomness import generator


class Parameters(NamedTuple):
    """The weights of one network, or anything of their shape."""

    hidden: Dense
    """Shape (inputs, units)."""
    hidden_bias: Vector
    """Shape (units,)."""
    out: Vector
    """Shape (units,)."""
    bias: float


def _xavier(inputs: int, units: int, seed: SupportsIndex) -> Parameters:
    """Weights uniform in ±√(6 / (how many numbers come in and go out)), biases 1."""
    draw = generator("network, xavier", inputs, units, seed)
    near, far = np.sqrt(6 / (inputs + units)), np.sqrt(6 / (units + 1))
    return Parameters(
        draw.uniform(-near, near, (inputs, units)),
        np.ones(units),
        draw.uniform(-far, far, units),
        1.0,
    )


def _uniform(inputs: int, units: int, seed: SupportsIndex) -> Parameters:
    """Weights and biases uniform in ±1/√(how many numbers come in)."""
    draw = generator("network", inputs, units, seed)
    near, far = 1 / np.sqrt(inputs), 1 / np.sqrt(units)
    return Parameters(
        draw.uniform(-near, near, (inputs, units)),
        draw.uniform(-near, near, units),
        draw.uniform(-far, far, units),
        float(draw.uniform(-far, far)),
    )


INITS = {"uniform": _uniform, "xavier": _xavier}
