"""Where returns are in the memory of `Learned(linear=True)`: behind all else."""

from typing import NamedTuple

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import CELLS, Parts

SLOTS, LONGEST_EPISODE = 32, 4096
"""Cells that take part, and the steps of an episode, at most."""

# The numbers of the head.
(KNOWN, REWARD, DISCOUNT, LENGTH, EPISODES, NEXT, SLOTS_USED, MISSED) = range(8)
VALUE_HEAD = 8

# The numbers of a cell, of a pair, and of a step.
(SLOT_NAME, SLOT_ROW, RETURNS, MEAN, SQUARES, EPISODE, AGAINST, HELD_SINCE) = range(8)
(PAIR_RETURNS, PAIR_MEAN, PAID, ALONG) = range(4)
(STEP_ROW, STEP_NAME, STEP_REWARD, STEP_DISCOUNT) = range(4)
STEP_SLOT, STEP_RETURN = STEP_ROW, STEP_NAME
"""What replaces row and name when the episode has ended."""
HELD_AT = VALUE_HEAD
"""The names of cells that are held over, by row, or 0."""
SLOTS_AT = HELD_AT + CELLS
CELLS_AT = SLOTS_AT + CELLS
PAIRS_AT = CELLS_AT + SLOTS * 8
STEPS_AT = PAIRS_AT + SLOTS * (SLOTS + 1) * 4
VALUE = STEPS_AT + LONGEST_EPISODE * 4
"""Where the parts are, and how many numbers there are in all."""


class Returns(NamedTuple):
    """Views of the part of one memory that is about returns."""

    head: Vector
    held: Vector
    """Shape (CELLS,)."""
    slot_of: Vector
    """1 more than the slot of each row of cells, or 0, shape (CELLS,)."""
    cells: Dense
    """Shape (SLOTS, 8)."""
    pairs: Dense
    """By cell and cell before (SLOTS: none), shape (SLOTS * (SLOTS + 1), 4)."""
    steps: Dense
    """The episode so far, shape (LONGEST_EPISODE, 4)."""


@kernel
def returns_of(p: Parts) -> Returns:
    """The views."""
    return Returns(
        p.value[:VALUE_HEAD],
        p.value[HELD_AT:SLOTS_AT],
        p.value[SLOTS_AT:CELLS_AT],
        p.value[CELLS_AT:PAIRS_AT].reshape((SLOTS, 8)),
        p.value[PAIRS_AT:STEPS_AT].reshape((SLOTS * (SLOTS + 1), 4)),
        p.value[STEPS_AT:].reshape((LONGEST_EPISODE, 4)),
    )
