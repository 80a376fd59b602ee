"""The system (A + ε I) w = b of least squares, kept up to date from row to row.

Rows are made of e and d = x − Γ x'. There is one for each state that has a weight:

    A ← A + e_k (x_k − Γ x_m)ᵀ          b ← b + e_k R

x_m is the next such state, or the state after the last step of the episode. Between them β and gain
are 0, so e only decays. The row waits for x_m, and features in between are never read.

Two classes keep the system, with the same methods: `Sums` and `Inverse`. Rows are checked before
anything is written, so a refused row changes nothing. The readable reference is in
`tests/learners/least_squares_cases.py`.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.kernels import kernel
from preftd._src.learners.steps import Steps, compiled_discount_into, decoded
from preftd._src.learners.transition import DivergedError, refused_step

LARGEST = 1e300
"""Products at least this large are refused; sums of fewer than 1e8 others do not overflow."""
SMALLEST_DENOMINATOR = 1e-9
"""Below this, 1 + dᵀ P e, and P with it, loses too many digits to cancellation."""
TRACE, DIFFERENCE, LEFT, RIGHT = range(4)
"""Rows of `rows`, an array of shape (4, size): e and d of a row, P e and dᵀ P."""
_UNSEEN = 1e-12
"""Singular values this much smaller than the largest are rounding errors."""
BLOCK = 1 << 16
"""Numbers handled at a time, few enough for the cache."""
_SINGULAR = (
    "{} makes the system singular, or nearly so, or its inverse too large: "
    "use another regularisation, or recursive=False."
)


class Rows(NamedTuple):
    """Rows of a stream; the last is not complete if the stream stops before its x_m."""

    step: NDArray[np.int64]
    """k; −1 for a row that was begun before the stream."""
    step_next: NDArray[np.int64]
    """m, or the last step of the episode."""
    code: NDArray[np.int32]
    code_next: NDArray[np.int32]
    discount: Vector
    """Γ."""
    reward: Vector
    """R."""
    decay: Vector
    """e_k = decay e + gain x_k, where e belongs to the previous row."""
    gain: Vector


class Begun(NamedTuple):
    """A pending row, which waits for its next state."""

    trace: Vector
    """e_k."""
    features: Vector
    """x_k."""
    fade: float
    """The product of the decays since k."""
    paid: float
    """R so far."""
    waits: bool
    """Whether there is a pending row."""
    ahead: Vector
    """The last features, if they are finite: they complete the row if the episode is abandoned."""
    seen: bool
    """Whether it is."""

    @classmethod
    def nothing(cls, size: int) -> "Begun":
        """The state at the start of an episode."""
        return cls(np.zeros(size), np.zeros(size), 0.0, 0.0, False, np.zeros(size), False)

    def looking(self, ahead: Vector) -> "Begun":
        """The row after another step, with its features."""
        seen = bool(np.isfinite(ahead).all())
        return self._replace(ahead=ahead.copy() if seen else np.zeros(ahead.size), seen=seen)


@kernel
def rows_of(
    steps: Steps, fade: float, paid: float, waits: bool
) -> tuple[Rows, int, float, float, bool]:
    """The rows of a stream, the number of complete ones, and the pending one."""
    count = steps.code_t.size + 1
    step, step_next = np.empty(count, np.int64), np.empty(count, np.int64)
    code, code_next = np.empty(count, np.int32), np.empty(count, np.int32)
    discount, reward, decay, gain = (
        np.empty(count), np.empty(count), np.empty(count), np.empty(count),
    )  # fmt: skip
    n = 0
    if waits:
        step[0], code[0], decay[0], gain[0] = -1, steps.code_t[0], 1.0, 0.0
    for t in range(steps.code_t.size):
        discount_t, beta = steps.discount_t[t], steps.beta[t]
        if steps.gain[t] != 0.0 or (beta != 0.0 and discount_t != 0.0):
            if waits:
                code_next[n] = steps.code_t[t]
                discount[n] = fade * compiled_discount_into(discount_t, beta, steps.decay[t])
                reward[n], step_next[n], n = paid, t, n + 1
            step[n], code[n], gain[n] = t, steps.code_t[t], steps.gain[t]
            decay[n] = steps.decay[t] * fade if waits else 0.0
            fade, paid, waits = 1.0, 0.0, True
        else:
            fade *= steps.decay[t]
        paid += fade * steps.reward[t]
        if waits and (steps.is_last[t] or steps.discount_tp1[t] == 0.0):
            share = steps.final_beta[t]
            code_next[n], reward[n], step_next[n] = steps.code_tp1[t], paid, t
            discount[n] = fade * steps.discount_tp1[t] if share != 0.0 else 0.0
            # The trace ends here: scaled, it scales the row.
            decay[n], gain[n] = share * decay[n], share * gain[n]
            n, waits = n + 1, False
    end = n + waits
    rows = Rows(
        step[:end], step_next[:n], code[:end], code_next[:n], discount[:n], reward[:n],
        decay[:end], gain[:end],
    )  # fmt: skip
    return rows, n, fade, paid, waits


@kernel(fastmath={"contract"})
def traces(decay: Vector, gain: Vector, features: Dense, before: Vector) -> Dense:
    """e_k = decay e + gain x_k, with e of the previous row; `before` is the trace so far."""
    rows, size = features.shape
    out = np.empty((rows, size))
    for t in range(rows):
        if t == 0:
            for i in range(size):
                out[t, i] = decay[t] * before[i] + gain[t] * features[t, i]
        else:
            for i in range(size):
                out[t, i] = decay[t] * out[t - 1, i] + gain[t] * features[t, i]
    return out


@kernel(fastmath={"contract"})
def trace_of(decay: float, gain: float, x: Vector, before: Vector, out: Vector) -> bool:
    """Write e = decay e + gain x; returns whether rows can be made of e and x."""
    largest, finite = 0.0, True
    for i in range(x.size):
        out[i] = decay * before[i] + gain * x[i]
        finite &= np.isfinite(out[i]) & np.isfinite(x[i])
        largest = max(largest, abs(out[i]) * max(abs(x[i]), 1.0))
    return finite and largest < LARGEST


@kernel(fastmath={"contract"})
def prepare(
    e: Vector, x: Vector, x_next: Vector, numbers: tuple[float, float, float], rows: Dense
) -> bool:
    """Write e and d of a row; returns whether their products are finite.

    numbers  Γ, R, and a factor of the whole row
    """
    discount, reward, share = numbers
    largest, other, finite = 0.0, max(abs(reward), 1.0), np.isfinite(reward)
    for i in range(x.size):
        d = x[i] - discount * x_next[i] if discount != 0.0 else x[i]
        rows[TRACE, i], rows[DIFFERENCE, i] = share * e[i], d
        finite &= np.isfinite(e[i]) & np.isfinite(d)
        largest, other = max(largest, abs(e[i])), max(other, abs(d))
    return finite and largest * other < LARGEST


@kernel(fastmath={"contract"})
def add_sums(reward: float, rows: Dense, A: Dense, b: Vector) -> None:
    """A ← A + e dᵀ, b ← b + e R, with a row as `prepare` wrote it."""
    for i in range(b.size):
        e = rows[TRACE, i]
        b[i] += e * reward
        for j in range(b.size):
            A[i, j] += e * rows[DIFFERENCE, j]


# Sums may be reordered, which is what lets them be vectorised; NaN and infinity stay what they are.
@kernel(fastmath={"contract", "reassoc"})
def sherman_morrison(
    e: Vector, d: Vector, reward: float, rows: Dense, inverse: Dense, weights: Vector
) -> bool:
    """P ← (P⁻¹ + e dᵀ)⁻¹ and w ← w + P e (r − dᵀw).

    Returns False, with nothing changed, if the denominator vanishes or a number could overflow.
    """
    left, right = rows[LEFT], rows[RIGHT]
    size = e.size
    for i in range(size):
        right[i] = 0.0
    for i in range(size):
        total, d_i = 0.0, d[i]
        for j in range(size):
            total += inverse[i, j] * e[j]
            right[j] += d_i * inverse[i, j]
        left[i] = total
    denominator, error = 1.0, reward
    for i in range(size):
        denominator += d[i] * left[i]
        error -= d[i] * weights[i]
    if not SMALLEST_DENOMINATOR < abs(denominator) < np.inf:
        return False
    of_left, of_right, of_weights = 0.0, 0.0, 0.0
    for i in range(size):
        of_left += abs(left[i]) / abs(denominator)
        of_right += abs(right[i])
        of_weights += abs(weights[i])
    if not (of_left * of_right < LARGEST and of_weights + of_left * abs(error) < np.inf):
        return False
    for i in range(size):
        share = left[i] / denominator
        weights[i] += share * error
        for j in range(size):
            inverse[i, j] -= share * right[j]
    return True


@kernel
def add_rows(
    trace: Dense, difference: Dense, reward: Vector, rows: Dense, inverse: Dense, weights: Vector
) -> int:
    """Update the inverse row by row; returns the number of rows before a singular one."""
    for t in range(len(difference)):
        if not sherman_morrison(trace[t], difference[t], reward[t], rows, inverse, weights):
            return t
    return len(difference)


class Block(NamedTuple):
    """Consecutive rows, with the features of their states; the last may be incomplete."""

    features: Dense
    """Shape (rows, size)."""
    next_features: Dense
    """Shape (complete rows, size)."""
    reward: Vector
    discount: Vector
    decay: Vector
    gain: Vector

    def multiplied(self, before: Vector) -> tuple[Dense, Dense]:
        """All e, and x − Γ x' of rows that are complete; `before` is the trace so far."""
        after, complete = traces(self.decay, self.gain, self.features, before), len(self.reward)
        with np.errstate(over="ignore", invalid="ignore"):
            difference = self.features[:complete] - self.discount[:, None] * self.next_features
            other = max(
                np.abs(a).max(initial=1.0) for a in (difference, self.reward, self.features)
            )
            if not np.abs(after).max() * other < LARGEST:
                raise InputError("the trace or its factor is too large: scale features.")
        return after, difference


