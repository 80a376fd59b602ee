"""Atoms: observations that repeat exactly.

Continuous noise never repeats, so a second occurrence is all the evidence that there can be. No
unit and no metric is involved: any one-to-one change of the features leaves all of it unchanged.

What was seen once is kept as a fingerprint, in two generations: when the young one is full, it
becomes the old one, whose place a new one takes. An atom gets a row of its own, as long as there
is room; after that it is known by its fingerprint alone, trusted and not tested.
"""

from preftd._src.kernels import kernel
from preftd._src.preferences.learned.hashing import slot_of
from preftd._src.preferences.learned.layout import (
    ATOMS,
    ATOMS_USED,
    SEEN,
    YOUNG,
    Parts,
)

NEW, ONCE = -2, -1


@kernel
def find_atom(p: Parts, key: float) -> int:
    """The row of an atom, or ONCE if it was seen but has no row, or NEW."""
    at = slot_of(p.known[0], key)
    if p.known[0, at] == key:
        return int(p.known[1, at])
    for generation in range(2):
        if p.seen[generation, slot_of(p.seen[generation], key)] == key:
            return ONCE
    return NEW


@kernel
def keep_atom(p: Parts, key: float, found: int) -> int:
    """Remember a fingerprint; returns the row of the atom, or `found` if it has none."""
    if found >= 0:
        return found
    if found == ONCE and p.head[ATOMS_USED] < ATOMS:
        row = int(p.head[ATOMS_USED])
        at = slot_of(p.known[0], key)
        p.known[0, at], p.known[1, at] = key, row
        p.head[ATOMS_USED] += 1
        return row
    at = slot_of(p.seen[0], key)
    if p.seen[0, at] == 0.0:
        p.seen[0, at] = key
        p.head[YOUNG] += 1
        if p.head[YOUNG] >= SEEN // 2:
            p.seen[1] = p.seen[0]
            p.seen[0] = 0.0
            p.head[YOUNG] = 0
    return found
