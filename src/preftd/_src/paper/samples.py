"""A number per seed, and findings from such samples.

Two methods on the same task and seed learn from the same episodes. So they are compared seed by
seed, and the interval is that of their ratio, or difference, over seeds. Where tasks differ (in
length) seeds share no experience; pairing them is then as good as any other pairing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, NamedTuple, Self, TypeAlias, final

import numpy as np
import polars as pl

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.experiments.statistics import student
from preftd._src.paper.verdict import Case, Finding, Region, level_of_each

ALIKE = 1.1
"""Errors that differ by less than 10 % are called alike, in all claims."""
LARGER, SMALLER = Region(low=1), Region(high=1)
SAME, NOT_LARGER = Region(1 / ALIKE, ALIKE), Region(high=ALIKE)
"""Regions of ratios."""


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """A number per seed.

    Parameters
    ----------
    seeds
        The seeds, n of them, in ascending order.
    values
        Their numbers, shape (n,).
    """

    seeds: tuple[int, ...]
    values: Vector

    @classmethod
    def of(cls, runs: pl.DataFrame, value: str = "score", **labels: Any) -> Self:
        """The values of the runs with these labels; each seed has one such run."""
        found = rows(runs, **labels).sort("seed")
        return cls(tuple(found["seed"]), found[value].cast(pl.Float64).to_numpy())

    def __post_init__(self) -> None:
        if not self.seeds or len(set(self.seeds)) != len(self.seeds):
            raise InputError(
                "a sample has no seeds, or one twice: give labels that tell runs apart."
            )
        if self.values.shape != (len(self.seeds),):
            raise InputError(
                f"a sample has {len(self.seeds)} seeds but {self.values.shape} values."
            )

    def over(self, other: "Sample") -> "Sample":
        """The ratio, seed by seed."""
        self.check_paired(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            return Sample(self.seeds, self.values / other.values)

    def minus(self, other: "Sample | float") -> "Sample":
        """The difference, seed by seed."""
        if isinstance(other, Sample):
            self.check_paired(other)
        with np.errstate(invalid="ignore"):
            given = other.values if isinstance(other, Sample) else other
            return Sample(self.seeds, self.values - given)

    def check_paired(self, other: "Sample") -> None:
        """Refuse a sample that has other seeds."""
        if self.seeds != other.seeds:
            raise InputError("samples have different seeds: only the same seeds can be compared.")


def rows(runs: pl.DataFrame, **labels: Any) -> pl.DataFrame:
    """The runs that have these labels; a list or tuple stands for any of its labels."""
    return runs.filter(
        *(
            pl.col(name).is_in(wanted)
            if isinstance(wanted, list | tuple)
            else pl.col(name) == wanted
            for name, wanted in labels.items()
        )
    )


Groups: TypeAlias = Mapping[str, Mapping[str, Sample]]
"""Samples by what is compared, then by setting; a case is named "<group>, <setting>"."""


class Statistic(NamedTuple):
    """A kind of mean: of what numbers are changed to, changed back."""

    change: Callable[[Dense], Dense]
    change_back: Callable[[Dense], Dense]

    def of_samples(self, samples: Sequence[Sample]) -> Sample:
        """The mean of several samples, seed by seed."""
        first = samples[0]
        for other in samples[1:]:
            first.check_paired(other)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = self.change(np.array([sample.values for sample in samples]))
            return Sample(first.seeds, self.change_back(values.mean(axis=0)))

    def cases(self, samples: Mapping[str, Sample]) -> tuple[Case, ...]:
        """Means over seeds, with intervals that hold together."""
        level = level_of_each(len(samples))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ends = {
                name: self.change_back(np.array(_interval(self.change(sample.values), level)))
                for name, sample in samples.items()
            }
        return tuple(Case(name, *of.tolist()) for name, of in ends.items())

    def finding(
        self, effect: str, region: Region, groups: Groups, *, averaged: bool = False
    ) -> Finding:
        """A finding on the means of all cases; if `averaged`, also of groups over settings."""
        every = {
            f"{group}, {setting}" if group else setting: sample
            for group, samples in groups.items()
            for setting, sample in samples.items()
        }
        means = {
            name: self.of_samples(list(samples.values()))
            for name, samples in groups.items()
            if averaged
        }
        return Finding(effect, region, self.cases(every), self.cases(means) if means else ())


MEAN = Statistic(np.asarray, np.asarray)
RATIO = Statistic(np.log, np.exp)
"""The geometric mean, for which twice and half are equally far from 1."""


def _interval(values: Vector, level: float) -> tuple[float, float, float]:
    """Mean and Student's interval; everything is possible if a value is not finite."""
    if not np.isfinite(values).all():
        return inf, -inf, inf
    found = student(values, level)
    mean, width = float(found.mean), float(found.half_width)
    return mean, mean - width, mean + width
