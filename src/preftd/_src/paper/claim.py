"""Claims as data: a number per seed, computed from results, and the region that it should lie in.

Verdicts follow from an interval and a region, never from an opinion. A claim names a region in
which an effect should lie. The effect is measured over seeds, and

    interval inside the region     reproduced
    interval outside the region    not reproduced
    otherwise                      inconclusive

A claim with several cases ("on both tasks", "for all lengths") must hold in each of them, so its
weakest case decides. Intervals of n cases have the level 1 − 0.05 / n (Bonferroni): all of them
hold together with probability 95 % or more.

The first claim of each finding of the paper is its primary claim. It is also measured as one
average over all cases, seed by seed, with one interval of 95 %:

    average inside the region, and each case     holds
    average inside the region, not each case     holds on average
    average outside the region                   contradicted
    otherwise                                    inconclusive

If it ranks a method above several others, each of them has such an average, intervals hold
together, and the one that is nearest to the edge of the region counts.

Two methods on the same task and seed learn from the same episodes. So they are compared seed by
seed, and the interval is that of their ratio, or difference, over seeds. Where tasks differ (in
length) seeds share no experience; pairing them is then as good as any other pairing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from math import inf
from typing import Any, Literal, NamedTuple, Self, TypeAlias, final

import numpy as np
import polars as pl

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.experiments.results import Results
from preftd._src.experiments.statistics import student
from preftd._src.paper.experiment import read_words
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.style import number_text

LEVEL = 0.95
"""Level of all intervals of a claim together."""
ROUNDING = 1e-9
"""Runs that differ by less are the same run: an effect on the edge of a region is outside it."""
NEGLIGIBLE = 0.01
"""A ratio that differs from 1 by less is negligible, and a claim that it reproduces says so."""


class Verdict(StrEnum):
    """Verdicts on a claim, the weakest first."""

    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    REPRODUCED = "reproduced"


class Outcome(StrEnum):
    """Verdicts on a primary claim, the best first."""

    HOLDS = "holds"
    ON_AVERAGE = "holds on average"
    INCONCLUSIVE = "inconclusive"
    CONTRADICTED = "contradicted"


def _number(text: str) -> float:
    """A number, or one divided by another."""
    one, _, other = text.partition("/")
    return float(one) / float(other or 1)


@final
@dataclass(frozen=True)
class Region:
    """The predicted range of an effect: an open interval.

    >>> Region(low=1).verdict(1.2, 3), Region(low=1).verdict(0.5, 1), Region(low=1).verdict(0.9, 2)
    (<Verdict.REPRODUCED: 'reproduced'>, <Verdict.NOT_REPRODUCED: 'not reproduced'>, \
<Verdict.INCONCLUSIVE: 'inconclusive'>)
    """

    low: float = -inf
    high: float = inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(
                f"the region from {self.low} to {self.high} is empty: give low < high."
            )

    @classmethod
    def of(cls, text: str) -> Self:
        """The region that a text describes.

        >>> Region.of("< 0.5"), Region.of("1/2 to 2")
        (Region(low=-inf, high=0.5), Region(low=0.5, high=2.0))
        """
        sign, _, end = text.partition(" ")
        if sign == "<":
            return cls(high=_number(end))
        return cls(low=_number(end)) if sign == ">" else cls(*map(_number, text.split(" to ")))

    def __str__(self) -> str:
        low, high = map(number_text, (self.low, self.high))
        if self.low == -inf:
            return f"< {high}"
        return f"> {low}" if self.high == inf else f"{low} to {high}"

    def verdict(self, low: float, high: float) -> Verdict:
        """The verdict on an interval; no other code decides one."""
        if high <= self.low + ROUNDING or low >= self.high - ROUNDING:
            return Verdict.NOT_REPRODUCED
        if self.depth(low, high) > ROUNDING:
            return Verdict.REPRODUCED
        return Verdict.INCONCLUSIVE

    def is_negligible(self, effect: float) -> bool:
        """Whether an effect is above or below 1, as claimed, but negligible.

        >>> Region(low=1).is_negligible(1.0006), Region(low=1.1).is_negligible(1.1006)
        (True, False)
        """
        claims_other_than_1 = (self.low, self.high) in ((1.0, inf), (-inf, 1.0))
        return claims_other_than_1 and abs(effect - 1) < NEGLIGIBLE

    def depth(self, low: float, high: float) -> float:
        """The distance of an interval from the edge of the region.

        Negative if a part is outside.
        """
        below = inf if self.low == -inf else low - self.low
        return min(below, inf if self.high == inf else self.high - high)


class Case(NamedTuple):
    """An effect in one of the cases of a claim, with its interval."""

    name: str
    centre: float
    low: float
    high: float


@final
@dataclass(frozen=True)
class Finding:
    """The finding on a claim.

    effect    what the number is, and its unit if it has one
    region    where it is claimed to lie
    cases     the effect in each case
    averages  averages of the effect over cases, where cases are many
    average   the one average by which a primary claim is judged; its name says which methods it
              compares, if these are only two or the nearest of several
    """

    effect: str
    region: Region
    cases: tuple[Case, ...]
    averages: tuple[Case, ...] = ()
    average: Case | None = None

    def __post_init__(self) -> None:
        if not self.cases:
            raise InputError("cases of a finding are empty: give at least one case.")

    @property
    def weakest(self) -> Case:
        """The case that decides: one with the worst verdict, and among these the least deep."""
        order = list(Verdict)
        return min(
            self.cases,
            key=lambda case: (
                order.index(self.region.verdict(case.low, case.high)),
                self.region.depth(case.low, case.high),
            ),
        )

    @property
    def verdict(self) -> Verdict:
        """The verdict on the weakest case."""
        return self.region.verdict(self.weakest.low, self.weakest.high)

    @property
    def on_average(self) -> Verdict | None:
        """The verdict on the weakest average, if there are averages."""
        return replace(self, cases=self.averages, averages=()).verdict if self.averages else None

    @property
    def held(self) -> int:
        """The number of cases whose effect lies in the region."""
        return self.count(Verdict.REPRODUCED)

    def count(self, verdict: Verdict) -> int:
        """The number of cases with this verdict."""
        return [self.region.verdict(case.low, case.high) for case in self.cases].count(verdict)

    @property
    def outcome(self) -> Outcome | None:
        """The outcome of a primary claim; None of others."""
        if self.average is None:
            return None
        verdict = self.region.verdict(self.average.low, self.average.high)
        if verdict == Verdict.REPRODUCED:
            return Outcome.HOLDS if self.held == len(self.cases) else Outcome.ON_AVERAGE
        contradicted = verdict == Verdict.NOT_REPRODUCED
        return Outcome.CONTRADICTED if contradicted else Outcome.INCONCLUSIVE

    @property
    def level(self) -> float:
        """Level of the interval of each case."""
        return level_of_each(len(self.cases))


def level_of_each(cases: int) -> float:
    """The level each of `cases` intervals must have for all of them to hold together."""
    return 1 - (1 - LEVEL) / cases


Number: TypeAlias = float | Vector
"""One for all seeds, or one for each."""


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

    def over(self, other: "Sample | Number") -> "Sample":
        """The ratio, seed by seed."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return Sample(self.seeds, self.values / self._paired(other))

    def minus(self, other: "Sample | Number") -> "Sample":
        """The difference, seed by seed."""
        with np.errstate(invalid="ignore"):
            return Sample(self.seeds, self.values - self._paired(other))

    def _paired(self, other: "Sample | Number") -> Number:
        if isinstance(other, Sample):
            self.check_paired(other)
            return other.values
        return other

    def check_paired(self, other: "Sample") -> None:
        """Refuse a sample with different seeds."""
        if self.seeds != other.seeds:
            raise InputError("samples have different seeds: only the same seeds can be compared.")


