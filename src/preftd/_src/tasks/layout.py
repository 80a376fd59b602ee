"""Where the states of a task are drawn."""

from dataclasses import dataclass
from typing import Literal, Self, final

import numpy as np

from preftd._src.arrays import Dense, InputError, as_array, as_count, short
from preftd._src.names import nearest
from preftd._src.tasks.parameters import MOST_STATES


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

    def __post_init__(self) -> None:
        position = as_array("position", self.position)
        if position.ndim != 2 or position.shape[1] != 2:
            raise InputError(f"position has shape {position.shape}: give x and y of each state.")
        object.__setattr__(self, "position", position)
        nearest("kind of layout", self.kind, ("graph", "grid"))
        if self.end is not None and as_array("end", self.end).shape != (2,):
            raise InputError(f"end is {short(self.end)}: give its x and y.")
        if self.names is None:
            return
        if not isinstance(self.names, dict):
            raise InputError(f"names is {short(self.names)}: give a dict of states to names.")
        for state in self.names:
            as_count("a state in names", state, 0, len(position) - 1)

    @classmethod
    def circle(cls, states: int) -> Self:
        """Arrange the states on a circle."""
        states = as_count("states", states, 1, MOST_STATES)
        angle = np.pi - 2 * np.pi * np.arange(states) / states
        radius = max(1.0, states / 5)
        return cls(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))

    @classmethod
    def row(cls, states: int) -> Self:
        """Arrange the states in a row."""
        states = as_count("states", states, 1, MOST_STATES)
        return cls(np.stack([np.arange(states), np.zeros(states)], axis=1))
