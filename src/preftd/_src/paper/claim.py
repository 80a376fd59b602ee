"""Claims as data: a quantity per case, computed from results, and the region it should lie in."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self, TypeAlias, final

import polars as pl

from preftd._src.experiments.results import Results
from preftd._src.paper.samples import MEAN, RATIO, Sample, Statistic, rows
from preftd._src.paper.study import Found, PaperStudy
from preftd._src.paper.verdict import Finding, Region


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
        """What a measure makes of the results of a study."""
        return cls((study,), lambda found: measure(found[study]))

    @classmethod
    def joined(
        cls,
        quantities: "Sequence[Quantity]",
        join: Callable[[Sequence[Sample]], Sample] = MEAN.of_samples,
    ) -> Self:
        """What a function makes of several quantities, by default their mean, seed by seed."""
        studies = tuple(study for one in quantities for study in one.studies)
        return cls(studies, lambda found: join([one.sample(found) for one in quantities]))

    def then(self, change: Callable[[Sample], Sample]) -> "Quantity":
        """The quantity that a function makes of this one."""
        return Quantity(self.studies, lambda found: change(self.sample(found)))

    def __truediv__(self, other: "Quantity") -> "Quantity":
        return Quantity(
            self.studies + other.studies,
            lambda found: self.sample(found).over(other.sample(found)),
        )

    def __sub__(self, other: "Quantity") -> "Quantity":
        return Quantity(
            self.studies + other.studies,
            lambda found: self.sample(found).minus(other.sample(found)),
        )


class Runs(NamedTuple):
    """Some runs of a study: those reported, or those tried by its search, that have these labels.

    A study without a search tries all step sizes on the seeds that it reports.
    """

    study: PaperStudy
    stage: Literal["reported", "tried"]
    labels: Mapping[str, Any]

    def by(self, measure: Callable[..., Sample], *given: Any) -> Quantity:
        """What a measure makes of these runs, and of what else it is given."""

        def of_results(results: Results) -> Sample:
            runs: pl.DataFrame = getattr(results, self.stage)
            return measure(rows(runs, **self.labels), *given)

        return Quantity.of(self.study, of_results)

    @property
    def score(self) -> Quantity:
        """The score of each seed's only run."""
        return self.by(Sample.of)


def reported(study: PaperStudy, **labels: Any) -> Runs:
    """Reported runs of a study that have these labels."""
    return Runs(study, "reported", labels)


def tried(study: PaperStudy, **labels: Any) -> Runs:
    """Runs of a study with every step size that have these labels."""
    return Runs(study, "tried", labels)


@final
class Cases(dict[str, Quantity]):
    """Quantities by setting; `a / b` and `a - b` are those of the same settings."""

    def __truediv__(self, other: "Cases") -> "Cases":
        return Cases({setting: one / other[setting] for setting, one in self.items()})

    def __sub__(self, other: "Cases") -> "Cases":
        return Cases({setting: one - other[setting] for setting, one in self.items()})


class Comparison(NamedTuple):
    """What a claim measures.

    statistic  how numbers of seeds are averaged
    effect     what the number is, and its unit if it has one
    region     where it is claimed to lie, in all cases
    groups     quantities by what is compared, then by setting
    averaged   whether each group is also averaged over its settings, which are many
    """

    statistic: Statistic
    effect: str
    region: Region
    groups: Mapping[str, Mapping[str, Quantity]]
    averaged: bool


Compared: TypeAlias = Mapping[str, Quantity] | Mapping[str, Mapping[str, Quantity]]
"""Quantities by setting, or by what is compared and setting."""


def ratio(effect: str, region: Region, compared: Compared, *, averaged: bool = False) -> Comparison:
    """A comparison of geometric means over seeds."""
    return Comparison(RATIO, effect, region, _groups(compared), averaged)


def difference(
    effect: str, region: Region, compared: Compared, *, averaged: bool = False
) -> Comparison:
    """A comparison of means over seeds."""
    return Comparison(MEAN, effect, region, _groups(compared), averaged)


def _groups(compared: Compared) -> dict[str, Mapping[str, Quantity]]:
    alone = {name: one for name, one in compared.items() if isinstance(one, Quantity)}
    groups = {name: one for name, one in compared.items() if isinstance(one, Mapping)}
    return groups or {"": alone}


@final
@dataclass(frozen=True, eq=False)
class Claim:
    """A statement about figures of the paper, and how results are tested for it.

    name        the name that users type
    statement   what is claimed, in our words, and what these words mean
    figures     figures of the paper that it is about; none if it goes beyond the paper
    comparison  what is measured, and where it should lie
    because     an explanation, in a sentence or two
    """

    name: str
    statement: str
    figures: tuple[str, ...]
    comparison: Comparison
    because: str = ""

    @property
    def studies(self) -> tuple[PaperStudy, ...]:
        """The studies whose results it needs."""
        groups = self.comparison.groups.values()
        every = (study for group in groups for one in group.values() for study in one.studies)
        return tuple(dict.fromkeys(every))

    def test(self, found: Found) -> Finding:
        """What results say about it."""
        statistic, effect, region, groups, averaged = self.comparison
        samples = {
            group: {setting: quantity.sample(found) for setting, quantity in cases.items()}
            for group, cases in groups.items()
        }
        return statistic.finding(effect, region, samples, averaged=averaged)