def rows(runs: pl.DataFrame, **labels: Any) -> pl.DataFrame:
    """The runs with these labels; a list or tuple means any of its labels."""
    return runs.filter(
        *(
            pl.col(name).is_in(wanted)
            if isinstance(wanted, list | tuple)
            else pl.col(name) == wanted
            for name, wanted in labels.items()
        )
    )


Groups: TypeAlias = Mapping[str, Mapping[str, Sample]]
"""Samples by comparison, then by setting; a case is named "<group>, <setting>"."""


class Statistic(NamedTuple):
    """A kind of mean: of transformed numbers, transformed back."""

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
        self,
        effect: str,
        region: Region,
        groups: Groups,
        *,
        averaged: bool = False,
        average: "Average" = "",
    ) -> Finding:
        """A finding on the means of all cases.

        Parameters
        ----------
        effect, region
            What the number is, and where it is claimed to lie.
        groups
            The numbers.
        averaged
            Whether groups are also averaged over their settings.
        average
            How one average is made of all, if at all.
        """
        every = {
            f"{group}, {setting}" if group else setting: sample
            for group, samples in groups.items()
            for setting, sample in samples.items()
        }
        means = {name: self.of_samples(list(of.values())) for name, of in groups.items()}
        averages = self.cases(means) if averaged else ()
        one: Case | None = None
        if average == "cases":
            name = next(iter(groups)) if len(groups) == 1 else ""
            [one] = self.cases({name: self.of_samples(list(every.values()))})
        elif average == "nearest":
            others = self.cases(means if len(means) > 1 else every)
            one = Finding(effect, region, others).weakest
        return Finding(effect, region, self.cases(every), averages, one)


