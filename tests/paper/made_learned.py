"""Made-up results of learned preferences: claims are true, or the opposite is."""

from itertools import product
from typing import NamedTuple

import numpy as np

from made_runs import frame, run
from preftd._src.experiments.measures import Score
from preftd._src.experiments.results import Results
from preftd._src.paper.learned.cases import CASES, of_group
from preftd._src.paper.learned.studies import (
    BOUNDED,
    BY_PTD,
    BY_RETURNS,
    BY_TD,
    LEARNED,
    ONE,
    ORACLE,
    PLAIN,
    TD_LAMBDA,
    WITH_RETURNS,
)
from preftd._src.paper.study import PaperStudy

TRUE = {LEARNED: 1.01, ORACLE: 1.0, ONE: 5.0, TD_LAMBDA: 4.0}
FALSE = {LEARNED: 4.5, ORACLE: 4.2, ONE: 5.0, TD_LAMBDA: 4.0}
"""Errors where some states are hidden."""
OBSERVABLE = {True: 0.9, False: 1.5}
"""Errors of learned preferences where none is hidden."""
EPISODES = 10


def _level(case: str, method: str, true: bool) -> float:
    """The mean error of a method."""
    if method == BY_RETURNS:
        return _level(case, LEARNED, true) * (1.0 if true else 1.1)
    if CASES[case].hidden:
        return (TRUE if true else FALSE)[method]
    return OBSERVABLE[true] if method == LEARNED else 1.0


class _Made(NamedTuple):
    """How results are made up."""

    true: bool
    seeds: int
    noise: float

    def results(self, cases: list[str], methods: list[str], learners: list[str]) -> Results:
        """Of a study; methods share the noise of a case and seed."""
        rows = []
        for case, (stage, first) in product(cases, (("search", 1_000_000), ("report", 0))):
            rng = np.random.default_rng([*case.encode(), first])
            factors = np.exp(rng.normal(0, self.noise, self.seeds))
            for (seed, factor), method, learner in product(enumerate(factors), methods, learners):
                own = factor * _level(case, method, self.true) * (1.1 if learner == PLAIN else 1.0)
                labels = {"task": case, "preference": method, "learner": learner, "stage": stage}
                rows.append(run(first + seed, [own] * EPISODES, **labels))
        return Results(frame(rows), Score())


def learned_results(true: bool, seeds: int, noise: float) -> dict[PaperStudy, Results]:
    """Of all studies of learned preferences."""
    made, both = _Made(true, seeds, noise).results, [BOUNDED, PLAIN]
    found = {}
    for group, study in BY_PTD.items():
        cases = list(of_group(group))
        found[study] = made(cases, [LEARNED, ORACLE, ONE], both)
        found[BY_TD[group]] = made(cases, [TD_LAMBDA], both)
    for group, study in WITH_RETURNS.items():
        found[study] = made(list(of_group(group)), [BY_RETURNS], [BOUNDED])
    return found
