"""The expected gain of an update at each state, ḡ, for every rule without naming one.

    TD      1                       PTD     β
    ETD     (1 − β) i + β f / d               f = (I − Pγᵀ)⁻¹ (d ∘ i) = d ∘ E[F | s]

Since a gain is affine in F, it is enough to give it E[F | s] = f / d.
"""

from collections.abc import Callable

import numpy as np

from preftd.arrays import InputError, Vector, per_state
from preftd.preferences import Preference
from preftd.rules import Rule


def expected_gain(
    rule: Rule, beta: Vector, visits: Vector, accumulate: Callable[[Vector], Vector]
) -> Vector:
    """ḡ; `accumulate` turns the interest of the moment, d ∘ i, into that of all the past, f."""
    if rule.interest is None:
        nothing = np.zeros_like(visits)
        return rule.gain(beta, nothing, nothing)
    if isinstance(rule.interest, Preference):
        raise InputError("the rule's interest is a signal of a stream: give a number per state.")
    interest = per_state("interest", rule.interest, visits.size)
    past = accumulate(visits * interest)
    # A state that is never visited has no past but itself.
    follow_on = np.divide(past, visits, out=interest.copy(), where=visits > 0)
    return rule.gain(beta, interest, follow_on)
