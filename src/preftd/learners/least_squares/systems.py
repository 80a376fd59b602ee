"""Two ways to keep the system (A + ε I) w = b up to date, with the same methods.

Neither changes if `step` refuses.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self, TypeAlias, final

import numpy as np

from preftd.arrays import Dense, InputError, Vector
from preftd.learners.least_squares.kernel import (
    LARGEST,
    add_inverse,
    add_rows,
    add_sums,
    traces,
)

Numbers: TypeAlias = tuple[float, float, float, float]
"""Reward, discount, decay and gain of a step."""

_UNSEEN = 1e-12
"""Singular values this much smaller than the largest are rounding: nothing was seen there."""


class Block(NamedTuple):
    """Steps in a row, as vectors."""

    features: Dense
    next_features: Dense
    reward: Vector
    discount_tp1: Vector
    decay: Vector
    gain: Vector

    def multiplied(self, before: Vector) -> tuple[Dense, Dense]:
        """(e, x − γ x') of each step; `before` is the trace so far."""
        after = traces(self.decay, self.gain, self.features, before)
        with np.errstate(over="ignore", invalid="ignore"):
            difference = self.features - self.discount_tp1[:, None] * self.next_features
            other = max(np.abs(difference).max(), np.abs(self.reward).max())
            if not np.abs(after).max() * max(other, 1.0) < LARGEST:
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
        self._rows = np.zeros((2, size))
        self._solution: Vector | None = np.zeros(size)

    @property
    def solution(self) -> Vector:
        """The weights w; solved once, until something is added."""
        if self._solution is None:
            self._solution = self._solved()
        return self._solution

    def step(self, x: Vector, y: Vector, numbers: Numbers, trace: Vector) -> bool:
        """A ← A + e dᵀ, b ← b + e r; False, with nothing changed, if numbers are too large."""
        arrays = self.arrays
        done = bool(add_sums(x, y, numbers, trace, self._rows, arrays["A"], arrays["b"]))
        if done:
            self._solution = None
        return done

    def absorb(self, block: Block, trace: Vector) -> Vector:
        """The same for steps in a row; returns the trace after them."""
        after, difference = block.multiplied(trace)
        self.arrays["A"] += after.T @ difference
        self.arrays["b"] += block.reward @ after
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
        if self.regularisation == 0:
            return np.asarray(np.linalg.lstsq(A, b, rcond=_UNSEEN)[0], dtype=np.float64)
        try:
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

    def step(self, x: Vector, y: Vector, numbers: Numbers, trace: Vector) -> bool:
        """A ← A + e dᵀ; False, with nothing changed, if numbers are too large."""
        inverse, weights = self.arrays["inverse"], self.arrays["weights"]
        done = add_inverse(x, y, numbers, trace, self._rows, inverse, weights)
        if done < 0:
            raise InputError(_SINGULAR.format("this step"))
        return bool(done)

    def absorb(self, block: Block, trace: Vector) -> Vector:
        """The same for steps in a row; returns the trace after them."""
        after, difference = block.multiplied(trace)
        inverse, weights = self.arrays["inverse"], self.arrays["weights"]
        done = add_rows(after, difference, block.reward, self._rows, inverse, weights)
        if done < len(after):
            raise InputError(_SINGULAR.format(f"step {done}"))
        return np.array(after[-1])

    def with_arrays(self, arrays: Mapping[str, Dense | Vector]) -> Self:
        """The same with copies of other arrays."""
        other = type(self)(len(arrays["weights"]), self.regularisation)
        other.arrays = {name: arrays[name].copy() for name in self.arrays}
        return other


_SINGULAR = (
    "{} makes the system singular, or nearly so, and its inverse with it: "
    "use another regularisation, or recursive=False."
)
