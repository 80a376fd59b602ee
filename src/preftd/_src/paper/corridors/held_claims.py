"""Claims beyond the paper: held linear learners on both corridor tasks."""

from preftd._src.paper.claim import Cases, Claim, Comparison, Quantity, ratio, tried
from preftd._src.paper.corridors.claims import each, errors
from preftd._src.paper.corridors.studies import IN_VIEWS, at_length
from preftd._src.paper.measures import failing_from
from preftd._src.paper.samples import LARGER, SAME, SMALLER
from preftd._src.paper.verdict import Region

NAMES = {"PTD": "ptd", "ETD-variable": "etd"}
"""Rules, and how names of claims call them."""
ORTHOGONAL = (
    "True online learning takes back exactly what it added on the way. What may be left of that is "
    "in the value of the next observable state, from which the target is made; here that does not "
    "depend on it, as observable states share no features."
)


def _over(rule: str, view: str, region: Region) -> Comparison:
    """Errors of held learners over those in another view."""
    held, other = (errors(IN_VIEWS, rule=rule, learner=name) for name in ("held", view))
    return ratio(f"{rule}'s error, held over {view}, each at its best", region, held / other)


def _fails(rule: str, view: str) -> Cases:
    """The least step sizes with which seeds of the search diverge."""

    def of(task: str, length: int) -> Quantity:
        runs = tried(IN_VIEWS[task], task=at_length(length), rule=rule, learner=view)
        return runs.by(failing_from)

    return each(of)


CLAIMS = (
    *(
        Claim(
            f"held_{name}_is_true_online",
            f"Held {rule} has the same error as true online {rule}, on both tasks at all lengths: "
            "they differ by less than 10 %.",
            (),
            _over(rule, "true online", SAME),
            ORTHOGONAL,
        )
        for rule, name in NAMES.items()
    ),
    *(
        Claim(
            f"held_{name}_below_online",
            f"Held {rule} has a lower error than the paper's online form, on both tasks at all "
            "lengths, each with its own step size.",
            (),
            _over(rule, "online", SMALLER),
            "Weights rest while hidden states are crossed, so that what these show has no effect.",
        )
        for rule, name in NAMES.items()
    ),
    Claim(
        "held_diverges_later",
        "Held PTD and ETD-variable diverge only with larger step sizes than the paper's online "
        "form, on both tasks at all lengths.",
        (),
        ratio(
            "least step size that diverges, held over online",
            LARGER,
            {rule: _fails(rule, "held") / _fails(rule, "online") for rule in NAMES},
        ),
    ),
)
