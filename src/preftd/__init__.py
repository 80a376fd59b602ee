"""Temporal-difference learning with preferences: how far to trust each state, in one number β."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from preftd.registration import register_all

if TYPE_CHECKING:
    from preftd import experience, preferences, tasks, theory
    from preftd.arrays import InputError
    from preftd.experience import Experience
    from preftd.rules import ETD, PTD, TD, Coefficients, Rule
    from preftd.tasks import Features, MarkovRewardProcess, Task

_HOMES = {
    "Coefficients": "rules",
    "ETD": "rules",
    "Experience": "experience",
    "Features": "tasks",
    "InputError": "arrays",
    "MarkovRewardProcess": "tasks",
    "PTD": "rules",
    "Rule": "rules",
    "TD": "rules",
    "Task": "tasks",
}
_ROOMS = ("experience", "preferences", "rules", "tasks", "theory")

__all__ = [
    "ETD",
    "PTD",
    "TD",
    "Coefficients",
    "Experience",
    "Features",
    "InputError",
    "MarkovRewardProcess",
    "Rule",
    "Task",
    "experience",
    "preferences",
    "tasks",
    "theory",
]

register_all()


def __getattr__(name: str) -> Any:
    """Load what is asked for when it is asked for: scipy alone takes longer than all the rest."""
    if name in _HOMES:
        return getattr(import_module(f"preftd.{_HOMES[name]}"), name)
    if name in _ROOMS:
        return import_module(f"preftd.{name}")
    raise AttributeError(f"module 'preftd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
