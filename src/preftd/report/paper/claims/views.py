"""Claims about the backward view of networks (figures 6, A.11, A.12), and past the paper, the held.

Views are compared seed by seed: all of them learn from the same episodes.
"""

from collections.abc import Callable, Sequence

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.grids import net_score, nets, networks, score_at, spread, zeros
from preftd.report.paper.claims.networks import GOOD, NARROW, compared, sensitive
from preftd.report.paper.claims.samples import (
    LARGER,
    NOT_LARGER,
    SAME,
    SMALLER,
    Sample,
    many_means,
    many_ratios,
)
from preftd.report.paper.corridors import METHODS
from preftd.report.paper.grids import WIDTHS

FIGURES = ("5", "6")
BACKWARD = networks("backward")
BOTH = networks("forward", "backward")
LARGEST, LARGEST_OF_BOTH = 0.1, 0.05
"""Step sizes: of the backward view, and of those that the forward view has as well."""
RESTS = (
    "Between two preferred states the held view does not move the weights, so no gradient of older "
    "weights is in its updates: each is one step on a multi-step target."
)


def _views(
    one: str,
    other: str,
    region: Region,
    rules: Sequence[str],
    units: Sequence[int] = WIDTHS,
) -> Callable[[Found], Finding]:
    """A test of errors in one view over those in another."""

    def test(found: Found) -> Finding:
        groups = {
            rule: {
                place: net_score(found, task, size, rule, one, width).over(
                    net_score(found, task, size, rule, other, width)
                )
                for task, size, width, place in nets(units=units)
            }
            for rule in rules
        }
        return many_ratios(f"error, {one} over {other} view, each at its best", region, groups)

    return test


def _more_variance(found: Found) -> Finding:
    groups = {
        rule: {
            place: spread(net_score(found, task, size, rule, "backward", units), task, size).minus(
                spread(net_score(found, task, size, rule, "forward", units), task, size)
            )
            for task, size, units, place in nets(units=NARROW)
        }
        for rule in GOOD
    }
    effect = (
        "distance of a seed's error from the median, in parts of the error of predicting 0, "
        "backward less forward"
    )
    return many_means(effect, Region(low=0), groups)


def _unstable(found: Found) -> Finding:
    groups: dict[str, dict[str, Sample]] = {rule: {} for rule in GOOD}
    for rule, cases in groups.items():
        for task, size, units, place in nets():
            largest = score_at(LARGEST, found, task, size, rule, "backward", units)
            nothing = Sample(largest.seeds, zeros(task, size, largest.seeds))
            cases[place] = largest.over(nothing)
    effect = "error with a step size of 0.1, counted up to 10, over that of predicting 0"
    return many_ratios(effect, LARGER, groups)


def _unstable_beside_forward(found: Found) -> Finding:
    at = LARGEST_OF_BOTH
    groups = {
        rule: {
            place: score_at(at, found, task, size, rule, "backward", units).over(
                score_at(at, found, task, size, rule, "forward", units)
            )
            for task, size, units, place in nets()
        }
        for rule in GOOD
    }
    effect = "error with a step size of 0.05, counted up to 10, backward over forward view"
    return many_ratios(effect, LARGER, groups)


CLAIMS = (
    Claim(
        "backward_above_forward",
        "The errors of all four methods are higher in the backward than in the forward view, on "
        "both tasks at all sizes and widths.",
        FIGURES,
        BOTH,
        _views("backward", "forward", LARGER, tuple(METHODS)),
        "Traces hold gradients of older weights.",
    ),
    Claim(
        "backward_above_forward_if_narrow",
        "Where networks are narrow (four units or fewer), PTD and ETD-variable have more error in "
        "the backward than in the forward view.",
        FIGURES,
        BOTH,
        _views("backward", "forward", LARGER, GOOD, NARROW),
    ),
    Claim(
        "backward_more_variance_if_narrow",
        "There they also have more variance: a seed's error is farther from the median.",
        FIGURES,
        BOTH,
        _more_variance,
    ),
    Claim(
        "backward_meets_forward",
        "As the width grows both views meet: with 16 units, errors of PTD and ETD-variable differ "
        "by less than 10 %.",
        FIGURES,
        BOTH,
        _views("backward", "forward", SAME, GOOD, (16,)),
    ),
    Claim(
        "backward_unstable",
        "High step sizes make the backward view of PTD and ETD-variable unstable: with 0.1, the "
        "largest, its error is above that of predicting 0.",
        ("A.11", "A.12"),
        BACKWARD,
        _unstable,
    ),
    Claim(
        "backward_unstable_beside_forward",
        "The same, compared with the forward view: with 0.05, the largest step size that both "
        "have, the error of the backward view is the larger one.",
        ("A.9", "A.10", "A.11", "A.12"),
        BOTH,
        _unstable_beside_forward,
        "The forward view takes one step on the sum over an episode: a step size of 0.05 is large "
        "for it as well.",
    ),
    Claim(
        "backward_td_and_etd_fixed_poor",
        "TD(λ) and ETD-fixed do poorly beside PTD and ETD-variable, on both tasks at all sizes and "
        "widths.",
        ("6",),
        BACKWARD,
        compared("backward", [(o, g) for o in ("TD(λ)", "ETD-fixed") for g in GOOD], LARGER),
    ),
    Claim(
        "backward_ptd_ahead_at_16",
        "At size 16 PTD is ahead of ETD-variable, on both tasks at all widths.",
        ("6",),
        BACKWARD,
        compared("backward", [("ETD-variable", "PTD")], LARGER, (16,)),
    ),
    Claim(
        "backward_etd_variable_sensitive",
        "In the backward view too, ETD-variable is more sensitive to the step size than PTD.",
        ("A.11", "A.12"),
        BACKWARD,
        sensitive("backward"),
    ),
    Claim(
        "held_below_backward",
        "In the held view PTD has a lower error than in the backward view, on both tasks at all "
        "sizes and widths, each with its own step size.",
        (),
        networks("held", "backward"),
        _views("held", "backward", SMALLER, ("PTD",)),
        RESTS,
    ),
    Claim(
        "held_meets_forward",
        "In the held view PTD's error is at most a tenth above that of the forward view, although "
        "it learns along the way.",
        (),
        networks("held", "forward"),
        _views("held", "forward", NOT_LARGER, ("PTD",)),
        RESTS,
    ),
)
