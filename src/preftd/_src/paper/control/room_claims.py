"""Claims beyond the paper: preference for doorways in four rooms, in experience."""

from preftd._src.paper.claim import Cases, Claim, Quantity, difference, ratio, reported
from preftd._src.paper.control.studies import (
    ELSEWHERE,
    FIRST,
    LAMBDAS,
    ONLY,
    PREDICTION,
    ROOMS,
    constant,
    preferred,
)
from preftd._src.paper.samples import SMALLER
from preftd._src.paper.verdict import Region

ERROR = "error in episodes 11 to 20"
RETURN = "mean discounted return of 300 episodes"


def _error(states: str, rule: str, preference: str) -> Quantity:
    """The error at some states."""
    return reported(PREDICTION, task=states, rule=rule, preference=preference).score


def _over_constant(states: str, rule: str, preference: str) -> Cases:
    """An error over that of TD(λ) with each constant λ."""
    return Cases(
        {
            f"λ = {one:g}": _error(states, rule, preference)
            / _error(states, "TD(λ)", constant(one))
            for one in LAMBDAS
        }
    )


def _returned(states: str, rule: str, preference: str) -> Quantity:
    return reported(ROOMS, task=states, rule=rule, preference=preference).score


CLAIMS = (
    Claim(
        "rooms_doorways_lower",
        "In experience as in theory: with a random policy in four rooms, PTD with preference for "
        "doorways alone has a lower error there than TD(λ) with any constant λ.",
        (),
        ratio(
            f"{ERROR}, PTD over TD(λ), at doorways",
            SMALLER,
            _over_constant("doorways", "PTD", ONLY),
        ),
        "Both with the held view, each at its best step size. TD with the same λ in each state has "
        "the same errors there as PTD, and also learns other states.",
    ),
    Claim(
        "rooms_other_states_lower",
        "With preference for as many random states, drawn for each seed, the same holds there.",
        (),
        ratio(
            f"{ERROR}, PTD over TD(λ), at random states",
            SMALLER,
            _over_constant("random states", "PTD", ONLY),
        ),
        "So what helps doorways is that they are bottlenecks.",
    ),
    Claim(
        "rooms_weighting_lower",
        "With β = 1 at doorways and 0.1 elsewhere, PTD has a lower error over all states than TD "
        "with the same λ in each state.",
        (),
        ratio(
            f"{ERROR}, PTD over TD with the same λ, all states",
            SMALLER,
            {
                "all states": _error("all states", "PTD", FIRST)
                / _error("all states", "TD(λ)", FIRST)
            },
        ),
    ),
    Claim(
        "rooms_bootstrapping_lower",
        "TD with λ = 0 at doorways and 0.9 elsewhere has a lower error over all states than TD(λ) "
        "with any constant λ.",
        (),
        ratio(
            f"{ERROR}, λ = 0 at doorways over constant λ, all states",
            SMALLER,
            _over_constant("all states", "TD(λ)", FIRST),
        ),
        "Theory for small step sizes says so, by a tenth; at the step sizes that are best after "
        "twenty episodes it does not hold.",
    ),
    Claim(
        "rooms_control_doorways_above_constant",
        "In control of four rooms, an actor-critic with PTD has higher returns with preference for "
        "doorways than with the same β everywhere.",
        (),
        difference(
            f"{RETURN}, doorways less none",
            Region(low=0),
            {
                f"β = {one:g} elsewhere": _returned("doorways", "PTD", preferred(one))
                - _returned("doorways", "PTD", constant(1 - one))
                for one in ELSEWHERE
            },
        ),
        "The policy is soon a good one, under which to bootstrap at doorways is a detour.",
    ),
    Claim(
        "rooms_control_doorways_above_others",
        "With preference for doorways returns are higher than with preference for as many random "
        "states.",
        (),
        difference(
            f"{RETURN}, doorways less random states",
            Region(low=0),
            {
                f"β = {one:g} elsewhere": _returned("doorways", "PTD", preferred(one))
                - _returned("random states", "PTD", preferred(one))
                for one in ELSEWHERE
            },
        ),
    ),
)
