"""Claims about how wide U-curves of the random walk are (figure 2): what depends on the step size.

The width of a U-curve at half its depth can be measured along a linear axis of step sizes, as a
reader of the figure does, or in decades. A factor on the step size stretches the first and leaves
the second: in decades a width is a property of the method, on a linear axis also one of its scale.
"""

from collections.abc import Callable, Sequence

import numpy as np

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.measures import Axis, widths
from preftd.report.paper.claims.samples import Sample, means
from preftd.report.paper.claims.walk_runs import (
    BETWEEN,
    BY_BETA,
    BY_LAMBDA,
    NEAR_1,
    SAME_AS_TD,
    ptd,
    rmse_of_zero,
    td,
)
from preftd.report.paper.walk import VALUES

ABOVE_0 = tuple(value for value in VALUES if value > 0)
"""With β = 0 nothing is learned, and there is no U-curve."""
WIDER, NARROWER = Region(low=0), Region(high=0)
WIDTH = "width of the U-curve at half its depth, in "
UNITS: dict[Axis, str] = {"linear": "step sizes", "decades": "decades of step sizes"}


def _sharp_near_1(axis: Axis) -> Callable[[Found], Finding]:
    def test(found: Found) -> Finding:
        usual = _mean(_of_td(found, BETWEEN, axis))
        each = zip(NEAR_1, _of_td(found, NEAR_1, axis), strict=True)
        cases = {f"λ = {value:g}": width.minus(usual) for value, width in each}
        return means(f"{WIDTH}{UNITS[axis]}, less that of intermediate λ", NARROWER, cases)

    return test


def _ptd_wider(axis: Axis) -> Callable[[Found], Finding]:
    def test(found: Found) -> Finding:
        difference = _mean(_of_ptd(found, axis)).minus(_mean(_of_td(found, VALUES, axis)))
        return means(f"mean {WIDTH}{UNITS[axis]}, PTD less TD(λ)", WIDER, {"": difference})

    return test


def _ptd_wide_for_all(axis: Axis) -> Callable[[Found], Finding]:
    def test(found: Found) -> Finding:
        usual = _mean(_of_td(found, VALUES, axis))
        each = zip(ABOVE_0, _of_ptd(found, axis), strict=True)
        cases = {f"β = {beta:g}": width.minus(usual) for beta, width in each}
        return means(f"{WIDTH}{UNITS[axis]}, less the mean of TD(λ)'s", WIDER, cases)

    return test


def _of_td(found: Found, lambdas: Sequence[float], axis: Axis) -> list[Sample]:
    return [widths(td(found, value), rmse_of_zero(), axis) for value in lambdas]


def _of_ptd(found: Found, axis: Axis) -> list[Sample]:
    return [widths(ptd(found, value), rmse_of_zero(), axis) for value in ABOVE_0]


def _mean(samples: Sequence[Sample]) -> Sample:
    return Sample(samples[0].seeds, np.mean([of.values for of in samples], axis=0))


CLAIMS = (
    Claim(
        "walk_td_sharp_near_1",
        "For λ near 1 (from 0.9), TD(λ)'s U-curves are sharp: at half their depth, on a linear "
        "axis, they are narrower than those of intermediate λ are on average.",
        ("2",),
        (BY_LAMBDA,),
        _sharp_near_1("linear"),
    ),
    Claim(
        "walk_td_sharp_in_decades",
        "The same in decades, which do not depend on how large the step sizes are that suit a λ.",
        ("2",),
        (BY_LAMBDA,),
        _sharp_near_1("decades"),
        "A factor on the step size moves a curve but leaves its width in decades: for λ near 1 the "
        "step sizes that work are small, and on a linear axis a curve around small numbers is "
        "narrow.",
    ),
    Claim(
        "walk_ptd_less_sensitive",
        "PTD depends less on the step size than TD(λ): on a linear axis its U-curves are wider at "
        "half their depth, on average over β above 0 and over λ.",
        ("2",),
        (BY_LAMBDA, BY_BETA),
        _ptd_wider("linear"),
        SAME_AS_TD + " On a linear axis they are drawn 1/β times as wide.",
    ),
    Claim(
        "walk_ptd_less_sensitive_in_decades",
        "The same in decades, in which a factor on the step size counts for nothing.",
        ("2",),
        (BY_LAMBDA, BY_BETA),
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
        (BY_LAMBDA, BY_BETA),
        _ptd_wide_for_all("linear"),
        SAME_AS_TD + " On a linear axis they are drawn 1/β times as wide.",
    ),
    Claim(
        "walk_ptd_stable_in_decades",
        "The same in decades, in which a factor on the step size counts for nothing.",
        ("2",),
        (BY_LAMBDA, BY_BETA),
        _ptd_wide_for_all("decades"),
        SAME_AS_TD + " In decades, β and λ = 1 − β have curves of the same width.",
    ),
)
