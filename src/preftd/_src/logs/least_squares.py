"""Least squares from a log: sums of rows, A and b, of the arms that bootstrap.

Each state that has a weight adds a row: A ← A + e_k (x_k − Γ x_m)ᵀ and b ← b + e_k R, once x_m is
known, the next state that has a weight, or the final observation of the unit, as in
learners/least_squares/rows.py. Rows wait in a buffer of their fold until there are enough of them
for a product of matrices.
"""

from __future__ import annotations

from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, Vector
from preftd._src.kernels import kernel
from preftd._src.logs import encoding
from preftd._src.logs.arms import Arm
from preftd._src.logs.parts import Chunk, PartSteps, Piece
from preftd._src.rules.rule import bootstrapped

BUFFER = 256
"""Rows of a buffer, few enough for the cache."""
WAITS, FADE, FOLD, SLOT, PAID = range(5)
"""The state of the pending row, in `Waiting.numbers`; rewards so far begin at PAID."""


class Waiting(NamedTuple):
    """The pending row, and the buffers, which contain it; arrays are changed in place."""

    numbers: Vector
    """Shape (PAID + cumulants,)."""
    left: NDArray[np.float64]
    """e of rows in buffers, shape (folds, BUFFER, size)."""
    right: NDArray[np.float64]
    """x_k − Γ x_m and R, shape (folds, BUFFER, size + cumulants)."""
    filled: NDArray[np.int64]
    """The number of complete rows of each buffer, shape (folds,)."""
    sums: NDArray[np.float64]
    """A and b of each fold, shape (folds, size, size + cumulants)."""


class Signals(NamedTuple):
    """The coefficients of rows, arrays of shape (rows,)."""

    decay: Vector
    gain: Vector
    beta: Vector
    before: Vector
    """The discount of the step into the row, also where a unit begins."""
    after: Vector
    """The discount of the step that leaves the row."""


class Marks(NamedTuple):
    """The kinds of rows, as in `PartSteps`, arrays of shape (rows,)."""

    first: NDArray[np.bool_]
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]
    fold: NDArray[np.int64]
    shared: NDArray[np.bool_]
    """Whether the row is added by `add_shared`, for several arms at once."""

    def of(self, block: slice) -> Marks:
        """Return those of a block of rows."""
        first, opens, closes, fold, shared = self
        return Marks(first[block], opens[block], closes[block], fold[block], shared[block])


def new_waiting(folds: int, size: int, cumulants: int) -> Waiting:
    """No pending row, and all sums are 0."""
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
        product, sums = np.dot(left.T, right), waiting.sums
        for i in range(product.shape[0]):  # sums[fold] += product takes seconds to compile
            for j in range(product.shape[1]):
                sums[fold, i, j] += product[i, j]
        waiting.filled[fold] = 0


# Entries are looked up one by one: a view of a row takes as long to make as ten of them.
@kernel(fastmath={"contract"}, inline="always")
def begin(waiting: Waiting, features: Dense, t: int, decay: float, gain: float, fold: int) -> None:
    """Set the pending row: e_k = decay e + gain x_k, with e of the previous row if complete."""
    known, left, right = waiting.numbers, waiting.left, waiting.right
    old = decay * known[FADE] if known[WAITS] != 0.0 else 0.0
    slot, before = waiting.filled[fold], int(known[SLOT])
    if old == 0.0:
        for i in range(features.shape[1]):
            left[fold, slot, i] = gain * features[t, i]
            right[fold, slot, i] = features[t, i]
    else:
        for i in range(features.shape[1]):
            left[fold, slot, i] = old * left[fold, before, i] + gain * features[t, i]
            right[fold, slot, i] = features[t, i]
    for i in range(known.size):
        known[i] = 0.0
    known[WAITS], known[FADE], known[FOLD], known[SLOT] = 1.0, 1.0, fold, slot


@kernel(fastmath={"contract"}, inline="always")
def complete(waiting: Waiting, share: float, discount: float, features: Dense, t: int) -> None:
    """Complete the pending row: share e_k (x_k − Γ x_t)ᵀ, with Γ = fade · discount."""
    known, right, size = waiting.numbers, waiting.right, features.shape[1]
    fold, slot, reach = int(known[FOLD]), int(known[SLOT]), known[FADE] * discount
    if share != 1.0:
        for i in range(size):
            waiting.left[fold, slot, i] *= share
    if reach != 0.0:
        for i in range(size):
            right[fold, slot, i] -= reach * features[t, i]
    for c in range(known.size - PAID):
        right[fold, slot, size + c] = known[PAID + c]
    waiting.filled[fold] = slot + 1
    if slot + 1 == BUFFER:
        flush(waiting, fold)


@kernel(fastmath={"contract"}, inline="always")
def step(
    waiting: Waiting, features: Dense, rewards: Dense, signals: Signals, marks: Marks, t: int
) -> None:
    """Add a row that a step leaves; it waits for the next row, if that is in the part."""
    known, decay, gain = waiting.numbers, signals.decay[t], signals.gain[t]
    beta, into = signals.beta[t], 0.0 if marks.first[t] else signals.before[t]
    if gain != 0.0 or (beta != 0.0 and into != 0.0):
        if known[WAITS] == 1.0:
            complete(waiting, 1.0, into - (into * (1 - beta) - decay), features, t)
        begin(waiting, features, t, decay, gain, marks.fold[t])
        if marks.shared[t]:
            known[WAITS] = 2.0  # its trace may be needed, its row is not
    else:
        known[FADE] *= decay
    for c in range(rewards.shape[1]):
        known[PAID + c] += known[FADE] * rewards[t, c]
    if signals.after[t] == 0.0 and known[WAITS] != 0.0:
        if known[WAITS] == 1.0:
            complete(waiting, 1.0, 0.0, features, t)
        known[WAITS] = 0.0


