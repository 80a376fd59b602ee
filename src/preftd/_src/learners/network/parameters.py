"""The weights of one network, and how they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.randomness import generator


class Parameters(NamedTuple):
    """The weights of one network, or anything of their shape."""

    hidden: Dense
    """Shape (inputs, units)."""
    hidden_bias: Vector
    """Shape (units,)."""
    out: Vector
    """Shape (units,)."""
    bias: float

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are."""
        return all(bool(np.isfinite(part).all()) for part in self)

    def arrays(self, prefix: str) -> dict[str, NDArray[Any]]:
        """Copies of the parts, as a part of a learner's state."""
        return {prefix + name: np.array(part) for name, part in self._asdict().items()}

    @classmethod
    def of(cls, arrays: Mapping[str, NDArray[Any]], prefix: str) -> Parameters:
        """What `arrays` gave."""
        hidden, hidden_bias, out, bias = (arrays[prefix + name] for name in cls._fields)
        return cls(hidden, hidden_bias, out, float(bias))


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
