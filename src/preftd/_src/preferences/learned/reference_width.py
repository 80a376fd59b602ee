"""The readable reference of widths and nearness: kernels around the last observations."""

from __future__ import annotations

import math

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.preferences.learned.layout import BEFORE_IT, CLASSES, RECENT, WIDTHS
from preftd._src.preferences.learned.metric import RANGE
from preftd._src.preferences.learned.reference_metric import Metric
from preftd._src.preferences.learned.width import NARROWER, NEAR, ODDS, ROOM, SWITCH


class Kernels:
    """Evidence for each width, by group: the classes of moments, and the observation before."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.recent: list[list[tuple[int, Vector]]] = [[] for _ in range(CLASSES + 1)]
        self.evidence, self.hits = np.zeros((2, CLASSES + 1, WIDTHS))
        self.scored = np.zeros(CLASSES + 1)
        self.lead = 0.0

    def keep(self, group: int, time: int, x: Vector) -> None:
        """Remember x as the last of a group."""
        most = 1 if group == BEFORE_IT else RECENT
        self.recent[group] = [*self.recent[group], (time, x)][-most:]

    def score(self, x: Vector, group: int) -> float:
        """Add the evidence of x for each width; returns that of the width with the most so far."""
        if not self.recent[group]:
            return 0.0
        used, gained = self.strongest(group == BEFORE_IT, -math.inf), np.zeros(WIDTHS)
        for j in range(self.widest(), WIDTHS):
            share, ratio = self._explained(x, group, j)
            whole = 1 - share + share * ratio
            gained[j] = math.log(whole)
            self.hits[group, j] += share * ratio / whole
        self.evidence[group] += gained
        self.scored[group] += 1
        return float(gained[used])

    def _explained(self, x: Vector, group: int, j: int) -> tuple[float, float]:
        """The share of a group that a width explains, and density over background at x."""
        r2 = np.array([self.metric.squared(x, y) for _, y in self.recent[group]])
        peak = self.metric.dim * math.log(2) * (j - 0.5) - self.metric.log_background(x, RANGE)
        ratio = float(np.exp(np.minimum(peak - 0.25 * r2 * 4.0**j, 600)).mean())
        return (self.hits[group, j] + 0.5) / (self.scored[group] + 1), ratio

    def widest(self) -> int:
        """The widest width with room for cells."""
        return int(ROOM / (self.metric.dim * math.log(2))) + 1

    def of_classes(self) -> Vector:
        """The evidence for each width, of all classes together."""
        return np.asarray(self.evidence[:CLASSES].sum(axis=0))

    def strongest(self, before: bool, least: float) -> int:
        """The width with the most evidence; −1 if that is not above `least`."""
        found = self.evidence[BEFORE_IT] if before else self.of_classes()
        best = self.widest() + int(found[self.widest() :].argmax())
        return best if found[best] > least else -1

    def best(self, now: int, spread: float) -> int:
        """The width to use, given the one in use, if any, and the variance within cells."""
        found, best, most, low, high = self.of_classes(), -1, ODDS, 0.0, -1.0
        if now >= 0:
            place = -0.5 * math.log2(spread)
            low, high = place - NEAR, place + NEAR + NARROWER / math.sqrt(self.metric.dim + 4)
            near = min(max(int(0.5 * (low + high) + 0.5), 0), WIDTHS - 1)
            best, most = now, SWITCH + found[near]
        for j in range(self.widest(), WIDTHS):
            if found[j] > most and not low <= j <= high:
                best, most = j, found[j]
        return best

    def start_spread(self, j: int) -> float:
        """The variance within cells at first."""
        if j <= self.widest() or j + 1 >= WIDTHS:
            return 4.0**-j
        below, here, above = self.of_classes()[j - 1 : j + 2]
        c = (2 * here - below - above) / 2.25
        b = above - here + 3 * c
        return float(4.0**-j * c * 2 * math.log(2) / b) if c > 0 and b > 0 else 4.0**-j

    def is_near(self, x: Vector, classes: list[int], totals: Vector, follows: bool) -> bool:
        """Whether x is rather near what was seen lately, or just before, than not."""
        along, width = self.strongest(True, ODDS), self.strongest(False, ODDS)
        if along < 0 and self.lead < 0:
            return False
        near, far = 0.0, 1.0
        for e in classes:
            if width >= 0 and self.recent[e]:
                share, ratio = self._explained(x, e, width)
                near += totals[e] * share * ratio
                far += totals[e] * (1 - share)
        if near > far:
            return True
        if along < 0 or not follows:
            return False
        share, ratio = self._explained(x, BEFORE_IT, along)
        return share * ratio > 1 - share

    def compare_with_cells(self, kernels: float, cells: float) -> None:
        """Add to the lead over cells."""
        self.lead = min(max(self.lead + kernels - cells, -ODDS), ODDS)
