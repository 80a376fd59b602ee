"""Linear learning where each prediction has a trace of its own, one step at a time.

    accumulating    e ← decay e + gain s∘x
                    w ← w + α δ e
                    δ = r + γ' w·x' − w·x
    true online     e ← decay e + α gain (1 − decay e·x) s∘x
                    w ← w + δ e + α gain (v − w·x) s∘x
                    δ = r + γ' w·x' − v,  v = x·(weights before the last update), w·x where γ_t = 0

s is a factor for each feature, 1 unless step sizes differ between them. The true online update is
that of `docs/learners.md`: it equals, at each step, a pass over all steps so far with the interim
β-returns as targets and step sizes α gain.
"""

import numpy as np

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel
from preftd.learners.growth import (
    CAREFUL,
    OLD_VALUE,
    SCALE_BOUND,
    SHARED_ROWS,
    TD_ERROR,
    TRACE_BOUND,
    WEIGHT_BOUND,
    are_moderate,
    note_value,
)
from preftd.learners.linear.batch_kernel import add_features
from preftd.learners.steps import Steps

WEIGHTS, TRACE, SCALE = range(3)
"""Rows of `memory`, an array of shape (3, features), where there is one prediction."""

REWARD, DISCOUNT, DISCOUNT_T, DECAY, GAIN, STEP_SIZE = range(6)
"""Rows of `numbers`, an array of shape (6, predictions): what a step is made of."""

(
    VALUE,
    NEXT_VALUE,
    TRACE_VALUE,
    FEATURES_TO_TRACE,
    TRACE_TO_WEIGHTS,
    FEATURES_TO_WEIGHTS,
    UNUSED,
) = range(SHARED_ROWS, SHARED_ROWS + 7)
"""Rows of `work`, an array of shape (18, predictions), after those of `growth.py`: w·x, w·x', e·x,
then the factors of an update, and a row to write to what is not needed. They are written anew in
each step."""
WORK_ROWS = SHARED_ROWS + 7


@kernel(fastmath={"contract", "reassoc"})
def step_one(  # noqa: PLR0913, PLR0917  (unpacking from Python would take longer than the work)
    x: Vector,
    x_next: Vector,
    reward: float,
    discount: float,
    discount_t: float,
    decay: float,
    gain: float,
    alpha: float,
    true_online: bool,
    memory: Dense,
    column: Vector,
) -> float:
    """One step of one prediction; nothing is learned if what is returned, δ, is not finite.

    column  the only one of `work`: v of the last step is written for the next
    """
    value, value_next, overlap, size = 0.0, 0.0, 0.0, 0.0
    for i in range(x.size):
        value += memory[WEIGHTS, i] * x[i]
        value_next += memory[WEIGHTS, i] * x_next[i]
        overlap += memory[TRACE, i] * x[i]
        size += abs(x[i])
    size *= column[SCALE_BOUND]
    if not true_online:
        delta = reward + discount * value_next - value
        if np.isfinite(delta):
            largest = decay * column[TRACE_BOUND] + abs(gain) * size
            moved = column[WEIGHT_BOUND] + abs(alpha * delta) * largest
            if not (are_moderate(moved, largest, 0.0) or column[CAREFUL] != 0.0):
                return np.nan
            column[WEIGHT_BOUND], column[TRACE_BOUND] = moved, largest
            note_value(value, reward, discount_t, column)
            for i in range(x.size):
                e = decay * memory[TRACE, i] + gain * memory[SCALE, i] * x[i]
                memory[TRACE, i] = e
                memory[WEIGHTS, i] += alpha * delta * e
        return delta
    before = value if discount_t == 0.0 else column[OLD_VALUE]
    delta = reward + discount * value_next - before
    if not np.isfinite(value):
        return np.nan  # δ need not show it, and the update would
    if np.isfinite(delta):
        seen = alpha * gain * (1.0 - decay * overlap)
        correction = alpha * gain * (before - value)
        largest = decay * column[TRACE_BOUND] + abs(seen) * size
        moved = column[WEIGHT_BOUND] + abs(delta) * largest + abs(correction) * size
        if not (are_moderate(moved, largest, 0.0) or column[CAREFUL] != 0.0):
            return np.nan
        column[WEIGHT_BOUND], column[TRACE_BOUND] = moved, largest
        note_value(value, reward, discount_t, column)
        for i in range(x.size):
            e = decay * memory[TRACE, i] + seen * memory[SCALE, i] * x[i]
            memory[TRACE, i] = e
            memory[WEIGHTS, i] += delta * e + correction * memory[SCALE, i] * x[i]
        column[OLD_VALUE] = value_next
    return delta


@kernel
def learn_one(
    steps: Steps, true_online: bool, step_sizes: Vector, memory: Dense, column: Vector
) -> int:
    """Learn from steps up to the first whose δ is not finite; returns how many were taken."""
    x, x_next = np.zeros(memory.shape[1]), np.zeros(memory.shape[1])
    dense, active = steps.dense, steps.active
    for t in range(steps.code_t.size):
        for i in range(x.size):
            x[i] = x_next[i] = 0.0
        add_features(steps.code_t[t], dense, active, 1.0, x)
        add_features(steps.code_tp1[t], dense, active, 1.0, x_next)
        delta = step_one(
            x,
            x_next,
            steps.reward[t],
            steps.discount_tp1[t],
            steps.discount_t[t],
            steps.decay[t],
            steps.gain[t],
            step_sizes[min(t, step_sizes.size - 1)],
            true_online,
            memory,
            column,
        )
        if not np.isfinite(delta):
            return t
    return steps.code_t.size


