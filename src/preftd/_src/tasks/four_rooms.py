"""Four rooms, joined by doorways, through which every way from one to another leads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd._src.arrays import as_count
from preftd._src.tasks.features import Features
from preftd._src.tasks.layout import Layout
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.task import Task

REWARD, DISCOUNT = 1.0, 0.99
_PLAN = (
    "sssss#.....",
    "sssss#.....",
    "sssss+.....",
    "sssss#.....",
    "sssss#.....",
    "#+####.....",
    ".....###+##",
    ".....#.....",
    ".....#.....",
    ".....+.....",
    ".....#.....",
)
"""Cells: walls #, doorways +, and where episodes start s."""
_CELLS = [(row, column) for row, line in enumerate(_PLAN) for column in range(len(line))]
_CELLS = [(row, column) for row, column in _CELLS if _PLAN[row][column] != "#"]
"""Row and column of each cell that is not a wall, line by line."""
_LAST = len(_CELLS) - 1


def four_rooms(goal: int = _LAST) -> Task:
    """Four rooms of a grid, joined by doorways: from the first to a goal.

    Each action moves to the next cell up, down, left or right, or stays where there is a wall. The
    goal pays 1 and ends the episode. Every cell is observable, with one-hot features.

    Parameters
    ----------
    goal : int
        Which of the 104 cells is the goal, counted line by line (default: the last).

    """
    goal = as_count("goal", goal, 0, _LAST)
    cells = _states(goal)
    number = {cell: i for i, cell in enumerate(cells)} | {_CELLS[goal]: -1}
    going = np.empty((len(cells), 4), dtype=np.int32)
    for here, (row, column) in enumerate(cells):
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        going[here] = [number.get(cell, here) for cell in around]
    starts = np.array([_PLAN[row][column] == "s" for row, column in cells])
    row, column = np.array([*cells, _CELLS[goal]], dtype=np.float64).T
    position = np.stack([column, len(_PLAN) - 1.0 - row], axis=1)
    return Task(
        f"four_rooms(goal={goal})",
        Outcomes.deterministic(going, REWARD * (going < 0)),
        Features(sparse.eye_array(len(cells), format="csr")),
        DISCOUNT,
        start=starts / starts.sum(),
        layout=Layout(position[:-1], kind="grid", end=(position[-1, 0], position[-1, 1])),
    )


def doorways(goal: int = _LAST) -> NDArray[np.bool_]:
    """Return whether each state of `four_rooms(goal)` is a doorway, shape (states,).

    Examples
    --------
    >>> int(doorways().sum())
    4

    """
    cells = _states(as_count("goal", goal, 0, _LAST))
    return np.array([_PLAN[row][column] == "+" for row, column in cells])


def _states(goal: int) -> list[tuple[int, int]]:
    """Row and column of each state: all cells but the goal, which is the end."""
    return _CELLS[:goal] + _CELLS[goal + 1 :]
