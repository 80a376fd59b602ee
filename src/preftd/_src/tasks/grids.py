"""Grids: a random walk to the bottom right corner, with some cells hidden; and four rooms.

Observable cells have one-hot features. Hidden cells show standard Gaussian noise in every feature,
drawn at each visit. The goal is the end of the episode, not a state.
The rooms are joined by doorways, through which every way from one to another leads.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd._src.arrays import MOST_STATES, as_count
from preftd._src.randomness import generator
from preftd._src.tasks.features import Features
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.task import Layout, Task

REWARD, ROOMS_REWARD, DISCOUNT = 5.0, 1.0, 0.99
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


def cross_grid(size: int = 8) -> Task:
    """A grid with a hidden cross: the middle half of the rows, and of the columns.

    Parameters
    ----------
    size : int
        The number of rows and of columns.

    """
    size = as_count("size", size, 2, math.isqrt(MOST_STATES))
    arm = np.zeros(size, dtype=np.bool_)
    arm[size // 4 : size - size // 4] = size >= 4
    return _grid(f"cross_grid(size={size})", arm[:, None] | arm[None, :])


def open_grid(size: int = 8) -> Task:
    """A grid without hidden cells.

    Parameters
    ----------
    size : int
        The number of rows and of columns.

    """
    size = as_count("size", size, 2, math.isqrt(MOST_STATES))
    return _grid(f"open_grid(size={size})", np.zeros((size, size), dtype=np.bool_))


def random_grid(size: int = 8, seed: int = 0) -> Task:
    """A grid with half of the cells hidden, which ones depends on the seed.

    Parameters
    ----------
    size : int
        The number of rows and of columns.
    seed : int

    """
    size = as_count("size", size, 2, math.isqrt(MOST_STATES))
    seed = as_count("seed", seed, 0, 2**64)
    name = f"random_grid(size={size}, seed={seed})"
    drawn = generator(name, "hidden").permutation(size * size - 1)[: size * size // 2]
    hidden = np.zeros(size * size, dtype=np.bool_)
    hidden[drawn] = True
    return _grid(name, hidden.reshape(size, size))


def _grid(name: str, hidden: NDArray[np.bool_]) -> Task:
    """A grid with some cells hidden, shape (size, size)."""
    size = len(hidden)
    cells = np.arange(size * size).reshape(size, size)
    goal = size * size - 1
    up, down = np.vstack([cells[:1], cells[:-1]]), np.vstack([cells[1:], cells[-1:]])
    left, right = np.hstack([cells[:, :1], cells[:, :-1]]), np.hstack([cells[:, 1:], cells[:, -1:]])
    going = np.stack([up, down, left, right], axis=-1).reshape(-1, 4)[:goal]
    ends = going == goal
    observable = ~hidden.ravel()[:goal]
    cell = np.flatnonzero(observable)
    one_hot = sparse.csr_array((np.ones(cell.size), (cell, cell)), shape=(goal, size * size))
    start = np.zeros((size, size))
    start[: size // 2, : size // 2] = 1 / (size // 2) ** 2
    row, column = np.divmod(np.arange(goal), size)
    return Task(
        name,
        Outcomes.deterministic(np.where(ends, -1, going), REWARD * ends),
        Features(one_hot, covariance=np.where(observable, 0.0, 1.0)),
        DISCOUNT,
        start=start.ravel()[:goal],
        observable=observable,
        layout=Layout(
            np.stack([column, size - 1.0 - row], axis=1), kind="grid", end=(size - 1.0, 0.0)
        ),
    )


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
        Outcomes.deterministic(going, ROOMS_REWARD * (going < 0)),
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
