"""Two chains on which TD(λ) with a λ per state diverges, although it learns on-policy.

Rewards are 0, so the right weights are 0; where expected updates go from elsewhere is the question.
"""

from typing import NamedTuple

from preftd.arrays import Vector, as_array
from preftd.tasks.features import Features
from preftd.tasks.process import MarkovRewardProcess


class Counterexample(NamedTuple):
    """A chain, its features, and the λ of each state."""

    process: MarkovRewardProcess
    features: Features
    lambda_: Vector


def counterexample_1() -> Counterexample:
    """Mahmood's: two states, every next state equally likely, one feature."""
    return Counterexample(
        MarkovRewardProcess([[0.5, 0.5], [0.5, 0.5]], reward=0, discount=0.99),
        Features([[0.5], [1.0]]),
        as_array("lambda_", [0.99, 0.8]),
    )


def counterexample_2() -> Counterexample:
    """Ghiassian's: two states in turn, two features. Its chain is periodic."""
    return Counterexample(
        MarkovRewardProcess([[0, 1], [1, 0]], reward=0, discount=0.95),
        Features([[3.0, 1.0], [1.0, 1.0]]),
        as_array("lambda_", [0.0, 0.99]),
    )
