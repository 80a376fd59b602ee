"""A and b of least squares from rows of a log, in one pass, as in learners/least_squares/rows.py.

Each state that has a weight adds a row: A ← A + e_k (x_k − Γ x_m)ᵀ and b ← b + e_k R, once x_m is
known, the next state that has a weight, or the final observation of the unit. Rows wait in a buffer
of their fold until there are enough of them for a product of matrices.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from preftd.arrays import Dense, Vector
from preftd.kernels import kernel

BUFFER = 128
"""Rows of a buffer: with its likes it stays in the cache."""
WAITS, FADE, FOLD, SLOT, PAID = range(5)
"""What is known of the row that waits, in `Waiting.numbers`; rewards so far begin at PAID."""


class Waiting(NamedTuple):
    """The row that waits, and the buffers, which hold it too; arrays are changed in place."""

    numbers: Vector
    """Shape (PAID + cumulants,)."""
    left: NDArray[np.float64]
    """e of rows in buffers, shape (folds, BUFFER, size)."""
    right: NDArray[np.float64]
    """x_k − Γ x_m and R, shape (folds, BUFFER, size + cumulants)."""
    filled: NDArray[np.int64]
    """How many rows of each buffer are complete, shape (folds,)."""
    sums: NDArray[np.float64]
    """A and b of each fold, shape (folds, size, size + cumulants)."""


class Signals(NamedTuple):
    """What a rule makes of the rows, arrays of shape (rows,)."""

    decay: Vector
    gain: Vector
    beta: Vector
    before: Vector
    """The discount of the step that leaves the row before, also where a unit begins."""
    after: Vector
    """The discount of the step that leaves the row."""


class Marks(NamedTuple):
    """What rows are, as in `PartSteps`, arrays of shape (rows,)."""

    first: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]
    fold: NDArray[np.int64]
    shared: NDArray[np.bool_]
    """Whether the row is added by `add_shared`, for several arms at once."""


def new_waiting(folds: int, size: int, cumulants: int) -> Waiting:
    """Nothing waits, and all sums are 0."""
    return Waiting(
        np.zeros(PAID + cumulants),
        np.zeros((folds, BUFFER, size)),
        np.zeros((folds, BUFFER, size + cumulants)),
        np.zeros(folds, np.int64),
        np.zeros((folds, size, size + cumulants)),
    )


@kernel
def flush(waiting: Waiting, fold: int) -> None:
    """Add the complete rows in the buffer of a fold to its sums."""
    count = waiting.filled[fold]
    if count > 0:
        left, right = waiting.left[fold][:count], waiting.right[fold][:count]
        waiting.sums[fold] += np.dot(left.T, right)
        waiting.filled[fold] = 0


@kernel(fastmath={"contract"}, inline="always")
def begin(waiting: Waiting, x: Vector, decay: float, gain: float, fold: int) -> None:
    """Let a row wait: e_k = decay e + gain x_k, with e of the row before if that is complete."""
    w, size = waiting, x.size
    old = decay * w.numbers[FADE] if w.numbers[WAITS] != 0.0 else 0.0
    slot = w.filled[fold]
    left, right = w.left[fold, slot], w.right[fold, slot]
    if old == 0.0:
        for i in range(size):
            left[i] = gain * x[i]
            right[i] = x[i]
    else:
        before = w.left[fold, int(w.numbers[SLOT])]
        for i in range(size):
            left[i] = old * before[i] + gain * x[i]
            right[i] = x[i]
    w.numbers[:] = 0.0
    w.numbers[WAITS], w.numbers[FADE], w.numbers[FOLD], w.numbers[SLOT] = 1.0, 1.0, fold, slot


@kernel(fastmath={"contract"}, inline="always")
def complete(waiting: Waiting, share: float, discount: float, following: Vector) -> None:
    """Complete the row that waits: share e_k (x_k − Γ x_m)ᵀ, with Γ = fade · discount."""
    w, size = waiting, following.size
    fold, slot = int(w.numbers[FOLD]), int(w.numbers[SLOT])
    reach, right = w.numbers[FADE] * discount, w.right[fold, slot]
    if share != 1.0:
        for i in range(size):
            w.left[fold, slot, i] *= share
    if reach != 0.0:
        for i in range(size):
            right[i] -= reach * following[i]
    for c in range(w.numbers.size - PAID):
        right[size + c] = w.numbers[PAID + c]
    w.filled[fold] = slot + 1
    if slot + 1 == BUFFER:
        flush(waiting, fold)


@kernel(fastmath={"contract"})
def step(
    waiting: Waiting,
    x: Vector,
    rewards: Vector,
    numbers: tuple[float, float, float, float, float],
    fold: int,
    shared: bool,
) -> None:
    """Add a row that a step leaves; it waits for what comes next, if that has a part.

    numbers  decay, gain, β, and the discounts of the steps into the row and out of it
    """
    decay, gain, beta, into, after = numbers
    known = waiting.numbers
    if gain != 0.0 or (beta != 0.0 and into != 0.0):
        if known[WAITS] == 1.0:
            complete(waiting, 1.0, into - (into * (1 - beta) - decay), x)
        begin(waiting, x, decay, gain, fold)
        if shared:
            known[WAITS] = 2.0  # its trace may be needed, its row is not
    else:
        known[FADE] *= decay
    for c in range(rewards.size):
        known[PAID + c] += known[FADE] * rewards[c]
    if after == 0.0 and known[WAITS] != 0.0:
        if known[WAITS] == 1.0:
            complete(waiting, 1.0, 0.0, x)
        known[WAITS] = 0.0


@kernel
def add_rows(
    waiting: Waiting, features: Dense, rewards: Dense, signals: Signals, marks: Marks
) -> None:
    """Add rows one after the other; the last waits for those that come next."""
    s, m, known = signals, marks, waiting.numbers
    rows = len(features)
    for t in range(rows):
        if m.closes[t] and known[WAITS] == 1.0 and s.beta[t] != 0.0:
            complete(waiting, s.beta[t], s.before[t], features[t])
        if m.closes[t] or m.first[t] or not m.opens[t]:
            known[WAITS] = 0.0
        if not m.opens[t]:
            continue
        if m.shared[t] and known[WAITS] != 1.0 and (s.after[t] == 0.0 or s.decay[t + 1] == 0.0):
            known[WAITS] = 0.0  # neither its row nor its trace is needed
            continue
        into = 0.0 if m.first[t] else s.before[t]
        numbers = s.decay[t], s.gain[t], s.beta[t], into, s.after[t]
        step(waiting, features[t], rewards[t], numbers, m.fold[t], m.shared[t])


@kernel
def find_shared(
    decay: Dense, gain: Dense, beta: Dense, signals: Signals, marks: Marks, out: NDArray[np.bool_]
) -> None:
    """Write which rows all arms add alike: e = gain x, and the next row completes them.

    decay, gain, beta  of the arms, shape (arms, rows)
    """
    rows = out.size
    for t in range(rows):
        ends = signals.after[t] == 0.0
        inside = t + 1 < rows and not marks.first[t + 1] and marks.opens[t + 1]
        same = marks.opens[t] and (ends or inside)
        for a in range(len(decay)):
            same &= gain[a, t] == gain[0, t] != 0.0 and (marks.first[t] or decay[a, t] == 0.0)
            if same and not ends:
                into = signals.before[t + 1]
                reach = into - (into * (1 - beta[a, t + 1]) - decay[a, t + 1])
                same &= reach == into and (gain[a, t + 1] != 0.0 or beta[a, t + 1] != 0.0)
        out[t] = same


@kernel(fastmath={"contract"})
def add_shared(
    waiting: Waiting, features: Dense, rewards: Dense, signals: Signals, marks: Marks
) -> None:
    """Add rows gain x_t (x_t − γ x_{t+1})ᵀ where they are shared."""
    size, w = features.shape[1], waiting
    for t in range(len(features)):
        if not marks.shared[t]:
            continue
        fold, x, discount = marks.fold[t], features[t], signals.after[t]
        gain = signals.gain[t]
        slot = w.filled[fold]
        left, right = w.left[fold, slot], w.right[fold, slot]
        if discount == 0.0:
            for i in range(size):
                left[i] = gain * x[i]
                right[i] = x[i]
        else:
            following = features[t + 1]
            for i in range(size):
                left[i] = gain * x[i]
                right[i] = x[i] - discount * following[i]
        for c in range(rewards.shape[1]):
            right[size + c] = rewards[t, c]
        w.filled[fold] = slot + 1
        if slot + 1 == BUFFER:
            flush(waiting, fold)
