"""The readable reference of value sufficiency: lists of returns, a fit for each set of cells."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from preftd._src.arrays import Dense, Vector
from preftd._src.preferences.learned.look_or_hold import FAINT, LEAST_VARIANCE
from preftd._src.preferences.learned.value import FIRST_TEST, GROWTH_OF_TESTS
from preftd._src.preferences.learned.width import ODDS

NONE = 0
"""The cell before, where an episode starts."""


class Values:
    """Returns of cells, and which cells are held over, by name."""

    def __init__(self, is_distrusted: Callable[[int], bool]) -> None:
        self.is_distrusted = is_distrusted
        self.episode: list[tuple[int, float, float]] = []
        self.is_whole, self.episodes, self.next = True, 0, FIRST_TEST
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
