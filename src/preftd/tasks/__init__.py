"""The truth: chains with rewards, and what their states show."""

from preftd.tasks.counterexamples import Counterexample, counterexample_1, counterexample_2
from preftd.tasks.features import Features
from preftd.tasks.process import MarkovRewardProcess

__all__ = [
    "Counterexample",
    "Features",
    "MarkovRewardProcess",
    "counterexample_1",
    "counterexample_2",
]
