"""Claims about networks: the forward view (figures 5, A.9, A.10), the backward (6, A.11, A.12).

Beyond the paper, also about the held view. Views are compared seed by seed: all of them learn from
the same episodes.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from preftd._src.paper.claim import (
    LARGER,
    NOT_LARGER,
    SAME,
    SMALLER,
    Cases,
    Claim,
    Quantity,
    Region,
    Runs,
    Sample,
    about,
    averaged,
    difference,
    methods,
    ratio,
    tried,
)
from preftd._src.paper.corridors.studies import METHODS
from preftd._src.paper.grids.claims import capped, decades, over_zero, reported_scores
from preftd._src.paper.grids.studies import (
    NETWORKS,
    SIZES,
    TASKS,
    WIDTHS,
    at_size,
    with_units,
)
from preftd._src.paper.measures import from_median

FIGURE = ("5",)
NARROW = (1, 2, 4)
"""Units of networks that are called narrow."""
GOOD = ("ETD-variable", "PTD")
DISTANCE = "distance of a seed's error from the median, in parts of the error of predicting 0"
BOTH = ("5", "6")
LARGEST, LARGEST_OF_BOTH = 0.1, 0.05
"""Step sizes: the largest of the backward view, and of those that the forward view has as well."""
RESTS = (
    "Between two preferred states the held view does not move the weights, so no gradient of older "
    "weights is in its updates: each is one step on a multi-step target."
)


class Net(NamedTuple):
    """Networks of a width on a task of a size."""

    task: str
    size: int
    units: int

    @property
    def labels(self) -> dict[str, str]:
        """Those of its runs."""
        return {"task": at_size(self.size), "learner": with_units(self.units)}

    def over_zero(self, error: Sample) -> Sample:
        """An error over that of predicting 0."""
        return over_zero(self.task, self.size)(error)

    def error(self, rule: str, view: str) -> Quantity:
        """The score on fresh seeds with the step size that was chosen."""
        return Quantity.of(
            NETWORKS[self.task, view],
            lambda results: reported_scores(results, rule=rule, **self.labels),
        )

    def tried(self, rule: str, view: str, **labels: float) -> Runs:
        """Runs of the search."""
        return tried(NETWORKS[self.task, view], rule=rule, **self.labels, **labels)

    def error_at(self, step_size: float, rule: str, view: str) -> Quantity:
        """The score with this step size, on the seeds of the search."""
        return self.tried(rule, view, step_size=step_size).score.then(capped)


def each_net(
    quantity: Callable[[Net], Quantity],
    sizes: Sequence[int] = SIZES,
    widths: Sequence[int] = WIDTHS,
) -> Cases:
    """A quantity for each task, size and width of the network, by the name of all three."""
    return Cases(
        {
            f"{title}, {size} × {size}, {with_units(units)}": quantity(Net(task, size, units))
            for task, title in TASKS.items()
            for size in sizes
            for units in widths
        }
    )


def net_errors(
    rule: str, view: str, sizes: Sequence[int] = SIZES, widths: Sequence[int] = WIDTHS
) -> Cases:
    """Scores on fresh seeds of many networks."""
    return each_net(lambda net: net.error(rule, view), sizes, widths)


def net_spread(rule: str, view: str, widths: Sequence[int] = WIDTHS) -> Cases:
    """How far each seed's error lies from the median, as a share of that of predicting 0."""
    return each_net(
        lambda net: net.error(rule, view).then(from_median).then(net.over_zero), widths=widths
    )


def net_tolerance(rule: str, view: str) -> Cases:
    """Over how many decades of step sizes the error of networks is more than halfway down."""
    return each_net(lambda net: net.tried(rule, view).by(decades, net.task, net.size))


