"""Claims about figure A.13, for each of the two ways to settle what the paper leaves open.

Beyond the paper, also which of them depend on which choices.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import polars as pl

from preftd._src.arrays import Vector
from preftd._src.paper.cartpole.studies import (
    ABLATIONS,
    BETWEEN,
    CHANGED,
    CONDITIONS,
    FOUR_METHODS,
    METHODS,
    OTHERS_BETWEEN,
    WITH_BETWEEN,
    name_end,
    with_between,
)
from preftd._src.paper.claim import (
    Cases,
    Claim,
    Quantity,
    Region,
    Runs,
    Sample,
    about,
    averaged,
    difference,
    reported,
    tried,
)
from preftd._src.paper.measures import from_median, part
from preftd._src.paper.study import PaperStudy

FIGURE = ("A.13",)
NEARLY = 0.8
EMPHATIC = ("ETD-fixed", "ETD-variable")
OTHERS = (*EMPHATIC, "PTD")
"""All but TD(λ)."""
POORER = [(one, other) for one in EMPHATIC for other in ("TD(λ)", "PTD")]
"""Pairs of which the first is the poorer."""
ALIKE = 0.1
"""Returns that differ by less than 10 % are called alike, as errors are."""
SAME, ABOVE, BELOW = Region(-ALIKE, ALIKE), Region(low=0), Region(high=0)
"""Regions of relative differences."""
FIFTH = 0.2
"""The beginning and the end of learning: so much of the episodes."""
ROUGHLY = Region(0.025, 0.1)
"""Roughly 5 %: from half of it to twice as much."""


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
        return self.each(lambda one: self.runs(rule, one).by(part, begin, end, "return"))

    def shares(self, rule: str, begin: float = 0.0, end: float = 1.0) -> Cases:
        """Mean shares of steps with β = 1 in an episode."""
        return self.each(lambda one: self.runs(rule, one).by(part, begin, end, "preferred"))

    def spread(self, rule: str) -> Cases:
        """How far the mean return of each seed lies from the median."""
        returns = self.returns(rule)
        return self.each(lambda one: returns[one].then(from_median))

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
        return samples[0].minus(samples[1]).over(float(samples[1].values.mean()))

    return Cases(
        {name: Quantity.joined([quantity, other[name]], larger) for name, quantity in one.items()}
    )


def gain_of_preferred(share: Vector) -> Vector:
    """The part of PTD's gain at steps with β = 1, given their share of all steps."""
    return share / (share + BETWEEN * (1 - share))


def _gain(share: Sample) -> Sample:
    return Sample(share.seeds, gain_of_preferred(share.values))


def _above(pairs: Iterable[tuple[str, str]], of: Callable[[str], Cases]) -> dict[str, Cases]:
    """How much larger something is with one method than with another."""
    return {f"{one} above {other}": relative(of(one), of(other)) for one, other in pairs}


def _less(pairs: Iterable[tuple[str, str]], of: Callable[[str], Cases]) -> dict[str, Cases]:
    """What something is with one method less what it is with another."""
    return {f"{one} less {other}": of(one) - of(other) for one, other in pairs}


def _third_above_others(of: Callable[[str], Cases], rules: Iterable[str]) -> dict[str, Cases]:
    """How much larger something is in the last condition than in each of the others."""
    *others, last = CONDITIONS
    found = {}
    for rule in rules:
        cases = of(rule)
        third = Cases({f"condition 3 above {one[-1]}": cases[last] for one in others})
        found[rule] = relative(
            third, Cases(zip(third, (cases[one] for one in others), strict=True))
        )
    return found


RETURN = "mean return, one method less another, in parts of the other"
PTD_AND_TD = [("PTD", "TD(λ)")]


def main_claims(where: Where) -> dict[str, Claim]:
    """Claims that can be asked of any of the studies, by name; `_named` says of which."""
    at_first, at_last = partial(where.returns, end=FIFTH), partial(where.returns, begin=1 - FIFTH)
    claims = (
        difference(
            "td_best",
            "TD(λ) has the largest mean return over all episodes",
            "mean return, TD(λ) less another method",
            ABOVE,
            _less([("TD(λ)", one) for one in OTHERS], where.returns),
        ),
        difference(
            "ptd_on_par",
            "PTD is as good as TD(λ): their mean returns differ by less than 10 %",
            RETURN,
            SAME,
            _above(PTD_AND_TD, where.returns),
        ),
        difference(
            "ptd_slow_at_first",
            "PTD learns more slowly at first: in the first fifth of the episodes its mean return "
            "is below that of TD(λ)",
            RETURN,
            BELOW,
            _above(PTD_AND_TD, at_first),
        ),
        difference(
            "ptd_catches_up",
            "PTD catches up: in the last fifth of the episodes its mean return is less than 10 % "
            "below that of TD(λ)",
            RETURN,
            Region(low=-ALIKE),
            _above(PTD_AND_TD, at_last),
        ),
        difference(
            "etd_poor",
            "Both forms of ETD are substantially poorer than TD(λ) and PTD: their mean returns are "
            "more than 10 % lower",
            RETURN,
            Region(high=-ALIKE),
            _above(POORER, where.returns),
        ),
        difference(
            "etd_alike",
            "ETD-fixed and ETD-variable perform alike: their mean returns differ by less than 10 %",
            RETURN,
            SAME,
            _above([EMPHATIC], where.returns),
        ),
        difference(
            "ptd_least_variance",
            "PTD varies least over seeds: on average a seed's mean return is closer to the median "
            "than with the other methods",
            "distance of a seed's mean return from the median, one method less another",
            BELOW,
            _less([("PTD", other) for other in ("TD(λ)", *EMPHATIC)], where.spread),
        ),
        difference(
            "etd_more_preferred",
            "With both forms of ETD, a larger share of states has β = 1 than with TD(λ) and PTD",
            "share of steps with β = 1, one method less another, in parts of the other",
            ABOVE,
            _above(POORER, where.shares),
            "Whoever keeps the pole upright moves little, and β is 1 after movement: a poor policy "
            "has a larger share, whatever made it poor.",
        ),
    )
    return {claim.name: claim for claim in claims}


