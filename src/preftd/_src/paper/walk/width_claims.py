"""Claims about the width of U-curves on the random walk (figure 2): sensitivity to the step size.

The width of a U-curve at half its depth can be measured along a linear axis of step sizes, as a
reader of the figure does, or in decades. A factor on the step size stretches the first and keeps
the second: in decades a width is a property of the method, on a linear axis also of its scale.
"""

import polars as pl

from preftd._src.paper.claim import Claim, Comparison, Quantity, Runs, difference
from preftd._src.paper.measures import Axis, widths
from preftd._src.paper.samples import Sample
from preftd._src.paper.verdict import Region
from preftd._src.paper.walk.claims import BETWEEN, NEAR_1, SAME_AS_TD, ptd, rmse_of_zero, td
from preftd._src.paper.walk.studies import VALUES

ABOVE_0 = tuple(value for value in VALUES if value > 0)
"""With β = 0 nothing is learned, and there is no U-curve."""
WIDER, NARROWER = Region(low=0), Region(high=0)
WIDTH = "width of the U-curve at half its depth, in"
UNITS: dict[Axis, str] = {"linear": "step sizes", "decades": "decades of step sizes"}


def _measure(runs: pl.DataFrame, axis: Axis) -> Sample:
    return widths(runs, rmse_of_zero(), axis)


def _width(runs: Runs, axis: Axis) -> Quantity:
    return runs.by(_measure, axis)


def _mean_of_td(axis: Axis, lambdas: tuple[float, ...] = VALUES) -> Quantity:
    return Quantity.joined([_width(td(value), axis) for value in lambdas])


def _sharp_near_1(axis: Axis) -> Comparison:
    cases = {
        f"λ = {value:g}": _width(td(value), axis) - _mean_of_td(axis, BETWEEN) for value in NEAR_1
    }
    return difference(f"{WIDTH} {UNITS[axis]}, less that of intermediate λ", NARROWER, cases)


def _ptd_wider(axis: Axis) -> Comparison:
    of_ptd = Quantity.joined([_width(ptd(beta), axis) for beta in ABOVE_0])
    effect = f"mean {WIDTH} {UNITS[axis]}, PTD less TD(λ)"
    return difference(effect, WIDER, {"": of_ptd - _mean_of_td(axis)})


def _ptd_wide_for_all(axis: Axis) -> Comparison:
    cases = {f"β = {beta:g}": _width(ptd(beta), axis) - _mean_of_td(axis) for beta in ABOVE_0}
    return difference(f"{WIDTH} {UNITS[axis]}, less the mean of TD(λ)'s", WIDER, cases)


CLAIMS = (
    Claim(
        "walk_td_sharp_near_1",
        "For λ near 1 (from 0.9), TD(λ)'s U-curves are sharp: at half their depth, on a linear "
        "axis, they are narrower than those of intermediate λ are on average.",
        ("2",),
        _sharp_near_1("linear"),
    ),
    Claim(
        "walk_td_sharp_in_decades",
        "The same in decades, which do not depend on how large the step sizes are that suit a λ.",
        ("2",),
        _sharp_near_1("decades"),
        "A factor on the step size shifts a curve but keeps its width in decades: for λ near 1 the "
        "step sizes that work are small, and on a linear axis a curve around small numbers is "
        "narrow.",
    ),
    Claim(
        "walk_ptd_less_sensitive",
        "PTD depends less on the step size than TD(λ): on a linear axis its U-curves are wider at "
        "half their depth, on average over β above 0 and over λ.",
        ("2",),
        _ptd_wider("linear"),
        SAME_AS_TD + " On a linear axis they are drawn 1/β times as wide.",
    ),
    Claim(
        "walk_ptd_less_sensitive_in_decades",
        "The same in decades, in which a factor on the step size counts for nothing.",
        ("2",),
        _ptd_wider("decades"),
        SAME_AS_TD
        + " In decades, β and λ = 1 − β have curves of the same width, but for where the "
        "grid of step sizes ends; what is left is that the two grids hold other λ.",
    ),
    Claim(
        "walk_ptd_stable_for_all_beta",
        "PTD is stable over a wide range of step sizes for all β above 0: on a linear axis, each "
        "of its U-curves is wider at half its depth than TD(λ)'s are on average.",
        ("2",),
        _ptd_wide_for_all("linear"),
        SAME_AS_TD + " On a linear axis they are drawn 1/β times as wide.",
    ),
    Claim(
        "walk_ptd_stable_in_decades",
        "The same in decades, in which a factor on the step size counts for nothing.",
        ("2",),
        _ptd_wide_for_all("decades"),
        SAME_AS_TD + " In decades, β and λ = 1 − β have curves of the same width.",
    ),
)
