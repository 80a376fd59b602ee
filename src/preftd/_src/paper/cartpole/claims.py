"""Claims about figure A.13, for each of the two ways to settle what the paper leaves open."""

from collections.abc import Sequence

from preftd._src.paper.cartpole.quantities import NEARLY, Where, gain_of_preferred, relative
from preftd._src.paper.cartpole.studies import CONDITIONS, FOUR_METHODS, name_end
from preftd._src.paper.claim import Cases, Claim, Comparison, difference
from preftd._src.paper.samples import Sample
from preftd._src.paper.verdict import Region

FIGURE = ("A.13",)
EMPHATIC = ("ETD-fixed", "ETD-variable")
OTHERS = (*EMPHATIC, "PTD")
"""All but TD(λ)."""
ALIKE = 0.1
"""Returns that differ by less than 10 % are called alike, as errors are."""
SAME, ABOVE, BELOW = Region(-ALIKE, ALIKE), Region(low=0), Region(high=0)
"""Regions of relative differences."""
FIFTH = 0.2
"""The beginning and the end of learning: so much of the episodes."""
ROUGHLY = Region(0.025, 0.1)
"""Roughly 5 %: from half of it to twice as much."""


def _above(
    where: Where,
    pairs: Sequence[tuple[str, str]],
    region: Region,
    begin: float = 0.0,
    end: float = 1.0,
) -> Comparison:
    """How much larger the returns of one method are than those of another."""
    groups = {
        f"{one} above {other}": relative(
            where.returns(one, begin, end), where.returns(other, begin, end)
        )
        for one, other in pairs
    }
    effect = "mean return, one method less another, in parts of the other"
    return difference(effect, region, groups, averaged=True)


def _less(where: Where, pairs: Sequence[tuple[str, str]], region: Region) -> Comparison:
    """Distances of seeds from the median, of one method less those of another."""
    groups = {
        f"{one} less {other}": where.spread(one) - where.spread(other) for one, other in pairs
    }
    effect = "distance of a seed's mean return from the median, one method less another"
    return difference(effect, region, groups, averaged=True)


def main_claims(where: Where, name: str, told: str) -> dict[str, Claim]:
    """Claims that can be asked of any of the studies, by what is claimed.

    Parameters
    ----------
    where
        The study, and its conditions.
    name
        The end of the names of claims.
    told
        The end of their statements: what the study is.
    """
    said: dict[str, tuple[str, Comparison, str]] = {
        "td_best": (
            "TD(λ) has the largest mean return over all episodes",
            difference(
                "mean return, TD(λ) less another method",
                ABOVE,
                {
                    f"TD(λ) less {one}": where.returns("TD(λ)") - where.returns(one)
                    for one in OTHERS
                },
                averaged=True,
            ),
            "",
        ),
        "ptd_on_par": (
            "PTD is as good as TD(λ): their mean returns differ by less than 10 %",
            _above(where, [("PTD", "TD(λ)")], SAME),
            "",
        ),
        "ptd_slow_at_first": (
            "PTD learns more slowly at first: in the first fifth of the episodes its mean return "
            "is below that of TD(λ)",
            _above(where, [("PTD", "TD(λ)")], BELOW, end=FIFTH),
            "",
        ),
        "ptd_catches_up": (
            "PTD catches up: in the last fifth of the episodes its mean return is less than 10 % "
            "below that of TD(λ)",
            _above(where, [("PTD", "TD(λ)")], Region(low=-ALIKE), begin=1 - FIFTH),
            "",
        ),
        "etd_poor": (
            "Both forms of ETD are substantially poorer than TD(λ) and PTD: their mean returns are "
            "more than 10 % lower",
            _above(
                where,
                [(one, other) for one in EMPHATIC for other in ("TD(λ)", "PTD")],
                Region(high=-ALIKE),
            ),
            "",
        ),
        "etd_alike": (
            "ETD-fixed and ETD-variable perform alike: their mean returns differ by less than 10 %",
            _above(where, [("ETD-fixed", "ETD-variable")], SAME),
            "",
        ),
        "ptd_least_variance": (
            "PTD varies least over seeds: on average a seed's mean return is closer to the median "
            "than with the other methods",
            _less(where, [("PTD", other) for other in ("TD(λ)", *EMPHATIC)], BELOW),
            "",
        ),
        "etd_more_preferred": (
            "With both forms of ETD, a larger share of states has β = 1 than with TD(λ) and PTD",
            difference(
                "share of steps with β = 1, one method less another, in parts of the other",
                ABOVE,
                {
                    f"{one} above {other}": relative(where.shares(one), where.shares(other))
                    for one in EMPHATIC
                    for other in ("TD(λ)", "PTD")
                },
                averaged=True,
            ),
            "Whoever keeps the pole upright moves little, and β is 1 after movement: a poor policy "
            "has a larger share, whatever made it poor.",
        ),
    }
    return {
        what: Claim(f"cartpole_{what}{name}", f"{statement}{told}.", FIGURE, comparison, because)
        for what, (statement, comparison, because) in said.items()
    }