def _other_claims(where: Where) -> tuple[Claim, ...]:
    """Claims about conditions, and about how few states PTD updates."""
    learned = where.shares("PTD", begin=1 - FIFTH)
    return (
        difference(
            "etd_worse_in_3",
            "Both forms of ETD do worse in condition 3 than in the other two",
            "mean return, condition 3 less another, in parts of the other",
            BELOW,
            _third_above_others(where.returns, EMPHATIC),
        ),
        difference(
            "etd_sensitive",
            "Both forms of ETD are more sensitive to step sizes than TD(λ) and PTD: with fewer of "
            f"the 35 pairs is the return at least {NEARLY * 100:.0f} % of that of the best, in all "
            "conditions",
            "share of pairs that are nearly as good as the best, one method less another",
            BELOW,
            _less(POORER, where.tolerance),
        ),
        difference(
            "more_preferred_in_3",
            "The share of states with β = 1 is largest in condition 3, with all methods",
            "share of steps with β = 1, condition 3 less another, in parts of the other",
            ABOVE,
            _third_above_others(where.shares, ("TD(λ)", *OTHERS)),
            "Its thresholds are the smallest.",
        ),
        difference(
            "ptd_5_percent",
            "PTD updates and bootstraps from roughly 5 % of the states (2.5 to 10 %): in the last "
            "fifth of the episodes, in all conditions",
            "share of PTD's steps with β = 1",
            ROUGHLY,
            {"PTD": learned},
            "At first the share is larger: episodes are short, and the first state of each has "
            "β = 1.",
        ),
        difference(
            "ptd_gain_of_few",
            "PTD learns from this small set of states: more than half of its gain is at states "
            "with β = 1 in the last fifth of the episodes, in all conditions",
            "part of PTD's gain at steps with β = 1",
            Region(low=0.5),
            {"PTD": Cases({c: one.then(_gain) for c, one in learned.items()})},
            "All other states have a gain of 0.1, and they are many: with a share of 5 % of states "
            "with β = 1, two thirds of the gain are elsewhere.",
        ),
    )


def _lost(variant: str, between: float) -> Cases:
    """Returns with the paper's β between preferred states less those with another one."""
    paper, other = Where(FOUR_METHODS[variant]), Where(WITH_BETWEEN[variant])
    return Cases(
        {
            f"{rule}, {one}": paper.runs(rule, one).by(part, 0.0, 1.0, "return")
            - other.runs(rule, with_between(one, between)).by(part, 0.0, 1.0, "return")
            for rule in METHODS
            for one in CONDITIONS
        }
    )


def _named(claims: Iterable[Claim], variant: str, told: str = "") -> Iterator[Claim]:
    """Claims about a variant, with names and statements that say so."""
    for claim in claims:
        name = f"cartpole_{claim.name}{name_end(variant)}"
        statement = f"{claim.statement}{told} (networks with {variant})."
        yield replace(claim, name=name, statement=statement)


def _of_variant(variant: str) -> Iterator[Claim]:
    where = Where(FOUR_METHODS[variant])
    yield from _named(main_claims(where).values(), variant, ", in all conditions")
    yield from _named(_other_claims(where), variant)


def _between(variant: str) -> Claim:
    """The paper has 0.1, and found 0 and 0.5 poorer."""
    return difference(
        "between",
        "With β = 0 or 0.5 between preferred states, all methods have lower returns than with "
        f"{BETWEEN:g}",
        f"mean return with {BETWEEN:g} less that with another value",
        ABOVE,
        {f"{BETWEEN:g} less {value:g}": _lost(variant, value) for value in OTHERS_BETWEEN},
    )


CONDITION = CONDITIONS[0]
WHERE = {
    "no biases": Where(FOUR_METHODS["no biases"], (CONDITION,)),
    **{
        label: Where(CHANGED.get(label) or FOUR_METHODS[label], (CONDITION,)) for label in ABLATIONS
    },
    **{
        f"β = {value:g} between": Where(
            WITH_BETWEEN["no biases"], (with_between(CONDITION, value),)
        )
        for value in OTHERS_BETWEEN
    },
}
"""The paper's figure without biases, and with one choice changed at a time."""
MAIN = {label: main_claims(where) for label, where in WHERE.items()}
"""The claims of each choice."""
JUDGED = ("td_best", "ptd_on_par", "etd_poor", "ptd_least_variance")
"""Claims that are asked of all choices together."""


def _of_all(what: str) -> Claim:
    """A claim about all choices; a case for each, and each pair of methods."""
    one = MAIN["no biases"][what]
    groups = {
        label: {
            pair: cases[WHERE[label].conditions[0]] for pair, cases in claims[what].groups.items()
        }
        for label, claims in MAIN.items()
    }
    return replace(
        one,
        name=f"cartpole_{one.name}_any_choice",
        statement=f"{one.statement}, in condition 1 however open choices are settled.",
        compared=groups,
        because="Figure cartpole_choices shows on which choices it depends.",
    )


CLAIMS = about(
    FIGURE,
    *(claim for variant in FOUR_METHODS for claim in _of_variant(variant)),
    *(claim for variant in FOUR_METHODS for claim in _named([_between(variant)], variant)),
)
CLAIMS = (*averaged(*CLAIMS), *map(_of_all, JUDGED))
