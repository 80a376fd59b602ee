"""Limits of task parameters."""

MOST_STATES = 10_000_000
"""Larger tasks do not fit into the memory of ordinary machines."""
MOST_STEPS = 10**9
"""More steps at once do not fit either."""
