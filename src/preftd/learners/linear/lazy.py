"""Linear learning from features that are 1 in a few places: the cost of a step is that of its ones.

Between two visits to a place, its trace only decays, so its weight need not move until it is looked
at again. With S the product of the decays and U the sum of what the trace is multiplied by,

    e_t = z S_t        Σ_k u_k e_k = z (U_t − U_seen)        U_t = U_{t−1} + u_t S_t

z and U_seen are kept for each place. When S has become small (or large, which it can if ρ > 1), an
era ends: its U and S are written down, and both begin again with 0 and 1; a place that was last
seen some eras ago walks through them. When all pages are full, every place is brought up to date.

Columns are predictions. What updates are is said in `traces.py`.
"""

from typing import NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.learners.linear.traces import multipliers, td_errors
from preftd.learners.steps import Steps

SMALL, LARGE = 2.0**-10, 4.0
"""How far S may go within an era: a sum of terms this different loses twelve bits, not more."""


class Places(NamedTuple):
    """What is remembered of each place, and of the eras."""

    weights: Dense
    """As they were when the place was last seen."""
    z: Dense
    seen: Dense
    era: NDArray[np.int64]
    """The era in which each place was last seen; the last entry is the era of now."""
    now: Dense
    """U and S, 2 × predictions."""
    past: NDArray[np.float64]
    """U and S at the end of each era, pages × 2 × predictions."""

    @classmethod
    def of(cls, weights: Dense, trace: Dense) -> Self:
        """All places up to date."""
        size, predictions = weights.shape
        pages = max(64, min(size, 2**20 // predictions))
        now = np.stack([np.zeros(predictions), np.ones(predictions)])
        return cls(
            weights,
            trace,
            np.zeros_like(weights),
            np.zeros(size + 1, dtype=np.int64),
            now,
            np.zeros((pages, 2, predictions)),
        )

    def copied(self) -> Self:
        """The same, to be changed without changing this."""
        era = self.era.copy()
        w, z, seen, now, past = (
            part.copy() for part in (self.weights, self.z, self.seen, self.now, self.past)
        )
        return type(self)(w, z, seen, era, now, past)


@njit(cache=True, nogil=True)
def read(p: Places, i: int, weight: Vector, trace: Vector) -> None:
    """Add weight and trace of a place to what is given; the place is left as it is."""
    era = p.era[p.era.size - 1]
    for lane in range(weight.size):
        z, seen, then = p.z[i, lane], p.seen[i, lane], p.era[i]
        total = p.weights[i, lane]
        while then < era and z != 0.0:
            total += z * (p.past[then, 0, lane] - seen)
            z, seen, then = z * p.past[then, 1, lane], 0.0, then + 1
        weight[lane] += total + z * (p.now[0, lane] - seen)
        trace[lane] += z * p.now[1, lane]


@njit(cache=True, nogil=True)
def visit(p: Places, i: int) -> None:
    """Bring a place up to date."""
    weights, z, seen, now, past = p.weights, p.z, p.seen, p.now, p.past
    then, era = p.era[i], p.era[p.era.size - 1]
    lanes = weights.shape[1]
    going_on = then < era
    while going_on:
        going_on = False
        for lane in range(lanes):
            weights[i, lane] += z[i, lane] * (past[then, 0, lane] - seen[i, lane])
            z[i, lane] *= past[then, 1, lane]
            seen[i, lane] = 0.0
            going_on |= z[i, lane] != 0.0
        then += 1
        going_on &= then < era
    for lane in range(lanes):
        weights[i, lane] += z[i, lane] * (now[0, lane] - seen[i, lane])
        seen[i, lane] = now[0, lane]
    p.era[i] = era


@njit(cache=True, nogil=True)
def settle(p: Places) -> None:
    """Bring all places up to date, with traces as they are: z = e, S = 1, U = 0, in era 0."""
    size, lanes = p.weights.shape
    for i in range(size):
        visit(p, i)
        for lane in range(lanes):
            p.z[i, lane] *= p.now[1, lane]
            p.seen[i, lane] = 0.0
        p.era[i] = 0
    p.era[size] = 0
    for lane in range(lanes):
        p.now[0, lane] = 0.0
        p.now[1, lane] = 1.0


@njit(cache=True, nogil=True)
def fade(p: Places, decay: Vector) -> None:
    """Let e ← decay e, for all places at once; ends the era if S becomes small or large."""
    size, lanes = p.weights.shape
    far = False
    for lane in range(lanes):
        far |= not SMALL <= p.now[1, lane] * decay[lane] <= LARGE
    if not far:
        for lane in range(lanes):
            p.now[1, lane] *= decay[lane]
        return
    era = p.era[size]
    for lane in range(lanes):
        p.past[era, 0, lane] = p.now[0, lane]
        p.past[era, 1, lane] = p.now[1, lane] * decay[lane]
        p.now[0, lane] = 0.0
        p.now[1, lane] = 1.0
    p.era[size] = era + 1
    if era + 1 == p.past.shape[0]:
        settle(p)


@njit(cache=True, nogil=True)
def step_places(
    at: NDArray[np.int32],
    following: NDArray[np.int32],
    numbers: Dense,
    true_online: bool,
    scale: Vector,
    p: Places,
    room: Dense,
) -> bool:
    """One step; returns False, with nothing learned, if some δ is not finite.

    numbers, room  as for `step_many`
    """
    lanes = p.weights.shape[1]
    for lane in range(lanes):
        room[1, lane] = room[2, lane] = room[3, lane] = room[4, lane] = 0.0
    for k in range(at.size):
        read(p, at[k], room[2], room[4])
    for k in range(following.size):
        read(p, following[k], room[3], room[1])
    if not td_errors(numbers, true_online, room):
        return False
    multipliers(numbers, true_online, room)
    fade(p, numbers[3])
    for k in range(at.size):
        i = at[k]
        visit(p, i)
        for lane in range(lanes):
            p.z[i, lane] += room[2, lane] * scale[i] / p.now[1, lane]
            p.weights[i, lane] += room[4, lane] * scale[i]
    for lane in range(lanes):
        p.now[0, lane] += room[3, lane] * p.now[1, lane]
    return True


@njit(cache=True, nogil=True)
def learn_places(
    steps: Steps, true_online: bool, step_sizes: Vector, scale: Vector, p: Places, room: Dense
) -> int:
    """Learn one prediction from steps, up to the first whose δ is not finite; returns how many."""
    numbers = np.empty((6, 1))
    for t in range(steps.code_t.size):
        numbers[0, 0] = steps.reward[t]
        numbers[1, 0] = steps.discount_tp1[t]
        numbers[2, 0] = steps.discount_t[t]
        numbers[3, 0] = steps.decay[t]
        numbers[4, 0] = steps.gain[t]
        numbers[5, 0] = step_sizes[min(t, step_sizes.size - 1)]
        at, following = steps.active[steps.code_t[t]], steps.active[steps.code_tp1[t]]
        if not step_places(at, following, numbers, true_online, scale, p, room):
            return t
    return steps.code_t.size


@njit(cache=True, nogil=True)
def values_at(places: NDArray[np.int32], p: Places) -> Vector:
    """The sum of the weights at some places."""
    total, unused = np.zeros(p.weights.shape[1]), np.zeros(p.weights.shape[1])
    for k in range(places.size):
        read(p, places[k], total, unused)
    return total
