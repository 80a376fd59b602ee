"""Online views of linear learning: each is a few scalars in one affine map.

With weights w, pending updates p, the trace e and features x, a step of any view is

    e' = TRACE_KEPT e + FEATURES_TO_TRACE x
    w  ← w + PENDING_TO_WEIGHTS p + TRACE_TO_WEIGHTS e + NEW_TRACE_TO_WEIGHTS e'
           + FEATURES_TO_WEIGHTS x
    p  ← PENDING_KEPT p + TRACE_TO_PENDING e + NEW_TRACE_TO_PENDING e' + FEATURES_TO_PENDING x

and only `factors` defines these scalars. A scalar that a view does not use is 0, and its factor is
then not read. The views:

    backward        e ← decay e + gain x
                    w ← w + α δ e
                    δ = r + γ' w·x' − w·x
    true online     e ← decay e + α gain (1 − decay e·x) x
                    w ← w + δ e + α gain (v − w·x) x
                    δ = r + γ' w·x' − v,  v = x·(weights before the last update), w·x where γ_t = 0
    held            w ← w + α β (p + γ v e)                                  v = w·x before that
                    p ← (1 − β) p + decay (v − v') e − gain v' x             v' = w·x after it
                    e ← decay e + gain x,  p ← p + r e
                    at the end of an episode  w ← w + α β' (p + γ' w·x' e),  p, e ← 0

Each feature has a factor, 1 unless step sizes differ between features. Columns of arrays
are predictions. `docs/research/true_online.md` derives the true online update, `docs/held.md` has
the held one.

Vectors in the held view are lazy: e is S times the stored trace, and p is the stored update plus L
times the stored trace, so where β and gain are 0 only S and L change.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.growth import (
    CAREFUL,
    OLD_VALUE,
    PENDING_BOUND,
    SCALE_BOUND,
    SHARED_ROWS,
    TD_ERROR,
    TRACE_BOUND,
    WEIGHT_BOUND,
    are_moderate,
    note_value,
)
from preftd._src.learners.linear.batch_kernel import add_features
from preftd._src.learners.steps import Steps

BACKWARD, TRUE_ONLINE, HELD = (0, None), (1, None), (None, 1)
"""The views as two arguments of kernels. One is None, which is known at compile time, so the kernel
has no code for it, and compiling takes half as long."""
View: TypeAlias = int | None
Held: TypeAlias = int | None
Many: TypeAlias = int | None
"""None if there is one prediction, which is also known at compile time."""

SCALE, WEIGHTS, TRACE, PENDING = range(4)
"""Rows of `memory`, an array of shape (3 or 4, features × predictions). Only the held view has
pending updates; the factors of the features are the first entries of SCALE."""

REWARD, DISCOUNT, DISCOUNT_T, DECAY, GAIN, STEP_SIZE, BETA, END = range(
    SHARED_ROWS, SHARED_ROWS + 8
)
"""Rows of `work`, an array of shape (WORK_ROWS, predictions), after those of `growth.py`: the
numbers of a step. END is the share of pending updates that is applied after the last step of an
episode, and −1 at other steps."""
NUMBERS = slice(REWARD, END + 1)

FADE, PAID, AHEAD, KNOWN = range(END + 1, END + 5)
"""The next rows, for the held view: S and L; γ v(x') of the last step, and 1 if that is a number,
else 0."""
LAZY = slice(FADE, KNOWN + 1)
SHARED_BOUND = KNOWN + 1
"""The next row: a bound of the numbers that all indices share (`sparse_kernel.py`); 0 for
vectors."""

(
    VALUE,
    PENDING_VALUE,
    TRACE_VALUE,
    NEXT_VALUE,
    NEXT_PENDING_VALUE,
    NEXT_TRACE_VALUE,
    PENDING_TO_WEIGHTS,
    TRACE_TO_WEIGHTS,
    NEW_TRACE_TO_WEIGHTS,
    FEATURES_TO_WEIGHTS,
    PENDING_KEPT,
    TRACE_TO_PENDING,
    NEW_TRACE_TO_PENDING,
    FEATURES_TO_PENDING,
    TRACE_KEPT,
    FEATURES_TO_TRACE,
    PENDING_TO_END,
    TRACE_TO_END,
) = range(SHARED_BOUND + 1, SHARED_BOUND + 19)
"""The last rows, rewritten in each step: products of x and of x' with w, p and e; the scalars
of the step, and those of the end of an episode, w ← w + PENDING_TO_END p + TRACE_TO_END e'."""
WORK_ROWS = TRACE_TO_END + 1

compiled = kernel(fastmath={"contract"})
inlined = kernel(fastmath={"contract"}, forceinline=True)
inlined_sums = kernel(fastmath={"contract", "reassoc"}, forceinline=True)


@inlined
def factors(view: View, held: Held, lazy: bool, work: Dense) -> bool:
    """Write δ and the scalars of a step; returns whether they are finite.

    lazy whether S and L replace writes to each feature
    """
    finite = True
    for lane in range(work.shape[1]):
        if held is not None:
            finite &= _held_factors(lazy, work, lane)
        if view is not None:
            finite &= _online_factors(view == TRUE_ONLINE[0], work, lane)
    return finite


@inlined
def _online_factors(is_true: bool, work: Dense, lane: int) -> bool:
    """Write δ and the scalars of a backward or true online step of one prediction."""
    value, decay = work[VALUE, lane], work[DECAY, lane]
    step = work[STEP_SIZE, lane] * work[GAIN, lane]
    keeps = is_true and work[DISCOUNT_T, lane] != 0.0
    old_value = work[OLD_VALUE, lane] if keeps else value
    delta = work[REWARD, lane] + work[DISCOUNT, lane] * work[NEXT_VALUE, lane] - old_value
    work[TD_ERROR, lane] = delta
    work[TRACE_KEPT, lane] = decay
    if is_true:
        work[FEATURES_TO_TRACE, lane] = step * (1.0 - decay * work[TRACE_VALUE, lane])
        work[NEW_TRACE_TO_WEIGHTS, lane] = delta
        work[FEATURES_TO_WEIGHTS, lane] = step * (old_value - value)
    else:
        work[FEATURES_TO_TRACE, lane] = work[GAIN, lane]
        work[NEW_TRACE_TO_WEIGHTS, lane] = work[STEP_SIZE, lane] * delta
    # With v from the previous step, δ need not show that x is not finite.
    return bool(np.isfinite(delta) & np.isfinite(value))


@inlined
def _held_factors(lazy: bool, work: Dense, lane: int) -> bool:
    """Write δ and the scalars of a held step of one prediction."""
    beta, gain, reward = work[BETA, lane], work[GAIN, lane], work[REWARD, lane]
    value, following = work[VALUE, lane], work[NEXT_VALUE, lane]
    s, due = work[FADE, lane], work[PAID, lane]
    s_next = work[DECAY, lane] * s
    used = is_used(work, lane)
    step = along = kept = 0.0
    finite = True
    if used:
        step = work[STEP_SIZE, lane] * beta
        along = step * (due + work[DISCOUNT_T, lane] * s * value)
        moved = step * work[PENDING_VALUE, lane] + along * work[TRACE_VALUE, lane]
        kept = (1.0 - beta) * due - s_next * moved
        value += moved
        following += step * work[NEXT_PENDING_VALUE, lane] + along * work[NEXT_TRACE_VALUE, lane]
        finite &= np.isfinite(value) & np.isfinite(along) & np.isfinite(kept)
    waits = lazy and not used
    work[PENDING_TO_WEIGHTS, lane], work[TRACE_TO_WEIGHTS, lane] = step, along
    work[PENDING_KEPT, lane], work[TRACE_TO_PENDING, lane] = 1.0 - beta, kept
    work[NEW_TRACE_TO_PENDING, lane] = 0.0 if lazy else reward
    work[FEATURES_TO_PENDING, lane] = -gain * value if used else 0.0
    work[TRACE_KEPT, lane] = 1.0 if waits else s_next
    work[FEATURES_TO_TRACE, lane] = gain
    work[VALUE, lane] = value
    ahead = work[DISCOUNT, lane] * following if work[DISCOUNT, lane] != 0.0 else 0.0
    work[NEXT_VALUE, lane] = ahead
    work[TD_ERROR, lane] = reward + ahead - value
    if lazy:
        s, due = (s_next, due + s_next * reward) if waits else (1.0, reward)
    last = work[STEP_SIZE, lane] * max(work[END, lane], 0.0)
    work[PENDING_TO_END, lane] = last
    work[TRACE_TO_END, lane] = last * (due + s * ahead) if last != 0.0 else 0.0
    finite &= np.isfinite(s) & np.isfinite(due) & np.isfinite(work[TRACE_TO_END, lane])
    return bool(finite)


@inlined
def is_used(work: Dense, lane: int) -> bool:
    """Whether a held step reads x."""
    return bool(work[BETA, lane] != 0.0 or work[GAIN, lane] != 0.0)


@inlined
def any_used(held: Held, work: Dense) -> bool:
    """Whether the step of any prediction reads x."""
    if held is None:
        return True
    used = False
    for lane in range(work.shape[1]):
        used |= is_used(work, lane)
    return used


@inlined
def may_step(held: Held, size: float, work: Dense) -> bool:
    """Whether the step that `factors` wrote may be taken; no feature is larger than `size`."""
    fits = True
    for lane in range(work.shape[1]):
        w, before, p = work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane], work[PENDING_BOUND, lane]
        x = size * work[SCALE_BOUND, lane]
        e = abs(work[TRACE_KEPT, lane]) * before + abs(work[FEATURES_TO_TRACE, lane]) * x
        w += abs(work[NEW_TRACE_TO_WEIGHTS, lane]) * e + abs(work[FEATURES_TO_WEIGHTS, lane]) * x
        if held is not None:
            w += abs(work[PENDING_TO_WEIGHTS, lane]) * p
            w += abs(work[TRACE_TO_WEIGHTS, lane]) * before
            p = abs(work[PENDING_KEPT, lane]) * p + abs(work[TRACE_TO_PENDING, lane]) * before
            p += abs(work[NEW_TRACE_TO_PENDING, lane]) * e
            p += abs(work[FEATURES_TO_PENDING, lane]) * x
            w += abs(work[PENDING_TO_END, lane]) * p + abs(work[TRACE_TO_END, lane]) * e
        work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane], work[PENDING_BOUND, lane] = w, e, p
        fits &= are_moderate(w, e, p + work[SHARED_BOUND, lane]) or work[CAREFUL, lane] != 0.0
    return fits


