"""Online views with features that are 1 at a few indices; a step costs as much as it has ones.

At an index that is not in x, a step is a linear map of (w, p, e), the same for all indices. So it
is updated only when it occurs again. With the product of these maps since an era began,

    e = S z        p = K q + L z        w = w_seen + (V − V_seen) z + (U − U_seen) q

z, q, V_seen and U_seen are kept for each index; q, U, K and L only by the held view. When S or K
becomes small (or S large, if ρ > 1), an era ends: its numbers are stored and reset, and an index
that last occurred some eras ago goes through the stored ones. When all pages are full, every index
is brought up to date. Columns are predictions; `online_kernel.py` describes a step.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.linear.online_kernel import (
    DECAY,
    END,
    FEATURES_TO_PENDING,
    FEATURES_TO_TRACE,
    FEATURES_TO_WEIGHTS,
    NEW_TRACE_TO_PENDING,
    NEW_TRACE_TO_WEIGHTS,
    NEXT_VALUE,
    PENDING_KEPT,
    PENDING_TO_END,
    PENDING_TO_WEIGHTS,
    SHARED_BOUND,
    TRACE_TO_END,
    TRACE_TO_PENDING,
    TRACE_TO_WEIGHTS,
    VALUE,
    Held,
    View,
    any_used,
    conclude,
    factors,
    may_step,
    write_numbers,
)
from preftd._src.learners.steps import Steps

V, S, U, K, L = range(5)
"""Rows of `now`, and of each page of `past`; only the held view has the last three."""
SMALL, LARGE = 2.0**-10, 4.0
"""The range of S and K within an era: sums of terms this different lose at most twelve bits."""


class SparseState(NamedTuple):
    """The state of each index, and of the eras."""

    weights: Dense
    """w, p and e when the index last occurred."""
    z: Dense
    seen: Dense
    """V when the index last occurred."""
    pending: Dense
    """q; empty unless the view is held, like the next field."""
    seen_pending: Dense
    """U when the index last occurred."""
    era: NDArray[np.int64]
    """The era in which each index last occurred; the last entry is the current era."""
    now: Dense
    """V, S, U, K and L, or the first two; (2 or 5) × predictions."""
    past: NDArray[np.float64]
    """The same at the end of each era, pages × (2 or 5) × predictions."""

    @classmethod
    def of(cls, weights: Dense, trace: Dense, pending: Dense) -> Self:
        """All indices up to date; without pending updates, `pending` has no rows."""
        size, predictions = weights.shape
        rows = L + 1 if len(pending) else S + 1
        pages = max(64, min(size, (2**19 if len(pending) else 2**20) // predictions))
        found = cls(
            weights,
            trace,
            np.zeros_like(weights),
            pending,
            np.zeros_like(pending),
            np.zeros(size + 1, dtype=np.int64),
            np.zeros((rows, predictions)),
            np.zeros((pages, rows, predictions)),
        )
        begin_era(found)
        return found

    def copied(self) -> Self:
        """A copy."""
        # The parts keep their order, so each has its type again; mypy sees a union of them.
        return type(self)(*(part.copy() for part in self))  # type: ignore[arg-type]


@kernel
def begin_era(state: SparseState) -> None:
    """Set S and K to 1 and the others to 0."""
    state.now[:] = 0.0
    state.now[S] = 1.0
    if state.now.shape[0] > K:
        state.now[K] = 1.0


@kernel
def read(state: SparseState, i: int, first: int, out: Dense) -> None:
    """Add w, p and e of an index to three rows, without updating the index."""
    era, now, holds = state.era[state.era.size - 1], state.now, state.now.shape[0] > K
    for lane in range(out.shape[1]):
        z, v, total = state.z[i, lane], state.seen[i, lane], state.weights[i, lane]
        q, u, then = 0.0, 0.0, state.era[i]
        if holds:
            q, u = state.pending[i, lane], state.seen_pending[i, lane]
        while then < era and (z != 0.0 or q != 0.0):
            page = state.past[then]
            total += z * (page[V, lane] - v)
            if holds:
                total += q * (page[U, lane] - u)
                q = q * page[K, lane] + z * page[L, lane]
            z, v, u, then = z * page[S, lane], 0.0, 0.0, then + 1
        out[first, lane] += total + z * (now[V, lane] - v)
        if holds:
            out[first, lane] += q * (now[U, lane] - u)
            out[first + 1, lane] += q * now[K, lane] + z * now[L, lane]
        out[first + 2, lane] += z * now[S, lane]


@kernel
def visit(state: SparseState, i: int) -> None:
    """Bring an index up to date."""
    era, then, lanes = state.era[state.era.size - 1], state.era[i], state.weights.shape[1]
    holds = state.now.shape[0] > K
    while then <= era:
        page, moves = state.now if then == era else state.past[then], False
        for lane in range(lanes):
            z = state.z[i, lane]
            state.weights[i, lane] += z * (page[V, lane] - state.seen[i, lane])
            state.seen[i, lane] = page[V, lane] if then == era else 0.0
            if holds:
                q = state.pending[i, lane]
                state.weights[i, lane] += q * (page[U, lane] - state.seen_pending[i, lane])
                state.seen_pending[i, lane] = page[U, lane] if then == era else 0.0
                if then < era:
                    q = q * page[K, lane] + z * page[L, lane]
                    state.pending[i, lane] = q
                    moves |= q != 0.0
            if then < era:
                state.z[i, lane] = z * page[S, lane]
                moves |= state.z[i, lane] != 0.0
        then = then + 1 if moves or then >= era else era
    state.era[i] = era


@kernel
def settle(state: SparseState) -> None:
    """Bring all indices up to date; then z is e, and q is p."""
    size, lanes = state.weights.shape
    now, holds = state.now, state.now.shape[0] > K
    for i in range(size):
        visit(state, i)
        for lane in range(lanes):
            z = state.z[i, lane]
            state.z[i, lane], state.seen[i, lane] = z * now[S, lane], 0.0
            if holds:
                q = state.pending[i, lane]
                state.pending[i, lane] = q * now[K, lane] + z * now[L, lane]
                state.seen_pending[i, lane] = 0.0
    state.era[:] = 0
    begin_era(state)


@kernel
def end_era(state: SparseState) -> None:
    """End the era, if S or K is small or large."""
    size, lanes = state.weights.shape
    far = False
    for lane in range(lanes):
        far |= not SMALL <= state.now[S, lane] <= LARGE
        if state.now.shape[0] > K:
            far |= not SMALL <= state.now[K, lane] <= LARGE
    if not far:
        return
    era = state.era[size]
    state.past[era] = state.now
    begin_era(state)
    state.era[size] = era + 1
    if era + 1 == state.past.shape[0]:
        settle(state)


@kernel
def _bound_shared(now: Dense, work: Dense) -> None:
    """Write bounds of V, U and L after the step, for an index with trace and pending 1."""
    for lane in range(work.shape[1]):
        along = abs(work[TRACE_TO_WEIGHTS, lane]) + abs(work[NEW_TRACE_TO_WEIGHTS, lane])
        total = abs(now[V, lane]) + (along + abs(work[TRACE_TO_END, lane])) * LARGE
        if now.shape[0] > K:
            step, last = abs(work[PENDING_TO_WEIGHTS, lane]), abs(work[PENDING_TO_END, lane])
            due = abs(now[L, lane])
            total += abs(now[U, lane]) + step * due + (step + last) * LARGE
            kept = abs(work[TRACE_TO_PENDING, lane]) + abs(work[NEW_TRACE_TO_PENDING, lane])
            total += (due + kept * LARGE) * (1.0 + last)
        work[SHARED_BOUND, lane] = total


@kernel
def _move_shared(state: SparseState, work: Dense) -> None:
    """Apply the map to all indices at once, except for its part of the new trace."""
    now = state.now
    for lane in range(work.shape[1]):
        s = now[S, lane]
        if now.shape[0] > K:
            step = work[PENDING_TO_WEIGHTS, lane]
            now[U, lane] += step * now[K, lane]
            now[V, lane] += step * now[L, lane] + work[TRACE_TO_WEIGHTS, lane] * s
            now[K, lane] *= work[PENDING_KEPT, lane]
            now[L, lane] *= work[PENDING_KEPT, lane]
            now[L, lane] += work[TRACE_TO_PENDING, lane] * s
        now[S, lane] = work[DECAY, lane] * s


@kernel
def _add(state: SparseState, i: int, factor: float, work: Dense) -> None:
    """Add the terms of x to w, p and e of an index."""
    visit(state, i)
    for lane in range(work.shape[1]):
        z = work[FEATURES_TO_TRACE, lane] * factor / state.now[S, lane]
        state.z[i, lane] += z
        state.weights[i, lane] += work[FEATURES_TO_WEIGHTS, lane] * factor
        if state.now.shape[0] > K:
            q = work[FEATURES_TO_PENDING, lane] * factor - state.now[L, lane] * z
            state.pending[i, lane] += q / state.now[K, lane]


@kernel
def _end(state: SparseState, work: Dense) -> None:
    """Apply pending updates at the end of an episode, for predictions whose episode ends."""
    now = state.now
    for lane in range(work.shape[1]):
        if work[END, lane] >= 0.0:
            last = work[PENDING_TO_END, lane]
            now[U, lane] += last * now[K, lane]
            now[V, lane] += last * now[L, lane] + work[TRACE_TO_END, lane] * now[S, lane]
            now[K, lane] = now[L, lane] = now[S, lane] = 0.0
    end_era(state)


@kernel
def step_indices(
    indices: NDArray[np.int32],
    next_indices: NDArray[np.int32],
    view: View,
    held: Held,
    scale: Vector,
    state: SparseState,
    work: Dense,
) -> bool:
    """One step of all predictions; returns False, with nothing learned, if it is refused."""
    now = state.now
    work[VALUE : NEXT_VALUE + 3] = 0.0
    for k in range(indices.size):
        read(state, indices[k], VALUE, work)
    for k in range(next_indices.size):
        read(state, next_indices[k], NEXT_VALUE, work)
    if not factors(view, held, False, work):
        return False
    _bound_shared(now, work)
    if not may_step(held, float(indices.size), work):
        return False
    _move_shared(state, work)
    end_era(state)
    if any_used(held, work):
        for k in range(indices.size):
            _add(state, indices[k], scale[indices[k]], work)
    for lane in range(work.shape[1]):
        now[V, lane] += work[NEW_TRACE_TO_WEIGHTS, lane] * now[S, lane]
        if now.shape[0] > K:
            now[L, lane] += work[NEW_TRACE_TO_PENDING, lane] * now[S, lane]
    if conclude(held, False, work):
        _end(state, work)
    return True


@kernel
def learn_indices(
    steps: Steps,
    view: View,
    held: Held,
    step_sizes: Vector,
    scale: Vector,
    state: SparseState,
    work: Dense,
) -> int:
    """Learn one prediction from steps, up to the first that is refused; returns their number."""
    for t in range(steps.code_t.size):
        write_numbers(steps, t, step_sizes, work)
        now, ahead = steps.active[steps.code_t[t]], steps.active[steps.code_tp1[t]]
        if not step_indices(now, ahead, view, held, scale, state, work):
            return t
    return steps.code_t.size


@kernel
def values_at(indices: NDArray[np.int32], state: SparseState) -> Vector:
    """The sum of the weights at some indices."""
    found = np.zeros((3, state.weights.shape[1]))
    for k in range(indices.size):
        read(state, indices[k], 0, found)
    values: Vector = found[0].copy()
    return values
