"""The weights of an actor, and how they are drawn.

    a = hidden_bias + x·hidden          h = tanh(a) or max(a, 0)
    π(· | x) = softmax(out_bias + h·out)

All weights are one vector, `flat`, of which the others are parts: an optimiser sees only that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from preftd._src.arrays import Dense, Vector


class Parameters(NamedTuple):
    """The weights of an actor, or anything of their shape."""

    flat: Vector
    """Shape (inputs · units + units + units · actions + actions,)."""
    hidden: Dense
    """Shape (inputs, units)."""
    hidden_bias: Vector
    """Shape (units,)."""
    out: Dense
    """Shape (units, actions)."""
    out_bias: Vector
    """Shape (actions,)."""

    @classmethod
    def of(cls, flat: Vector, inputs: int, units: int, actions: int) -> Parameters:
        """The parts of a vector, which they share."""
        ends = np.cumsum([inputs * units, units, units * actions, actions])
        hidden, hidden_bias, out, out_bias = np.split(flat, ends[:-1])
        return cls(
            flat,
            hidden.reshape(inputs, units),
            hidden_bias,
            out.reshape(units, actions),
            out_bias,
        )

    @classmethod
    def zeros(cls, inputs: int, units: int, actions: int) -> Parameters:
        """Parameters of 0."""
        return cls.of(
            np.zeros((inputs + 1) * units + (units + 1) * actions), inputs, units, actions
        )


def drawn(
    init: str, inputs: int, units: int, actions: int, bias: bool, draw: np.random.Generator
) -> Parameters:
    """The weights that an actor starts with; biases are 0 if it has none."""
    found = Parameters.zeros(inputs, units, actions)
    INITS[init](found, draw)
    if not bias:
        found.hidden_bias[:] = found.out_bias[:] = 0.0
    return found


def _uniform(into: Parameters, draw: np.random.Generator) -> None:
    """Weights and biases uniform in ±1/√(how many numbers come in)."""
    inputs, units = into.hidden.shape
    near, far = 1 / np.sqrt(inputs), 1 / np.sqrt(units)
    into.hidden[:] = draw.uniform(-near, near, into.hidden.shape)
    into.out[:] = draw.uniform(-far, far, into.out.shape)
    # Biases last: weights are the same with and without them.
    into.hidden_bias[:] = draw.uniform(-near, near, units)
    into.out_bias[:] = draw.uniform(-far, far, into.out_bias.size)


def _xavier(into: Parameters, draw: np.random.Generator) -> None:
    """Weights uniform in ±√(6 / (how many numbers come in and go out)), biases 0."""
    for layer in (into.hidden, into.out):
        size = np.sqrt(6 / sum(layer.shape))
        layer[:] = draw.uniform(-size, size, layer.shape)


def _small(into: Parameters, draw: np.random.Generator) -> None:
    """As uniform, the output layer divided by 100."""
    _uniform(into, draw)
    into.out[:] /= 100
    into.out_bias[:] /= 100


INITS: dict[str, Callable[[Parameters, np.random.Generator], None]] = {
    "uniform": _uniform,
    "xavier": _xavier,
    "small": _small,
}