Average: TypeAlias = Literal["", "cases", "nearest"]
"""How a claim becomes one number: the mean of all cases, or of those against the nearest method."""
MEAN = Statistic(np.asarray, np.asarray)
RATIO = Statistic(np.log, np.exp)
"""The geometric mean, for which twice and half are equally far from 1."""


def _interval(values: Vector, level: float) -> tuple[float, float, float]:
    """Mean and Student's interval; infinite if a value is not finite."""
    if not np.isfinite(values).all():
        return inf, -inf, inf
    found = student(values, level)
    mean, width = float(found.mean), float(found.half_width)
    return mean, mean - width, mean + width


@final
@dataclass(frozen=True, eq=False)
class Quantity:
    """A number per seed, computed from the results of studies when a claim is tested.

    `a / b` and `a - b` are the ratio and the difference of two quantities, seed by seed.
    """

    studies: tuple[PaperStudy, ...]
    sample: Callable[[Found], Sample]

    @classmethod
    def of(cls, study: PaperStudy, measure: Callable[[Results], Sample]) -> Self:
        """A measure of the results of a study."""
        return cls((study,), lambda found: measure(found[study]))

    @classmethod
    def joined(
        cls,
        quantities: "Sequence[Quantity]",
        join: Callable[[Sequence[Sample]], Sample] = MEAN.of_samples,
    ) -> Self:
        """A function of several quantities, by default their mean, seed by seed."""
        studies = tuple(study for one in quantities for study in one.studies)
        return cls(studies, lambda found: join([one.sample(found) for one in quantities]))

    def then(self, change: Callable[[Sample], Sample]) -> "Quantity":
        """A function of this quantity."""
        return Quantity(self.studies, lambda found: change(self.sample(found)))

    def __truediv__(self, other: "Quantity") -> "Quantity":
        return Quantity.joined([self, other], lambda both: both[0].over(both[1]))

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity.joined([self, other], lambda both: both[0].minus(both[1]))


class Runs(NamedTuple):
    """Runs of a study with these labels: reported ones, or those of its search.

    A study without a search tries all step sizes on the seeds that it reports.
    """

    study: PaperStudy
    stage: Literal["reported", "tried"]
    labels: Mapping[str, Any]

    def by(self, measure: Callable[..., Sample], *given: Any) -> Quantity:
        """A measure of these runs, with further arguments."""

        def of_results(results: Results) -> Sample:
            runs: pl.DataFrame = getattr(results, self.stage)
            return measure(rows(runs, **self.labels), *given)

        return Quantity.of(self.study, of_results)

    @property
    def score(self) -> Quantity:
        """The score of each seed's only run."""
        return self.by(Sample.of)


def reported(study: PaperStudy, **labels: Any) -> Runs:
    """Reported runs of a study with these labels."""
    return Runs(study, "reported", labels)


def tried(study: PaperStudy, **labels: Any) -> Runs:
    """Runs of a study with these labels, with every step size."""
    return Runs(study, "tried", labels)


@final
class Cases(dict[str, Quantity]):
    """Quantities by setting; `a / b` and `a - b` are those of the same settings."""

    @classmethod
    def by_study(cls, studies: Mapping[str, PaperStudy], **labels: Any) -> Self:
        """Scores of reported runs that have these labels, by the name of the study."""
        return cls({name: reported(study, **labels).score for name, study in studies.items()})

    @classmethod
    def by_task(cls, study: PaperStudy, tasks: Iterable[str], **labels: Any) -> Self:
        """Scores of reported runs that have these labels, by task."""
        return cls({task: reported(study, task=task, **labels).score for task in tasks})

    def __truediv__(self, other: "Cases") -> "Cases":
        return Cases({setting: one / other[setting] for setting, one in self.items()})

    def __sub__(self, other: "Cases") -> "Cases":
        return Cases({setting: one - other[setting] for setting, one in self.items()})


