"""Tasks: chains with rewards and features, solved exactly or sampled, and those of the paper."""

from typing import TYPE_CHECKING

from preftd._src.lazy import lazy

if TYPE_CHECKING:
    from preftd._src.tasks.catalogue import TASKS, make
    from preftd._src.tasks.control.cartpole import CartPole
    from preftd._src.tasks.control.control_task import ControlTask
    from preftd._src.tasks.control.drop_outs import CartPoleDropOuts
    from preftd._src.tasks.counterexamples import LAMBDAS
    from preftd._src.tasks.drop_observations import DropObservations
    from preftd._src.tasks.environment import TaskEnvironment
    from preftd._src.tasks.features import Features
    from preftd._src.tasks.four_rooms import doorways
    from preftd._src.tasks.layout import Layout
    from preftd._src.tasks.outcomes import Outcomes
    from preftd._src.tasks.process import MarkovRewardProcess
    from preftd._src.tasks.scored import Scored
    from preftd._src.tasks.task import Task
    from preftd._src.tasks.variants import aliased, failing, jittered

__getattr__ = lazy(
    __name__,
    {
        "catalogue": "TASKS make",
        "control.cartpole": "CartPole",
        "control.control_task": "ControlTask",
        "control.drop_outs": "CartPoleDropOuts",
        "counterexamples": "LAMBDAS",
        "drop_observations": "DropObservations",
        "environment": "TaskEnvironment",
        "features": "Features",
        "four_rooms": "doorways",
        "layout": "Layout",
        "outcomes": "Outcomes",
        "process": "MarkovRewardProcess",
        "scored": "Scored",
        "task": "Task",
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
