"""Tasks of the catalogue for control: the learner chooses the actions, not the task's policy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import InputError, as_count, short
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.parameters import MOST_STEPS
from preftd._src.tasks.task import Task

if TYPE_CHECKING:
    import gymnasium

    from preftd._src.tasks.control.kernel import Tables


@final
@dataclass(frozen=True, eq=False)
class ControlTask:
    """A task whose actions are chosen by a learner.

    Parameters
    ----------
    task : Task
        Its outcomes, features, start and discount; nothing depends on its policies.
    limit : int
        The number of steps after which an episode is truncated; 0 for none. It is needed unless
        episodes end whatever the learner does.

    Examples
    --------
    >>> from preftd import tasks
    >>> chosen = ControlTask(tasks.make("corridor", length=5))
    >>> chosen.name, chosen.actions, chosen.observation_size
    ('corridor(length=5)', 2, 3)

    """

    task: Task
    limit: int = 0

    state_size: ClassVar[int] = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", as_count("limit", self.limit, 0, MOST_STEPS))
        if not isinstance(self.task, Task):
            raise InputError(
                f'task is {short(self.task)}: give one, such as tasks.make("corridor").'
            )
        if not self.task.episodic:
            raise InputError(f"{self.task.name} has no episodes: give a task whose episodes end.")
        endless = _endless(self.task.outcomes)
        if self.limit == 0 and endless.any():
            raise InputError(
                f"limit is 0 but a learner may stay in {self.task.name} without end, for instance "
                f"in state {int(np.argmax(endless))}: give a limit of 1 or more."
            )

    @property
    def name(self) -> str:
        """The name of the task, with the limit if there is one."""
        return f"{self.task.name}, limit {self.limit}" if self.limit else self.task.name

    @property
    def discount(self) -> float:
        """The discount of each step that does not end the episode."""
        return self.task.discount

    @property
    def actions(self) -> int:
        """The number of actions."""
        return self.task.outcomes.actions

    @property
    def observation_size(self) -> int:
        """The number of features."""
        return int(self.task.features.size)

    @cached_property
    def tables(self) -> Tables:
        """What compiled kernels need."""
        from preftd._src.tasks.control.kernel import Tables  # noqa: PLC0415  (compiles)

        return Tables.of(self.task)

    def environment(self) -> gymnasium.Env[Any, Any]:
        """Return a Gymnasium environment, which gives the same episodes to the bit."""
        from gymnasium.wrappers import TimeLimit  # noqa: PLC0415  (takes a while)

        from preftd._src.tasks.environment import TaskEnvironment  # noqa: PLC0415  (it imports this)

        plain = TaskEnvironment(self.task)
        return TimeLimit(plain, self.limit) if self.limit else plain


def _endless(outcomes: Outcomes) -> NDArray[np.bool_]:
    """Whether some choice of actions may stay among such states without end, shape (states,)."""
    endless = np.ones(outcomes.states, dtype=np.bool_)
    while True:
        leaves = outcomes.ends | ~endless[outcomes.next_state]
        pair_leaves = np.zeros((outcomes.states, outcomes.actions), dtype=np.bool_)
        np.logical_or.at(pair_leaves, (outcomes.state, outcomes.action), leaves)
        kept = endless & ~pair_leaves.all(axis=1)
        if (kept == endless).all():
            return endless
        endless = kept
