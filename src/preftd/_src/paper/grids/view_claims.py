"""Claims about the backward view of networks (figures 6, A.11, A.12), and beyond, the held view.

Views are compared seed by seed: all of them learn from the same episodes.
"""

from collections.abc import Sequence
from functools import partial

from preftd._src.paper.claim import Cases, Claim, Comparison, difference, ratio
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids.network_claims import DISTANCE, GOOD, NARROW, compared, sensitive
from preftd._src.paper.grids.quantities import (
    each_net,
    net_error_at,
    net_errors,
    net_spread,
    over_zero,
)
from preftd._src.paper.grids.studies import WIDTHS
from preftd._src.paper.samples import LARGER, NOT_LARGER, SAME, SMALLER
from preftd._src.paper.verdict import Region

FIGURES = ("5", "6")
LARGEST, LARGEST_OF_BOTH = 0.1, 0.05
"""Step sizes: the largest of the backward view, and of those that the forward view has as well."""
RESTS = (
    "Between two preferred states the held view does not move the weights, so no gradient of older "
    "weights is in its updates: each is one step on a multi-step target."
)


def _views(
    one: str, other: str, region: Region, rules: Sequence[str], widths: Sequence[int] = WIDTHS
) -> Comparison:
    """Errors in one view over those in another."""
    groups = {
        rule: net_errors(rule, one, widths=widths) / net_errors(rule, other, widths=widths)
        for rule in rules
    }
    effect = f"error, {one} over {other} view, each at its best"
    return ratio(effect, region, groups, averaged=True)


def _largest_over_zero(rule: str) -> Cases:
    """Errors of the backward view with the largest step size over those of predicting 0."""
    return each_net(
        lambda task, size, units: net_error_at(LARGEST, task, size, units, rule, "backward").then(
            over_zero(task, size)
        )
    )


def _backward_over_forward(rule: str) -> Cases:
    """Errors with the largest step size that both views have."""
    backward, forward = (
        each_net(partial(net_error_at, LARGEST_OF_BOTH, rule=rule, view=view))
        for view in ("backward", "forward")
    )
    return backward / forward


CLAIMS = (
    Claim(
        "backward_above_forward",
        "The errors of all four methods are higher in the backward than in the forward view, on "
        "both tasks at all sizes and widths.",
        FIGURES,
        _views("backward", "forward", LARGER, tuple(METHODS)),
        "Traces hold gradients of older weights.",
    ),
    Claim(
        "backward_above_forward_if_narrow",
        "Where networks are narrow (four units or fewer), PTD and ETD-variable have more error in "
        "the backward than in the forward view.",
        FIGURES,
        _views("backward", "forward", LARGER, GOOD, NARROW),
    ),
    Claim(
        "backward_more_variance_if_narrow",
        "There they also have more variance: a seed's error is farther from the median.",
        FIGURES,
        difference(
            f"{DISTANCE}, backward less forward",
            Region(low=0),
            {
                rule: net_spread(rule, "backward", NARROW) - net_spread(rule, "forward", NARROW)
                for rule in GOOD
            },
            averaged=True,
        ),
    ),
    Claim(
        "backward_meets_forward",
        "As the width grows both views meet: with 16 units, errors of PTD and ETD-variable differ "
        "by less than 10 %.",
        FIGURES,
        _views("backward", "forward", SAME, GOOD, (16,)),
    ),
    Claim(
        "backward_unstable",
        "High step sizes make the backward view of PTD and ETD-variable unstable: with 0.1, the "
        "largest, its error is above that of predicting 0.",
        ("A.11", "A.12"),
        ratio(
            "error with a step size of 0.1, counted up to 10, over that of predicting 0",
            LARGER,
            {rule: _largest_over_zero(rule) for rule in GOOD},
            averaged=True,
        ),
    ),
    Claim(
        "backward_unstable_beside_forward",
        "The same, compared with the forward view: with 0.05, the largest step size that both "
        "have, the error of the backward view is the larger one.",
        ("A.9", "A.10", "A.11", "A.12"),
        ratio(
            "error with a step size of 0.05, counted up to 10, backward over forward view",
            LARGER,
            {rule: _backward_over_forward(rule) for rule in GOOD},
            averaged=True,
        ),
        "The forward view takes one step on the sum over an episode: a step size of 0.05 is large "
        "for it as well.",
    ),
    Claim(
        "backward_td_and_etd_fixed_poor",
        "TD(λ) and ETD-fixed do poorly beside PTD and ETD-variable, on both tasks at all sizes and "
        "widths.",
        ("6",),
        compared("backward", [(o, g) for o in ("TD(λ)", "ETD-fixed") for g in GOOD], LARGER),
    ),
    Claim(
        "backward_ptd_ahead_at_16",
        "At size 16 PTD is ahead of ETD-variable, on both tasks at all widths.",
        ("6",),
        compared("backward", [("ETD-variable", "PTD")], LARGER, (16,)),
    ),
    Claim(
        "backward_etd_variable_sensitive",
        "In the backward view too, ETD-variable is more sensitive to the step size than PTD.",
        ("A.11", "A.12"),
        sensitive("backward"),
    ),
    Claim(
        "held_below_backward",
        "In the held view PTD has a lower error than in the backward view, on both tasks at all "
        "sizes and widths, each with its own step size.",
        (),
        _views("held", "backward", SMALLER, ("PTD",)),
        RESTS,
    ),
    Claim(
        "held_meets_forward",
        "In the held view PTD's error is at most a tenth above that of the forward view, although "
        "it learns along the way.",
        (),
        _views("held", "forward", NOT_LARGER, ("PTD",)),
        RESTS,
    ),
)
