"""What a preference is: β for whole streams and one step at a time, and the two agree."""

from abc import ABC, abstractmethod
from typing import Any, final

import numpy as np

from preftd.arrays import InputError, Vector, check_finite, check_unit_interval
from preftd.experience import Experience, Visit


class Preference(ABC):
    """How far to trust each step.

    `memory` is what a preference remembers of the past; None at first.
    """

    @abstractmethod
    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:
        """β at one step, and what to remember; not checked yet."""

    def along(self, experience: Experience, memory: Any) -> tuple[Vector, Any]:
        """β along a stream, and what to remember; not checked yet. Override it to be fast."""
        betas = np.empty(len(experience))
        for t in range(len(experience)):
            betas[t], memory = self.at(experience.visit(t), memory)
        return betas, memory

    @final
    def step(self, visit: Visit, memory: Any = None) -> tuple[float, Any]:
        """β at one step, and what to remember for the next."""
        beta, memory = self.at(visit, memory)
        if not 0 <= beta <= 1:
            raise InputError(f"beta is {beta}: it must lie in [0, 1].")
        return float(beta), memory

    @final
    def stream(self, experience: Experience, memory: Any = None) -> tuple[Vector, Any]:
        """β at each step of a stream, and what to remember if the stream goes on."""
        betas, memory = self.along(experience, memory)
        check_finite("beta", betas)
        check_unit_interval("beta", betas)
        return betas, memory
