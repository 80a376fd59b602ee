"""The readable reference of `Learned`: the same algorithm with lists and dictionaries.

It has no limits on memory, so that it agrees with the kernels as long as these have room.
"""

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from preferences.learned_reference_parts import Kernels, MarkovTest, Metric, Numbers, Odd, Values
from preftd._src.arrays import Vector
from preftd._src.preferences.learned.cells import ALIKE, LONGEST
from preftd._src.preferences.learned.constants import (
    ENOUGH,
    FEW,
    MANY,
    ODDS,
    SEVERAL,
    SOME,
    TIMES,
)
from preftd._src.preferences.learned.memory import BEFORE_IT, CLASSES
from preftd._src.preferences.learned.widths import ALL, ROOM, TIED

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
    left: list[Vector] = field(default_factory=list)
    """Visits that it was left after."""

    def is_several(self, used: NDArray[np.bool_], variance: Vector) -> bool:
        """Whether what is seen here tells that it is left, by the entries that are used."""
        n, left, dim = self.visits, len(self.left), len(variance)
        if not 0 < left < n:
            return False
        apart = (np.mean(self.left, axis=0) - self.centre)[used]
        found = float((apart**2 / variance).sum()) * n * left / (n - left)
        return found > chance(dim)


def chance(dim: float) -> float:
    """Squared deviations that are not to be expected in so many dimensions."""
    return dim + 2 * math.sqrt(dim * ODDS) + 2 * ODDS


