"""Checks of task parameters."""

from preftd.arrays import InputError


def at_least(name: str, value: int, least: int) -> None:
    """Refuse anything but a whole number from `least` on."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise InputError(f"{name} is {value}: give a whole number of {least} or more.")
