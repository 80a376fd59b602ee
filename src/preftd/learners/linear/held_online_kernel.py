"""The held view one step at a time; predictions are the columns.

`held_kernel.py` says what is computed. Here e = S z and p = pending + L z, with S and L for each
prediction: where β and gain are 0, these two numbers change and nothing else. A factor for each
feature, `scale`, is 1 unless step sizes differ between them.
"""

import numpy as np

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel
from preftd.learners.growth import (
    CAREFUL,
    PENDING_BOUND,
    SCALE_BOUND,
    SHARED_ROWS,
    TD_ERROR,
    TRACE_BOUND,
    WEIGHT_BOUND,
    are_moderate,
    note_value,
)
from preftd.learners.linear.batch_kernel import add_features
from preftd.learners.linear.online_kernel import (
    DECAY,
    DISCOUNT,
    DISCOUNT_T,
    GAIN,
    REWARD,
    STEP_SIZE,
)
from preftd.learners.steps import Steps

BETA, END = 6, 7
"""Two more rows of `numbers`: β, and the share of what is pending that is applied after the step,
where it is the last of an episode; −1 where it is not."""

FADE, PAID, AHEAD, KNOWN = range(4)
"""Rows of `held`: S, L; γ v(x') as the last step saw it, and 1 if that is a number, else 0."""

(
    VALUE,
    OVERLAP,
    SHARED,
    NEXT_VALUE,
    NEXT_OVERLAP,
    NEXT_SHARED,
    STEP,
    ALONG,
    KEEP,
    KEPT,
    TRACE_KEPT,
    FEATURES_TO_PENDING,
    FEATURES_TO_TRACE,
    PENDING_TO_END,
    TRACE_TO_END,
) = range(SHARED_ROWS, SHARED_ROWS + 15)
"""Rows of `work` after those that all views share: products of x and x' with w, p and e; then the
factors of a step and of the end of an episode."""
HELD_ROWS = SHARED_ROWS + 15

compiled = kernel(fastmath={"contract"})


@compiled
def is_needed(numbers: Dense) -> bool:
    """Whether x has a part in the step, for any prediction."""
    for lane in range(numbers.shape[1]):
        if numbers[BETA, lane] != 0.0 or numbers[GAIN, lane] != 0.0:
            return True
    return False


@compiled
def prepare(numbers: Dense, fade: Vector, paid: Vector, work: Dense) -> bool:
    """Write δ and the factors of a step, from products with w, p = pending + L z and e = S z.

    SHARED and NEXT_SHARED are products with z, OVERLAP and NEXT_OVERLAP with `pending`. Returns
    whether all that is used is finite.
    """
    finite = True
    for lane in range(numbers.shape[1]):
        beta, gain, reward = numbers[BETA, lane], numbers[GAIN, lane], numbers[REWARD, lane]
        value, following = work[VALUE, lane], work[NEXT_VALUE, lane]
        s, due = fade[lane], paid[lane]
        s_next = numbers[DECAY, lane] * s
        used = beta != 0.0 or gain != 0.0
        step = along = kept = 0.0
        if used:
            step = numbers[STEP_SIZE, lane] * beta
            along = step * (due + numbers[DISCOUNT_T, lane] * s * value)
            moved = step * work[OVERLAP, lane] + along * work[SHARED, lane]
            kept = (1.0 - beta) * due - s_next * moved
            value += moved
            following += step * work[NEXT_OVERLAP, lane] + along * work[NEXT_SHARED, lane]
            finite &= np.isfinite(value) & np.isfinite(along) & np.isfinite(kept)
        work[STEP, lane], work[ALONG, lane], work[KEPT, lane] = step, along, kept
        work[KEEP, lane] = 1.0 - beta
        work[TRACE_KEPT, lane] = s_next if used else 1.0
        work[FEATURES_TO_PENDING, lane] = -gain * value if used else 0.0
        work[FEATURES_TO_TRACE, lane] = gain
        work[VALUE, lane] = value
        ahead = numbers[DISCOUNT, lane] * following if numbers[DISCOUNT, lane] != 0.0 else 0.0
        work[NEXT_VALUE, lane] = ahead
        work[TD_ERROR, lane] = reward + ahead - value
        share = numbers[END, lane]
        s, due = (1.0, reward) if used else (s_next, due + s_next * reward)
        last = numbers[STEP_SIZE, lane] * max(share, 0.0)
        work[PENDING_TO_END, lane] = last
        work[TRACE_TO_END, lane] = last * (due + s * ahead) if last != 0.0 else 0.0
        finite &= np.isfinite(s) & np.isfinite(due) & np.isfinite(work[TRACE_TO_END, lane])
    return finite