def _other_claims(where: Where, name: str, told: str) -> tuple[Claim, ...]:
    """Claims about conditions, and about how few states PTD updates."""
    returns = {rule: where.returns(rule) for rule in EMPHATIC}
    shares = {rule: where.shares(rule) for rule in ("TD(λ)", *OTHERS)}
    learned = where.shares("PTD", begin=1 - FIFTH)
    return (
        Claim(
            f"cartpole_etd_worse_in_3{name}",
            f"Both forms of ETD do worse in condition 3 than in the other two{told}.",
            FIGURE,
            difference(
                "mean return, condition 3 less another, in parts of the other",
                BELOW,
                {rule: _third_above_others(cases) for rule, cases in returns.items()},
                averaged=True,
            ),
        ),
        Claim(
            f"cartpole_etd_sensitive{name}",
            "Both forms of ETD are more sensitive to step sizes than TD(λ) and PTD: with fewer of "
            f"the 35 pairs is the return at least {NEARLY * 100:.0f} % of that of the best, in all "
            f"conditions{told}.",
            FIGURE,
            difference(
                "share of pairs that are nearly as good as the best, one method less another",
                BELOW,
                {
                    f"{one} less {other}": where.tolerance(one) - where.tolerance(other)
                    for one in EMPHATIC
                    for other in ("TD(λ)", "PTD")
                },
                averaged=True,
            ),
        ),
        Claim(
            f"cartpole_more_preferred_in_3{name}",
            f"The share of states with β = 1 is largest in condition 3, with all methods{told}.",
            FIGURE,
            difference(
                "share of steps with β = 1, condition 3 less another, in parts of the other",
                ABOVE,
                {rule: _third_above_others(cases) for rule, cases in shares.items()},
                averaged=True,
            ),
            "Its thresholds are the smallest.",
        ),
        Claim(
            f"cartpole_ptd_5_percent{name}",
            "PTD updates and bootstraps from roughly 5 % of the states (2.5 to 10 %): in the last "
            f"fifth of the episodes, in all conditions{told}.",
            FIGURE,
            difference("share of PTD's steps with β = 1", ROUGHLY, {"PTD": learned}, averaged=True),
            "At first the share is larger: episodes are short, and the first state of each has "
            "β = 1.",
        ),
        Claim(
            f"cartpole_ptd_gain_of_few{name}",
            "PTD learns from this small set of states: more than half of its gain is at states "
            f"with β = 1 in the last fifth of the episodes, in all conditions{told}.",
            FIGURE,
            difference(
                "part of PTD's gain at steps with β = 1",
                Region(low=0.5),
                {"PTD": Cases({c: one.then(_gain) for c, one in learned.items()})},
                averaged=True,
            ),
            "All other states have a gain of 0.1, and they are many: with a share of 5 % of states "
            "with β = 1, two thirds of the gain are elsewhere.",
        ),
    )


def _third_above_others(cases: Cases) -> Cases:
    """How much larger something is in the last condition than in each of the others."""
    *others, last = CONDITIONS
    names = [f"condition 3 above {one[-1]}" for one in others]
    third = Cases(dict.fromkeys(names, cases[last]))
    return relative(third, Cases(zip(names, (cases[one] for one in others), strict=True)))


def _gain(share: Sample) -> Sample:
    return Sample(share.seeds, gain_of_preferred(share.values))


def _of_variants() -> tuple[Claim, ...]:
    found: list[Claim] = []
    for variant, study in FOUR_METHODS.items():
        name = name_end(variant)
        told = f" (networks with {variant})"
        found += main_claims(Where(study), name, f", in all conditions{told}").values()
        found += _other_claims(Where(study), name, told)
    return tuple(found)


CLAIMS = _of_variants()
