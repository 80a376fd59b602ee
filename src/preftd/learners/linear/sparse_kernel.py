"""Linear learning from features that are 1 at a few indices: a step costs as much as its ones.

Between two visits to an index, its trace only decays, so its weight need not move until it is
needed again. With S the product of the decays and U the sum of what the trace is multiplied by,

    e_t = z S_t        Σ_k u_k e_k = z (U_t − U_seen)        U_t = U_{t−1} + u_t S_t

z and U_seen are kept for each index. When S has become small (or large, which it can if ρ > 1), an
era ends: its U and S are written down, and both begin again with 0 and 1; an index that was last
seen some eras ago walks through them. When all pages are full, every index is brought up to date.

Columns are predictions. What updates are is said in `online_kernel.py`.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel
from preftd.learners.growth import CAREFUL, LARGEST
from preftd.learners.linear.online_kernel import (
    DECAY,
    DISCOUNT,
    DISCOUNT_T,
    FEATURES_TO_TRACE,
    FEATURES_TO_WEIGHTS,
    GAIN,
    NEXT_VALUE,
    REWARD,
    STEP_SIZE,
    TRACE_TO_WEIGHTS,
    TRACE_VALUE,
    UNUSED,
    VALUE,
    multipliers,
    note_step,
    td_errors,
)
from preftd.learners.steps import Steps

SUM, PRODUCT = range(2)
"""Rows of `now`, and of each page of `past`: U and S."""
SMALL, LARGE = 2.0**-10, 4.0
"""How far S may go within an era: a sum of terms this different loses twelve bits, not more."""


class SparseState(NamedTuple):
    """What is remembered of each index, and of the eras."""

    weights: Dense
    """As they were when the index was last seen."""
    z: Dense
    seen: Dense
    era: NDArray[np.int64]
    """The era in which each index was last seen; the last entry is the era of now."""
    now: Dense
    """U and S, 2 × predictions."""
    past: NDArray[np.float64]
    """U and S at the end of each era, pages × 2 × predictions."""

    @classmethod
    def of(cls, weights: Dense, trace: Dense) -> Self:
        """All indices up to date."""
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


@kernel
def read(p: SparseState, i: int, weight: Vector, trace: Vector) -> None:
    """Add weight and trace of an index to what is given; the index is left as it is."""
    era = p.era[p.era.size - 1]
    for lane in range(weight.size):
        z, seen, then = p.z[i, lane], p.seen[i, lane], p.era[i]
        total = p.weights[i, lane]
        while then < era and z != 0.0:
            total += z * (p.past[then, SUM, lane] - seen)
            z, seen, then = z * p.past[then, PRODUCT, lane], 0.0, then + 1
        weight[lane] += total + z * (p.now[SUM, lane] - seen)
        trace[lane] += z * p.now[PRODUCT, lane]


@kernel
def visit(p: SparseState, i: int) -> None:
    """Bring an index up to date."""
    weights, z, seen, now, past = p.weights, p.z, p.seen, p.now, p.past
    then, era = p.era[i], p.era[p.era.size - 1]
    lanes = weights.shape[1]
    going_on = then < era
    while going_on:
        going_on = False
        for lane in range(lanes):
            weights[i, lane] += z[i, lane] * (past[then, SUM, lane] - seen[i, lane])
            z[i, lane] *= past[then, PRODUCT, lane]
            seen[i, lane] = 0.0
            going_on |= z[i, lane] != 0.0
        then += 1
        going_on &= then < era
    for lane in range(lanes):
        weights[i, lane] += z[i, lane] * (now[SUM, lane] - seen[i, lane])
        seen[i, lane] = now[SUM, lane]
    p.era[i] = era


@kernel
def settle(p: SparseState) -> None:
    """Bring all indices up to date, with traces as they are: z = e, S = 1, U = 0, in era 0."""
    size, lanes = p.weights.shape
    for i in range(size):
        visit(p, i)
        for lane in range(lanes):
            p.z[i, lane] *= p.now[PRODUCT, lane]
            p.seen[i, lane] = 0.0
        p.era[i] = 0
    p.era[size] = 0
    for lane in range(lanes):
        p.now[SUM, lane] = 0.0
        p.now[PRODUCT, lane] = 1.0


@kernel
def fade(p: SparseState, decay: Vector) -> None:
    """Let e ← decay e, for all indices at once; ends the era if S becomes small or large."""
    size, lanes = p.weights.shape
    far = False
    for lane in range(lanes):
        far |= not SMALL <= p.now[PRODUCT, lane] * decay[lane] <= LARGE
    if not far:
        for lane in range(lanes):
            p.now[PRODUCT, lane] *= decay[lane]
        return
    era = p.era[size]
    for lane in range(lanes):
        p.past[era, SUM, lane] = p.now[SUM, lane]
        p.past[era, PRODUCT, lane] = p.now[PRODUCT, lane] * decay[lane]
        p.now[SUM, lane] = 0.0
        p.now[PRODUCT, lane] = 1.0
    p.era[size] = era + 1
    if era + 1 == p.past.shape[0]:
        settle(p)


@kernel
def step_indices(
    indices: NDArray[np.int32],
    next_indices: NDArray[np.int32],
    numbers: Dense,
    true_online: bool,
    scale: Vector,
    p: SparseState,
    work: Dense,
) -> bool:
    """One step; returns False, with nothing learned, if it may not be taken.

    numbers, work  as for `step_many`
    """
    lanes = p.weights.shape[1]
    for lane in range(lanes):
        work[VALUE, lane] = work[NEXT_VALUE, lane] = work[TRACE_VALUE, lane] = 0.0
        work[UNUSED, lane] = 0.0
    for k in range(indices.size):
        read(p, indices[k], work[VALUE], work[TRACE_VALUE])
    for k in range(next_indices.size):
        read(p, next_indices[k], work[NEXT_VALUE], work[UNUSED])
    if not td_errors(numbers, true_online, work):
        return False
    fits = multipliers(numbers, true_online, float(indices.size), work)
    for lane in range(lanes):
        fits &= abs(p.now[SUM, lane]) <= LARGEST or work[CAREFUL, lane] != 0.0
    if not fits:
        return False
    note_step(numbers, work)
    fade(p, numbers[DECAY])
    for k in range(indices.size):
        i = indices[k]
        visit(p, i)
        for lane in range(lanes):
            p.z[i, lane] += work[FEATURES_TO_TRACE, lane] * scale[i] / p.now[PRODUCT, lane]
            p.weights[i, lane] += work[FEATURES_TO_WEIGHTS, lane] * scale[i]
    for lane in range(lanes):
        p.now[SUM, lane] += work[TRACE_TO_WEIGHTS, lane] * p.now[PRODUCT, lane]
    return True


@kernel
def learn_indices(
    steps: Steps, true_online: bool, step_sizes: Vector, scale: Vector, p: SparseState, work: Dense
) -> int:
    """Learn one prediction from steps, up to the first whose δ is not finite; returns how many."""
    numbers = np.empty((6, 1))
    for t in range(steps.code_t.size):
        numbers[REWARD, 0] = steps.reward[t]
        numbers[DISCOUNT, 0] = steps.discount_tp1[t]
        numbers[DISCOUNT_T, 0] = steps.discount_t[t]
        numbers[DECAY, 0] = steps.decay[t]
        numbers[GAIN, 0] = steps.gain[t]
        numbers[STEP_SIZE, 0] = step_sizes[min(t, step_sizes.size - 1)]
        now, ahead = steps.active[steps.code_t[t]], steps.active[steps.code_tp1[t]]
        if not step_indices(now, ahead, numbers, true_online, scale, p, work):
            return t
    return steps.code_t.size


@kernel
def values_at(indices: NDArray[np.int32], p: SparseState) -> Vector:
    """The sum of the weights at some indices."""
    total, unused = np.zeros(p.weights.shape[1]), np.zeros(p.weights.shape[1])
    for k in range(indices.size):
        read(p, indices[k], total, unused)
    return total
