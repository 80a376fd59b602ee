"""Scores of learned preferences, from the errors of all methods on a case.

    share   (TD(λ) − learned) / (TD(λ) − oracle), where the oracle gains a tenth or more; of
            kinds of streams, with the better of β ≡ 1 and TD(λ) in place of TD(λ)
    loss    learned / the better of β ≡ 1 and TD(λ), − 1

Errors are mean squared errors, averaged over all episodes, so that the time until a preference is
found counts. Learned preferences have bounded steps or not, whichever is better on the seeds of the
search. For every other method the better of the two counts, and of two methods the better one, by
reported errors, which favours the others.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import NamedTuple, final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, Vector
from preftd._src.experiments.results import Results
from preftd._src.paper.claim import Sample
from preftd._src.paper.learned.cases import CASES
from preftd._src.paper.learned.studies import GROUPS, LEARNED, ONE, ORACLE, TD_LAMBDA

GAIN = 0.9
"""The oracle gains if its error is at most this share of that of the other method."""
DRAWS, LEVEL = 2000, 0.95
"""Of the bootstrap, which draws seeds: errors of a seed stay together."""


class Estimate(NamedTuple):
    """A number and its interval."""

    centre: float
    low: float
    high: float


@final
class Scores:
    """The errors of methods on one case.

    Parameters
    ----------
    errors
        By method and learner, one for each seed, shape (seeds,).
    seeds
        Those that are reported, ascending.
    searched
        By method and learner, the error of the chosen step size on the seeds of the search.
    others
        Methods over which gains are measured.
    """

    def __init__(
        self,
        errors: Mapping[tuple[str, str], Vector],
        seeds: tuple[int, ...],
        searched: Mapping[tuple[str, str], float],
        others: tuple[str, ...] = (TD_LAMBDA,),
    ) -> None:
        self.errors, self.seeds, self.searched = dict(errors), seeds, dict(searched)
        self.others = others

    @classmethod
    def of(cls, found: Iterable[Results], case: str) -> "Scores":
        """The scores of a case, from the results of its studies."""
        read = [_samples(results, case) for results in found]
        samples = {of: one for one_study in read for of, (one, _) in one_study.items()}
        searched = {of: error for one_study in read for of, (_, error) in one_study.items()}
        seeds = {one.seeds for one in samples.values()}
        if len(seeds) != 1:
            raise InputError(f"the runs of {case!r} have different seeds, or there are none.")
        others = GROUPS[CASES[case].group].others
        return cls({of: one.values for of, one in samples.items()}, seeds.pop(), searched, others)

    def best(self, *methods: str) -> Vector:
        """The errors of the best of some methods and learners, shape (seeds,)."""
        return min((own for (name, _), own in self.errors.items() if name in methods), key=np.mean)

    def learned(self, method: str = LEARNED) -> Vector:
        """The errors of a preference that is learned, by the learner that the search prefers."""
        own = sorted(
            (error, learner) for (name, learner), error in self.searched.items() if name == method
        )
        return self.errors[method, own[0][1]]

    @cached_property
    def has_gain(self) -> bool:
        """Whether the oracle gains over TD(λ), or over the better of TD(λ) and β ≡ 1."""
        return bool(self.best(ORACLE).mean() <= GAIN * self.best(*self.others).mean())

    def share(self, of: Vector) -> Estimate:
        """The share of the oracle's gain that a method reaches."""
        other, oracle = self.best(*self.others), self.best(ORACLE)
        return _ratio(other - of, other - oracle)

    def loss(self, of: Vector) -> Estimate:
        """The excess error of a method over the better of β ≡ 1 and TD(λ)."""
        found = _ratio(of, self.best(ONE, TD_LAMBDA))
        return Estimate(*(number - 1 for number in found))

    def kept(self, of: Vector) -> Estimate:
        """The better error of β ≡ 1 and TD(λ), as a share of that of a method."""
        return _ratio(self.best(ONE, TD_LAMBDA), of)

    def reached_sample(self, of: Vector) -> Sample:
        """`share_sample` where the oracle gains, otherwise `kept` as a number per seed."""
        if self.has_gain:
            return self.share_sample(of)
        return Sample(self.seeds, _linearised(self.best(ONE, TD_LAMBDA), of))

    def ratio_sample(self, of: Vector, over: Vector) -> Sample:
        """The error of a method over that of another, as a number per seed."""
        return Sample(self.seeds, _linearised(of, over))

    def share_sample(self, of: Vector) -> Sample:
        """The share as a number per seed: its mean is the share, its spread that of the ratio."""
        other, oracle = self.best(*self.others), self.best(ORACLE)
        return Sample(self.seeds, _linearised(other - of, other - oracle))

    def loss_sample(self, of: Vector) -> Sample:
        """The loss as a number per seed, likewise."""
        return Sample(self.seeds, _linearised(of, self.best(ONE, TD_LAMBDA)) - 1)


Read = dict[tuple[str, str], tuple[Sample, float]]
"""By method and learner, the reported errors, and the mean error on the seeds of the search."""
_SAMPLES: WeakKeyDictionary[Results, dict[str, Read]] = WeakKeyDictionary()
"""A cache of results, which claims read repeatedly."""


def _samples(results: Results, case: str) -> Read:
    """The errors of a case by method and learner."""
    if results not in _SAMPLES:
        found = _SAMPLES[results] = {}
        labels = ["task", "preference", "learner"]
        chosen = results.chosen.select(*labels, "score").iter_rows()
        searched = {(task, method, learner): error for task, method, learner, error in chosen}
        for names, runs in results.reported.group_by(labels):
            task, method, learner = map(str, names)
            both = Sample.of(runs), float(searched.get((task, method, learner), np.inf))
            found.setdefault(task, {})[method, learner] = both
    return _SAMPLES[results].get(case, {})


def mean_estimate(errors: Vector) -> Estimate:
    """The mean error of a method, with its bootstrap interval."""
    return _ratio(errors, np.ones_like(errors))


def _ratio(above: Vector, below: Vector) -> Estimate:
    """The ratio of two means over seeds, with a paired bootstrap interval."""
    drawn = np.random.default_rng(0).integers(len(above), size=(DRAWS, len(above)))
    with np.errstate(all="ignore"):
        ratios = above[drawn].mean(axis=1) / below[drawn].mean(axis=1)
        tail = (1 - LEVEL) / 2
        low, high = np.quantile(ratios, (tail, 1 - tail))
        return Estimate(float(above.mean() / below.mean()), float(low), float(high))


def _linearised(above: Vector, below: Vector) -> NDArray[np.float64]:
    """Numbers whose mean is the ratio of two means, and whose spread is that of the ratio.

    This is the delta method: to first order, the ratio moves by (a − ratio · b) / mean b.
    """
    with np.errstate(all="ignore"):
        ratio = above.mean() / below.mean()
        return np.asarray(ratio + (above - ratio * below) / below.mean())


def scores_of(found: Iterable[Results], cases: Iterable[str]) -> dict[str, Scores]:
    """The scores of some cases, by name."""
    every = list(found)
    return {case: Scores.of(every, case) for case in cases}
