"""Preferences: where β comes from."""

from preftd.preferences.displacement import Displacement
from preftd.preferences.preference import Preference
from preftd.preferences.simple import Constant, Function, Observability, PerState

__all__ = ["Constant", "Displacement", "Function", "Observability", "PerState", "Preference"]
