"""Two ways to keep the system (A + ε I) w = b up to date, with the same methods.

Neither changes if `add` refuses, where it is given one step.
"""

from collections.abc import Mapping
from typing import Self, final

import numpy as np

from preftd.arrays import Dense, InputError, Vector

_UNSEEN = 1e-12
"""Singular values this much smaller than the largest are rounding: nothing was seen there."""


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
            self._solution = self._solved()
        return self._solution

    def add(self, traces: Dense, differences: Dense, rewards: Vector) -> None:
        """A ← A + Σ e dᵀ, b ← b + Σ e r."""
        self.arrays["A"] += traces.T @ differences
        self.arrays["b"] += rewards @ traces
        self._solution = None

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

    @property
    def solution(self) -> Vector:
        """The weights w."""
        return self.arrays["weights"]

    def add(self, traces: Dense, differences: Dense, rewards: Vector) -> None:
        """A ← A + e dᵀ for each step in turn."""
        from preftd.learners.least_squares_kernel import sherman_morrison  # noqa: PLC0415  (compiles)

        inverse, weights = self.arrays["inverse"], self.arrays["weights"]
        done = sherman_morrison(traces, differences, rewards, inverse, weights)
        if done < len(traces):
            raise InputError(
                f"step {done} makes the system singular, or nearly so, and its inverse with it: "
                "use another regularisation, or recursive=False."
            )

    def with_arrays(self, arrays: Mapping[str, Dense | Vector]) -> Self:
        """The same with copies of other arrays."""
        other = type(self)(len(arrays["weights"]), self.regularisation)
        other.arrays = {name: arrays[name].copy() for name in self.arrays}
        return other
