"""Which claims about CartPole depend on which choices that the paper leaves open."""

from collections.abc import Mapping

from preftd._src.paper.cartpole.claims import main_claims
from preftd._src.paper.cartpole.quantities import Where
from preftd._src.paper.cartpole.studies import (
    ABLATIONS,
    CHANGED,
    CONDITIONS,
    FOUR_METHODS,
    OTHERS_BETWEEN,
    WITH_BETWEEN,
    with_between,
)
from preftd._src.paper.claim import Claim, Quantity

CONDITION = CONDITIONS[0]
WHERE = {
    "no biases": Where(FOUR_METHODS["no biases"], (CONDITION,)),
    **{
        label: Where(CHANGED.get(label) or FOUR_METHODS[label], (CONDITION,)) for label in ABLATIONS
    },
    **{
        f"β = {value:g} between": Where(
            WITH_BETWEEN["no biases"], (with_between(CONDITION, value),)
        )
        for value in OTHERS_BETWEEN
    },
}
"""The paper's figure without biases, and with one choice changed at a time."""
MAIN = {label: main_claims(where, "", "") for label, where in WHERE.items()}
"""The claims of each choice."""
JUDGED = ("td_best", "ptd_on_par", "etd_poor", "ptd_least_variance")
"""Claims that are asked of all choices together."""


def _of_all(what: str) -> Claim:
    """A claim about all choices; a case for each, and each pair of methods."""
    one = MAIN["no biases"][what]
    groups: dict[str, Mapping[str, Quantity]] = {
        label: {
            pair: cases[WHERE[label].conditions[0]]
            for pair, cases in claims[what].comparison.groups.items()
        }
        for label, claims in MAIN.items()
    }
    return Claim(
        f"{one.name}_any_choice",
        f"{one.statement.removesuffix('.')}, in condition 1 however open choices are settled.",
        (),
        one.comparison._replace(groups=groups, averaged=False),
        "Figure cartpole_choices shows on which choices it depends.",
    )


CLAIMS = tuple(map(_of_all, JUDGED))
