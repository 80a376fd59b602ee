"""Claims about linear learners on trained features (figures 4, A.7, A.8), and the features."""

from collections.abc import Sequence

from preftd._src.paper.claim import Claim, Comparison, Quantity, difference, ratio, reported
from preftd._src.paper.grids.quantities import linear_errors, linear_tolerance, over_zero
from preftd._src.paper.grids.studies import FEATURE_NET, SIZES, at_size
from preftd._src.paper.measures import part
from preftd._src.paper.samples import ALIKE, LARGER, SAME, SMALLER
from preftd._src.paper.verdict import Region

CURVES = ("4", "A.8")
OTHERS = ("TD(λ)", "ETD-fixed", "ETD-variable")
SEVERAL = (
    "On a grid the follow-on trace counts, with discount, the observable cells seen so far: ETD's "
    "gain depends on the way that led to a state, PTD's is 1 at every observable one."
)


def _compared(
    pairs: Sequence[tuple[str, str]], region: Region, sizes: Sequence[int] = SIZES
) -> Comparison:
    """Errors of one method over those of another, for all tasks and sizes."""
    groups = {
        f"{one} over {other}": linear_errors(one, sizes) / linear_errors(other, sizes)
        for one, other in pairs
    }
    return ratio("error, one method over another", region, groups, averaged=True)


def _falls_behind(task: str) -> Quantity:
    """How ETD-fixed's error over PTD's grows from size 8 to 16."""
    over = linear_errors("ETD-fixed") / linear_errors("PTD")
    return over[f"{task}, 16 × 16"] / over[f"{task}, 8 × 8"]


def _left_by_etd_fixed(size: int) -> Quantity:
    """What ETD-fixed leaves of the error of predicting 0, on task 1."""
    error = linear_errors("ETD-fixed")[f"task 1, {size} × {size}"]
    return error.then(over_zero("cross_grid", size))


CLAIMS = (
    Claim(
        "feature_net_learns",
        "The networks whose hidden layers give the features have learned something: at the end "
        "their error is less than half of that of predicting 0, at all sizes.",
        (),
        ratio(
            "error of feature nets in the last 5 episodes, over that of predicting 0",
            Region(high=0.5),
            {
                f"{size} × {size}": reported(FEATURE_NET, task=at_size(size))
                .by(part, 0.9, 1.0)
                .then(over_zero("open_grid", size))
                for size in SIZES
            },
        ),
    ),
    Claim(
        "semi_linear_td_worst",
        "TD(λ) has the largest error, on both tasks at all sizes.",
        CURVES,
        _compared([("TD(λ)", other) for other in (*OTHERS[1:], "PTD")], LARGER),
    ),
    Claim(
        "semi_linear_etd_fixed_falls_off",
        "ETD-fixed falls off significantly as the grid of task 1 grows: its error over PTD's is at "
        "least a tenth larger at size 16 than at size 8.",
        CURVES,
        ratio(
            "ETD-fixed's error over PTD's, size 16 over size 8",
            Region(low=ALIKE),
            {"task 1": _falls_behind("task 1")},
        ),
    ),
    Claim(
        "semi_linear_etd_fixed_learns_less",
        "The same without PTD beside it: what it leaves of the error of predicting 0 is at least a "
        "tenth larger at size 16 than at size 8.",
        CURVES,
        ratio(
            "what ETD-fixed leaves of the error of predicting 0, size 16 over size 8",
            Region(low=ALIKE),
            {"task 1": _left_by_etd_fixed(16) / _left_by_etd_fixed(8)},
        ),
        "At size 16 curves have half as many episodes, and four times as many cells to learn.",
    ),
    Claim(
        "semi_linear_etd_fixed_task_2",
        "On task 2 it falls off only marginally: by less than on task 1.",
        CURVES,
        ratio(
            "what ETD-fixed loses on PTD from size 8 to 16",
            SMALLER,
            {"task 2 over task 1": _falls_behind("task 2") / _falls_behind("task 1")},
        ),
    ),
    Claim(
        "semi_linear_etd_variable_above_fixed",
        "ETD-variable does better than ETD-fixed, on both tasks at all sizes.",
        CURVES,
        _compared([("ETD-variable", "ETD-fixed")], SMALLER),
    ),
    Claim(
        "semi_linear_ptd_best",
        "PTD has the least error, on both tasks at all sizes.",
        CURVES,
        _compared([("PTD", other) for other in OTHERS], SMALLER),
    ),
    Claim(
        "semi_linear_etd_variable_equal",
        "At sizes 8 and 12 ETD-variable and PTD do the same: their errors differ by less than "
        "10 %, on both tasks.",
        CURVES,
        _compared([("ETD-variable", "PTD")], SAME, (8, 12)),
    ),
    Claim(
        "semi_linear_etd_variable_worse_at_16",
        "At size 16 ETD-variable is worse than PTD, on both tasks.",
        CURVES,
        _compared([("ETD-variable", "PTD")], LARGER, (16,)),
        SEVERAL,
    ),
    Claim(
        "semi_linear_etd_variable_sensitive",
        "ETD-variable is more sensitive to the step size than PTD: fewer decades of step sizes "
        "bring its error at least halfway down to its least.",
        ("A.7",),
        difference(
            "decades of step sizes that work, ETD-variable less PTD",
            Region(high=0),
            linear_tolerance("ETD-variable") - linear_tolerance("PTD"),
            averaged=True,
        ),
        SEVERAL,
    ),
    Claim(
        "semi_linear_true_online_ptd_lower",
        "True online PTD has a lower error than the paper's online form with trained features too, "
        "on both tasks at all sizes, each with its own step size.",
        (),
        ratio(
            "PTD's error, true online over online, each at its best",
            SMALLER,
            linear_errors("PTD", form="true online") / linear_errors("PTD"),
            averaged=True,
        ),
    ),
)
