"""Exact theory of expected updates: whether a rule converges, to what, and why."""
