"""The held view from features that are 1 at a few indices: a step costs as much as its ones.

At an index that is not in x, a step is a linear map of (w, p, e), the same for all indices. So none
of them need move until it is seen again. With the product of these maps since an era began,

    e = S z        p = K q + L z        w = w_seen + (U − U_seen) q + (V − V_seen) z

z, q, U_seen and V_seen are kept for each index. When S or K has become small (or S large), an era
ends, as in `sparse_kernel.py`: its numbers are written down, and an index that was last seen some
eras ago walks through them. Columns are predictions.
"""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel
from preftd.learners.growth import (
    CAREFUL,
    PENDING_BOUND,
    SCALE_BOUND,
    TRACE_BOUND,
    WEIGHT_BOUND,
    are_moderate,
)
from preftd.learners.linear.held_online_kernel import (
    ALONG,
    END,
    FADE,
    FEATURES_TO_PENDING,
    FEATURES_TO_TRACE,
    KEEP,
    KEPT,
    NEXT_VALUE,
    PAID,
    PENDING_TO_END,
    STEP,
    VALUE,
    conclude,
    is_needed,
    prepare,
    write_numbers,
)
from preftd.learners.linear.online_kernel import DECAY, REWARD
from preftd.learners.linear.sparse_kernel import LARGE, SMALL
from preftd.learners.steps import Steps

TO_WEIGHTS, TRACE_TO_WEIGHTS, KEPT_OF_PENDING, TRACE_TO_PENDING, KEPT_OF_TRACE = range(5)
"""Rows of `now`, and of each page of `past`: U, V, K, L and S."""


