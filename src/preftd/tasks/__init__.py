"""Tasks: chains with rewards and features, solved exactly or sampled, and those of the paper."""

from typing import TYPE_CHECKING

from preftd.lazy import lazy

if TYPE_CHECKING:
    from preftd.tasks.catalogue import TASKS, make
    from preftd.tasks.control.cartpole import CartPole
    from preftd.tasks.control.control_task import ControlTask
    from preftd.tasks.control.drop_outs import CartPoleDropOuts
    from preftd.tasks.drop_observations import DropObservations
    from preftd.tasks.features import Features
    from preftd.tasks.layout import Layout
    from preftd.tasks.outcomes import Outcomes
    from preftd.tasks.process import MarkovRewardProcess
    from preftd.tasks.scored import Scored
    from preftd.tasks.task import Task
    from preftd.tasks.variants import aliased, failing, jittered

__getattr__ = lazy(
    __name__,
    {
        "catalogue": "TASKS make",
        "control.cartpole": "CartPole",
        "control.control_task": "ControlTask",
        "control.drop_outs": "CartPoleDropOuts",
        "drop_observations": "DropObservations",
        "features": "Features",
        "layout": "Layout",
        "outcomes": "Outcomes",
        "process": "MarkovRewardProcess",
        "scored": "Scored",
        "task": "Task",
        "variants": "aliased failing jittered",
    },
)

__all__ = [
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
    "aliased",
    "failing",
    "jittered",
    "make",
]