@kernel(fastmath={"contract"})
def td_errors(numbers: Dense, true_online: bool, work: Dense) -> bool:
    """Write δ of many predictions (the columns); returns whether all are finite."""
    finite = True
    for lane in range(work.shape[1]):
        value = work[VALUE, lane]
        keeps = true_online and numbers[DISCOUNT_T, lane] != 0.0
        before = work[OLD_VALUE, lane] if keeps else value
        ahead = numbers[DISCOUNT, lane] * work[NEXT_VALUE, lane]
        work[TD_ERROR, lane] = numbers[REWARD, lane] + ahead - before
        # With v from the step before, δ need not show that x is not finite.
        finite &= np.isfinite(work[TD_ERROR, lane]) & np.isfinite(value)
    return finite


@kernel(fastmath={"contract"})
def multipliers(numbers: Dense, true_online: bool, size: float, work: Dense) -> bool:
    """Write the factors of the update; returns whether it may be made.

    size  no feature is larger
    """
    fits = True
    for lane in range(work.shape[1]):
        value, delta = work[VALUE, lane], work[TD_ERROR, lane]
        decay, alpha = numbers[DECAY, lane], numbers[STEP_SIZE, lane]
        gain = numbers[GAIN, lane]
        keeps = true_online and numbers[DISCOUNT_T, lane] != 0.0
        before = work[OLD_VALUE, lane] if keeps else value
        seen = alpha * gain * (1.0 - decay * work[TRACE_VALUE, lane]) if true_online else gain
        along = delta if true_online else alpha * delta
        beside = alpha * gain * (before - value)
        work[FEATURES_TO_TRACE, lane] = seen
        work[TRACE_TO_WEIGHTS, lane], work[FEATURES_TO_WEIGHTS, lane] = along, beside
        largest = decay * work[TRACE_BOUND, lane] + abs(seen) * work[SCALE_BOUND, lane] * size
        moved = work[WEIGHT_BOUND, lane] + abs(along) * largest
        moved += abs(beside) * work[SCALE_BOUND, lane] * size
        work[WEIGHT_BOUND, lane], work[TRACE_BOUND, lane] = moved, largest
        fits &= are_moderate(moved, largest, abs(along)) or work[CAREFUL, lane] != 0.0
    return fits


@kernel(fastmath={"contract"})
def note_step(numbers: Dense, work: Dense) -> None:
    """Take note of a step that is made, and of v for the next."""
    for lane in range(work.shape[1]):
        reward, discount_t = numbers[REWARD, lane], numbers[DISCOUNT_T, lane]
        note_value(work[VALUE, lane], reward, discount_t, work[:, lane])
        work[OLD_VALUE, lane] = work[NEXT_VALUE, lane]


@kernel(fastmath={"contract"})
def look(x: Vector, x_next: Vector, weights: Dense, trace: Dense, work: Dense) -> None:
    """Write w·x, w·x' and e·x of many predictions."""
    features, lanes = weights.shape
    for lane in range(lanes):
        work[VALUE, lane] = work[NEXT_VALUE, lane] = work[TRACE_VALUE, lane] = 0.0
    for i in range(features):
        x_i, next_i = x[i], x_next[i]
        for lane in range(lanes):
            work[VALUE, lane] += x_i * weights[i, lane]
            work[NEXT_VALUE, lane] += next_i * weights[i, lane]
            work[TRACE_VALUE, lane] += x_i * trace[i, lane]


@kernel(fastmath={"contract"})
def move(
    x: Vector, scale: Vector, decay: Vector, work: Dense, weights: Dense, trace: Dense
) -> None:
    """The update of many predictions, with the factors that `multipliers` wrote."""
    features, lanes = weights.shape
    for i in range(features):
        s_i = scale[i] * x[i]
        for lane in range(lanes):
            e = decay[lane] * trace[i, lane] + work[FEATURES_TO_TRACE, lane] * s_i
            trace[i, lane] = e
            along, beside = work[TRACE_TO_WEIGHTS, lane], work[FEATURES_TO_WEIGHTS, lane]
            weights[i, lane] += along * e + beside * s_i


@kernel
def step_many(
    x: Vector,
    x_next: Vector,
    numbers: Dense,
    true_online: bool,
    scale: Vector,
    weights: Dense,
    trace: Dense,
    work: Dense,
) -> bool:
    """One step of many predictions; returns False, with nothing learned, if it may not be taken."""
    look(x, x_next, weights, trace, work)
    size = 0.0
    for i in range(x.size):
        size = max(size, abs(x[i]))
    if not td_errors(numbers, true_online, work) or not multipliers(
        numbers, true_online, size, work
    ):
        return False
    note_step(numbers, work)
    move(x, scale, numbers[DECAY], work, weights, trace)
    return True
