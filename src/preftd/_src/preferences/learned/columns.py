"""Which entries of observations say something new: constants and copies must not count.

An entry that never varied counts for nothing. Entries that have always been a·x + b of an earlier
one are its copies. All entries that vary for the first time in the same step are taken for copies
of the first of them, the leader; whoever deviates later leaves, and takes along those that deviate
in the same way.
"""

from preftd._src.arrays import Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.layout import LOOSE, VARYING, Parts

ROUNDING = 1e-9


@kernel
def tell_columns_apart(p: Parts, x: Vector) -> None:
    """Compare the entries of x with their leaders; p.leader is −1 where an entry never varied."""
    if p.head[LOOSE] == 0.0:
        p.base[:] = x
        p.leader[:] = -1.0
        return
    first, changed = -1, False
    for i in range(x.size):
        moved = x[i] - p.base[i]
        if p.leader[i] < 0.0:
            if moved != 0.0:
                first = i if first < 0 else first
                p.leader[i], p.slope[i] = first, moved
                changed = True
        elif p.leader[i] != i:
            leader = int(p.leader[i])
            along = (x[leader] - p.base[leader]) / p.slope[leader]
            off = moved / p.slope[i] - along
            if abs(off) > ROUNDING * (1.0 + abs(along)):
                p.leader[i] = _fellow(p, x, i, leader, off)
                changed = True
    if changed:
        p.head[VARYING] = 0.0
        for i in range(x.size):
            p.head[VARYING] += 1.0 if p.leader[i] == i else 0.0


@kernel
def _fellow(p: Parts, x: Vector, column: int, leader: int, off: float) -> int:
    """The first entry that leaves the same leader in the same way now, or the entry itself."""
    leaving = p.head[LOOSE] * x.size + leader
    along = (x[leader] - p.base[leader]) / p.slope[leader]
    p.left[column] = leaving
    for k in range(leader + 1, column):
        if p.left[k] == leaving and p.leader[k] == k:
            other = (x[k] - p.base[k]) / p.slope[k] - along
            if abs(other - off) <= ROUNDING * (1.0 + abs(off) + abs(along)):
                return k
    return column
