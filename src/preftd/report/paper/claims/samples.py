"""Numbers by seed, and findings from them.

Two methods on the same task and seed learn from the same episodes. So they are compared seed by
seed, and the interval is one of their ratio, or difference, over seeds. Where tasks differ (in
length) seeds share no experience; pairing them is then as good as any other pairing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, Self, TypeAlias, final

import numpy as np
import polars as pl

from preftd.arrays import Dense, InputError, Vector
from preftd.experiments.intervals import student
from preftd.report.paper.claims.claim import Case, Finding, Region, level_of_each

ALIKE = 1.1
"""Errors that differ by less than 10 % are called alike, in every claim that says so."""
LARGER, SMALLER = Region(low=1), Region(high=1)
SAME, NOT_LARGER = Region(1 / ALIKE, ALIKE), Region(high=ALIKE)
"""Of ratios."""


@final
@dataclass(frozen=True, eq=False)
class Sample:
    """A number for each seed."""

    seeds: tuple[int, ...]
    values: Vector

    @classmethod
    def of(cls, runs: pl.DataFrame, value: str = "score", **labels: Any) -> Self:
        """The values of the runs that have these labels, of which each seed has one."""
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
        self.pair(other)
        with np.errstate(divide="ignore", invalid="ignore"):
            return Sample(self.seeds, self.values / other.values)

    def minus(self, other: "Sample | float") -> "Sample":
        """The difference, seed by seed."""
        if isinstance(other, Sample):
            self.pair(other)
        with np.errstate(invalid="ignore"):
            given = other.values if isinstance(other, Sample) else other
            return Sample(self.seeds, self.values - given)

    def pair(self, other: "Sample") -> None:
        """Refuse another whose seeds are others."""
        if self.seeds != other.seeds:
            raise InputError("samples have other seeds: only the same seeds can be compared.")


Groups: TypeAlias = Mapping[str, Mapping[str, Sample]]
"""Samples by what is compared, then by the place where it is."""


def rows(runs: pl.DataFrame, **labels: Any) -> pl.DataFrame:
    """The runs that have these labels; of a list of labels, any of them."""
    return runs.filter(
        *(
            pl.col(name).is_in(wanted)
            if isinstance(wanted, list | tuple)
            else pl.col(name) == wanted
            for name, wanted in labels.items()
        )
    )


def errors(runs: pl.DataFrame, **labels: Any) -> tuple[tuple[int, ...], Dense]:
    """Seeds, and their errors after each episode: seeds × episodes."""
    found = rows(runs, **labels).sort("seed")
    return tuple(found["seed"]), np.array(found["error"].to_list(), dtype=np.float64)


def means(effect: str, region: Region, samples: Mapping[str, Sample]) -> Finding:
    """A finding on means over seeds."""
    level = level_of_each(len(samples))
    cases = [Case(name, *_interval(of.values, level)) for name, of in samples.items()]
    return Finding(effect, region, tuple(cases))


def ratios(effect: str, region: Region, samples: Mapping[str, Sample]) -> Finding:
    """A finding on geometric means over seeds, for which twice and half are equally far from 1."""
    level = level_of_each(len(samples))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = {name: np.log(of.values) for name, of in samples.items()}
        ends = {name: np.exp(_interval(of, level)).tolist() for name, of in logs.items()}
    cases = [Case(name, *of) for name, of in ends.items()]
    return Finding(effect, region, tuple(cases))


def many_means(effect: str, region: Region, groups: Groups) -> Finding:
    """A finding on means in many places, and on their averages over places."""
    return _many(means, lambda values: values.mean(0), effect, region, groups)


def many_ratios(effect: str, region: Region, groups: Groups) -> Finding:
    """A finding on ratios in many places, and on their geometric averages over places."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return _many(ratios, lambda values: np.exp(np.log(values).mean(0)), effect, region, groups)


def _many(
    find: Callable[[str, Region, Mapping[str, Sample]], Finding],
    average: Callable[[Dense], Vector],
    effect: str,
    region: Region,
    groups: Groups,
) -> Finding:
    every = {
        f"{group}, {place}" if group else place: sample
        for group, places in groups.items()
        for place, sample in places.items()
    }
    over_places = {
        group: _over_places(list(places.values()), average) for group, places in groups.items()
    }
    averages = find(effect, region, over_places).cases
    return replace(find(effect, region, every), averages=averages)


def _over_places(samples: Sequence[Sample], average: Callable[[Dense], Vector]) -> Sample:
    first = samples[0]
    for other in samples[1:]:
        first.pair(other)
    return Sample(first.seeds, average(np.array([of.values for of in samples])))


def _interval(values: Vector, level: float) -> tuple[float, float, float]:
    """Mean and Student's interval; everything is possible where a seed is not finite."""
    if not np.isfinite(values).all():
        return inf, -inf, inf
    found = student(values, level)
    mean, width = float(found.mean), float(found.half_width)
    return mean, mean - width, mean + width
