"""Verdicts: they follow from an interval and a region, never from an opinion.

A claim names a region in which an effect should lie. The effect is measured over seeds, and

    interval inside the region     reproduced
    interval outside the region    not reproduced
    otherwise                      inconclusive

A claim with several cases ("on both tasks", "for all lengths") must hold in each of them, so its
weakest case decides. Intervals of n cases have the level 1 − 0.05 / n (Bonferroni): all of them
hold together with probability 95 % or more.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import NamedTuple, final

from preftd._src.arrays import InputError
from preftd._src.style import number_text

LEVEL = 0.95
"""Level of all intervals of a claim together."""
ROUNDING = 1e-9
"""Runs that differ by less are the same run: an effect on the edge of a region is outside it."""


class Verdict(StrEnum):
    """What results say about a claim; the weakest first."""

    NOT_REPRODUCED = "not reproduced"
    INCONCLUSIVE = "inconclusive"
    REPRODUCED = "reproduced"


@final
@dataclass(frozen=True)
class Region:
    """Where an effect should lie: an open interval.

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

    def depth(self, low: float, high: float) -> float:
        """How far an interval lies inside the region; negative if a part is outside."""
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
    """What results say about a claim.

    effect    what the number is, and its unit if it has one
    region    where it is claimed to lie
    cases     the effect in each case
    averages  averages of the effect over cases, where cases are many
    """

    effect: str
    region: Region
    cases: tuple[Case, ...]
    averages: tuple[Case, ...] = ()

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
    def level(self) -> float:
        """Level of the interval of each case."""
        return level_of_each(len(self.cases))


def level_of_each(cases: int) -> float:
    """The level each of `cases` intervals must have for all of them to hold together."""
    return 1 - (1 - LEVEL) / cases
