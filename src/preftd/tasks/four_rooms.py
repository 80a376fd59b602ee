"""Four rooms, joined by doorways, through which every way from one to another leads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd.tasks.features import Features
from preftd.tasks.layout import Layout
from preftd.tasks.outcomes import Outcomes
from preftd.tasks.task import Task

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
    ".....#....g",
)
"""Cells: walls #, doorways +, where episodes start s, and the goal g."""


def four_rooms() -> Task:
    """Four rooms of a grid, joined by doorways: from the first to a goal in the last.

    Each action moves to the next cell up, down, left or right, or stays where there is a wall. The
    goal pays 1 and ends the episode. Every cell is observable, with one-hot features.
    """
    cells = _cells()
    states = len(cells)
    number = {cell: i for i, cell in enumerate(cells)}
    goal = next(cell for cell, mark in _marks().items() if mark == "g")
    going = np.empty((states, 4), dtype=np.int32)
    for (row, column), here in number.items():
        around = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        going[here] = [-1 if cell == goal else number.get(cell, here) for cell in around]
    marks = np.array([_PLAN[row][column] for row, column in cells])
    row, column = np.array(cells, dtype=np.float64).T
    last = len(_PLAN) - 1.0
    return Task(
        "four_rooms()",
        Outcomes.deterministic(going, REWARD * (going < 0)),
        Features(sparse.eye_array(states, format="csr")),
        DISCOUNT,
        start=(marks == "s") / (marks == "s").sum(),
        layout=Layout(
            np.stack([column, last - row], axis=1), kind="grid", end=(goal[1], last - goal[0])
        ),
    )


def doorways() -> NDArray[np.bool_]:
    """Return whether each state of `four_rooms` is a doorway, shape (states,).

    Examples
    --------
    >>> int(doorways().sum())
    4

    """
    return np.array([_PLAN[row][column] == "+" for row, column in _cells()])


def _marks() -> dict[tuple[int, int], str]:
    """The mark of each cell that is not a wall, by row and column."""
    return {
        (row, column): mark
        for row, line in enumerate(_PLAN)
        for column, mark in enumerate(line)
        if mark != "#"
    }


def _cells() -> list[tuple[int, int]]:
    """Row and column of each state: all cells but walls and the goal, which is the end."""
    return [cell for cell, mark in _marks().items() if mark != "g"]
