"""The parts of the readable reference of `Learned`: metric, widths, Markov test and returns."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.preferences.learned.cells import LONGEST
from preftd._src.preferences.learned.constants import ODDS, SEVERAL, SOME, TERM, TIMES
from preftd._src.preferences.learned.markov import BEGIN, END
from preftd._src.preferences.learned.memory import BEFORE_IT, CLASSES, EXPERTS, RECENT, WIDTHS
from preftd._src.preferences.learned.metric import ROUNDING
from preftd._src.preferences.learned.returns import FAINT, GROWTH_OF_TESTS, LEAST_VARIANCE
from preftd._src.preferences.learned.widths import FIRST, GRADUAL, LIKELIER, ROOM

NONE = 0
"""The cell before, where an episode starts."""


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

    def log_background(self, x: Vector) -> float:
        """The logarithm of the density of all observations at x, times (2π)^(D/2)."""
        return -0.5 * self.squared(x, self.mean)


def _same(scaled: Vector, other: Vector) -> bool:
    return bool((abs(scaled - other) <= ROUNDING * (1 + abs(other))).all())


class Numbers:
    """Numbers that were seen twice in their entries."""

    def __init__(self) -> None:
        self.once, self.twice = set[tuple[int, float]](), set[tuple[int, float]]()
        self.returning = 0.0
        """The share of new numbers that are found to recur, of late."""

    def keep(self, x: Vector) -> None:
        """Remember the numbers of x."""
        for number in enumerate(x.tolist()):
            if number in self.once - self.twice:
                self.returning = min(self.returning + 1 / SEVERAL, 1.0)
            (self.twice if number in self.once else self.once).add(number)

    def presume(self, x: Vector) -> None:
        """Note that the numbers of x which are new are not found to recur yet."""
        for number in enumerate(x.tolist()):
            if number not in self.twice:
                self.returning -= self.returning / SEVERAL

    def make(self, x: Vector) -> bool:
        """Whether all numbers in x were seen twice."""
        return self.twice.issuperset(enumerate(x.tolist()))


class Odd:
    """Values that stand for what is missing: far from all others, and always the same."""

    def __init__(self, size: int, numbers: Numbers) -> None:
        self.numbers = numbers
        self.odd, self.centre, self.range, self.others, self.known = np.zeros((5, size))

    def is_half_known(self, x: Vector, metric: Metric) -> bool:
        """Whether half of the entries have known numbers, where most numbers repeat."""
        known = sum(
            number in self.numbers.twice
            for number in enumerate(x.tolist())
            if metric.weight[number[0]] > 0 and self.known[number[0]] >= self.others[number[0]] / 2
        )
        return known >= metric.dim / 2

    def is_missing(self, x: Vector, repeats: bool) -> bool:
        """Whether x, which may repeat an earlier one, has such a value; it is kept."""
        missing, far = False, 0
        for i, value in enumerate(x.tolist()):
            n = self.others[i]
            if n == 1 and value != self.odd[i]:
                self.centre[i] = value
            elif n == 2 and value != self.odd[i]:
                again = value == self.centre[i]
                if again or abs(value - self.odd[i]) < abs(value - self.centre[i]):
                    self.odd[i], self.centre[i] = self.centre[i], self.odd[i]
                self.others[i] += again
            away, most = abs(value - self.centre[i]), abs(self.odd[i] - self.centre[i])
            varied = n - self.known[i]
            varies = varied >= TIMES and self.known[i] < n / 2 and self.range[i] > 0
            if n and value == self.odd[i]:
                times = SOME if varies else TIMES * SOME
                is_far = self.range[i] > 0 and away > times * self.range[i]
                found = bool((varies or varied >= SEVERAL) and is_far and value)
                missing |= found
                if found and varied >= 2 * SEVERAL:
                    self.known[i] = -np.inf
                continue
            self.others[i] += 1
            self.known[i] += repeats or (i, value) in self.numbers.twice
            if n == 0 or away > most:
                self.range[i] = max(self.range[i], most if n else 0.0)
                far += bool(varies and away > SOME * self.range[i])
                self.odd[i] = value
            else:
                self.centre[i] += (value - self.centre[i]) / n
                self.range[i] = max(self.range[i], away)
        return missing or far > x.size / 2


class Kernels:
    """Evidence for each width, by group: the classes of moments, and the observation before."""

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self.recent: list[list[tuple[int, Vector]]] = [[] for _ in range(CLASSES + 1)]
        self.evidence, self.hits = np.zeros((2, CLASSES + 1, WIDTHS))
        self.scored = np.zeros(CLASSES + 1)
        self.near = self.along = -1
        self.apart, self.met, self.close = False, 0, 0
        self.along_rest = self.squared_rest = self.lead = 0.0

    def choose(self) -> None:
        """Find the widths that predict best, and whether what they recognise stands apart."""
        self.near, self.along = self.strongest(False), self.strongest(True)
        found = []
        for j in range(FIRST, WIDTHS):
            hits = self.hits[:CLASSES, j].sum()
            found.append((self.of_classes()[j], hits, j >= self.widest()))
            evidence, hits = self.evidence[BEFORE_IT, j], self.hits[BEFORE_IT, j]
            found.append((evidence, hits, j >= self.widest_before()))
        most, hits, has_room = max(found, key=lambda one: one[0])
        self.apart = bool(most > ODDS and has_room and most > LIKELIER * hits)

    def is_tied(self, least: float) -> bool:
        """Whether at least this share of what follows a cell is near it."""
        return self.close + 0.5 >= least * (self.met + 1)

    def compare_with_cells(self, kernels: float, cells: float) -> None:
        """Add to the lead of kernels: logarithms of what both predicted, over the background."""
        self.lead = min(max(self.lead + kernels - cells, -ODDS), ODDS)

    def compare_strange(self, x: Vector) -> None:
        """Learn whether observations that are like none before tell the next one of them."""
        ((_, before),), mean = self.recent[BEFORE_IT], self.metric.mean
        product = float((self.metric.weight * (x - mean) * (before - mean)).sum())
        self.along_rest += product
        self.squared_rest += product**2

    def have_memory(self) -> bool:
        """Whether they do, which noise does not."""
        return self.along_rest > math.sqrt(2 * ODDS * self.squared_rest)

    def is_gradual(self) -> bool:
        """Whether states change gradually."""
        return self.along >= 0 and self.is_tied(GRADUAL)

    def follows_nearly(self, x: Vector) -> bool:
        """Whether x is near the previous observation."""
        if self.along < 0:
            return False
        share, ratio = self._explained(x, BEFORE_IT, self.along)
        return share * ratio > 1 - share

    def keep(self, group: int, time: int, x: Vector) -> None:
        """Remember x as the last of a group."""
        most = 1 if group == BEFORE_IT else RECENT
        self.recent[group] = [*self.recent[group], (time, x)][-most:]

    def score(self, x: Vector, group: int) -> None:
        """Add the evidence of x for each width."""
        if not self.recent[group]:
            return
        for j in range(FIRST, WIDTHS):
            share, ratio = self._explained(x, group, j)
            whole = 1 - share + share * ratio
            self.evidence[group, j] += math.log(whole)
            self.hits[group, j] += share * ratio / whole
        self.scored[group] += 1

    def _explained(self, x: Vector, group: int, j: int) -> tuple[float, float]:
        """The share of a group that a width explains, and density over background at x."""
        r2 = np.array([self.metric.squared(x, y) for _, y in self.recent[group]])
        peak = self.metric.dim * math.log(2) * (j - 0.5) - self.metric.log_background(x)
        ratio = float(np.exp(np.minimum(peak - 0.25 * r2 * 4.0**j, 600)).mean())
        return (self.hits[group, j] + 0.5) / (self.scored[group] + 1), ratio

    def widest(self) -> int:
        """The widest width with room for cells."""
        return int(ROOM / (self.metric.dim * math.log(2))) + 1

    def widest_before(self) -> int:
        """The widest width that tells what follows nearly from what does not."""
        return max(int(ROOM / ((self.metric.dim + 0.5) * math.log(2))) + 1, 2)

    def of_classes(self) -> Vector:
        """The evidence for each width, of all classes together."""
        return np.asarray(self.evidence[:CLASSES].sum(axis=0))

    def strongest(self, before: bool) -> int:
        """The width with the most evidence; −1 if that is not enough."""
        found = self.evidence[BEFORE_IT] if before else self.of_classes()
        top = self.widest_before() if before else self.widest()
        best = top + int(found[top:].argmax())
        return best if found[best] > ODDS else -1

    def best(self, now: int, spread: float) -> int:
        """The width to use, given the one in use, if any, and the variance within cells."""
        found, best, most, place = self.of_classes(), now, ODDS, math.inf
        if now >= 0:
            place = -0.5 * math.log2(spread)
            most += found[min(max(int(place + 0.5), 0), WIDTHS - 1)]
        for j in range(self.widest(), WIDTHS):
            if found[j] > most and abs(j - place) > 1:
                best, most = j, found[j]
        return best

    def is_near(self, x: Vector, classes: list[int], totals: Vector, follows: bool) -> bool:
        """Whether x is rather near what was seen lately, or just before, than not, if it counts."""
        gradual, width = self.is_gradual(), self.near
        if not gradual and self.lead < 0:
            return False
        near, far = 0.0, 1.0
        for e in classes:
            if width >= 0 and self.recent[e]:
                share, ratio = self._explained(x, e, width)
                near += totals[e] * share * ratio
                far += totals[e] * (1 - share)
        if near > far:
            return True
        return gradual and follows and self.follows_nearly(x)


class MarkovTest:
    """Evidence against the Markov property, by cell.

    Parameters
    ----------
    is_several : callable
        Whether the cell of a name is several states, and therefore not distrusted.
    leave : callable
        Called with the name of a cell that is left, and what was seen there last.

    """

    def __init__(
        self, is_several: Callable[[int], bool], leave: Callable[[int, Vector], None]
    ) -> None:
        self.is_several, self.leave, self.seen = is_several, leave, np.zeros(0)
        self.distrusted: dict[int, int] = {}
        """The test since which each is distrusted."""
        self.successors: defaultdict[int, Counter[int]] = defaultdict(Counter)
        self.tests, self.began = Counter[int](), Counter[int]()
        self.contexts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        self.evidence: defaultdict[int, Vector] = defaultdict(lambda: np.zeros(EXPERTS))
        self.here, self.here_known, self.before, self.dwell = 0, False, int(BEGIN), 0

    def is_distrusted(self, name: int) -> bool:
        """Whether the experts' mean Bayes factor decides, as of the last test."""
        return name in self.distrusted

    def total(self, name: int) -> float:
        """The logarithm of the mean Bayes factor."""
        return float(np.logaddexp.reduce(self.evidence[name])) - math.log(EXPERTS)

    def follow(self, name: int, x: Vector, known: bool, is_first: bool, is_last: bool) -> None:
        """Move on to x in a cell (0: none); `known` says whether it was visited before."""
        known = known and name > 0
        if is_first:
            self.here, self.before, self.dwell = -1, int(BEGIN), 0
        if self.here > 0 and self.here_known and known:
            self._test(name)
        if self.here > 0 and name != self.here:
            self.leave(self.here, self.seen)
        if name > 0 and name == self.here:
            self.dwell += 1
        else:
            if self.here >= 0:
                self.before = self.here if self.here_known else 0
            self.here, self.dwell = name, 1
        self.here_known, self.seen = known, x
        if is_last:
            if name > 0:
                self.leave(name, x)
            if known:
                self._test(int(END))
            self.here = -1

    def _test(self, then: int) -> None:
        after, here = self.successors[self.here], self.here
        n, moves = after.total() or 1, after.total() - after[here] or 1
        octave = int(math.log2(self.dwell))
        follows, stays, returns = after[then] / n, after[here] / n, after[self.before] / moves
        stay, back = int(then == here), int(then == self.before)
        experts: tuple[tuple[tuple[int, ...], int, float], ...] = (
            ((0, self.before), then, follows),
            ((1, octave), stay, stays if stay else 1 - stays),
            ((2, octave), back, returns if back else 1 - returns),  # if it moves
            ((3, self.dwell), stay, stays if stay else 1 - stays),
            ((4, self.before, min(self.dwell, LONGEST)), then, follows),
        )
        for expert, (context, outcome, plain) in enumerate(experts):
            if (expert in (0, 2, 4) and self.before == 0) or (expert == 2 and stay):
                continue
            counts = self.contexts[(self.here, *context)]
            if then in after:
                informed = (counts[outcome] + plain) / (counts.total() + 1)
                self.evidence[self.here][expert] += math.log(informed / plain)
            counts[outcome] += 1
        after[then] += 1
        self._judge(self.here)

    def _judge(self, name: int) -> None:
        """Decide on a cell, whose counts start afresh when its term ends."""
        self.tests[name] += 1
        ends, total = self.tests[name] % TERM == 0, self.total(name)
        if total > ODDS and not self.is_several(name):
            self.distrusted.setdefault(name, self.tests[name])
        elif self.distrusted.get(name, 0) > self.began[name] or (ends and total <= 0):
            self.distrusted.pop(name, None)
        if ends:
            self.began[name] = self.tests[name]
            self.successors.pop(name)
            for key in [key for key in self.contexts if key[0] == name]:
                self.contexts.pop(key)
            own = self.evidence[name]
            self.evidence[name] = own * 0 if name in self.distrusted else np.maximum(own, 0)


