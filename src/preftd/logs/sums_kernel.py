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
WAITS, FADE, FOLD, PAID = range(4)
"""What is known of the row that waits, in `Waiting.numbers`; rewards so far begin at PAID."""


class Waiting(NamedTuple):
    """The row that waits, and the buffers; arrays are changed in place."""

    numbers: Vector
    """Shape (3 + cumulants,)."""
    trace: Vector
    """e_k."""
    features: Vector
    """x_k."""
    left: NDArray[np.float64]
    """e of rows in buffers, shape (folds, BUFFER, size)."""
    right: NDArray[np.float64]
    """x_k − Γ x_m and R, shape (folds, BUFFER, size + cumulants)."""
    filled: NDArray[np.int64]
    """How many rows each buffer holds, shape (folds,)."""
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


def new_waiting(folds: int, size: int, cumulants: int) -> Waiting:
    """Nothing waits, and all sums are 0."""
    return Waiting(
        np.zeros(PAID + cumulants),
        np.zeros(size),
        np.zeros(size),
        np.zeros((folds, BUFFER, size)),
        np.zeros((folds, BUFFER, size + cumulants)),
        np.zeros(folds, np.int64),
        np.zeros((folds, size, size + cumulants)),
    )


@kernel
def flush(waiting: Waiting, fold: int) -> None:
    """Add the rows in the buffer of a fold to its sums."""
    count = waiting.filled[fold]
    if count > 0:
        left, right = waiting.left[fold][:count], waiting.right[fold][:count]
        waiting.sums[fold] += np.dot(left.T, right)
        waiting.filled[fold] = 0


@kernel(fastmath={"contract"})
def push(waiting: Waiting, share: float, discount: float, following: Vector) -> None:
    """Complete the row that waits: share e_k (x_k − Γ x_m)ᵀ, with Γ = fade · discount."""
    w, size = waiting, following.size
    fold = int(w.numbers[FOLD])
    at, reach = w.filled[fold], w.numbers[FADE] * discount
    left, right = w.left[fold, at], w.right[fold, at]
    for i in range(size):
        left[i] = share * w.trace[i]
    if reach == 0.0:
        for i in range(size):
            right[i] = w.features[i]
    else:
        for i in range(size):
            right[i] = w.features[i] - reach * following[i]
    for c in range(w.numbers.size - PAID):
        right[size + c] = w.numbers[PAID + c]
    w.filled[fold] = at + 1
    if at + 1 == BUFFER:
        flush(waiting, fold)


@kernel(fastmath={"contract"})
def begin(waiting: Waiting, x: Vector, decay: float, gain: float, fold: int) -> None:
    """Let a row wait: e_k = decay e + gain x_k."""
    w, waits = waiting, waiting.numbers[WAITS] != 0.0
    old = decay * w.numbers[FADE] if waits else 0.0
    for i in range(x.size):
        w.trace[i] = old * w.trace[i] + gain * x[i] if old != 0.0 else gain * x[i]
        w.features[i] = x[i]
    w.numbers[:] = 0.0
    w.numbers[WAITS], w.numbers[FADE], w.numbers[FOLD] = 1.0, 1.0, fold


@kernel(fastmath={"contract"})
def step(
    waiting: Waiting,
    x: Vector,
    rewards: Vector,
    numbers: tuple[float, float, float, float, float],
    fold: int,
) -> None:
    """Add a row that a step leaves; it waits for what comes next, if that has a part.

    numbers  decay, gain, β, and the discounts of the steps into the row and out of it
    """
    decay, gain, beta, into, after = numbers
    known = waiting.numbers
    if gain != 0.0 or (beta != 0.0 and into != 0.0):
        if known[WAITS] != 0.0:
            push(waiting, 1.0, into - (into * (1 - beta) - decay), x)
        begin(waiting, x, decay, gain, fold)
    else:
        known[FADE] *= decay
    for c in range(rewards.size):
        known[PAID + c] += known[FADE] * rewards[c]
    if after == 0.0 and known[WAITS] != 0.0:
        push(waiting, 1.0, 0.0, x)
        known[WAITS] = 0.0


@kernel
def add_rows(
    waiting: Waiting,
    features: Dense,
    rewards: Dense,
    signals: Signals,
    first: NDArray[np.bool_],
    opens: NDArray[np.bool_],
    closes: NDArray[np.bool_],
    fold: NDArray[np.int64],
) -> None:
    """Add rows one after the other; the last waits for those that come next."""
    s, known = signals, waiting.numbers
    for t in range(len(features)):
        if closes[t] and known[WAITS] != 0.0 and s.beta[t] != 0.0:
            push(waiting, s.beta[t], s.before[t], features[t])
        if closes[t] or first[t]:
            known[WAITS] = 0.0
        if opens[t]:
            into = 0.0 if first[t] else s.before[t]
            numbers = s.decay[t], s.gain[t], s.beta[t], into, s.after[t]
            step(waiting, features[t], rewards[t], numbers, fold[t])
        else:
            known[WAITS] = 0.0