Compared: TypeAlias = Mapping[str, Quantity] | Mapping[str, Mapping[str, Quantity]]
"""Quantities by setting, or by comparison and setting."""


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """A statement about results, and its test.

    name       the name that users type
    statement  what is claimed, in our words, and what these words mean
    effect     what the number is, and its unit if it has one
    region     where it is claimed to lie, in all cases
    compared   quantities by setting, or by what is compared and setting
    because    an explanation, in a sentence or two
    statistic  how numbers of seeds are averaged
    averaged   whether each group is also averaged over its settings, which are many
    average    how all cases become the one number of a primary claim
    figures    figures of the paper that it is about; none if it goes beyond the paper
    """

    name: str
    statement: str
    effect: str
    region: Region
    compared: Compared
    because: str = ""
    statistic: Statistic = MEAN
    averaged: bool = False
    average: Average = ""
    figures: tuple[str, ...] = ()

    @property
    def groups(self) -> Mapping[str, Mapping[str, Quantity]]:
        """Quantities by comparison, then by setting."""
        groups = {name: one for name, one in self.compared.items() if isinstance(one, Mapping)}
        alone = {name: one for name, one in self.compared.items() if isinstance(one, Quantity)}
        return groups or {"": alone}

    @property
    def studies(self) -> tuple[PaperStudy, ...]:
        """The studies whose results it needs."""
        groups = self.groups.values()
        every = (study for group in groups for one in group.values() for study in one.studies)
        return tuple(dict.fromkeys(every))

    def numbers(self, found: Found) -> list[Any]:
        """The numbers of its finding, as plain data: see `finding`."""
        tested = self.test(found)
        return [tested.cases, tested.averages, tested.average]

    def finding(self, numbers: Sequence[Any]) -> Finding:
        """The finding with these numbers."""
        cases, averages, average = numbers
        every, some = (tuple(Case(*one) for one in many) for many in (cases, averages))
        return Finding(self.effect, self.region, every, some, average and Case(*average))

    def test(self, found: Found) -> Finding:
        """The finding on it."""
        samples = {
            group: {setting: quantity.sample(found) for setting, quantity in cases.items()}
            for group, cases in self.groups.items()
        }
        return self.statistic.finding(
            self.effect, self.region, samples, averaged=self.averaged, average=self.average
        )


difference = partial(Claim, statistic=MEAN)
STATISTICS = {"ratio": RATIO, "mean": MEAN}
"""Of numbers that are ratios, and of all others."""


@cache
def stated(folder: str) -> Mapping[str, Claim]:
    """The claims in the `claims.toml` of a folder, by name, without comparisons.

    A row has fields of `Claim`: the statement, the effect, and if there are any the figures of the
    paper, an explanation, and how cases are averaged. `claimed` is a statistic and a region, such
    as "ratio > 1" or "mean -0.1 to 0.1"; intervals of ratios are those of their logarithms.

    A row that has a table `each` makes several claims: {each} is a key of the table in the name,
    and its value in the texts.
    """
    found = {}
    for pattern, row in read_words(folder, "claims").items():
        for key, meant in row.pop("each", {"": ""}).items():
            said: dict[str, Any] = {
                part: text.replace("{each}", meant) if isinstance(text, str) else text
                for part, text in row.items()
            }
            kind, _, region = said.pop("claimed").partition(" ")
            said |= {"region": Region.of(region), "statistic": STATISTICS[kind]}
            name = pattern.replace("{each}", key)
            found[name] = Claim(name, compared={}, **said)
    return found


def claimed(folder: str, compared: Mapping[str, Compared]) -> tuple[Claim, ...]:
    """The claims of a folder by these names, with their comparisons."""
    return tuple(replace(stated(folder)[name], compared=one) for name, one in compared.items())


def pairs(of: Callable[[str], Cases], *methods: tuple[str, str]) -> dict[str, Cases]:
    """The ratio of a quantity between two methods, for each of some pairs."""
    return {f"{one} over {other}": of(one) / of(other) for one, other in methods}


def averaged(*claims: Claim) -> tuple[Claim, ...]:
    """The same claims, whose groups are also averaged over their settings, if these are several."""
    return tuple(
        replace(claim, averaged=any(len(cases) > 1 for cases in claim.groups.values()))
        for claim in claims
    )
