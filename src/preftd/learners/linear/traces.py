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
from numba import njit

from preftd.arrays import Dense, Vector
from preftd.learners.linear.lanes import add_features
from preftd.learners.steps import Steps


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
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
    old: Vector,
) -> float:
    """One step of one prediction; nothing is changed if δ, which is returned, is not finite.

    memory  3 × features: weights, trace, scale
    old     v, written for the next step
    """
    value, value_next, overlap = 0.0, 0.0, 0.0
    for i in range(x.size):
        value += memory[0, i] * x[i]
        value_next += memory[0, i] * x_next[i]
        overlap += memory[1, i] * x[i]
    if not true_online:
        delta = reward + discount * value_next - value
        if np.isfinite(delta):
            for i in range(x.size):
                e = decay * memory[1, i] + gain * memory[2, i] * x[i]
                memory[1, i] = e
                memory[0, i] += alpha * delta * e
        return delta
    before = value if discount_t == 0.0 else old[0]
    delta = reward + discount * value_next - before
    if not np.isfinite(value):
        return np.nan  # δ need not show it, and the update would
    if np.isfinite(delta):
        seen = alpha * gain * (1.0 - decay * overlap)
        correction = alpha * gain * (before - value)
        for i in range(x.size):
            e = decay * memory[1, i] + seen * memory[2, i] * x[i]
            memory[1, i] = e
            memory[0, i] += delta * e + correction * memory[2, i] * x[i]
        old[0] = value_next
    return delta


@njit(cache=True, nogil=True)
def learn_one(
    steps: Steps, true_online: bool, step_sizes: Vector, memory: Dense, old: Vector
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
            old,
        )
        if not np.isfinite(delta):
            return t
    return steps.code_t.size


@njit(cache=True, nogil=True, fastmath={"contract"})
def td_errors(numbers: Dense, true_online: bool, room: Dense) -> bool:
    """δ of many predictions (the columns), into room[1]; returns whether all are finite.

    numbers  6 × predictions: reward, discount, discount_t, decay, gain, step size
    room     5 × predictions: v, δ, w·x, w·x', e·x
    """
    finite = True
    for lane in range(room.shape[1]):
        before = room[0, lane] if true_online and numbers[2, lane] != 0.0 else room[2, lane]
        room[1, lane] = numbers[0, lane] + numbers[1, lane] * room[3, lane] - before
        # With v from the step before, δ need not show that x is not finite.
        finite &= np.isfinite(room[1, lane]) & np.isfinite(room[2, lane])
    return finite


@njit(cache=True, nogil=True, fastmath={"contract"})
def multipliers(numbers: Dense, true_online: bool, room: Dense) -> None:
    """From room as `td_errors` left it: v of the next step, and the numbers of the update.

    room     5 × predictions: v, δ, what multiplies the features in the trace, the trace in the
             weights, and the features in the weights
    """
    for lane in range(room.shape[1]):
        value, delta = room[2, lane], room[1, lane]
        decay, gain, alpha = numbers[3, lane], numbers[4, lane], numbers[5, lane]
        before = room[0, lane] if true_online and numbers[2, lane] != 0.0 else value
        room[0, lane] = room[3, lane]
        room[2, lane] = alpha * gain * (1.0 - decay * room[4, lane]) if true_online else gain
        room[3, lane] = delta if true_online else alpha * delta
        room[4, lane] = alpha * gain * (before - value)


@njit(cache=True, nogil=True, fastmath={"contract"})
def look(x: Vector, x_next: Vector, weights: Dense, trace: Dense, room: Dense) -> None:
    """w·x, w·x' and e·x of many predictions, into rows 2 to 4 of room."""
    features, lanes = weights.shape
    for lane in range(lanes):
        room[2, lane] = room[3, lane] = room[4, lane] = 0.0
    for i in range(features):
        x_i, next_i = x[i], x_next[i]
        for lane in range(lanes):
            room[2, lane] += x_i * weights[i, lane]
            room[3, lane] += next_i * weights[i, lane]
            room[4, lane] += x_i * trace[i, lane]


@njit(cache=True, nogil=True, fastmath={"contract"})
def move(
    x: Vector, scale: Vector, decay: Vector, room: Dense, weights: Dense, trace: Dense
) -> None:
    """The update of many predictions, with `multipliers` in room."""
    features, lanes = weights.shape
    for i in range(features):
        s_i = scale[i] * x[i]
        for lane in range(lanes):
            e = decay[lane] * trace[i, lane] + room[2, lane] * s_i
            trace[i, lane] = e
            weights[i, lane] += room[3, lane] * e + room[4, lane] * s_i


@njit(cache=True, nogil=True)
def step_many(
    x: Vector,
    x_next: Vector,
    numbers: Dense,
    true_online: bool,
    scale: Vector,
    weights: Dense,
    trace: Dense,
    room: Dense,
) -> bool:
    """One step of many predictions; returns False, with nothing learned, if a δ is not finite."""
    look(x, x_next, weights, trace, room)
    if not td_errors(numbers, true_online, room):
        return False
    multipliers(numbers, true_online, room)
    move(x, scale, numbers[3], room, weights, trace)
    return True
