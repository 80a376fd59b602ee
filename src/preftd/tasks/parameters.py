"""Checks of task parameters."""

from preftd.arrays import InputError, whole

MOST_STATES = 10_000_000
"""Larger tasks do not fit into the memory of ordinary machines."""


def between(name: str, value: int, least: int, most: int) -> int:
    """Return an integer, checked to lie between `least` and `most`."""
    number = whole(name, value)
    if not least <= number <= most:
        raise InputError(f"{name} is {value}: give a whole number from {least} to {most}.")
    return number
