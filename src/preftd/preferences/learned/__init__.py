"""Preferences learned from observations alone: trust what recurs and is Markov."""

from preftd.preferences.learned.explanation import Cell, Explanation
from preftd.preferences.learned.preference import Learned

__all__ = ["Cell", "Explanation", "Learned"]
