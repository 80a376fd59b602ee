"""The readable reference of the Markov test."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable

import numpy as np

from preftd._src.arrays import Vector
from preftd._src.preferences.learned.layout import EXPERTS
from preftd._src.preferences.learned.markov import BEGIN, END, LONG, PRIOR
from preftd._src.preferences.learned.width import ODDS


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
        self.distrusted: set[int] = set()
        self.successors: defaultdict[int, Counter[int]] = defaultdict(Counter)
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
        after = self.successors[self.here]
        whole = after.total() + PRIOR * len(after)
        share = {y: (count + PRIOR) / whole for y, count in after.items()}
        octave = int(math.log2(self.dwell))
        stays, returns = share.get(self.here, 0.0), share.get(self.before, 0.0)
        stay, back = int(then == self.here), int(then == self.before)
        experts = (
            ((0, self.before), then, share.get(then, 0.0)),
            ((1, self.dwell), stay, stays if stay else 1 - stays),
            ((2, octave), stay, stays if stay else 1 - stays),
            ((3, self.before, min(self.dwell, int(LONG))), then, share.get(then, 0.0)),
            ((4, octave), back, returns if back else 1 - returns),
        )
        for expert, (context, outcome, plain) in enumerate(experts):
            if expert in (0, 3, 4) and self.before == 0:
                continue
            counts = self.contexts[(self.here, *context)]
            if then in after:
                informed = (counts[outcome] + plain) / (counts.total() + 1)
                self.evidence[self.here][expert] += math.log(informed / plain)
            counts[outcome] += 1
        after[then] += 1
        self.distrusted.discard(self.here)
        if self.total(self.here) > ODDS and not self.is_several(self.here):
            self.distrusted.add(self.here)