@inlined
def conclude(held: Held, lazy: bool, work: Dense) -> bool:
    """Record a step; returns whether pending updates must be applied."""
    ends = False
    for lane in range(work.shape[1]):
        reward, discount_t = work[REWARD, lane], work[DISCOUNT_T, lane]
        if held is None:
            note_value(work[VALUE, lane], reward, discount_t, work, lane)
            work[OLD_VALUE, lane] = work[NEXT_VALUE, lane]
            continue
        used = is_used(work, lane)
        note_value(work[VALUE, lane] if used else 0.0, reward, discount_t, work, lane)
        s = work[DECAY, lane] * work[FADE, lane]
        paid = work[PAID, lane] + s * reward
        if not lazy:
            s, paid = 1.0, 0.0
        elif used:
            s, paid = 1.0, reward
        known = np.isfinite(work[NEXT_VALUE, lane])
        ahead = work[NEXT_VALUE, lane] if known else 0.0
        if work[END, lane] >= 0.0:
            ends, known, ahead = True, False, 0.0
            s, paid = (0.0, 0.0) if lazy else (1.0, 0.0)
        work[FADE, lane], work[PAID, lane] = s, paid
        work[KNOWN, lane], work[AHEAD, lane] = known, ahead
    return ends


@inlined_sums
def _look_one(x: Vector, x_next: Vector, held: Held, memory: Dense, work: Dense) -> float:
    """Write the products of one prediction; returns Σ |x|."""
    value, overlap, ahead, size = 0.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        value += memory[WEIGHTS, i] * x[i]
        ahead += memory[WEIGHTS, i] * x_next[i]
        overlap += memory[TRACE, i] * x[i]
        size += abs(x[i])
    work[VALUE, 0], work[NEXT_VALUE, 0], work[TRACE_VALUE, 0] = value, ahead, overlap
    if held is not None:
        now, ahead, overlap = 0.0, 0.0, 0.0
        for i in range(x.size):
            now += memory[PENDING, i] * x[i]
            ahead += memory[PENDING, i] * x_next[i]
            overlap += memory[TRACE, i] * x_next[i]
        work[PENDING_VALUE, 0], work[NEXT_PENDING_VALUE, 0] = now, ahead
        work[NEXT_TRACE_VALUE, 0] = overlap
    return size


