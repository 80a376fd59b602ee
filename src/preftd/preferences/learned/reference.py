"""The readable reference of `Learned`: the same algorithm with lists and dictionaries.

It has no limits on memory, so that it agrees with the kernels as long as these have room.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from preftd.arrays import Vector
from preftd.preferences.learned.clock import LONGEST
from preftd.preferences.learned.clusters import ENOUGH, FAR, SOME
from preftd.preferences.learned.layout import CLASSES, RECENT, WIDTHS
from preftd.preferences.learned.metric import RANGE
from preftd.preferences.learned.reference_markov import MarkovTest
from preftd.preferences.learned.reference_metric import Metric
from preftd.preferences.learned.width import FEW, LEAST, NARROWER, NEAR, ODDS, ROOM, SWITCH

FIRST, OTHER, LAST = range(CLASSES)


@dataclass(eq=False)
class Cluster:
    """Observations near each other; a cell once the evidence is enough."""

    name: int
    centre: Vector
    starts: Vector
    """Moments of each class before it was founded."""
    visits: int = 1
    hits: Vector = field(default_factory=lambda: np.zeros(CLASSES))
    fit: float = 0.0
    is_cell: bool = False


class Reference:
    """Learned preferences, one step at a time."""

    def __init__(self, size: int) -> None:
        self.metric, self.markov = Metric(size), MarkovTest()
        self.names, self.seen, self.atoms = 2, set[bytes](), dict[bytes, int]()
        self.recent: list[list[tuple[int, Vector]]] = [[], [], []]
        self.evidence, self.hits = np.zeros((CLASSES, WIDTHS)), np.zeros((CLASSES, WIDTHS))
        self.scored = np.zeros(CLASSES)
        self.width, self.start, self.time = -1, 0.0, 0
        self.clock, self.last, self.since = Counter[tuple[int, ...]](), 0, 0
        self.waiting: tuple[Vector, bool, float] | None = None
        self._reset()

    def _reset(self) -> None:
        self.clusters: list[Cluster] = []
        self.totals, self.plain = np.zeros(CLASSES), np.zeros(CLASSES)
        self.scatter, self.visits = np.zeros(self.metric.mean.size), 0

    def step(self, x: Vector, is_first: bool) -> float:
        """Learn from the observation before, then decide on x."""
        if self.waiting is not None:
            self._learn(*self.waiting, is_last=is_first)
        if is_first:
            self.last, self.since = 0, 0
        beta = self._decide(x, is_first)
        self.waiting = x, is_first, beta
        return beta

    def _decide(self, x: Vector, is_first: bool) -> float:
        key = x.tobytes()
        if key in self.atoms:
            return float(not self.markov.is_distrusted(self.atoms[key]))
        if key in self.seen:
            return 1.0
        if self.metric.n < LEAST or self.width < 0:
            return 0.0
        classes = [FIRST] if is_first else [OTHER, LAST]
        found, fit, rest = self._nearest(x, classes, self._context())
        if found is None:
            return 0.0
        if not found.is_cell and self._recurrence(found, fit - rest, classes[0]) <= ENOUGH:
            return 0.0
        return float(not self.markov.is_distrusted(found.name))

    def _learn(self, x: Vector, is_first: bool, beta: float, *, is_last: bool) -> None:
        self.time += 1
        key, name, known = x.tobytes(), 0, True
        if key in self.seen and key not in self.atoms:
            self.names += 1
            self.atoms[key] = self.names
        if key in self.atoms:
            name = self.atoms[key]
        else:
            self.seen.add(key)
            found = self._learn_loose(x, FIRST if is_first else LAST if is_last else OTHER)
            name, known = (0, False) if found is None else (found.name, found.visits > 1)
        self.since += 1
        if name and beta > 0:
            self.last, self.since = name, 0
        self.markov.follow(name, known, is_first, is_last)

    def _learn_loose(self, x: Vector, e: int) -> Cluster | None:
        """Learn from an observation that was never seen exactly."""
        found = None
        if self.metric.n >= LEAST and self.metric.dim > 0:
            self._score_widths(x, e)
            width = self._best_width()
            if width != self.width:
                self.width, self.start = width, self._start_spread(width)
                self._reset()
                points = [(t, y, c) for c, kept in enumerate(self.recent) for t, y in kept]
                for _, y, c in sorted(points, key=lambda point: point[0]):
                    self._place(y, c)
            if width >= 0:
                found = self._place(x, e)
                name = found.name if found.is_cell else 0
                self.clock.update([self._context(), (*self._context(), name)])
            else:
                self.totals[e] += 1
        self.metric.widen(x)
        self.recent[e] = [*self.recent[e][1 - RECENT :], (self.time, x)]
        return found

    # The width.

    def _score_widths(self, x: Vector, e: int) -> None:
        kept, dim = self.recent[e], self.metric.dim
        if not kept:
            return
        background = self._background(x)
        r2 = np.array([self.metric.squared(x, y) for _, y in kept])
        for j in range(self._widest(), WIDTHS):
            share = (self.hits[e, j] + 0.5) / (self.scored[e] + 1)
            kernels = -0.25 * r2 * 4.0**j + dim * math.log(2) * (j - 0.5) - background
            ratio = float(np.exp(np.minimum(kernels, 600)).mean())
            whole = 1 - share + share * ratio
            self.evidence[e, j] += math.log(whole)
            self.hits[e, j] += share * ratio / whole
        self.scored[e] += 1

    def _widest(self) -> int:
        return int(ROOM / (self.metric.dim * math.log(2))) + 1

    def _spread(self) -> float:
        scatter = float((self.scatter * self.metric.weight).sum()) / self.metric.dim
        return (scatter + FEW * self.start) / (self.visits + FEW)

    def _best_width(self) -> int:
        found, best, most, low, high = self.evidence.sum(axis=0), -1, ODDS, 0.0, -1.0
        if self.width >= 0:
            place = -0.5 * math.log2(self._spread())
            low, high = place - NEAR, place + NEAR + NARROWER / math.sqrt(self.metric.dim + 4)
            near = min(max(int(0.5 * (low + high) + 0.5), 0), WIDTHS - 1)
            best, most = self.width, SWITCH + found[near]
        for j in range(self._widest(), WIDTHS):
            if found[j] > most and not low <= j <= high:
                best, most = j, found[j]
        return best

    def _start_spread(self, j: int) -> float:
        if j <= self._widest() or j + 1 >= WIDTHS:
            return 4.0**-j
        below, here, above = self.evidence.sum(axis=0)[j - 1 : j + 2]
        c = (2 * here - below - above) / 2.25
        b = above - here + 3 * c
        return float(4.0**-j * c * 2 * math.log(2) / b) if c > 0 and b > 0 else 4.0**-j

    # Clusters.

    def _place(self, x: Vector, e: int) -> Cluster:
        found, fit, rest = self._nearest(x, [e], None)
        if found is None:
            self.totals[e] += 1
            self.plain[e] += 1
            self.names += 1
            found = Cluster(self.names, x, self.totals.copy())
            self.clusters.append(found)
            return found
        variance = self._variance()
        now = self._recurrence(found, fit - rest, e) > (0 if found.is_cell else ENOUGH)
        found.fit += fit - rest
        found.hits[e] += 1
        self.plain[e] += 1
        if now != found.is_cell:
            self.plain -= found.hits if now else -found.hits
        elif now:
            self.plain[e] -= 1
        found.is_cell = now
        if now:
            self.scatter += (x - found.centre) ** 2 * found.visits / (found.visits + 1)
            self.visits += 1
        self.totals[e] += 1
        found.visits += 1
        found.centre = found.centre + (x - found.centre) / found.visits
        if found.is_cell:
            self._absorb(found, variance)
        return found

    def _absorb(self, cell: Cluster, variance: Vector) -> None:
        """Make one cell of two whose centres are nearer than visits are to them."""
        used = self.metric.weight > 0
        for other in self.clusters:
            if other is cell or not other.is_cell or other.visits > cell.visits:
                continue
            if ((other.centre - cell.centre)[used] ** 2 / variance).sum() > self.metric.dim:
                continue
            cell.visits += other.visits
            cell.centre = cell.centre + (other.centre - cell.centre) * other.visits / cell.visits
            cell.fit, cell.hits = cell.fit + other.fit, cell.hits + other.hits
            cell.starts = np.minimum(cell.starts, other.starts)
            self.names += 1
            other.name, other.starts, other.visits = self.names, self.totals.copy(), 1
            other.hits, other.fit, other.is_cell = np.zeros(CLASSES), 0.0, False

    def _nearest(
        self, x: Vector, classes: list[int], context: tuple[int, ...] | None
    ) -> tuple[Cluster | None, float, float]:
        """The best cluster, the logarithms of its density at x, and of that of all else."""
        dim, weight = self.metric.dim, self.metric.weight
        used = weight > 0
        variance = self._variance()
        peak = -0.5 * float(np.log(variance * weight[used]).sum())
        gate = dim + 2 * math.sqrt(FAR * dim) + 2 * FAR
        met = 0 if context is None else self.clock[context]

        def weighed(name: int, share: float) -> float:
            if context is None or not met:
                return share
            return (self.clock[(*context, name)] + share) / (met + 1)

        share = (self.plain[classes].sum() + 1) / (self.totals[classes].sum() + 1)
        rest = math.log(weighed(0, share)) + self._background(x)
        best, most, fit, cells = None, rest, 0.0, {0: 1.0}
        for cluster in self.clusters:
            spread = 1 + 1 / cluster.visits
            r2 = float(((x - cluster.centre)[used] ** 2 / variance).sum()) / spread
            if r2 > gate:
                continue
            density = peak - 0.5 * dim * math.log(spread) - 0.5 * r2
            moments = (self.totals - cluster.starts)[classes].sum()
            share = (cluster.hits[classes].sum() + 0.5) / (moments + 1)
            odds = math.log(weighed(cluster.name, share) if cluster.is_cell else share) + density
            if cluster.is_cell:
                cells[cluster.name] = math.exp(min(odds - rest, 600))
            if odds > rest and (best is None or (cluster.is_cell, odds) > (best.is_cell, most)):
                best, most, fit = cluster, odds, density
        if best is not None:
            cells.pop(best.name, None)
        return best, fit, rest + math.log(sum(cells.values()))

    def _variance(self) -> Vector:
        """The variance within cells of each entry that counts."""
        weight = self.metric.weight[self.metric.weight > 0]
        scatter = self.scatter[self.metric.weight > 0]
        return np.asarray((scatter + SOME * self._spread() / weight) / (self.visits + SOME))

    def _recurrence(self, cluster: Cluster, fit: float, e: int) -> float:
        """Evidence that a cluster is a cell, with a visit of class e added."""
        hits, moments = cluster.hits.copy(), self.totals - cluster.starts
        hits[e] += 1
        moments = moments + (np.arange(CLASSES) == e)
        total = cluster.fit + fit - math.log(len(self.clusters))
        for k, n in zip(hits, moments, strict=True):
            if n > 0:
                total += math.lgamma(k + 0.5) + math.lgamma(n - k + 0.5) - math.lgamma(n + 1)
                total -= math.log(math.pi)
        return total

    def _background(self, x: Vector) -> float:
        return self.metric.log_background(x, RANGE)

    def _context(self) -> tuple[int, ...]:
        return self.last, min(self.since, LONGEST)
