"""The expected gain of an update at each state, ḡ, for any rule.

    TD      1                       PTD     β
    ETD     (1 − β) i + β f / d               f = (I − Pγᵀ)⁻¹ (d ∘ i) = d ∘ E[F | s]

Since a gain is affine in F, its expectation is the gain at E[F | s] = f / d. Off-policy, d are the
visits of the behaviour policy and P is the chain of the target policy, because F contains the
importance ratios.
"""

from collections.abc import Callable

import numpy as np

from preftd._src.arrays import Vector, check_not_negative, per_state
from preftd._src.rules.interest import interest_per_state
from preftd.rules import Rule
from preftd.tasks import Task


def expected_gain(
    rule: Rule,
    beta: Vector,
    visits: Vector,
    accumulate: Callable[[Vector], Vector],
    task: Task | None = None,
) -> Vector:
    """Return ḡ, shape (states,).

    Parameters
    ----------
    rule : Rule
    beta, visits : array of shape (states,)
    accumulate : callable
        Turns the interest of one step, d ∘ i, into f, both of shape (states,).
    task : Task, optional
        Needed if the interest is a signal.

    """
    if rule.interest is None:
        nothing = np.zeros_like(visits)
        return rule.gain(beta, nothing, nothing)
    given = interest_per_state(rule.interest, beta, task)
    interest = per_state("interest", given, visits.size)
    check_not_negative("interest", interest)
    past = accumulate(visits * interest)
    # The follow-on of a state that is never visited is its own interest.
    follow_on = np.divide(past, visits, out=interest.copy(), where=visits > 0)
    return rule.gain(beta, interest, follow_on)