@kernel
def add_rows(
    waiting: Waiting, features: Dense, rewards: Dense, signals: Signals, marks: Marks
) -> None:
    """Add consecutive rows; the last waits for the next ones."""
    s, m, known = signals, marks, waiting.numbers
    for t in range(len(features)):
        if m.shared[t] and known[WAITS] != 1.0 and (s.after[t] == 0.0 or s.decay[t + 1] == 0.0):
            known[WAITS] = 0.0  # neither its row nor its trace is needed
            continue
        if m.closes[t] and known[WAITS] == 1.0 and s.beta[t] != 0.0:
            complete(waiting, s.beta[t], s.before[t], features, t)
        if m.closes[t] or m.first[t] or not m.opens[t]:
            known[WAITS] = 0.0
        if m.opens[t]:
            step(waiting, features, rewards, signals, marks, t)


@kernel
def find_shared(
    decay: Dense, gain: Dense, beta: Dense, signals: Signals, marks: Marks, out: NDArray[np.bool_]
) -> None:
    """Write which rows are the same for all arms: e = gain x, and the next row completes them.

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
    size, cumulants = features.shape[1], rewards.shape[1]
    left, right, filled, shared = waiting.left, waiting.right, waiting.filled, marks.shared
    for t in range(len(features)):
        if not shared[t]:
            continue
        fold, discount, gain = marks.fold[t], signals.after[t], signals.gain[t]
        slot = filled[fold]
        if discount == 0.0:
            for i in range(size):
                left[fold, slot, i] = gain * features[t, i]
                right[fold, slot, i] = features[t, i]
        else:
            for i in range(size):
                left[fold, slot, i] = gain * features[t, i]
                right[fold, slot, i] = features[t, i] - discount * features[t + 1, i]
        for c in range(cumulants):
            right[fold, slot, size + c] = rewards[t, c]
        filled[fold] = slot + 1
        if slot + 1 == BUFFER:
            flush(waiting, fold)


@final
class Adder:
    """Adds the rows of a part to the sums of all arms, at one of the discounts.

    Rows that have no trace but their own, and in which arms do not differ, are added once for all
    of these arms: those without a follow-on, and each of the others alone.
    """

    def __init__(
        self, arms: tuple[Arm, ...], which: int, folds: int, sizes: tuple[int, int]
    ) -> None:
        self._arms, self._which = arms, which
        plain = [a for a, arm in enumerate(arms) if arm.rule and arm.rule.interest is None]
        self._alike = [plain] * bool(plain) + [[a] for a in range(len(arms)) if a not in plain]
        self._waiting = [new_waiting(folds, *sizes) for _ in arms]
        self._shared = [new_waiting(folds, *sizes) for _ in self._alike]
        self._carried = np.zeros(len(arms))

    def signals(self, steps: PartSteps, chunk: Chunk) -> list[tuple[Signals, Marks]]:
        """Return the coefficients of each rule for the rows of a chunk, and the kinds of rows."""
        which = chunk.which
        first, opens = steps.first[which], steps.opens[which]
        before, after = steps.before(self._which, which), steps.discounts[self._which, which]
        found = []
        for a, arm in enumerate(self._arms):
            assert arm.rule is not None
            beta = arm.beta(chunk.beta)
            (decay, gain), held = arm.rule.stream(
                self._carried[a],
                discount_t=np.where(first, 0.0, before),
                beta=beta,
                rho=steps.rho[which],
            )
            self._carried[a] = float(held)
            found.append(Signals(decay, gain, bootstrapped(arm.rule, beta), before, after))
        marks = [Marks(first, opens, steps.closes[which], steps.fold[which], opens)] * len(found)
        for group in self._alike:
            shared = np.empty(len(first), np.bool_)
            decay, gain, beta = (np.stack([found[a][i] for a in group]) for i in range(3))
            find_shared(decay, gain, beta, found[group[0]], marks[group[0]], shared)
            last = slice(encoding.BLOCK - 1, None, encoding.BLOCK)
            shared[last] &= after[last] == 0  # the next row is in another block
            for a in group:
                marks[a] = marks[a]._replace(shared=shared)
        return list(zip(found, marks, strict=True))

    def add(
        self, steps: PartSteps, chunk: Chunk, piece: Piece, given: list[tuple[Signals, Marks]]
    ) -> None:
        """Add a piece of a chunk, whose signals are given."""
        features, rewards = piece.features, steps.rewards[piece.which]
        block = chunk.rows_of(piece)
        own = [
            (Signals(*(array[block] for array in signals)), marks.of(block))
            for signals, marks in given
        ]
        for group, waiting in zip(self._alike, self._shared, strict=True):
            add_shared(waiting, features, rewards, *own[group[0]])
            for a in group:
                add_rows(self._waiting[a], features, rewards, *own[a])

    def sums(self) -> NDArray[np.float64]:
        """A and b of each arm and fold."""
        for waiting in self._waiting + self._shared:
            for fold in range(len(waiting.filled)):
                flush(waiting, fold)
        total = np.array([waiting.sums for waiting in self._waiting])
        for group, waiting in zip(self._alike, self._shared, strict=True):
            total[group] += waiting.sums
        return total
