"""Claims about linear learners on trained features (figures 4, A.7, A.8), and the features."""

from collections.abc import Callable, Sequence

from preftd.report.paper.claims.claim import Claim, Finding, Found, Region
from preftd.report.paper.claims.grids import (
    linear_score,
    places,
    semi_linear,
    tolerance,
    zeros,
)
from preftd.report.paper.claims.measures import part
from preftd.report.paper.claims.samples import (
    ALIKE,
    LARGER,
    SAME,
    SMALLER,
    Sample,
    many_means,
    many_ratios,
    ratios,
)
from preftd.report.paper.grids import SIZES

CURVES = ("4", "A.8")
ALL = semi_linear(*SIZES)
OTHERS = ("TD(λ)", "ETD-fixed", "ETD-variable")
SEVERAL = (
    "On a grid the follow-on trace counts, with discount, the observable cells seen so far: ETD's "
    "gain depends on the way that led to a state, PTD's is 1 at every observable one."
)


def _compared(
    pairs: Sequence[tuple[str, str]], region: Region, sizes: Sequence[int] = SIZES
) -> Callable[[Found], Finding]:
    """A test of errors of one method over those of another, for all tasks and sizes."""

    def test(found: Found) -> Finding:
        groups = {
            f"{one} over {other}": {
                place: linear_score(found, task, size, one).over(
                    linear_score(found, task, size, other)
                )
                for task, size, place in places(sizes)
            }
            for one, other in pairs
        }
        return many_ratios("error, one method over another", region, groups)

    return test


def _falls_behind(found: Found, task: str) -> Sample:
    """How ETD-fixed's error over PTD's grows from size 8 to 16."""
    small, large = (
        linear_score(found, task, size, "ETD-fixed").over(linear_score(found, task, size, "PTD"))
        for size in (8, 16)
    )
    return large.over(small)


def _falls_off(found: Found) -> Finding:
    cases = {"task 1": _falls_behind(found, "cross_grid")}
    return ratios("ETD-fixed's error over PTD's, size 16 over size 8", Region(low=ALIKE), cases)


def _learns_less(found: Found) -> Finding:
    left = []
    for size in (8, 16):
        fixed = linear_score(found, "cross_grid", size, "ETD-fixed")
        left.append(fixed.over(Sample(fixed.seeds, zeros("cross_grid", size, fixed.seeds))))
    effect = "what ETD-fixed leaves of the error of predicting 0, size 16 over size 8"
    return ratios(effect, Region(low=ALIKE), {"task 1": left[1].over(left[0])})


def _less_on_task_2(found: Found) -> Finding:
    cases = {
        "task 2 over task 1": _falls_behind(found, "random_grid").over(
            _falls_behind(found, "cross_grid")
        )
    }
    return ratios("what ETD-fixed loses on PTD from size 8 to 16", SMALLER, cases)


def _sensitive(found: Found) -> Finding:
    cases = {}
    for task, size, place in places():
        study = f"{task} semi-linear, size {size}"
        one, other = (
            tolerance(found, study, task, size, {"rule": rule, "learner": ""})
            for rule in ("ETD-variable", "PTD")
        )
        cases[place] = one.minus(other)
    effect = "decades of step sizes that work, ETD-variable less PTD"
    return many_means(effect, Region(high=0), {"": cases})


def _trained(found: Found) -> Finding:
    cases = {}
    for size in SIZES:
        last = part(found["feature net"].reported, 0.9, 1.0, task=f"size {size}")
        nothing = Sample(last.seeds, zeros("open_grid", size, last.seeds))
        cases[f"{size} × {size}"] = last.over(nothing)
    effect = "error of feature nets in the last 5 episodes, over that of predicting 0"
    return ratios(effect, Region(high=0.5), cases)


def _true_online(found: Found) -> Finding:
    cases = {
        place: linear_score(found, task, size, "PTD", "true online").over(
            linear_score(found, task, size, "PTD")
        )
        for task, size, place in places()
    }
    effect = "PTD's error, true online over online, each at its best"
    return many_ratios(effect, SMALLER, {"": cases})


CLAIMS = (
    Claim(
        "feature_net_learns",
        "The networks whose hidden layers give the features have learned something: at the end "
        "their error is less than half of that of predicting 0, at all sizes.",
        (),
        ("feature net",),
        _trained,
    ),
    Claim(
        "semi_linear_td_worst",
        "TD(λ) has the largest error, on both tasks at all sizes.",
        CURVES,
        ALL,
        _compared([("TD(λ)", other) for other in (*OTHERS[1:], "PTD")], LARGER),
    ),
    Claim(
        "semi_linear_etd_fixed_falls_off",
        "ETD-fixed falls off significantly as the grid of task 1 grows: its error over PTD's is at "
        "least a tenth larger at size 16 than at size 8.",
        CURVES,
        tuple(name for name in semi_linear(8, 16) if "cross" in name),
        _falls_off,
    ),
    Claim(
        "semi_linear_etd_fixed_learns_less",
        "The same without PTD beside it: what it leaves of the error of predicting 0 is at least a "
        "tenth larger at size 16 than at size 8.",
        CURVES,
        tuple(name for name in semi_linear(8, 16) if "cross" in name),
        _learns_less,
        "At size 16 curves have half as many episodes, and four times as many cells to learn.",
    ),
    Claim(
        "semi_linear_etd_fixed_task_2",
        "On task 2 it falls off only marginally: by less than on task 1.",
        CURVES,
        semi_linear(8, 16),
        _less_on_task_2,
    ),
    Claim(
        "semi_linear_etd_variable_above_fixed",
        "ETD-variable does better than ETD-fixed, on both tasks at all sizes.",
        CURVES,
        ALL,
        _compared([("ETD-variable", "ETD-fixed")], SMALLER),
    ),
    Claim(
        "semi_linear_ptd_best",
        "PTD has the least error, on both tasks at all sizes.",
        CURVES,
        ALL,
        _compared([("PTD", other) for other in OTHERS], SMALLER),
    ),
    Claim(
        "semi_linear_etd_variable_equal",
        "At sizes 8 and 12 ETD-variable and PTD do the same: their errors differ by less than "
        "10 %, on both tasks.",
        CURVES,
        semi_linear(8, 12),
        _compared([("ETD-variable", "PTD")], SAME, (8, 12)),
    ),
    Claim(
        "semi_linear_etd_variable_worse_at_16",
        "At size 16 ETD-variable is worse than PTD, on both tasks.",
        CURVES,
        semi_linear(16),
        _compared([("ETD-variable", "PTD")], LARGER, (16,)),
        SEVERAL,
    ),
    Claim(
        "semi_linear_etd_variable_sensitive",
        "ETD-variable is more sensitive to the step size than PTD: fewer decades of step sizes "
        "bring its error at least halfway down to its least.",
        ("A.7",),
        ALL,
        _sensitive,
        SEVERAL,
    ),
    Claim(
        "semi_linear_true_online_ptd_lower",
        "True online PTD has a lower error than the paper's online form with trained features too, "
        "on both tasks at all sizes, each with its own step size.",
        (),
        ALL,
        _true_online,
    ),
)
