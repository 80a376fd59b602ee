"""The readable reference of a cluster."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Vector
from preftd._src.preferences.learned.layout import CLASSES
from preftd._src.preferences.learned.width import ODDS


@dataclass(eq=False)
class Cluster:
    """Observations near each other; a cell once the evidence is enough."""

    name: int
    centre: Vector
    starts: Vector
    """Moments of each class before it was founded."""
    visits: int = 1
    hits: Vector = field(default_factory=lambda: np.zeros(CLASSES))
    fit: float = 0.0
    is_cell: bool = False
    left: list[Vector] = field(default_factory=list)
    """Visits that it was left after."""

    def is_several(self, used: NDArray[np.bool_], variance: Vector) -> bool:
        """Whether what is seen here tells that it is left, by the entries that are used."""
        n, left, dim = self.visits, len(self.left), len(variance)
        if not 0 < left < n:
            return False
        apart = (np.mean(self.left, axis=0) - self.centre)[used]
        found = float((apart**2 / variance).sum()) * n * left / (n - left)
        return found > dim + 2 * math.sqrt(dim * ODDS) + 2 * ODDS
