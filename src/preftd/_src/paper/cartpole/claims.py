"""Claims about figure A.13, for each of the two ways to settle what the paper leaves open.

Beyond the paper, also the choices that they depend on.
"""

from collections.abc import Callable, Iterable, Sequence
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
    Compared,
    Quantity,
    Runs,
    Sample,
    averaged,
    claimed,
    reported,
    tried,
)
from preftd._src.paper.measures import from_median, part
from preftd._src.paper.study import PaperStudy

NEARLY = 0.8
EMPHATIC = ("ETD-fixed", "ETD-variable")
OTHERS = (*EMPHATIC, "PTD")
"""All but TD(λ)."""
POORER = [(one, other) for one in EMPHATIC for other in ("TD(λ)", "PTD")]
"""Pairs whose first method is worse."""
FIFTH = 0.2
"""The beginning and the end of learning, as shares of the episodes."""


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
        """The distance of each seed's mean return from the median."""
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
    """The difference between two samples, relative to the mean of the second over seeds.

    A mean of ratios would be dominated by seeds with which nothing is learned.
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
    """The relative difference of a quantity between two methods."""
    return {f"{one} above {other}": relative(of(one), of(other)) for one, other in pairs}


def _less(pairs: Iterable[tuple[str, str]], of: Callable[[str], Cases]) -> dict[str, Cases]:
    """The difference of a quantity between two methods."""
    return {f"{one} less {other}": of(one) - of(other) for one, other in pairs}


def _third_above_others(of: Callable[[str], Cases], rules: Iterable[str]) -> dict[str, Cases]:
    """The relative difference between the last condition and each of the others."""
    *others, last = CONDITIONS
    found = {}
    for rule in rules:
        cases = of(rule)
        third = Cases({f"condition 3 above {one[-1]}": cases[last] for one in others})
        found[rule] = relative(
            third, Cases(zip(third, (cases[one] for one in others), strict=True))
        )
    return found


PTD_AND_TD = [("PTD", "TD(λ)")]


def _main(where: Where) -> dict[str, dict[str, Cases]]:
    """The quantities of claims that apply to any of the studies."""
    at_first, at_last = partial(where.returns, end=FIFTH), partial(where.returns, begin=1 - FIFTH)
    return {
        "td_best": _less([("TD(λ)", one) for one in OTHERS], where.returns),
        "ptd_on_par": _above(PTD_AND_TD, where.returns),
        "ptd_slow_at_first": _above(PTD_AND_TD, at_first),
        "ptd_catches_up": _above(PTD_AND_TD, at_last),
        "etd_poor": _above(POORER, where.returns),
        "etd_alike": _above([EMPHATIC], where.returns),
        "ptd_least_variance": _less(
            [("PTD", other) for other in ("TD(λ)", *EMPHATIC)], where.spread
        ),
        "etd_more_preferred": _above(POORER, where.shares),
    }


def _other(where: Where) -> dict[str, dict[str, Cases]]:
    """Quantities of conditions, and of the share of states that PTD updates."""
    learned = where.shares("PTD", begin=1 - FIFTH)
    return {
        "etd_worse_in_3": _third_above_others(where.returns, EMPHATIC),
        "etd_sensitive": _less(POORER, where.tolerance),
        "more_preferred_in_3": _third_above_others(where.shares, ("TD(λ)", *OTHERS)),
        "ptd_5_percent": {"PTD": learned},
        "ptd_gain_of_few": {"PTD": Cases({c: one.then(_gain) for c, one in learned.items()})},
    }


def _lost(variant: str, between: float) -> Cases:
    """Returns with the paper's β between preferred states, less those with another β."""
    paper, other = Where(FOUR_METHODS[variant]), Where(WITH_BETWEEN[variant])
    return Cases(
        {
            f"{rule}, {one}": paper.runs(rule, one).by(part, 0.0, 1.0, "return")
            - other.runs(rule, with_between(one, between)).by(part, 0.0, 1.0, "return")
            for rule in METHODS
            for one in CONDITIONS
        }
    )


def _between(variant: str) -> dict[str, Cases]:
    """The paper uses 0.1, and found 0 and 0.5 worse."""
    return {f"{BETWEEN:g} less {value:g}": _lost(variant, value) for value in OTHERS_BETWEEN}


def _named(end: str, compared: dict[str, dict[str, Cases]]) -> dict[str, Compared]:
    return {f"cartpole_{name}{end}": one for name, one in compared.items()}


def _claims(where: Where) -> dict[str, Claim]:
    """The claims that apply to any of the studies, by the names of columns."""
    compared = _main(where)
    return dict(zip(compared, claimed("cartpole", _named("", compared)), strict=True))


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
MAIN = {label: _claims(where) for label, where in WHERE.items()}
"""The claims of each choice."""
JUDGED = ("td_best", "ptd_on_par", "etd_poor", "ptd_least_variance")
"""Claims about all choices together."""


def _of_all(what: str) -> dict[str, Cases]:
    """A case for each choice, and each pair of methods."""
    return {
        label: Cases(
            {pair: cases[WHERE[label].conditions[0]] for pair, cases in claims[what].groups.items()}
        )
        for label, claims in MAIN.items()
    }


WITH_VARIANTS = {
    name: one
    for variant, study in FOUR_METHODS.items()
    for name, one in _named(name_end(variant), _main(Where(study)) | _other(Where(study))).items()
}
OF_BETWEEN = {f"cartpole_between{name_end(one)}": _between(one) for one in FOUR_METHODS}
CLAIMS = (
    *averaged(*claimed("cartpole", WITH_VARIANTS | OF_BETWEEN)),
    *claimed("cartpole", _named("_any_choice", {what: _of_all(what) for what in JUDGED})),
)
