"""Value sufficiency: whether a linear function can give all trusted cells their values.

It is asked only if the learner is linear in what is observed. Each cell has the mean of the returns
G that followed its first visit in each episode, and the same by the cell before, the last trusted
one. With the mean reward and discount between the two, what was predicted there, held until now, is

    h_t = (h_{t−1} − r_t) / γ_t,  so that  h = (v(cell before) − paid) / along

The test is in look_or_hold.py. An episode that is truncated, or has more than LONGEST_EPISODE
steps, is not counted.

An outcome is the reward and the discount that led to an observation. Where an episode starts, it is
the reward that ended the one before, which counts if its discount is 0; NaN is not known.
"""

import math

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import DISTRUSTED_AT, IS_CELL, NAME, Parts
from preftd._src.preferences.learned.look_or_hold import test_values
from preftd._src.preferences.learned.value_layout import (
    AGAINST,
    ALONG,
    DISCOUNT,
    EPISODE,
    EPISODES,
    HELD_AT,
    HELD_SINCE,
    KNOWN,
    LENGTH,
    LONGEST_EPISODE,
    MEAN,
    MISSED,
    NEXT,
    PAID,
    PAIR_MEAN,
    PAIR_RETURNS,
    RETURNS,
    REWARD,
    SLOT_NAME,
    SLOT_ROW,
    SLOTS,
    SLOTS_USED,
    SQUARES,
    STEP_DISCOUNT,
    STEP_NAME,
    STEP_RETURN,
    STEP_REWARD,
    STEP_ROW,
    STEP_SLOT,
    STEPS_AT,
    Returns,
    returns_of,
)

FIRST_TEST, GROWTH_OF_TESTS = 8.0, 1.1
"""The first test needs some returns for their variance; then one at each 1.1 times the episodes."""


@kernel(inline="always")
def is_trusted(p: Parts, row: int) -> bool:
    """Whether a cell passes both tests."""
    if p.value.size > 0 and p.value[HELD_AT + row] == p.cells[row, NAME]:
        return False
    return bool(p.cells[row, DISTRUSTED_AT] == 0.0)


def value_evidence(p: Parts, row: int) -> tuple[int, float]:
    """The step since when a cell is held over (0: it is not), and the evidence for that."""
    if p.value.size == 0:
        return 0, 0.0
    v = returns_of(p)
    slot = _known_slot(v, row, p.cells[row, NAME])
    if slot < 0:
        return 0, 0.0
    return int(v.cells[slot, HELD_SINCE]), float(v.cells[slot, AGAINST])


@kernel(inline="always")
def _known_slot(v: Returns, row: int, name: float) -> int:
    """The slot of a cell, or −1."""
    slot = int(v.slot_of[row]) - 1
    known = slot >= 0 and v.cells[slot, SLOT_ROW] == row and v.cells[slot, SLOT_NAME] == name
    return slot if known else -1


@kernel(inline="always")
def learn_outcome(p: Parts, row: int, outcome: Vector, ended: bool) -> None:
    """Learn what followed the observation that waited, which is in a row of cells, or none (−1)."""
    value, reward, discount = p.value, outcome[0], outcome[1]
    if value[KNOWN] > 0.0:
        reward, discount = value[REWARD], value[DISCOUNT]
        value[KNOWN], value[REWARD], value[DISCOUNT] = 0.0, 0.0, 0.0
    length = int(value[LENGTH])
    if length == LONGEST_EPISODE or math.isnan(reward) or (discount == 0.0) != ended:
        length = -1
    if length >= 0:
        at = STEPS_AT + 4 * length
        value[at + STEP_ROW] = row
        value[at + STEP_NAME] = p.cells[row, NAME] if row >= 0 else 0.0
        value[at + STEP_REWARD], value[at + STEP_DISCOUNT] = reward, discount
        length += 1
    value[LENGTH] = length
    if ended:
        value[LENGTH] = 0.0
        if length > 0:
            end_episode(p, length)


@kernel
def end_episode(p: Parts, length: int) -> None:
    """Learn from an episode, and test if it is time."""
    v = returns_of(p)
    _count_episode(p, v, length)
    if v.head[EPISODES] >= max(v.head[NEXT], FIRST_TEST):
        v.head[NEXT] = math.ceil(GROWTH_OF_TESTS * v.head[EPISODES])
        if v.head[MISSED] == 0.0:
            test_values(p, v)
        v.head[MISSED] = 0.0


@kernel
def _count_episode(p: Parts, v: Returns, length: int) -> None:
    """Count the return from the first visit of each cell."""
    v.head[EPISODES] += 1.0
    total = 0.0
    for t in range(length - 1, -1, -1):
        step = v.steps[t]
        total = step[STEP_REWARD] + step[STEP_DISCOUNT] * total
        row, name = int(step[STEP_ROW]), step[STEP_NAME]
        slot = _known_slot(v, row, name) if row >= 0 and p.cells[row, IS_CELL] > 0.0 else -1
        if slot < 0 or p.cells[row, NAME] != name:
            slot = _new_slot(p, v, row, name)
        step[STEP_SLOT], step[STEP_RETURN] = slot, total
    before, paid, along = SLOTS, 0.0, 1.0
    for t in range(length):
        if t > 0:
            paid += along * v.steps[t - 1, STEP_REWARD]
            along *= v.steps[t - 1, STEP_DISCOUNT]
        slot, total = int(v.steps[t, STEP_SLOT]), v.steps[t, STEP_RETURN]
        if slot < 0:
            continue
        cell = v.cells[slot]
        if cell[EPISODE] != v.head[EPISODES]:
            cell[EPISODE] = v.head[EPISODES]
            cell[RETURNS] += 1.0
            change = total - cell[MEAN]
            cell[MEAN] += change / cell[RETURNS]
            cell[SQUARES] += change * (total - cell[MEAN])
            if t == 0 or before < SLOTS:
                pair = v.pairs[slot * (SLOTS + 1) + before]
                pair[PAIR_RETURNS] += 1.0
                pair[PAIR_MEAN] += (total - pair[PAIR_MEAN]) / pair[PAIR_RETURNS]
                pair[PAID] += (paid - pair[PAID]) / pair[PAIR_RETURNS]
                pair[ALONG] += (along - pair[ALONG]) / pair[PAIR_RETURNS]
        if is_trusted(p, int(cell[SLOT_ROW])):
            before, paid, along = slot, 0.0, 1.0


@kernel
def _new_slot(p: Parts, v: Returns, row: int, name: float) -> int:
    """A slot for a cell that has none; −1 if it is no cell, or if there is no room."""
    if row < 0 or p.cells[row, IS_CELL] == 0.0 or p.cells[row, NAME] != name:
        return -1
    slot = int(v.head[SLOTS_USED])
    if slot < SLOTS:
        v.head[SLOTS_USED] += 1.0
    else:
        slot = -1
        for other in range(SLOTS):  # one of a cell that is no more
            if p.cells[int(v.cells[other, SLOT_ROW]), NAME] != v.cells[other, SLOT_NAME]:
                slot = other
        if slot < 0:
            v.head[MISSED] = 1.0
            return -1
        v.cells[slot] = 0.0
        for other in range(SLOTS):
            v.pairs[other * (SLOTS + 1) + slot] = 0.0
            v.pairs[slot * (SLOTS + 1) + other] = 0.0
        v.pairs[slot * (SLOTS + 1) + SLOTS] = 0.0
    v.cells[slot, SLOT_ROW], v.cells[slot, SLOT_NAME] = row, name
    v.slot_of[row] = slot + 1.0
    return slot
