"""Where the states of a task are drawn."""

from dataclasses import dataclass
from typing import Literal, Self, final

import numpy as np

from preftd.arrays import Dense


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of states, x to the right and y upwards.

    kind  "graph": states are nodes, outcomes arrows; "grid": states are cells of side 1
    names of some states, written into their nodes
    end   where the end of an episode is drawn, if it has a place of its own (a grid's corner)
    """

    position: Dense
    kind: Literal["graph", "grid"] = "graph"
    names: dict[int, str] | None = None
    end: tuple[float, float] | None = None

    @classmethod
    def circle(cls, states: int) -> Self:
        """All states around a circle."""
        angle = np.pi - 2 * np.pi * np.arange(states) / states
        radius = max(1.0, states / 5)
        return cls(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))

    @classmethod
    def row(cls, states: int) -> Self:
        """All states in a row."""
        return cls(np.stack([np.arange(states), np.zeros(states)], axis=1))