def _sensitive(name: str, statement: str, view: str) -> Claim:
    """How many decades of step sizes work for ETD-variable, less those for PTD."""
    cases = net_tolerance("ETD-variable", view) - net_tolerance("PTD", view)
    effect = "decades of step sizes that work, ETD-variable less PTD"
    return difference(name, statement, effect, Region(high=0), cases)


def _views(
    name: str,
    statement: str,
    views: tuple[str, str],
    region: Region,
    rules: Sequence[str],
    because: str = "",
    widths: Sequence[int] = WIDTHS,
) -> Claim:
    """Errors in one view over those in another."""
    one, other = views
    groups = {
        rule: net_errors(rule, one, widths=widths) / net_errors(rule, other, widths=widths)
        for rule in rules
    }
    effect = f"error, {one} over {other} view, each at its best"
    return ratio(name, statement, effect, region, groups, because)


def _lost_if_narrow(net: Net) -> Quantity:
    """PTD's error with few units over that with 16 units, at size 16 over this size."""
    large, small = (
        one.error("PTD", "forward") / one._replace(units=16).error("PTD", "forward")
        for one in (net._replace(size=16), net)
    )
    return large / small


def _largest_over_zero(rule: str) -> Cases:
    """Errors of the backward view with the largest step size over those of predicting 0."""
    return each_net(lambda net: net.error_at(LARGEST, rule, "backward").then(net.over_zero))


def _backward_over_forward(rule: str) -> Cases:
    """Errors with the largest step size that both views have."""
    return each_net(
        lambda net: (
            net.error_at(LARGEST_OF_BOTH, rule, "backward")
            / net.error_at(LARGEST_OF_BOTH, rule, "forward")
        )
    )


CLAIMS = about(
    FIGURE,
    methods(
        "forward_td_poor",
        "TD(λ) does poorly: its error is above those of ETD-variable and PTD, on both tasks at all "
        "sizes and widths.",
        partial(net_errors, view="forward"),
        [("TD(λ)", other) for other in GOOD],
        LARGER,
    ),
    methods(
        "forward_etd_fixed_above_td",
        "ETD-fixed does better than TD(λ), on both tasks at all sizes and widths.",
        partial(net_errors, view="forward"),
        [("ETD-fixed", "TD(λ)")],
        SMALLER,
    ),
    methods(
        "forward_etd_fixed_high",
        "Its error is still high: above those of ETD-variable and PTD.",
        partial(net_errors, view="forward"),
        [("ETD-fixed", other) for other in GOOD],
        LARGER,
    ),
    methods(
        "forward_ptd_best",
        "PTD has the least error, on both tasks at all sizes and widths.",
        partial(net_errors, view="forward"),
        [("PTD", o) for o in ("TD(λ)", "ETD-fixed", "ETD-variable")],
        SMALLER,
    ),
    ratio(
        "forward_ptd_high_if_narrow",
        "PTD's error is high at size 16 with four units or fewer: there it loses more by few "
        "units, compared with 16 of them, than at sizes 8 and 12.",
        "PTD's error, few units over 16 units, size 16 over smaller",
        LARGER,
        {
            f"16 × 16 over {setting}": quantity
            for setting, quantity in each_net(_lost_if_narrow, (8, 12), NARROW).items()
        },
    ),
    methods(
        "forward_etd_variable_similar",
        "ETD-variable behaves like PTD: their errors differ by less than 10 %, on both tasks at "
        "all sizes and widths.",
        partial(net_errors, view="forward"),
        [("ETD-variable", "PTD")],
        SAME,
    ),
    difference(
        "forward_etd_variable_more_variance",
        "The variance over seeds of ETD-variable is higher than PTD's: on average a seed's error "
        "is farther from the median, on both tasks at all sizes and widths.",
        f"{DISTANCE}, ETD-variable less PTD",
        Region(low=0),
        net_spread("ETD-variable", "forward") - net_spread("PTD", "forward"),
    ),
)
CLAIMS += about(
    ("A.9", "A.10"),
    _sensitive(
        "forward_etd_variable_sensitive",
        "ETD-variable is more sensitive to the step size than PTD: fewer decades of step sizes "
        "bring its error at least halfway down to its least.",
        "forward",
    ),
)

