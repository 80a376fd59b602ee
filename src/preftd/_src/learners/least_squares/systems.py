"""Two ways to keep the system (A + ε I) w = b up to date, with the same methods.

Neither changes if `add` refuses.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self, final

import numpy as np

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.learners.least_squares.kernel import (
    DIFFERENCE,
    LARGEST,
    TRACE,
    add_rows,
    add_sums,
    sherman_morrison,
    traces,
)
from preftd._src.learners.transition import DivergedError

_UNSEEN = 1e-12
"""Singular values this much smaller than the largest are rounding: nothing was seen there."""


class Block(NamedTuple):
    """Rows one after the other, with the features of their states; the last may be incomplete."""

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
                raise InputError(
                    "the trace or what it is multiplied by is too large: scale features."
                )
        return after, difference


@final
class Sums:
    """A and b; adding is cheap, and the system is solved when its solution is asked for."""

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
        """The same for rows one after the other; returns the trace after them."""
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
        """The same for rows one after the other; returns the trace after them."""
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


_SINGULAR = (
    "{} makes the system singular, or nearly so, or its inverse too large: "
    "use another regularisation, or recursive=False."
)
