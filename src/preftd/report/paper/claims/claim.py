"""Claims, and what results say of them: a verdict follows from an interval, never from an opinion.

A claim names a region in which an effect should lie. The effect is measured over seeds, and

    interval wholly inside the region    reproduced
    interval wholly outside of it        not reproduced
    else                                 undecided

A claim of several cases ("on both tasks", "for all lengths") must hold in each, so it stands or
falls with the weakest one. Intervals of n cases have the level 1 − 0.05 / n (Bonferroni): all of
them hold together with probability 95 % or more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import inf
from typing import NamedTuple, TypeAlias, final

from preftd.arrays import InputError
from preftd.experiments.results import Results

LEVEL = 0.95
"""Of all intervals of a claim together."""
ROUNDING = 1e-9
"""Two runs that differ by less are the same run: an effect on the edge of a region is outside."""


class Verdict(StrEnum):
    """What results say of a claim; the weakest first."""

    NOT_REPRODUCED = "not reproduced"
    UNDECIDED = "undecided"
    REPRODUCED = "reproduced"


@final
@dataclass(frozen=True)
class Region:
    """Where an effect should lie: between two numbers, which are no longer in it.

    >>> Region(low=1).verdict(1.2, 3), Region(low=1).verdict(0.5, 1), Region(low=1).verdict(0.9, 2)
    (<Verdict.REPRODUCED: 'reproduced'>, <Verdict.NOT_REPRODUCED: 'not reproduced'>, \
<Verdict.UNDECIDED: 'undecided'>)
    """

    low: float = -inf
    high: float = inf

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise InputError(f"the region from {self.low} to {self.high} is empty.")

    def __str__(self) -> str:
        low, high = (f"{end:.3g}".replace("-", "−") for end in (self.low, self.high))
        if self.low == -inf:
            return f"< {high}"
        return f"> {low}" if self.high == inf else f"{low} to {high}"

    def verdict(self, low: float, high: float) -> Verdict:
        """Of an interval: this is the only place where verdicts come from."""
        if high <= self.low + ROUNDING or low >= self.high - ROUNDING:
            return Verdict.NOT_REPRODUCED
        if self.depth(low, high) > ROUNDING:
            return Verdict.REPRODUCED
        return Verdict.UNDECIDED

    def depth(self, low: float, high: float) -> float:
        """How far an interval is from leaving the region; negative if it has left."""
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
    """What results say of a claim.

    effect    what the number is, and its unit if it has one
    region    where it is claimed to be
    cases     where it is, in each case
    averages  where it is on average, told beside them where cases are many
    """

    effect: str
    region: Region
    cases: tuple[Case, ...]
    averages: tuple[Case, ...] = ()

    def __post_init__(self) -> None:
        if not self.cases:
            raise InputError("a finding needs at least one case.")

    @property
    def weakest(self) -> Case:
        """The case that decides: the worst verdict, and of these the one deepest in it."""
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
        """That of the weakest case."""
        return self.region.verdict(self.weakest.low, self.weakest.high)

    @property
    def on_average(self) -> Verdict | None:
        """That of the weakest average, if there are any."""
        return replace(self, cases=self.averages, averages=()).verdict if self.averages else None

    @property
    def level(self) -> float:
        """Of the interval of each case."""
        return level_of_each(len(self.cases))


def level_of_each(cases: int) -> float:
    """The level that each of so many intervals must have for all of them to hold together."""
    return 1 - (1 - LEVEL) / cases


Found: TypeAlias = Mapping[str, Results]
"""Results by the name of their study."""


@final
@dataclass(frozen=True)
class Claim:
    """A statement on figures of the paper, and how results are asked about it.

    name       that users type
    statement  what is claimed, in our words, and what its words are taken to mean
    figures    of the paper that it speaks about; none if it goes past the paper
    studies    whose results it needs, by name
    test       from these results to a finding
    because    what explains it, in a sentence: what is the method, what the axis
    """

    name: str
    statement: str
    figures: tuple[str, ...]
    studies: tuple[str, ...]
    test: Callable[[Found], Finding]
    because: str = ""
