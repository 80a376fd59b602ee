"""Quantities of CartPole that claims compare: returns, their spread over seeds, shares of β = 1."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from preftd._src.arrays import Vector
from preftd._src.paper.cartpole.studies import BETWEEN, CONDITIONS
from preftd._src.paper.claim import Cases, Quantity, Runs, reported, tried
from preftd._src.paper.samples import Sample
from preftd._src.paper.study import PaperStudy

NEARLY = 0.8


def part(runs: pl.DataFrame, measure: str, begin: float = 0.0, end: float = 1.0) -> Sample:
    """Mean of a measure over a part of the episodes: from 0.8 to 1 is the last fifth.

    A run may have a number for each episode, or means over as many consecutive ones.
    """
    found = runs.sort("seed")
    numbers = np.array(found[measure].to_list(), dtype=np.float64)
    first, last = (round(share * numbers.shape[1]) for share in (begin, end))
    return Sample(tuple(found["seed"]), numbers[:, first:last].mean(axis=1))


class Where(NamedTuple):
    """Conditions of a study."""

    study: PaperStudy
    conditions: Sequence[str] = CONDITIONS

    def runs(self, rule: str, condition: str) -> Runs:
        """Of a method, with the chosen step sizes on fresh seeds."""
        return reported(self.study, rule=rule, preference=condition)

    def each(self, quantity: Callable[[str], Quantity]) -> Cases:
        """A quantity of each condition."""
        return Cases({condition: quantity(condition) for condition in self.conditions})

    def returns(self, rule: str, begin: float = 0.0, end: float = 1.0) -> Cases:
        """Mean returns, over a part of the episodes."""
        return self.each(lambda one: self.runs(rule, one).by(part, "return", begin, end))

    def shares(self, rule: str, begin: float = 0.0, end: float = 1.0) -> Cases:
        """Mean shares of steps with β = 1 in an episode."""
        return self.each(lambda one: self.runs(rule, one).by(part, "preferred", begin, end))

    def spread(self, rule: str) -> Cases:
        """How far the mean return of each seed lies from the median."""
        return self.each(lambda one: self.runs(rule, one).by(part, "return").then(from_median))

    def tolerance(self, rule: str) -> Cases:
        """Shares of pairs of step sizes with which seeds of the search nearly have the best return.

        A return is nearly as good if it is at least `NEARLY` of the mean of the best pair.
        """
        return self.each(
            lambda one: tried(self.study, rule=rule, preference=one).by(_share_of_good_pairs)
        )


def _share_of_good_pairs(runs: pl.DataFrame) -> Sample:
    best = runs.group_by("schedule").agg(pl.col("score").mean())["score"].max()
    good = (pl.col("score") >= NEARLY * pl.lit(best)).mean()
    found = runs.group_by("seed").agg(good.alias("share")).sort("seed")
    return Sample(tuple(found["seed"]), found["share"].to_numpy())


def relative(one: Cases, other: Cases) -> Cases:
    """How much larger the one is than the other, in parts of the mean of the other over seeds.

    Not the mean of ratios: with some seeds nothing is learned, and these would dominate it.
    """

    def larger(samples: Sequence[Sample]) -> Sample:
        more = samples[0].minus(samples[1])
        return Sample(more.seeds, more.values / samples[1].values.mean())

    return Cases(
        {name: Quantity.joined([quantity, other[name]], larger) for name, quantity in one.items()}
    )


def from_median(sample: Sample) -> Sample:
    """Distances from the median over seeds."""
    return Sample(sample.seeds, np.abs(sample.values - np.median(sample.values)))


def gain_of_preferred(share: Vector) -> Vector:
    """The part of PTD's gain at steps with β = 1, given their share of all steps."""
    return share / (share + BETWEEN * (1 - share))
