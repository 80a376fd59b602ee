"""Claims about networks of several widths in the forward view (figures 5, A.9, A.10)."""

from collections.abc import Sequence

from preftd._src.paper.claim import Claim, Comparison, Quantity, difference, ratio
from preftd._src.paper.grids.quantities import (
    each_net,
    net_error,
    net_errors,
    net_spread,
    net_tolerance,
)
from preftd._src.paper.grids.studies import SIZES
from preftd._src.paper.samples import LARGER, SAME, SMALLER
from preftd._src.paper.verdict import Region

FIGURE = ("5",)
NARROW = (1, 2, 4)
"""Units of networks that are called narrow."""
GOOD = ("ETD-variable", "PTD")
DISTANCE = "distance of a seed's error from the median, in parts of the error of predicting 0"


def compared(
    view: str, pairs: Sequence[tuple[str, str]], region: Region, sizes: Sequence[int] = SIZES
) -> Comparison:
    """Errors of one method over those of another, for all tasks, sizes and widths."""
    groups = {
        f"{one} over {other}": net_errors(one, view, sizes) / net_errors(other, view, sizes)
        for one, other in pairs
    }
    return ratio("error, one method over another", region, groups, averaged=True)


def sensitive(view: str) -> Comparison:
    """How many decades of step sizes work for ETD-variable, less those for PTD."""
    cases = net_tolerance("ETD-variable", view) - net_tolerance("PTD", view)
    effect = "decades of step sizes that work, ETD-variable less PTD"
    return difference(effect, Region(high=0), cases, averaged=True)


def _lost_if_narrow(task: str, size: int, units: int) -> Quantity:
    """PTD's error with few units over that with 16 units, at size 16 over this size."""
    large, small = (
        net_error(task, n, units, "PTD", "forward") / net_error(task, n, 16, "PTD", "forward")
        for n in (16, size)
    )
    return large / small


CLAIMS = (
    Claim(
        "forward_td_poor",
        "TD(λ) does poorly: its error is above those of ETD-variable and PTD, on both tasks at all "
        "sizes and widths.",
        FIGURE,
        compared("forward", [("TD(λ)", other) for other in GOOD], LARGER),
    ),
    Claim(
        "forward_etd_fixed_above_td",
        "ETD-fixed does better than TD(λ), on both tasks at all sizes and widths.",
        FIGURE,
        compared("forward", [("ETD-fixed", "TD(λ)")], SMALLER),
    ),
    Claim(
        "forward_etd_fixed_high",
        "Its error is still high: above those of ETD-variable and PTD.",
        FIGURE,
        compared("forward", [("ETD-fixed", other) for other in GOOD], LARGER),
    ),
    Claim(
        "forward_ptd_best",
        "PTD has the least error, on both tasks at all sizes and widths.",
        FIGURE,
        compared("forward", [("PTD", o) for o in ("TD(λ)", "ETD-fixed", "ETD-variable")], SMALLER),
    ),
    Claim(
        "forward_ptd_high_if_narrow",
        "PTD's error is high at size 16 with four units or fewer: there it loses more by few "
        "units, compared with 16 of them, than at sizes 8 and 12.",
        FIGURE,
        ratio(
            "PTD's error, few units over 16 units, size 16 over smaller",
            LARGER,
            {
                f"16 × 16 over {setting}": quantity
                for setting, quantity in each_net(_lost_if_narrow, (8, 12), NARROW).items()
            },
            averaged=True,
        ),
    ),
    Claim(
        "forward_etd_variable_similar",
        "ETD-variable behaves like PTD: their errors differ by less than 10 %, on both tasks at "
        "all sizes and widths.",
        FIGURE,
        compared("forward", [("ETD-variable", "PTD")], SAME),
    ),
    Claim(
        "forward_etd_variable_more_variance",
        "The variance over seeds of ETD-variable is higher than PTD's: on average a seed's error "
        "is farther from the median, on both tasks at all sizes and widths.",
        FIGURE,
        difference(
            f"{DISTANCE}, ETD-variable less PTD",
            Region(low=0),
            net_spread("ETD-variable", "forward") - net_spread("PTD", "forward"),
            averaged=True,
        ),
    ),
    Claim(
        "forward_etd_variable_sensitive",
        "ETD-variable is more sensitive to the step size than PTD: fewer decades of step sizes "
        "bring its error at least halfway down to its least.",
        ("A.9", "A.10"),
        sensitive("forward"),
    ),
)