@compiled
def _look(x: Vector, x_next: Vector, held: Held, memory: Dense, work: Dense) -> float:
    """The same for many predictions."""
    lanes, size = work.shape[1], 0.0
    work[VALUE : NEXT_TRACE_VALUE + 1] = 0.0
    for i in range(x.size):
        k, x_i, next_i = i * lanes, x[i], x_next[i]
        size += abs(x_i)
        for lane in range(lanes):
            w, e = memory[WEIGHTS, k + lane], memory[TRACE, k + lane]
            work[VALUE, lane] += x_i * w
            work[NEXT_VALUE, lane] += next_i * w
            work[TRACE_VALUE, lane] += x_i * e
        if held is not None:
            for lane in range(lanes):
                p, e = memory[PENDING, k + lane], memory[TRACE, k + lane]
                work[PENDING_VALUE, lane] += x_i * p
                work[NEXT_PENDING_VALUE, lane] += next_i * p
                work[NEXT_TRACE_VALUE, lane] += next_i * e
    return size


@inlined
def _move_one(x: Vector, held: Held, memory: Dense, work: Dense) -> None:
    """Apply the map to one prediction."""
    kept, entering = work[TRACE_KEPT, 0], work[FEATURES_TO_TRACE, 0]
    if held is None:
        of_trace, of_features = work[NEW_TRACE_TO_WEIGHTS, 0], work[FEATURES_TO_WEIGHTS, 0]
        for i in range(x.size):
            s_i = memory[SCALE, i] * x[i]
            e = kept * memory[TRACE, i] + entering * s_i
            memory[TRACE, i] = e
            w = memory[WEIGHTS, i] + of_trace * e
            memory[WEIGHTS, i] = w + of_features * s_i
        return
    a, b = work[PENDING_TO_WEIGHTS, 0], work[TRACE_TO_WEIGHTS, 0]
    d, f, g = work[PENDING_KEPT, 0], work[TRACE_TO_PENDING, 0], work[FEATURES_TO_PENDING, 0]
    for i in range(x.size):
        s_i, p, e = memory[SCALE, i] * x[i], memory[PENDING, i], memory[TRACE, i]
        memory[WEIGHTS, i] += a * p + b * e
        memory[PENDING, i] = d * p + f * e + g * s_i
        memory[TRACE, i] = kept * e + entering * s_i


