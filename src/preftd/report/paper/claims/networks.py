"""Claims about networks of several widths in the forward view (figures 5, A.9, A.10)."""

from collections.abc import Callable, Sequence

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.grids import net_score, nets, networks, spread, tolerance
from preftd.report.paper.claims.samples import LARGER, SAME, SMALLER, many_means, many_ratios
from preftd.report.paper.grids import with_units

FIGURE = ("5",)
FORWARD = networks("forward")
NARROW = (1, 2, 4)


def compared(
    view: str, pairs: Sequence[tuple[str, str]], region: Region, sizes: Sequence[int] = (8, 12, 16)
) -> Callable[[Found], Finding]:
    """A test of errors of one method over those of another, for all tasks, sizes and widths."""

    def test(found: Found) -> Finding:
        groups = {
            f"{one} over {other}": {
                place: net_score(found, task, size, one, view, units).over(
                    net_score(found, task, size, other, view, units)
                )
                for task, size, units, place in nets(sizes)
            }
            for one, other in pairs
        }
        return many_ratios("error, one method over another", region, groups)

    return test


def _high_if_narrow(found: Found) -> Finding:
    """How much more is lost by few units on the large grid than on the smaller ones."""
    cases = {}
    for task, size, units, place in nets((8, 12), NARROW):
        lost, lost_small = (
            net_score(found, task, n, "PTD", "forward", units).over(
                net_score(found, task, n, "PTD", "forward", 16)
            )
            for n in (16, size)
        )
        cases[f"16 × 16 over {place}"] = lost.over(lost_small)
    effect = "PTD's error, few units over 16 units, size 16 over smaller"
    return many_ratios(effect, LARGER, {"": cases})


def _more_variance(found: Found) -> Finding:
    cases = {}
    for task, size, units, place in nets():
        one, other = (
            spread(net_score(found, task, size, rule, "forward", units), task, size)
            for rule in ("ETD-variable", "PTD")
        )
        cases[place] = one.minus(other)
    effect = (
        "distance of a seed's error from the median, in parts of the error of predicting 0, "
        "ETD-variable less PTD"
    )
    return many_means(effect, Region(low=0), {"": cases})


def sensitive(view: str) -> Callable[[Found], Finding]:
    """A test of how many decades of step sizes work for ETD-variable, less those for PTD."""

    def test(found: Found) -> Finding:
        cases = {}
        for task, size, units, place in nets():
            one, other = (
                tolerance(
                    found,
                    f"{task} networks, {view}",
                    task,
                    size,
                    {"rule": rule, "learner": with_units(units)},
                )
                for rule in ("ETD-variable", "PTD")
            )
            cases[place] = one.minus(other)
        effect = "decades of step sizes that work, ETD-variable less PTD"
        return many_means(effect, Region(high=0), {"": cases})

    return test


GOOD = ("ETD-variable", "PTD")
CLAIMS = (
    Claim(
        "forward_td_poor",
        "TD(λ) does poorly: its error is above those of ETD-variable and PTD, on both tasks at all "
        "sizes and widths.",
        FIGURE,
        FORWARD,
        compared("forward", [("TD(λ)", other) for other in GOOD], LARGER),
    ),
    Claim(
        "forward_etd_fixed_above_td",
        "ETD-fixed does better than TD(λ), on both tasks at all sizes and widths.",
        FIGURE,
        FORWARD,
        compared("forward", [("ETD-fixed", "TD(λ)")], SMALLER),
    ),
    Claim(
        "forward_etd_fixed_high",
        "Its error is still high: above those of ETD-variable and PTD.",
        FIGURE,
        FORWARD,
        compared("forward", [("ETD-fixed", other) for other in GOOD], LARGER),
    ),
    Claim(
        "forward_ptd_best",
        "PTD has the least error, on both tasks at all sizes and widths.",
        FIGURE,
        FORWARD,
        compared("forward", [("PTD", o) for o in ("TD(λ)", "ETD-fixed", "ETD-variable")], SMALLER),
    ),
    Claim(
        "forward_ptd_high_if_narrow",
        "PTD's error is high at size 16 with four units or fewer: there it loses more by few "
        "units, compared with 16 of them, than at sizes 8 and 12.",
        FIGURE,
        FORWARD,
        _high_if_narrow,
    ),
    Claim(
        "forward_etd_variable_similar",
        "ETD-variable behaves like PTD: their errors differ by less than 10 %, on both tasks at "
        "all sizes and widths.",
        FIGURE,
        FORWARD,
        compared("forward", [("ETD-variable", "PTD")], SAME),
    ),
    Claim(
        "forward_etd_variable_more_variance",
        "The variance over seeds of ETD-variable is higher than PTD's: on average a seed's error "
        "is farther from the median, on both tasks at all sizes and widths.",
        FIGURE,
        FORWARD,
        _more_variance,
    ),
    Claim(
        "forward_etd_variable_sensitive",
        "ETD-variable is more sensitive to the step size than PTD: fewer decades of step sizes "
        "bring its error at least halfway down to its least.",
        ("A.9", "A.10"),
        FORWARD,
        sensitive("forward"),
    ),
)
