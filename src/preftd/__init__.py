"""Temporal-difference learning with preferences: how far to trust each state, in one number β."""

from preftd import tasks, theory
from preftd.arrays import InputError
from preftd.rules import ETD, PTD, TD, Coefficients, Rule
from preftd.tasks import Features, MarkovRewardProcess

__all__ = [
    "ETD",
    "PTD",
    "TD",
    "Coefficients",
    "Features",
    "InputError",
    "MarkovRewardProcess",
    "Rule",
    "tasks",
    "theory",
]