@compiled
def _move(x: Vector, held: Held, memory: Dense, work: Dense) -> None:
    """Apply the map to many predictions."""
    lanes = work.shape[1]
    for i in range(x.size):
        s_i, k = memory[SCALE, i] * x[i], i * lanes
        if held is not None:
            for lane in range(lanes):
                p, e = memory[PENDING, k + lane], memory[TRACE, k + lane]
                a, b = work[PENDING_TO_WEIGHTS, lane], work[TRACE_TO_WEIGHTS, lane]
                memory[WEIGHTS, k + lane] += a * p + b * e
                p = work[PENDING_KEPT, lane] * p + work[TRACE_TO_PENDING, lane] * e
                memory[PENDING, k + lane] = p + work[FEATURES_TO_PENDING, lane] * s_i
                kept, entering = work[TRACE_KEPT, lane], work[FEATURES_TO_TRACE, lane]
                memory[TRACE, k + lane] = kept * e + entering * s_i
        if held is None:
            for lane in range(lanes):
                e = work[TRACE_KEPT, lane] * memory[TRACE, k + lane]
                e += work[FEATURES_TO_TRACE, lane] * s_i
                memory[TRACE, k + lane] = e
                w = memory[WEIGHTS, k + lane] + work[NEW_TRACE_TO_WEIGHTS, lane] * e
                memory[WEIGHTS, k + lane] = w + work[FEATURES_TO_WEIGHTS, lane] * s_i


@compiled
def _end(memory: Dense, work: Dense) -> None:
    """Apply pending updates at the end of an episode, for predictions whose episode ends."""
    for lane in range(work.shape[1]):
        if work[END, lane] >= 0.0:
            for k in range(lane, memory.shape[1], work.shape[1]):
                memory[WEIGHTS, k] += work[PENDING_TO_END, lane] * memory[PENDING, k]
                memory[WEIGHTS, k] += work[TRACE_TO_END, lane] * memory[TRACE, k]
                memory[PENDING, k] = memory[TRACE, k] = 0.0


