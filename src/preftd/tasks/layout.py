"""Where the states of a task are drawn."""

from dataclasses import dataclass
from typing import Literal, Self, final

import numpy as np

from preftd.arrays import Dense


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of states in a picture.

    Parameters
    ----------
    position : array of shape (states, 2)
        x to the right and y upwards.
    kind : "graph" or "grid"
        Whether states are nodes joined by arrows, or cells of side 1.
    names : dict of int to str, optional
        Names of states, written into their nodes.
    end : tuple of (x, y), optional
        Where the end of episodes is drawn, if it has a cell of its own.

    """

    position: Dense
    kind: Literal["graph", "grid"] = "graph"
    names: dict[int, str] | None = None
    end: tuple[float, float] | None = None

    @classmethod
    def circle(cls, states: int) -> Self:
        """Arrange the states on a circle."""
        angle = np.pi - 2 * np.pi * np.arange(states) / states
        radius = max(1.0, states / 5)
        return cls(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))

    @classmethod
    def row(cls, states: int) -> Self:
        """Arrange the states in a row."""
        return cls(np.stack([np.arange(states), np.zeros(states)], axis=1))