CLAIMS += about(
    BOTH,
    _views(
        "backward_above_forward",
        "The errors of all four methods are higher in the backward than in the forward view, on "
        "both tasks at all sizes and widths.",
        ("backward", "forward"),
        LARGER,
        tuple(METHODS),
        "Traces hold gradients of older weights.",
    ),
    _views(
        "backward_above_forward_if_narrow",
        "Where networks are narrow (four units or fewer), PTD and ETD-variable have more error in "
        "the backward than in the forward view.",
        ("backward", "forward"),
        LARGER,
        GOOD,
        widths=NARROW,
    ),
    difference(
        "backward_more_variance_if_narrow",
        "There they also have more variance: a seed's error is farther from the median.",
        f"{DISTANCE}, backward less forward",
        Region(low=0),
        {
            rule: net_spread(rule, "backward", NARROW) - net_spread(rule, "forward", NARROW)
            for rule in GOOD
        },
    ),
    _views(
        "backward_meets_forward",
        "As the width grows both views meet: with 16 units, errors of PTD and ETD-variable differ "
        "by less than 10 %.",
        ("backward", "forward"),
        SAME,
        GOOD,
        widths=(16,),
    ),
)
CLAIMS += about(
    ("A.11", "A.12"),
    ratio(
        "backward_unstable",
        "High step sizes make the backward view of PTD and ETD-variable unstable: with 0.1, the "
        "largest, its error is above that of predicting 0.",
        "error with a step size of 0.1, counted up to 10, over that of predicting 0",
        LARGER,
        {rule: _largest_over_zero(rule) for rule in GOOD},
    ),
)
CLAIMS += about(
    ("A.9", "A.10", "A.11", "A.12"),
    ratio(
        "backward_unstable_beside_forward",
        "The same, compared with the forward view: with 0.05, the largest step size that both "
        "have, the error of the backward view is the larger one.",
        "error with a step size of 0.05, counted up to 10, backward over forward view",
        LARGER,
        {rule: _backward_over_forward(rule) for rule in GOOD},
        "The forward view takes one step on the sum over an episode: a step size of 0.05 is large "
        "for it as well.",
    ),
)
CLAIMS += about(
    ("6",),
    methods(
        "backward_td_and_etd_fixed_poor",
        "TD(λ) and ETD-fixed do poorly beside PTD and ETD-variable, on both tasks at all sizes and "
        "widths.",
        partial(net_errors, view="backward"),
        [(o, g) for o in ("TD(λ)", "ETD-fixed") for g in GOOD],
        LARGER,
    ),
    methods(
        "backward_ptd_ahead_at_16",
        "At size 16 PTD is ahead of ETD-variable, on both tasks at all widths.",
        partial(net_errors, view="backward", sizes=(16,)),
        [("ETD-variable", "PTD")],
        LARGER,
    ),
)
CLAIMS += about(
    ("A.11", "A.12"),
    _sensitive(
        "backward_etd_variable_sensitive",
        "In the backward view too, ETD-variable is more sensitive to the step size than PTD.",
        "backward",
    ),
)
CLAIMS += (
    _views(
        "held_below_backward",
        "In the held view PTD has a lower error than in the backward view, on both tasks at all "
        "sizes and widths, each with its own step size.",
        ("held", "backward"),
        SMALLER,
        ("PTD",),
        RESTS,
    ),
    _views(
        "held_meets_forward",
        "In the held view PTD's error is at most a tenth above that of the forward view, although "
        "it learns along the way.",
        ("held", "forward"),
        NOT_LARGER,
        ("PTD",),
        RESTS,
    ),
)
CLAIMS = averaged(*CLAIMS)
"""Cases are many, so that averages over them are judged as well."""