class SparseHeld(NamedTuple):
    """What is remembered of each index, and of the eras."""

    weights: Dense
    """As they were when the index was last seen."""
    z: Dense
    pending: Dense
    """q."""
    seen: Dense
    """U when the index was last seen."""
    seen_along: Dense
    """V when the index was last seen."""
    era: NDArray[np.int64]
    """The era in which each index was last seen; the last entry is the era of now."""
    now: Dense
    """5 × predictions."""
    past: NDArray[np.float64]
    """The same at the end of each era, pages × 5 × predictions."""

    @classmethod
    def of(cls, weights: Dense, trace: Dense, pending: Dense) -> Self:
        """All indices up to date."""
        size, predictions = weights.shape
        pages = max(64, min(size, 2**19 // predictions))
        now = np.zeros((5, predictions))
        now[KEPT_OF_PENDING] = now[KEPT_OF_TRACE] = 1.0
        return cls(
            weights,
            trace,
            pending,
            np.zeros_like(weights),
            np.zeros_like(weights),
            np.zeros(size + 1, dtype=np.int64),
            now,
            np.zeros((pages, 5, predictions)),
        )

    def copied(self) -> Self:
        """The same, to be changed without changing this."""
        # The parts keep their order, so each has its type again; mypy sees a union of them.
        return type(self)(*(part.copy() for part in self))  # type: ignore[arg-type]


@kernel
def read_held(p: SparseHeld, i: int, first: int, out: Dense) -> None:
    """Add w, p and e of an index to three rows; the index is left as it is."""
    era, now = p.era[p.era.size - 1], p.now
    for lane in range(out.shape[1]):
        z, q, u, v = p.z[i, lane], p.pending[i, lane], p.seen[i, lane], p.seen_along[i, lane]
        total, then = p.weights[i, lane], p.era[i]
        while then < era and (z != 0.0 or q != 0.0):
            page = p.past[then]
            total += q * (page[TO_WEIGHTS, lane] - u) + z * (page[TRACE_TO_WEIGHTS, lane] - v)
            q = q * page[KEPT_OF_PENDING, lane] + z * page[TRACE_TO_PENDING, lane]
            z, u, v, then = z * page[KEPT_OF_TRACE, lane], 0.0, 0.0, then + 1
        total += q * (now[TO_WEIGHTS, lane] - u) + z * (now[TRACE_TO_WEIGHTS, lane] - v)
        out[first, lane] += total
        out[first + 1, lane] += q * now[KEPT_OF_PENDING, lane] + z * now[TRACE_TO_PENDING, lane]
        out[first + 2, lane] += z * now[KEPT_OF_TRACE, lane]


@kernel
def visit_held(p: SparseHeld, i: int) -> None:
    """Bring an index up to date."""
    era, then, lanes = p.era[p.era.size - 1], p.era[i], p.weights.shape[1]
    while then < era:
        page, moves = p.past[then], False
        for lane in range(lanes):
            z, q = p.z[i, lane], p.pending[i, lane]
            p.weights[i, lane] += q * (page[TO_WEIGHTS, lane] - p.seen[i, lane])
            p.weights[i, lane] += z * (page[TRACE_TO_WEIGHTS, lane] - p.seen_along[i, lane])
            q = q * page[KEPT_OF_PENDING, lane] + z * page[TRACE_TO_PENDING, lane]
            z *= page[KEPT_OF_TRACE, lane]
            p.z[i, lane], p.pending[i, lane] = z, q
            p.seen[i, lane] = p.seen_along[i, lane] = 0.0
            moves |= z != 0.0 or q != 0.0
        then = then + 1 if moves else era
    for lane in range(lanes):
        u, v = p.now[TO_WEIGHTS, lane], p.now[TRACE_TO_WEIGHTS, lane]
        p.weights[i, lane] += p.pending[i, lane] * (u - p.seen[i, lane])
        p.weights[i, lane] += p.z[i, lane] * (v - p.seen_along[i, lane])
        p.seen[i, lane], p.seen_along[i, lane] = u, v
    p.era[i] = era


@kernel
def settle_held(p: SparseHeld) -> None:
    """Bring all indices up to date; then z is e, and `pending` is p."""
    size, lanes = p.weights.shape
    now = p.now
    for i in range(size):
        visit_held(p, i)
        for lane in range(lanes):
            z, q = p.z[i, lane], p.pending[i, lane]
            q = q * now[KEPT_OF_PENDING, lane] + z * now[TRACE_TO_PENDING, lane]
            p.pending[i, lane], p.z[i, lane] = q, z * now[KEPT_OF_TRACE, lane]
            p.seen[i, lane] = p.seen_along[i, lane] = 0.0
    p.era[:] = 0
    now[:] = 0.0
    now[KEPT_OF_PENDING] = now[KEPT_OF_TRACE] = 1.0


@kernel
def end_era(p: SparseHeld) -> None:
    """End the era, if S or K is small or large."""
    size, lanes = p.weights.shape
    far = False
    for lane in range(lanes):
        far |= not SMALL <= p.now[KEPT_OF_TRACE, lane] <= LARGE
        far |= not SMALL <= p.now[KEPT_OF_PENDING, lane] <= LARGE
    if not far:
        return
    era = p.era[size]
    p.past[era] = p.now
    p.now[:] = 0.0
    p.now[KEPT_OF_PENDING] = p.now[KEPT_OF_TRACE] = 1.0
    p.era[size] = era + 1
    if era + 1 == p.past.shape[0]:
        settle_held(p)


@kernel
def step_held_indices(
    indices: NDArray[np.int32],
    next_indices: NDArray[np.int32],
    numbers: Dense,
    scale: Vector,
    p: SparseHeld,
    held: Dense,
    work: Dense,
) -> bool:
    """One step; returns False, with nothing learned, if it may not be taken.

    numbers, held, work  as for `step_held`; S is 1 and L is 0, since p and e are read as they are
    """
    lanes, now = p.weights.shape[1], p.now
    work[VALUE : NEXT_VALUE + 3] = 0.0
    for k in range(indices.size):
        read_held(p, indices[k], VALUE, work)
    for k in range(next_indices.size):
        read_held(p, next_indices[k], NEXT_VALUE, work)
    if not prepare(numbers, held[FADE], held[PAID], work):
        return False
    if not _may_step(numbers, float(indices.size), now, work):
        return False
    needed = is_needed(numbers)
    for lane in range(lanes):
        step, along = work[STEP, lane], work[ALONG, lane]
        s, q = now[KEPT_OF_TRACE, lane], now[KEPT_OF_PENDING, lane]
        now[TO_WEIGHTS, lane] += step * q
        now[TRACE_TO_WEIGHTS, lane] += step * now[TRACE_TO_PENDING, lane] + along * s
        now[KEPT_OF_PENDING, lane] = work[KEEP, lane] * q
        now[TRACE_TO_PENDING, lane] *= work[KEEP, lane]
        now[TRACE_TO_PENDING, lane] += work[KEPT, lane] * s
        now[KEPT_OF_TRACE, lane] = numbers[DECAY, lane] * s
    end_era(p)
    if needed:
        for k in range(indices.size):
            _add(p, indices[k], scale[indices[k]], work)
    for lane in range(lanes):
        now[TRACE_TO_PENDING, lane] += numbers[REWARD, lane] * now[KEPT_OF_TRACE, lane]
    ends = conclude(numbers, held, work)
    held[FADE], held[PAID] = 1.0, 0.0
    if ends:
        _end(numbers, p, work)
    return True


@kernel
def _may_step(numbers: Dense, size: float, now: Dense, work: Dense) -> bool:
    """Whether the step that `prepare` wrote may be taken; no feature is larger than `size`."""
    fits = True
    for lane in range(work.shape[1]):
        weights, e, p = work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane], work[PENDING_BOUND, lane]
        step, along, kept = abs(work[STEP, lane]), abs(work[ALONG, lane]), abs(work[KEPT, lane])
        reward, last = abs(numbers[REWARD, lane]), abs(work[PENDING_TO_END, lane])
        x = size * work[SCALE_BOUND, lane]
        end = last * abs(work[NEXT_VALUE, lane]) if last != 0.0 else 0.0
        weights += step * p + along * e
        p = p + kept * e + abs(work[FEATURES_TO_PENDING, lane]) * x
        e = numbers[DECAY, lane] * e + abs(work[FEATURES_TO_TRACE, lane]) * x
        p += reward * e
        weights += last * p + end * e
        # What all indices share is bounded as well, for one whose trace and pending update are 1.
        u, v = abs(now[TO_WEIGHTS, lane]), abs(now[TRACE_TO_WEIGHTS, lane])
        due = abs(now[TRACE_TO_PENDING, lane])
        v += step * due + (along + end) * LARGE
        due += (kept + reward) * LARGE
        shared = u + (step + last) * LARGE + v + due * (1.0 + last)
        work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane] = weights, e
        work[PENDING_BOUND, lane] = p
        fits &= are_moderate(weights, e, p + shared) or work[CAREFUL, lane] != 0.0
    return fits


