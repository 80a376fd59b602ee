"""Preferences learned from observations alone: trust what recurs and is Markov."""

from preftd._src.preferences.learned.explanation import Cell, Explanation
from preftd._src.preferences.learned.preference import Learned

__all__ = ["Cell", "Explanation", "Learned"]