class Values:
    """Returns of cells, and which cells are held over, by name."""

    def __init__(self, is_distrusted: Callable[[int], bool]) -> None:
        self.is_distrusted = is_distrusted
        self.episode: list[tuple[int, float, float]] = []
        self.is_whole, self.episodes, self.next = True, 0, int(SEVERAL)
        self.returns: defaultdict[int, list[float]] = defaultdict(list)
        self.pairs: defaultdict[int, list[tuple[int, float, float, float]]] = defaultdict(list)
        """For each cell: the cell before, the return, and reward and discount between the two."""
        self.held, self.against = set[int](), dict[int, float]()

    def follow(
        self, name: int, outcome: tuple[float, float], cells: Mapping[int, Vector] | None
    ) -> None:
        """Learn the reward and discount that followed; the centres of cells if that is the end."""
        self.episode.append((name, *outcome))
        self.is_whole &= not math.isnan(outcome[0]) and (outcome[1] == 0) == (cells is not None)
        if cells is not None:
            if self.is_whole:
                self._count(cells)
                if self.episodes >= self.next:
                    self.next = math.ceil(GROWTH_OF_TESTS * self.episodes)
                    self._test(cells)
            self.episode, self.is_whole = [], True

    def _count(self, cells: Mapping[int, Vector]) -> None:
        self.episodes += 1
        totals, total = list[float](), 0.0
        for name, reward, discount in reversed(self.episode):
            total = reward + discount * total
            totals.insert(0, total)
            if name in cells:
                _ = self.returns[name]  # cells are tested in this order
        seen, before, paid, along = set[int](), NONE, 0.0, 1.0
        for t, (name, reward, discount) in enumerate(self.episode):
            if name in cells and name not in seen:
                seen.add(name)
                self.returns[name].append(totals[t])
                if t == 0 or before != NONE:
                    self.pairs[name].append((before, totals[t], paid, along))
            if name in cells and name not in self.held and not self.is_distrusted(name):
                before, paid, along = name, 0.0, 1.0
            paid, along = paid + along * reward, along * discount

    def _test(self, cells: Mapping[int, Vector]) -> None:
        names = [name for name in self.returns if name in cells and not self.is_distrusted(name)]
        trusted = [name for name in names if name not in self.held]
        for name in names:
            if name in self.held:
                most = self._most_suspect([*trusted, name], cells)
                if most != name:
                    self.held = self.held - {name} | ({most} if most else set())
                    return
        most = self._most_suspect(trusted, cells)
        self.held |= {most} if most else set()

    def _most_suspect(self, names: Sequence[int], centres: Mapping[int, Vector]) -> int | None:
        found = {name: self._evidence(name, names, centres) for name in names}
        self.against |= found
        most = max(names, key=lambda name: found[name], default=None)
        return most if most is not None and found[most] > ODDS else None

    def _evidence(self, c: int, names: Sequence[int], centres: Mapping[int, Vector]) -> float:
        """The evidence against cell c among others."""
        others = [name for name in names if name != c]
        mean = {name: float(np.mean(self.returns[name])) for name in names}
        variances = {name: _variance(self.returns[name]) for name in names}
        least = LEAST_VARIANCE * max(mean[name] ** 2 + variances[name] for name in names)
        variances = {name: max(one, least) for name, one in variances.items()}
        variance = max(variances.values())
        x = {name: centres[name] for name in names}
        if variance == 0 or not others or _rank(x, names) > _rank(x, others):
            return 0.0
        looked, without = self._fitted(x, names), self._fitted(x, others)
        total = tells = most = 0.0
        for k in others:
            n = len(self.returns[k])
            total += n * ((mean[k] - looked[k]) ** 2 - (mean[k] - without[k]) ** 2)
        by_cell = defaultdict(list)
        for before, *numbers in self.pairs[c]:
            by_cell[before].append(numbers)
        compared = 0
        for before, rows in by_cell.items():
            n, (m, paid, along) = len(rows), np.mean(rows, axis=0)
            if before != NONE and (before not in others or along <= FAINT):
                continue
            held = without[c]
            if before != NONE:
                held = (without[before] - paid) / along
                expected = (mean[before] - paid) / along
                share = n / len(self.returns[before])
                tells += n * (m - expected) ** 2 / (1 - share + 1 / n) / variances[before]
                most += math.log(1 + n)
            compared += n
            total += n * ((m - looked[c]) ** 2 - (m - held) ** 2)
        if compared <= len(self.returns[c]) / 2 or tells > most:
            return 0.0
        return float(total / (2 * variance))

    def _fitted(self, x: Mapping[int, Vector], names: Sequence[int]) -> dict[int, float]:
        """The values of all cells by weights fitted to the mean returns of some."""
        root = np.sqrt([len(self.returns[name]) for name in names])
        mean = np.array([np.mean(self.returns[name]) for name in names])
        features = _scaled(x, names) * root[:, None]
        weights = np.linalg.lstsq(features, mean * root, rcond=1e-9)[0]
        return dict(zip(x, (_scaled(x, list(x)) @ weights).tolist(), strict=True))


def _variance(returns: Sequence[float]) -> float:
    return float(np.var(returns, ddof=1)) if len(returns) > 1 else 0.0


def _scaled(x: Mapping[int, Vector], names: Sequence[int]) -> Dense:
    """The features of some cells, each entry in units of its largest in all."""
    largest = np.abs(np.array(list(x.values()))).max(axis=0)
    return np.array([x[name] for name in names]) / np.where(largest > 0, largest, 1.0)


def _rank(x: Mapping[int, Vector], names: Sequence[int]) -> int:
    return int(np.linalg.matrix_rank(_scaled(x, names), tol=1e-7))