@compiled
def may_step(size: float, work: Dense) -> bool:
    """Whether the step that `prepare` wrote may be taken; no feature is larger than `size`."""
    fits = True
    for lane in range(work.shape[1]):
        weights, z, p = work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane], work[PENDING_BOUND, lane]
        weights += abs(work[STEP, lane]) * p + abs(work[ALONG, lane]) * z
        p = abs(work[KEEP, lane]) * p + abs(work[KEPT, lane]) * z
        x = size * work[SCALE_BOUND, lane]
        p += abs(work[FEATURES_TO_PENDING, lane]) * x
        z = abs(work[TRACE_KEPT, lane]) * z + abs(work[FEATURES_TO_TRACE, lane]) * x
        weights += abs(work[PENDING_TO_END, lane]) * p + abs(work[TRACE_TO_END, lane]) * z
        work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane] = weights, z
        work[PENDING_BOUND, lane] = p
        fits &= are_moderate(weights, z, p) or work[CAREFUL, lane] != 0.0
    return fits


@compiled
def conclude(numbers: Dense, held: Dense, work: Dense) -> bool:
    """Write S, L and what was seen ahead; returns whether an episode ends."""
    ends = False
    for lane in range(numbers.shape[1]):
        used = numbers[BETA, lane] != 0.0 or numbers[GAIN, lane] != 0.0
        note_value(
            work[VALUE, lane] if used else 0.0,
            numbers[REWARD, lane],
            numbers[DISCOUNT_T, lane],
            work[:, lane],
        )
        if numbers[END, lane] >= 0.0:
            ends = True
            for row in range(held.shape[0]):
                held[row, lane] = 0.0
            continue
        s = numbers[DECAY, lane] * held[FADE, lane]
        paid = held[PAID, lane] + s * numbers[REWARD, lane]
        held[FADE, lane] = 1.0 if used else s
        held[PAID, lane] = numbers[REWARD, lane] if used else paid
        known = np.isfinite(work[NEXT_VALUE, lane])
        held[KNOWN, lane], held[AHEAD, lane] = known, work[NEXT_VALUE, lane] if known else 0.0
    return ends


@compiled
def _look(x: Vector, arrays: tuple[Dense, Dense, Dense], first: int, work: Dense) -> None:
    """Write products of x with w, pending and z, in three rows of work."""
    weights, pending, trace = arrays
    size, lanes = weights.shape
    for row in range(first, first + 3):
        for lane in range(lanes):
            work[row, lane] = 0.0
    for i in range(size):
        x_i = x[i]
        for lane in range(lanes):
            work[first, lane] += x_i * weights[i, lane]
            work[first + 1, lane] += x_i * pending[i, lane]
            work[first + 2, lane] += x_i * trace[i, lane]


@compiled
def step_held(
    x: Vector,
    x_next: Vector,
    numbers: Dense,
    scale: Vector,
    arrays: tuple[Dense, Dense, Dense],
    held: Dense,
    work: Dense,
) -> bool:
    """One step; returns False, with nothing learned, if it may not be taken.

    numbers  8 × predictions
    arrays   weights, pending and z, features × predictions
    """
    weights, pending, trace = arrays
    size, lanes = weights.shape
    _look(x, arrays, VALUE, work)
    _look(x_next, arrays, NEXT_VALUE, work)
    if not prepare(numbers, held[FADE], held[PAID], work):
        return False
    needed, largest = is_needed(numbers), 0.0
    for i in range(size if needed else 0):
        largest = max(largest, abs(x[i]))
    if not may_step(largest, work):
        return False
    if needed:
        for i in range(size):
            x_i = scale[i] * x[i]
            for lane in range(lanes):
                p, z = pending[i, lane], trace[i, lane]
                weights[i, lane] += work[STEP, lane] * p + work[ALONG, lane] * z
                p = work[KEEP, lane] * p + work[KEPT, lane] * z
                pending[i, lane] = p + work[FEATURES_TO_PENDING, lane] * x_i
                z = work[TRACE_KEPT, lane] * z
                trace[i, lane] = z + work[FEATURES_TO_TRACE, lane] * x_i
    if conclude(numbers, held, work):
        _end(numbers, arrays, work)
    return True