@final
class Sums:
    """A and b; adding is cheap, and the system is solved when weights are needed."""

    def __init__(self, size: int, regularisation: float) -> None:
        self.regularisation = regularisation
        self.arrays: dict[str, Dense | Vector] = {"A": np.zeros((size, size)), "b": np.zeros(size)}
        self._solution: Vector | None = np.zeros(size)

    @property
    def solution(self) -> Vector:
        """The weights w; solved once, until something is added."""
        if self._solution is None:
            solution = self._solved()
            if not np.isfinite(solution).all():
                raise DivergedError(
                    "the solution is not finite: make the learner with more regularisation, or "
                    "scale features and rewards."
                )
            self._solution = solution
        return self._solution

    def add(self, reward: float, rows: Dense) -> None:
        """A ← A + e dᵀ, b ← b + e R; e and d are the first two of `rows`."""
        add_sums(reward, rows, self.arrays["A"], self.arrays["b"])
        self._solution = None

    def absorb(self, block: Block, trace: Vector) -> Vector:
        """The same for consecutive rows; returns the trace after them."""
        after, difference = block.multiplied(trace)
        complete = after[: len(difference)]
        with np.errstate(over="ignore", invalid="ignore"):
            self.arrays["A"] += complete.T @ difference
            self.arrays["b"] += block.reward @ complete
        if not all(np.isfinite(array).all() for array in self.arrays.values()):
            raise InputError("A or b of the system is not finite: scale features and rewards.")
        self._solution = None
        return np.array(after[-1])

    def with_arrays(self, arrays: Mapping[str, Dense | Vector]) -> Self:
        """The same with copies of other arrays."""
        other = type(self)(len(arrays["b"]), self.regularisation)
        other.arrays = {name: arrays[name].copy() for name in self.arrays}
        other._solution = None
        return other

    def _solved(self) -> Vector:
        A, b = self.arrays["A"], self.arrays["b"]
        try:
            if self.regularisation == 0:
                return np.asarray(np.linalg.lstsq(A, b, rcond=_UNSEEN)[0], dtype=np.float64)
            ridge = self.regularisation * np.eye(len(b))
            return np.asarray(np.linalg.solve(A + ridge, b), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise InputError(
                f"the system is singular with regularisation {self.regularisation}: "
                "make the learner with another, or with 0."
            ) from None


@final
class Inverse:
    """(A + ε I)⁻¹ and w, by the formula of Sherman and Morrison at each step."""

    def __init__(self, size: int, regularisation: float) -> None:
        self.regularisation = regularisation
        self.arrays: dict[str, Dense | Vector] = {
            "inverse": np.eye(size) / regularisation,
            "weights": np.zeros(size),
        }
        self._rows = np.zeros((4, size))

    @property
    def solution(self) -> Vector:
        """The weights w."""
        return self.arrays["weights"]

    def add(self, reward: float, rows: Dense) -> None:
        """A ← A + e dᵀ; e and d are the first two of `rows`."""
        inverse, weights = self.arrays["inverse"], self.arrays["weights"]
        if not sherman_morrison(rows[TRACE], rows[DIFFERENCE], reward, rows, inverse, weights):
            raise InputError(_SINGULAR.format("this step"))

    def absorb(self, block: Block, trace: Vector) -> Vector:
        """The same for consecutive rows; returns the trace after them."""
        after, difference = block.multiplied(trace)
        inverse, weights = self.arrays["inverse"], self.arrays["weights"]
        done = add_rows(after, difference, block.reward, self._rows, inverse, weights)
        if done < len(difference):
            raise InputError(_SINGULAR.format(f"row {done}"))
        return np.array(after[-1])

    def with_arrays(self, arrays: Mapping[str, Dense | Vector]) -> Self:
        """The same with copies of other arrays."""
        other = type(self)(len(arrays["weights"]), self.regularisation)
        other.arrays = {name: arrays[name].copy() for name in self.arrays}
        return other


def absorb_stream(system: Sums | Inverse, steps: Steps, begun: Begun) -> Begun:
    """Add the rows of a stream; returns the one that is not complete.

    Parameters
    ----------
    system : Sums or Inverse
        May be left half changed if the stream cannot be used.
    steps : Steps
    begun : Begun
        The pending row of the previous piece.

    """
    rows, complete, fade, paid, waits = rows_of(steps, begun.fade, begun.paid, begun.waits)
    trace, x, size = begun.trace, begun.features, steps.dense.shape[1]
    length = max(1, BLOCK // size)
    for first in range(0, len(rows.step), length):
        which, whole = slice(first, first + length), slice(first, min(first + length, complete))
        features = decoded(rows.code[which], steps.dense, steps.active)
        if rows.step[first] < 0:
            features[0] = begun.features
        following = decoded(rows.code_next[whole], steps.dense, steps.active)
        following[rows.discount[whole] == 0] = 0.0  # the state after the end is ignored
        _refuse_not_finite(steps, rows.step[which], features)
        _refuse_not_finite(steps, rows.step_next[whole], following)
        numbers = (rows.reward[whole], rows.discount[whole], rows.decay[which], rows.gain[which])
        trace = system.absorb(Block(features, following, *(n.copy() for n in numbers)), trace)
        x = features[-1]
    nothing = Begun.nothing(size)
    if not waits:
        return nothing
    begun = nothing._replace(trace=trace, features=np.array(x), fade=fade, paid=paid, waits=True)
    return begun.looking(decoded(steps.code_tp1[-1:], steps.dense, steps.active)[0])


def _refuse_not_finite(steps: Steps, step: NDArray[np.int64], features: Dense) -> None:
    """Refuse features that have a weight and are not finite; `step` is where the rows begin."""
    bad = ~np.isfinite(features).all(axis=1)
    if bad.any():
        raise refused_step(steps, int(step[int(np.argmax(bad))]), everywhere=False)
