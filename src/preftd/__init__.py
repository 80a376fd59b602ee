"""Temporal-difference learning with preferences: one number β says how far to trust each state."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from preftd._src import command

if TYPE_CHECKING:
    from preftd import (
        experience,
        experiments,
        learners,
        logs,
        preferences,
        rules,
        tasks,
        theory,
    )
    from preftd._src.registration import register_rule, register_task
    from preftd.experience import Experience
    from preftd.experiments import Chosen, Evaluation, Score, Search, Study, evaluate
    from preftd.failures import InputError
    from preftd.learners import (
        Actor,
        ActorCritic,
        ActorCriticLearner,
        Critic,
        Decreasing,
        LeastSquares,
        LeastSquaresLearner,
        Linear,
        LinearLearner,
        Network,
        NetworkLearner,
        StepSizePair,
    )
    from preftd.logs import load
    from preftd.rules import ETD, PTD, TD, Coefficients, Rule
    from preftd.tasks import Features, MarkovRewardProcess, Task

__version__ = "0.1.0"

_MODULE_OF = {
    "Actor": "learners",
    "ActorCritic": "learners",
    "ActorCriticLearner": "learners",
    "Chosen": "experiments",
    "Coefficients": "rules",
    "Critic": "learners",
    "Decreasing": "learners",
    "ETD": "rules",
    "Evaluation": "experiments",
    "Experience": "experience",
    "Features": "tasks",
    "InputError": "failures",
    "LeastSquares": "learners",
    "LeastSquaresLearner": "learners",
    "Linear": "learners",
    "LinearLearner": "learners",
    "MarkovRewardProcess": "tasks",
    "Network": "learners",
    "NetworkLearner": "learners",
    "PTD": "rules",
    "Rule": "rules",
    "Score": "experiments",
    "Search": "experiments",
    "StepSizePair": "learners",
    "Study": "experiments",
    "TD": "rules",
    "Task": "tasks",
    "evaluate": "experiments",
    "load": "logs",
    "register_rule": "_src.registration",
    "register_task": "_src.registration",
}
_PACKAGES = (
    *("experience", "experiments", "learners", "logs", "preferences", "rules", "tasks", "theory"),
)

__all__ = [
    "ETD",
    "PTD",
    "TD",
    "Actor",
    "ActorCritic",
    "ActorCriticLearner",
    "Chosen",
    "Coefficients",
    "Critic",
    "Decreasing",
    "Evaluation",
    "Experience",
    "Features",
    "InputError",
    "LeastSquares",
    "LeastSquaresLearner",
    "Linear",
    "LinearLearner",
    "MarkovRewardProcess",
    "Network",
    "NetworkLearner",
    "Rule",
    "Score",
    "Search",
    "StepSizePair",
    "Study",
    "Task",
    "__version__",
    "evaluate",
    "experience",
    "experiments",
    "learners",
    "load",
    "logs",
    "preferences",
    "register_rule",
    "register_task",
    "rules",
    "tasks",
    "theory",
]

if command.is_running():
    # Before anything is loaded; gymnasium only before a study, because help must be quick.
    command.begin()
else:
    from preftd._src.registration import register_environments

    register_environments()


def __getattr__(name: str) -> Any:
    """Load packages on first use, because scipy takes longer to load than all the rest."""
    if name in _MODULE_OF:
        return getattr(import_module(f"preftd.{_MODULE_OF[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"preftd.{name}")
    raise AttributeError(f"module 'preftd' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
