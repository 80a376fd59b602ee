"""Two chains on which TD(λ) with a λ per state diverges, although it learns on-policy.

Rewards are 0, so weights of 0 are right; the question is where expected updates go from elsewhere.
"""

from preftd._src.tasks.layout import Layout
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.task import Task

LAMBDAS = {"counterexample_1": (0.99, 0.8), "counterexample_2": (0.0, 0.99)}
"""The λ of each state at which TD(λ) diverges."""


def counterexample_1() -> Task:
    """Two states, the next one at random, one feature; TD(λ) diverges with λ = 0.99, 0.8."""
    rows = [(s, 0, 0.5, t, 0.0) for s in (0, 1) for t in (0, 1)]
    return Task("counterexample_1", Outcomes.of(rows), [[0.5], [1.0]], 0.99, layout=_side_by_side())


def counterexample_2() -> Task:
    """Two states in turn (periodic), two features; TD(λ) diverges with λ = 0, 0.99."""
    rows = [(0, 0, 1.0, 1, 0.0), (1, 0, 1.0, 0, 0.0)]
    features = [[3.0, 1.0], [1.0, 1.0]]
    return Task("counterexample_2", Outcomes.of(rows), features, 0.95, layout=_side_by_side())


def _side_by_side() -> Layout:
    """The layout of both: two states with their numbers."""
    row = Layout.row(2)
    return Layout(2 * row.position, names={0: "0", 1: "1"})
