"""Tasks: chains with rewards and features, solved exactly or sampled, and those of the paper."""

from typing import TYPE_CHECKING

from preftd._src.lazy import lazy

if TYPE_CHECKING:
    from preftd._src.tasks.catalogue import TASKS, make
    from preftd._src.tasks.chains import LAMBDAS
    from preftd._src.tasks.control import CartPole, CartPoleDropOuts, ControlTask
    from preftd._src.tasks.drop_observations import DropObservations
    from preftd._src.tasks.environment import TaskEnvironment
    from preftd._src.tasks.features import Features
    from preftd._src.tasks.grids import doorways
    from preftd._src.tasks.outcomes import Outcomes
    from preftd._src.tasks.process import MarkovRewardProcess
    from preftd._src.tasks.scored import Scored
    from preftd._src.tasks.task import Layout, Task
    from preftd._src.tasks.variants import aliased, failing, jittered

__getattr__, __dir__ = lazy(
    __name__,
    {
        "catalogue": "TASKS make",
        "chains": "LAMBDAS",
        "control": "CartPole CartPoleDropOuts ControlTask",
        "drop_observations": "DropObservations",
        "environment": "TaskEnvironment",
        "features": "Features",
        "grids": "doorways",
        "outcomes": "Outcomes",
        "process": "MarkovRewardProcess",
        "scored": "Scored",
        "task": "Layout Task",
        "variants": "aliased failing jittered",
    },
)

__all__ = [
    "LAMBDAS",
    "TASKS",
    "CartPole",
    "CartPoleDropOuts",
    "ControlTask",
    "DropObservations",
    "Features",
    "Layout",
    "MarkovRewardProcess",
    "Outcomes",
    "Scored",
    "Task",
    "TaskEnvironment",
    "aliased",
    "doorways",
    "failing",
    "jittered",
    "make",
]