class Reference:
    """Learned preferences, one step at a time."""

    def __init__(self, size: int, linear: bool = False) -> None:
        self.metric, self.markov = Metric(size), MarkovTest(self._is_several, self._leave)
        self.values = Values(self.markov.is_distrusted) if linear else None
        self.names, self.seen, self.atoms = 2, set[bytes](), dict[bytes, int]()
        self.kernels = Kernels(self.metric)
        self.visits_of, self.numbers = Counter[bytes](), Numbers()
        self.odd = Odd(size, self.numbers)
        self.strange = self.before_strange = False
        self.repeats, self.recurring, self.new, self.is_void = 0, 1.0, 0, False
        self.after_cell = False
        self.width, self.time, self.follows = -1, 0, False
        self.clock, self.last, self.since = Counter[tuple[int, ...]](), 0, 0
        self.rhythm = self.mix = 0.0
        self.waiting: tuple[Vector, bool, bool] | None = None
        self._reset()

    def _reset(self) -> None:
        self.clusters: list[Cluster] = []
        self.totals, self.plain = np.zeros(CLASSES), np.zeros(CLASSES)
        self.scatter, self.visits = np.zeros(self.metric.mean.size), 0

    def step(self, x: Vector, is_first: bool, outcome: tuple[float, float] = (0.0, 0.0)) -> float:
        """Learn from the observation before, then decide on x, which the outcome led to."""
        if self.time % MANY == 0:
            self.is_void = self._fails()
        if self.waiting is not None:
            name = self._learn(*self.waiting, is_last=is_first)
            if self.values is not None:
                self.values.follow(name, outcome, self._cells() if is_first else None)
        if is_first:
            self.last, self.since = 0, 0
        self.before_strange, self.strange = self.strange, False
        if self.odd.is_missing(x, x.tobytes() in self.seen):
            self.waiting = x * math.nan, is_first, False
            return 0.0
        beta = self._decide(x, is_first)
        self.waiting = x, is_first, beta is not None and beta > 0
        if beta is None:  # it is like none before
            recur = max(self.recurring, self.numbers.returning) > 1 / TIMES
            beta = float(recur and self.time <= 2 * self.new + MANY)
            self.recurring -= self.recurring / SEVERAL
            self.numbers.presume(x)
        return beta

    def _fails(self) -> bool:
        """Whether most cells fail the Markov test."""
        cells = [(name, self.visits_of[key]) for key, name in self.atoms.items()]
        cells += [(one.name, one.visits) for one in self.clusters if one.is_cell]
        tested = [name for name, visits in cells if visits >= SEVERAL]
        failing = sum(self.markov.is_distrusted(name) for name in tested)
        return failing >= FEW and 2 * failing > len(tested)

    def _decide(self, x: Vector, is_first: bool) -> float | None:
        key = x.tobytes()
        if key in self.atoms:
            return self._trust(self.atoms[key])
        if key in self.seen:
            return 1.0
        if self.metric.n < TIMES or self.metric.dim == 0 or self.numbers.make(x):
            return 1.0
        if self._is_world() and not self.kernels.is_tied(TIED):
            return None
        if not self.kernels.apart or self.odd.is_half_known(x, self.metric):
            return 1.0
        beta = self._near(x, is_first)
        self.strange = beta is None
        return 1.0 if self.kernels.is_gradual() and self.kernels.have_memory() else beta

    def _is_world(self) -> bool:
        """Whether exact repetitions are more than a default value, and more than chance."""
        return len(self.atoms) >= FEW and self.repeats > self.metric.n / MANY

    def _near(self, x: Vector, is_first: bool) -> float | None:
        """β if what recurs stands apart."""
        classes = [FIRST] if is_first else [OTHER, LAST]
        if self.width >= 0:
            context = None if is_first or self.rhythm <= 0 else self._context()
            found, fit, rest = self._nearest(x, classes, context)
            if found is not None and (
                found.is_cell or self._recurrence(found, fit - rest, classes[0]) > ENOUGH
            ):
                return self._trust(found.name)
        follows = self.follows and not is_first
        return 1.0 if self.kernels.is_near(x, classes, self.totals, follows) else None

    def _trust(self, name: int) -> float:
        held = self.values is not None and name in self.values.held
        return float(not held and (self.is_void or not self.markov.is_distrusted(name)))

    def _cells(self) -> dict[int, Vector]:
        """The centres of all cells, by name."""
        cells = {name: np.frombuffer(key) for key, name in self.atoms.items()}
        return cells | {one.name: one.centre for one in self.clusters if one.is_cell}

    def _learn(self, x: Vector, is_first: bool, trusted: bool, *, is_last: bool) -> int:
        """Learn from x; returns the name of its cell or cluster, or 0."""
        self.time += 1
        key, name, known, in_cell = x.tobytes(), 0, True, False
        is_odd = bool(np.isnan(x).any())
        if self.strange and self.before_strange and not is_first:
            self.kernels.compare_strange(x)
        if not is_odd and key not in self.atoms:
            self.numbers.keep(x)
        again = self.follows and bool((x == self.kernels.recent[BEFORE_IT][-1][1]).all())
        self.repeats += key in self.seen and not again
        if key in self.seen and key not in self.atoms:
            self.names += 1
            self.atoms[key] = self.names
            self.recurring, self.new = min(self.recurring + 1 / SEVERAL, 1.0), self.time
            self.visits_of[key] = 1
        if key in self.atoms:
            name, in_cell = self.atoms[key], True
            self.visits_of[key] += 1
        elif not is_odd:
            self.seen.add(key)
            found = self._learn_loose(x, FIRST if is_first else LAST if is_last else OTHER)
            name, known = (0, False) if found is None else (found.name, found.visits > 1)
            in_cell = found is not None and found.is_cell and not self._is_world()
        self.since += 1
        if name and trusted:
            self.last, self.since = name, 0
        self.markov.follow(name, x, known and not is_odd, is_first, is_last)
        self.follows, self.after_cell = not is_odd, in_cell
        if not is_odd:
            self.kernels.keep(BEFORE_IT, self.time, x)
        return name

    def _learn_loose(self, x: Vector, e: int) -> Cluster | None:
        """Learn from an observation that was never seen exactly."""
        found = None
        if self.metric.n >= TIMES and self.metric.dim > 0:
            is_near = self.follows and self.kernels.follows_nearly(x)
            used, gained = self.kernels.near, 0.0
            scored = self.metric.n < ALL or self.metric.n % SEVERAL == 0
            if scored:
                before = self.kernels.evidence[e, used]
                self.kernels.score(x, e)
                gained = self.kernels.evidence[e, used] - before
                if e != FIRST:
                    self.kernels.score(x, BEFORE_IT)
                self.kernels.choose()
            width = self.kernels.best(self.width, self._spread() if self.width >= 0 else 1.0)
            if width != self.width:
                self.width = width
                self._reset()
                kept = enumerate(self.kernels.recent[:CLASSES])
                for _, y, c in sorted((t, y, c) for c, points in kept for t, y in points):
                    self._place(y, c)
            if width >= 0:
                found = self._place(x, e)
                if scored and used >= 0:
                    self.kernels.compare_with_cells(gained, self.mix - self._background(x))
                if e != FIRST:
                    self._count(found if found.is_cell else None)
            else:
                self.totals[e] += 1
            stays = found is not None and found.name == self.markov.here
            if self.after_cell and e != FIRST and not stays:
                self.kernels.met += 1
                self.kernels.close += is_near
        self.metric.widen(x)
        self.kernels.keep(e, self.time, x)
        return found

    def _count(self, found: Cluster | None) -> None:
        """Let the clock learn what followed (None: no cell)."""
        hits, moments = self.plain + 0.5, self.totals  # two halves are one
        if found is not None:
            hits, moments = found.hits + 0.25, self.totals - found.starts
        share = hits[[OTHER, LAST]].sum() / (moments[[OTHER, LAST]].sum() + 1)
        context = self._context()
        key = (*context, 0 if found is None else found.name)
        gained = math.log((self.clock[key] / share + 1) / (self.clock[context] + 1))
        self.rhythm = min(max(self.rhythm + gained, -ODDS), ODDS)
        self.clock.update([context, key])

    def _spread(self) -> float:
        """The variance within cells, which leaves room for others."""
        return min(self._found_spread(), math.exp(-2 * ROOM / self.metric.dim))

    def _found_spread(self) -> float:
        scatter = float((self.scatter * self.metric.weight).sum()) / self.metric.dim
        return (scatter + SOME * 4.0**-self.width) / (self.visits + SOME)

    # Clusters.

    def _place(self, x: Vector, e: int) -> Cluster:
        """The cluster that x joins or founds."""
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
        """Merge two indistinguishable cells."""
        used = self.metric.weight > 0
        for other in self.clusters:
            if other is cell or not other.is_cell or other.visits > cell.visits:
                continue
            noise = self.metric.dim * (1 / cell.visits + 1 / other.visits)
            if ((other.centre - cell.centre)[used] ** 2 / variance).sum() > ALIKE + noise:
                continue
            cell.visits += other.visits
            cell.centre = cell.centre + (other.centre - cell.centre) * other.visits / cell.visits
            cell.fit, cell.hits = cell.fit + other.fit, cell.hits + other.hits
            cell.starts = np.minimum(cell.starts, other.starts)
            cell.left += other.left
            self.names += 1
            other.name, other.starts, other.visits = self.names, self.totals.copy(), 1
            other.hits, other.fit, other.is_cell = np.zeros(CLASSES), 0.0, False
            other.left = []

    def _leave(self, name: int, x: Vector) -> None:
        for cluster in self.clusters:
            if cluster.name == name:
                cluster.left.append(x)

    def _is_several(self, name: int) -> bool:
        """Whether what is seen in a cell tells that it is left."""
        used = self.metric.weight > 0
        return any(
            cluster.is_several(used, self._variance())
            for cluster in self.clusters
            if cluster.name == name
        )

    def _nearest(
        self, x: Vector, classes: list[int], context: tuple[int, ...] | None
    ) -> tuple[Cluster | None, float, float]:
        """The best cluster, and the logarithms of its density at x and of all else's."""
        dim, weight = self.metric.dim, self.metric.weight
        used = weight > 0
        variance = self._variance()
        peak = -0.5 * float(np.log(variance * weight[used]).sum())
        gate = chance(dim)
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
        self.mix = rest + math.log(sum(cells.values()))
        if best is not None:
            cells.pop(best.name, None)
        return best, fit, rest + math.log(sum(cells.values()))

    def _variance(self) -> Vector:
        """The variance within cells of each entry that counts."""
        weight = self.metric.weight[self.metric.weight > 0]
        scatter = self.scatter[self.metric.weight > 0]
        found = self._found_spread()
        variance = (scatter + SOME * found / weight) / (self.visits + SOME)
        return np.asarray(variance * self._spread() / found)

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
        return self.metric.log_background(x)

    def _context(self) -> tuple[int, ...]:
        return self.last, min(self.since, LONGEST)
