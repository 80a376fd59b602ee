"""Nearness without units, for observations that do not repeat exactly.

    r²(x, y) = Σ_i (x_i − y_i)² / s_i²

s_i is the standard deviation of entry i so far; uninformative entries are omitted, and D remain. In
this metric the background of all observations is a standard normal distribution in D dimensions,
whatever the units.

An entry that never varied is uninformative. Entries that have always been a·x + b of an earlier
one are its copies. All entries that vary for the first time in the same step are taken for copies
of the first of them, the leader; whoever deviates later leaves, and takes along those that deviate
in the same way.
"""

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.preferences.learned.constants import SEVERAL, SOME, TIMES
from preftd._src.preferences.learned.memory import State

ROUNDING = 1e-9
BLOCK = 16
"""Entries that are summed before a row may be found to be too far."""
fast = kernel(fastmath={"contract", "reassoc"})


@fast
def squared(x: Vector, y: Vector, weight: Vector) -> float:
    """r² between two observations, shape (dim,)."""
    total = 0.0
    for i in range(x.size):
        total += weight[i] * (x[i] - y[i]) * (x[i] - y[i])
    return total


@fast
def squares(x: Vector, rows: Dense, weight: Vector, most: float, found: Vector) -> None:
    """Write r² between x and each row into `found`; above `most`, perhaps only a part of it."""
    first = min(x.size, BLOCK)
    for k in range(found.size):
        total = 0.0
        for i in range(first):
            total += weight[i] * (x[i] - rows[k, i]) * (x[i] - rows[k, i])
        if total <= most:
            for i in range(first, x.size):
                total += weight[i] * (x[i] - rows[k, i]) * (x[i] - rows[k, i])
        found[k] = total


@kernel
def log_background(s: State, x: Vector) -> float:
    """The logarithm of the background's density at x, times (2π)^(D/2)."""
    return -0.5 * squared(x, s.mean, s.weight)


@kernel
def is_missing(s: State, x: Vector, repeats: bool) -> bool:
    """Whether an entry returns exactly to a value that is far from all others.

    Such values mark missing readings, as −999 does, but 0 does not: `SOME` times as far from the
    mean of others as these, and `TIMES` that if most others repeat, as counts do, unless it was
    recognised before they did. At first sight, most entries must be so far.
    """
    missing, far = False, 0
    for i in range(x.size):
        n = s.others[i]
        if n == 1.0 and x[i] != s.odd[i]:
            s.centre[i] = x[i]
        elif n == 2.0 and x[i] != s.odd[i]:  # the third shows which of two is odd
            again = x[i] == s.centre[i]
            if again or abs(x[i] - s.odd[i]) < abs(x[i] - s.centre[i]):
                s.odd[i], s.centre[i] = s.centre[i], s.odd[i]
            s.others[i] += again
        away, most = abs(x[i] - s.centre[i]), abs(s.odd[i] - s.centre[i])
        varied = n - s.repeated[i]
        varies = varied >= TIMES and s.repeated[i] < 0.5 * n and s.range[i] > 0.0
        if n > 0.0 and x[i] == s.odd[i]:
            times = SOME if varies else TIMES * SOME
            found = (varies or varied >= SEVERAL) and away > times * s.range[i] > 0.0 != x[i]
            missing |= found
            if found and varied >= 2.0 * SEVERAL:
                s.repeated[i] = -np.inf
            continue
        s.others[i] += 1.0
        s.repeated[i] += repeats or s.keys[i] == 0.0
        if n == 0.0 or away > most:
            s.range[i] = max(s.range[i], most if n > 0.0 else 0.0)
            s.odd[i] = x[i]
            far += varies and away > SOME * s.range[i]
        else:
            s.centre[i] += (x[i] - s.centre[i]) / n
            s.range[i] = max(s.range[i], away)
    return missing or 2 * far > x.size


@kernel
def widen_metric(s: State, x: Vector) -> None:
    """Learn means and deviations from x."""
    _tell_entries_apart(s, x)
    s.head.loose += 1.0
    n = s.head.loose
    for i in range(x.size):
        change = x[i] - s.mean[i]
        s.mean[i] += change / n
        s.squares[i] += change * (x[i] - s.mean[i])
        s.weight[i] = n / s.squares[i] if s.leader[i] == i and s.squares[i] > 0.0 else 0.0


@kernel
def _tell_entries_apart(s: State, x: Vector) -> None:
    """Compare the entries of x with their leaders; s.leader is −1 where an entry never varied."""
    if s.head.loose == 0.0:
        s.base[:] = x
        s.leader[:] = -1.0
        return
    if s.head.varying == x.size:
        return
    first, changed = -1, False
    for i in range(x.size):
        moved = x[i] - s.base[i]
        if s.leader[i] < 0.0:
            if moved != 0.0:
                first = i if first < 0 else first
                s.leader[i], s.slope[i] = first, moved
                changed = True
        elif s.leader[i] != i:
            leader = int(s.leader[i])
            along = (x[leader] - s.base[leader]) / s.slope[leader]
            off = moved / s.slope[i] - along
            if abs(off) > ROUNDING * (1.0 + abs(along)):
                s.leader[i] = _fellow(s, x, i, leader, off)
                changed = True
    if changed:
        s.head.varying = 0.0
        for i in range(x.size):
            s.head.varying += 1.0 if s.leader[i] == i else 0.0


@kernel
def _fellow(s: State, x: Vector, entry: int, leader: int, off: float) -> int:
    """The first entry that leaves the same leader in the same way now, or the entry itself."""
    leaving = s.head.loose * x.size + leader
    along = (x[leader] - s.base[leader]) / s.slope[leader]
    s.left[entry] = leaving
    for k in range(leader + 1, entry):
        if s.left[k] == leaving and s.leader[k] == k:
            other = (x[k] - s.base[k]) / s.slope[k] - along
            if abs(other - off) <= ROUNDING * (1.0 + abs(off) + abs(along)):
                return k
    return entry
