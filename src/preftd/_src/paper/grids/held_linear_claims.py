"""Claims beyond the paper: held linear learners on trained features, on both grid tasks."""

from preftd._src.paper.claim import Cases, Claim, Comparison, ratio
from preftd._src.paper.corridors.held_claims import NAMES
from preftd._src.paper.grids.quantities import view_errors, view_fails
from preftd._src.paper.samples import LARGER, NOT_LARGER, SMALLER
from preftd._src.paper.verdict import Region

OTHERS = ("online", "true online")


def _over(rule: str, view: str, region: Region) -> Comparison:
    """Errors of held learners over those in another view."""
    cases = view_errors(rule, "held") / view_errors(rule, view)
    effect = f"{rule}'s error, held over {view}, each at its best"
    return ratio(effect, region, cases, averaged=True)


def _later(*, as_zero: bool) -> dict[str, Cases]:
    """Step sizes with which held learners fail over those of the other views."""
    return {
        f"{rule} over {view}": view_fails(rule, "held", as_zero=as_zero)
        / view_fails(rule, view, as_zero=as_zero)
        for rule in NAMES
        for view in OTHERS
    }


CLAIMS = (
    *(
        Claim(
            f"semi_linear_held_{name}_below_true_online",
            f"Held {rule} has a lower error than true online {rule} with trained features, on both "
            "tasks at all sizes, each with its own step size.",
            (),
            _over(rule, "true online", SMALLER),
            "Trained features of observable cells overlap: what a true online learner adds while "
            "hidden cells are crossed enters the value of the next observable cell, from which the "
            "target is made.",
        )
        for rule, name in NAMES.items()
    ),
    *(
        Claim(
            f"semi_linear_held_{name}_below_online",
            f"Held {rule} also has a lower error than the paper's online form with trained "
            "features, on both tasks at all sizes, each with its own step size.",
            (),
            _over(rule, "online", SMALLER),
        )
        for rule, name in NAMES.items()
    ),
    *(
        Claim(
            f"semi_linear_held_{name}_meets_online",
            f"If not lower, held {rule}'s error with trained features is at most a tenth above "
            "that of the paper's online form, on both tasks at all sizes.",
            (),
            _over(rule, "online", NOT_LARGER),
        )
        for rule, name in NAMES.items()
    ),
    Claim(
        "semi_linear_held_diverges_later",
        "Held PTD and ETD-variable diverge only with larger step sizes than online and true online "
        "ones, with trained features on both tasks at all sizes.",
        (),
        ratio(
            "least step size that diverges, held over another view",
            LARGER,
            _later(as_zero=False),
            averaged=True,
        ),
    ),
    Claim(
        "semi_linear_held_useful_longer",
        "Held PTD and ETD-variable do better than predicting 0 up to larger step sizes than online "
        "and true online ones, with trained features on both tasks at all sizes.",
        (),
        ratio(
            "least step size that is worse than predicting 0, held over another view",
            LARGER,
            _later(as_zero=True),
            averaged=True,
        ),
        "A run that does not diverge may still be worse than no prediction at all.",
    ),
)
