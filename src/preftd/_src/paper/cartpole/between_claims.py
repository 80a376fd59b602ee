"""Claims about β between preferred states: the paper has 0.1, and found 0 and 0.5 poorer."""

from preftd._src.paper.cartpole.quantities import part
from preftd._src.paper.cartpole.studies import (
    BETWEEN,
    CONDITIONS,
    FOUR_METHODS,
    METHODS,
    OTHERS_BETWEEN,
    WITH_BETWEEN,
    name_end,
    with_between,
)
from preftd._src.paper.claim import Cases, Claim, Quantity, difference, reported
from preftd._src.paper.study import PaperStudy
from preftd._src.paper.verdict import Region


def _return(study: PaperStudy, rule: str, preference: str) -> Quantity:
    return reported(study, rule=rule, preference=preference).by(part, "return")


def _lost(variant: str, between: float) -> Cases:
    """Returns with the paper's value less those with another one, of all methods."""
    paper, other = FOUR_METHODS[variant], WITH_BETWEEN[variant]
    return Cases(
        {
            f"{rule}, {one}": _return(paper, rule, one)
            - _return(other, rule, with_between(one, between))
            for rule in METHODS
            for one in CONDITIONS
        }
    )


CLAIMS = tuple(
    Claim(
        f"cartpole_between{name_end(variant)}",
        f"With β = 0 or 0.5 between preferred states, all methods have lower returns than with "
        f"{BETWEEN:g} (networks with {variant}).",
        ("A.13",),
        difference(
            f"mean return with {BETWEEN:g} less that with another value",
            Region(low=0),
            {f"{BETWEEN:g} less {value:g}": _lost(variant, value) for value in OTHERS_BETWEEN},
            averaged=True,
        ),
    )
    for variant in FOUR_METHODS
)
