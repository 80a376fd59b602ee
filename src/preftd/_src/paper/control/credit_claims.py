"""Claims beyond the paper: preference for doorways, by theory; seeds are goals of four rooms."""

from collections.abc import Callable

import numpy as np

from preftd._src.paper.claim import Claim, Comparison, Quantity, ratio
from preftd._src.paper.control.credit import GOALS, Method, best_constant, learned
from preftd._src.paper.samples import SMALLER, Sample
from preftd._src.paper.verdict import Region

DOORWAYS: Method = ("doorways", 0.0)
UNTIL = "episodes until a tenth of the squared error is left"
FAIR = (
    "Each method has the step size that is best for it: expected updates move its mean, and the "
    "exact noise of its updates says what a step size costs. The interval is over goals."
)


def _episodes(policy: str, method: Method, scored: str) -> Quantity:
    """How many episodes a method needs with each goal."""
    return _by_goal(lambda goal: learned(goal, policy, method, scored).episodes())


def _best(policy: str, scored: str) -> Quantity:
    """How many episodes TD(λ) needs with each goal, at the λ that is best there."""
    return _by_goal(lambda goal: best_constant(goal, policy, scored))


def _by_goal(number: Callable[[int], float]) -> Quantity:
    return Quantity((), lambda _: Sample(GOALS, np.array([number(goal) for goal in GOALS])))


def _doorways_over_best(policy: str) -> Quantity:
    return _episodes(policy, DOORWAYS, "doorways") / _best(policy, "doorways")


def _compared(what: str, cases: dict[str, Quantity], region: Region = SMALLER) -> Comparison:
    return ratio(f"{UNTIL}, {what}", region, cases)


CLAIMS = (
    Claim(
        "doorways_faster_under_a_random_policy",
        "In four rooms, with a random policy, preference for doorways alone lets credit travel "
        "faster: the values of doorways are learned in fewer episodes than by TD(λ) at its best λ.",
        (),
        _compared("PTD over TD(λ), at doorways", {"random policy": _doorways_over_best("random")}),
        f"Values jump from doorway to doorway, past the random walk between them. {FAIR}",
    ),
    Claim(
        "doorways_faster_under_a_good_policy",
        "The same with a policy that takes the best action in 85 % of the steps.",
        (),
        _compared("PTD over TD(λ), at doorways", {"good policy": _doorways_over_best("good")}),
        "With a good policy returns vary little, and the best λ is 1: to bootstrap anywhere is a "
        f"detour for credit. {FAIR}",
    ),
    Claim(
        "doorways_help_more_than_other_states",
        "That is due to the doorways: preference for as many random states helps those less.",
        (),
        _compared(
            "PTD over TD(λ), at doorways over at random states",
            {
                "random policy": _doorways_over_best("random")
                / (_episodes("random", ("random", 0.0), "random") / _best("random", "random"))
            },
        ),
    ),
    Claim(
        "weighting_by_preference_faster",
        "Where all states are to be learned, so that β is 0.1 away from doorways, the weighting of "
        "PTD makes it faster than TD with the same λ in each state.",
        (),
        _compared(
            "PTD over TD with the same λ, all states",
            {
                f"{policy} policy": _episodes(policy, ("doorways", 0.1), "all")
                / _episodes(policy, ("λ only", 0.1), "all")
                for policy in ("random", "good")
            },
        ),
        "The gain of PTD gives doorways ten times the step size of other states, hence more noise, "
        "or the others less progress. What bottlenecks can give comes from bootstrapping there.",
    ),
    Claim(
        "bootstrapping_at_doorways_faster",
        "TD with λ = 0 at doorways and 0.9 elsewhere learns all states in fewer episodes than TD(λ)"
        " with the best constant λ, with a random policy.",
        (),
        _compared(
            "λ = 0 at doorways over constant λ, all states",
            {"random policy": _episodes("random", ("λ only", 0.1), "all") / _best("random", "all")},
        ),
    ),
)