@inlined
def _step(
    x: Vector, x_next: Vector, view: View, held: Held, many: Many, memory: Dense, work: Dense
) -> bool:
    """One step of all predictions; returns False, with nothing learned, if it is refused."""
    if many is None:
        size = _look_one(x, x_next, held, memory, work)
    else:
        size = _look(x, x_next, held, memory, work)
    if not factors(view, held, True, work):
        return False
    used = any_used(held, work)
    if not may_step(held, size if used else 0.0, work):
        return False
    if used and many is None:
        _move_one(x, held, memory, work)
    elif used:
        _move(x, held, memory, work)
    if conclude(held, True, work) and held is not None:
        _end(memory, work)
    return True


@compiled
def step_many(
    x: Vector, x_next: Vector, view: View, held: Held, memory: Dense, work: Dense
) -> bool:
    """One step of many predictions; returns False, with nothing learned, if it is refused."""
    return bool(_step(x, x_next, view, held, 1, memory, work))


@compiled
def step_one(  # noqa: PLR0913, PLR0917  (unpacking from Python would take longer than the work)
    x: Vector,
    x_next: Vector,
    reward: float,
    discount: float,
    discount_t: float,
    decay: float,
    gain: float,
    alpha: float,
    beta: float,
    end: float,
    view: View,
    held: Held,
    memory: Dense,
    work: Dense,
) -> float | None:
    """One step of one prediction; returns δ, or None, with nothing learned."""
    work[REWARD, 0], work[DISCOUNT, 0], work[DISCOUNT_T, 0] = reward, discount, discount_t
    work[DECAY, 0], work[GAIN, 0], work[STEP_SIZE, 0] = decay, gain, alpha
    work[BETA, 0], work[END, 0] = beta, end
    if not _step(x, x_next, view, held, None, memory, work):
        return None
    return float(work[TD_ERROR, 0])


@compiled
def leave(alpha: float, memory: Dense, work: Dense) -> None:
    """Apply pending updates of an abandoned episode, if its last state has a value."""
    for lane in range(work.shape[1]):
        along = work[PAID, lane] + work[FADE, lane] * work[AHEAD, lane]
        for k in range(lane, memory.shape[1], work.shape[1]):
            if work[KNOWN, lane] != 0.0:
                memory[WEIGHTS, k] += alpha * (memory[PENDING, k] + along * memory[TRACE, k])
            memory[PENDING, k] = memory[TRACE, k] = 0.0
        for row in range(FADE, KNOWN + 1):
            work[row, lane] = 0.0


@inlined
def write_numbers(steps: Steps, t: int, step_sizes: Vector, work: Dense) -> None:
    """Write the numbers of step t of a stream, for one prediction."""
    work[REWARD, 0] = steps.reward[t]
    work[DISCOUNT, 0] = steps.discount_tp1[t]
    work[DISCOUNT_T, 0] = steps.discount_t[t]
    work[DECAY, 0] = steps.decay[t]
    work[GAIN, 0] = steps.gain[t]
    work[STEP_SIZE, 0] = step_sizes[min(t, step_sizes.size - 1)]
    work[BETA, 0] = steps.beta[t]
    ends = steps.is_last[t] or steps.discount_tp1[t] == 0.0
    work[END, 0] = steps.final_beta[t] if ends else -1.0


@compiled
def learn_vectors(
    steps: Steps, view: View, held: Held, step_sizes: Vector, memory: Dense, work: Dense
) -> int:
    """Learn one prediction from steps, up to the first that is refused; returns their number."""
    x, x_next = np.zeros(memory.shape[1]), np.zeros(memory.shape[1])
    last = steps.code_t.size - 1
    for t in range(steps.code_t.size):
        hidden = held is not None and steps.beta[t] == 0.0 and steps.gain[t] == 0.0
        ends = steps.is_last[t] or steps.discount_tp1[t] == 0.0 or t == last
        if held is not None and hidden and not ends and np.isfinite(steps.reward[t]):
            work[FADE, 0] *= steps.decay[t]
            work[PAID, 0] += work[FADE, 0] * steps.reward[t]
            note_value(0.0, steps.reward[t], steps.discount_t[t], work, 0)
            continue
        write_numbers(steps, t, step_sizes, work)
        for i in range(x.size):
            x[i] = x_next[i] = 0.0
        if not hidden:
            add_features(steps.code_t[t], steps.dense, steps.active, 1.0, x)
        if held is None or (ends and steps.final_beta[t] != 0.0):
            add_features(steps.code_tp1[t], steps.dense, steps.active, 1.0, x_next)
        if not _step(x, x_next, view, held, None, memory, work):
            return t
    return steps.code_t.size
