"""The readable reference of the metric: means, deviations, and which entries are copies."""

from __future__ import annotations

import math

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.preferences.learned.columns import ROUNDING


class Metric:
    """Nearness without units."""

    def __init__(self, size: int) -> None:
        self.n, self.mean, self.squares = 0, np.zeros(size), np.zeros(size)
        self.past: list[Vector] = []

    def widen(self, x: Vector) -> None:
        """Learn from x."""
        self.n += 1
        change = x - self.mean
        self.mean = self.mean + change / self.n
        self.squares = self.squares + change * (x - self.mean)
        self.past.append(x)
        counts = self._leaders() & (self.squares > 0)
        self.weight = np.where(counts, self.n / np.where(counts, self.squares, 1.0), 0.0)
        self.dim = float(self._leaders().sum())

    def _leaders(self) -> np.typing.NDArray[np.bool_]:
        """Entries that vary, and are no copy a·x + b of an earlier one."""
        moves = np.array(self.past) - self.past[0]
        kept: list[tuple[int, Vector]] = []
        leads = np.zeros(self.mean.size, np.bool_)
        for i, column in enumerate(moves.T):
            if not column.any():
                continue
            first = int(np.flatnonzero(column)[0])
            scaled = column / column[first]
            if not any(f == first and _same(scaled, other) for f, other in kept):
                leads[i] = True
                kept.append((first, scaled))
        return leads

    def squared(self, x: Vector, y: Vector) -> float:
        """r² between two observations."""
        return float((self.weight * (x - y) ** 2).sum())

    def log_background(self, x: Vector, scales: float) -> float:
        """The logarithm of the density of all observations at x, times (2π)^(D/2)."""
        r2, n, half = max(self.squared(x, self.mean), 1e-12), self.n, 0.5 * self.dim
        normal = math.log(n / (n + 1)) - 0.5 * r2
        outlier = math.lgamma(half) + half * math.log(2 / r2) - math.log(2 * scales * (n + 1))
        return float(np.logaddexp(normal, outlier))


def _same(scaled: Vector, other: Vector) -> bool:
    return bool((abs(scaled - other) <= ROUNDING * (1 + abs(other))).all())
