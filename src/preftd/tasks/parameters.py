"""Checks of task parameters."""

from preftd.arrays import InputError

MOST_STATES = 10_000_000
"""Larger tasks than this do not fit into the memory of ordinary machines."""


def between(name: str, value: int, least: int, most: int) -> None:
    """Refuse anything but a whole number in a range."""
    if isinstance(value, bool) or value != value // 1 or not least <= value <= most:
        raise InputError(f"{name} is {value}: give a whole number from {least} to {most}.")