@kernel
def _add(p: SparseHeld, i: int, factor: float, work: Dense) -> None:
    """What x adds to e and p at an index."""
    visit_held(p, i)
    for lane in range(p.weights.shape[1]):
        z = work[FEATURES_TO_TRACE, lane] * factor / p.now[KEPT_OF_TRACE, lane]
        q = work[FEATURES_TO_PENDING, lane] * factor - p.now[TRACE_TO_PENDING, lane] * z
        p.z[i, lane] += z
        p.pending[i, lane] += q / p.now[KEPT_OF_PENDING, lane]


@kernel
def _end(numbers: Dense, p: SparseHeld, work: Dense) -> None:
    """The end of an episode, for the predictions that have one."""
    now = p.now
    for lane in range(p.weights.shape[1]):
        if numbers[END, lane] < 0.0:
            continue
        last, along = work[PENDING_TO_END, lane], work[NEXT_VALUE, lane]
        s = now[KEPT_OF_TRACE, lane]
        now[TO_WEIGHTS, lane] += last * now[KEPT_OF_PENDING, lane]
        now[TRACE_TO_WEIGHTS, lane] += last * now[TRACE_TO_PENDING, lane]
        if last != 0.0:
            now[TRACE_TO_WEIGHTS, lane] += last * along * s
        now[KEPT_OF_PENDING, lane] = now[TRACE_TO_PENDING, lane] = 0.0
        now[KEPT_OF_TRACE, lane] = 0.0
    end_era(p)


@kernel
def learn_held_indices(
    steps: Steps, step_sizes: Vector, scale: Vector, p: SparseHeld, held: Dense, work: Dense
) -> int:
    """Learn one prediction from steps, up to the first that cannot be used; returns how many."""
    numbers = np.empty((8, 1))
    for t in range(steps.code_t.size):
        write_numbers(steps, t, step_sizes, numbers)
        now, ahead = steps.active[steps.code_t[t]], steps.active[steps.code_tp1[t]]
        if not step_held_indices(now, ahead, numbers, scale, p, held, work):
            return t
    return steps.code_t.size


@kernel
def held_values_at(indices: NDArray[np.int32], p: SparseHeld) -> Vector:
    """The sum of the weights at some indices."""
    found = np.zeros((3, p.weights.shape[1]))
    for k in range(indices.size):
        read_held(p, indices[k], 0, found)
    values: Vector = found[0].copy()
    return values