@compiled
def _end(numbers: Dense, arrays: tuple[Dense, Dense, Dense], work: Dense) -> None:
    """The end of an episode, for the predictions that have one."""
    weights, pending, trace = arrays
    size, lanes = weights.shape
    for i in range(size):
        for lane in range(lanes):
            if numbers[END, lane] >= 0.0:
                weights[i, lane] += work[PENDING_TO_END, lane] * pending[i, lane]
                weights[i, lane] += work[TRACE_TO_END, lane] * trace[i, lane]
                pending[i, lane] = trace[i, lane] = 0.0


@compiled
def leave(alpha: float, arrays: tuple[Dense, Dense, Dense], held: Dense) -> None:
    """Apply what is pending of an episode that was left, if it can be bootstrapped from."""
    weights, pending, trace = arrays
    size, lanes = weights.shape
    for i in range(size):
        for lane in range(lanes):
            along = held[PAID, lane] + held[FADE, lane] * held[AHEAD, lane]
            if held[KNOWN, lane] != 0.0:
                weights[i, lane] += alpha * (pending[i, lane] + along * trace[i, lane])
            pending[i, lane] = trace[i, lane] = 0.0
    held[:] = 0.0


@compiled
def write_numbers(steps: Steps, t: int, step_sizes: Vector, numbers: Dense) -> None:
    """What step t of a stream is made of, for one prediction."""
    numbers[REWARD, 0] = steps.reward[t]
    numbers[DISCOUNT, 0] = steps.discount_tp1[t]
    numbers[DISCOUNT_T, 0] = steps.discount_t[t]
    numbers[DECAY, 0] = steps.decay[t]
    numbers[GAIN, 0] = steps.gain[t]
    numbers[STEP_SIZE, 0] = step_sizes[min(t, step_sizes.size - 1)]
    numbers[BETA, 0] = steps.beta[t]
    ends = steps.is_last[t] or steps.discount_tp1[t] == 0.0
    numbers[END, 0] = steps.final_beta[t] if ends else -1.0


@compiled
def learn_held_one(
    steps: Steps,
    step_sizes: Vector,
    scale: Vector,
    arrays: tuple[Dense, Dense, Dense],
    held: Dense,
    work: Dense,
) -> int:
    """Learn one prediction from steps, up to the first that cannot be used; returns how many."""
    numbers, x, x_next = np.empty((8, 1)), np.zeros(scale.size), np.zeros(scale.size)
    last = steps.code_t.size - 1
    for t in range(steps.code_t.size):
        hidden = steps.beta[t] == 0.0 and steps.gain[t] == 0.0
        looks_ahead = steps.is_last[t] or steps.discount_tp1[t] == 0.0 or t == last
        if hidden and not looks_ahead and np.isfinite(steps.reward[t]):
            held[FADE, 0] *= steps.decay[t]
            held[PAID, 0] += held[FADE, 0] * steps.reward[t]
            note_value(0.0, steps.reward[t], steps.discount_t[t], work[:, 0])
            continue
        write_numbers(steps, t, step_sizes, numbers)
        x[:], x_next[:] = 0.0, 0.0
        if not hidden:
            add_features(steps.code_t[t], steps.dense, steps.active, 1.0, x)
        if looks_ahead and steps.final_beta[t] != 0.0:
            add_features(steps.code_tp1[t], steps.dense, steps.active, 1.0, x_next)
        if not step_held(x, x_next, numbers, scale, arrays, held, work):
            return t
    return steps.code_t.size
