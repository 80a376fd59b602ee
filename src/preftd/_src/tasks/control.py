"""Tasks for control, whose actions a learner chooses: those of the catalogue, and CartPole."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from preftd._src.arrays import MOST_STEPS, InputError, Vector, as_count, unit
from preftd._src.tasks.features import as_deviation
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.task import Task, as_task

if TYPE_CHECKING:
    import gymnasium

    from preftd._src.tasks.control_kernel import Tables

SPREAD = (1.0, 1.0, 0.1, 1.0)
"""The approximate spread of each number of an observation of CartPole while the pole is up."""


@final
@dataclass(frozen=True, eq=False)
class ControlTask:
    """A task whose actions are chosen by a learner.

    Parameters
    ----------
    task : Task
        Its outcomes, features, start and discount; nothing depends on its policies.
    limit : int
        The number of steps after which an episode is truncated; 0 for none. Required unless
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
        as_task(self.task)
        if not self.task.episodic:
            raise InputError(f"{self.task.name} has no episodes: give a task whose episodes end.")
        endless = _endless(self.task.outcomes)
        if self.limit == 0 and endless.any():
            raise InputError(
                f"limit is 0 but a learner may stay in {self.task.name} for ever, for instance "
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
        """The tables for compiled kernels."""
        from preftd._src.tasks.control_kernel import Tables  # noqa: PLC0415  (compiles)

        return Tables.of(self.task)

    def environment(self) -> gymnasium.Env[Any, Any]:
        """Return a Gymnasium environment with the same episodes, to the bit."""
        from gymnasium.wrappers import TimeLimit  # noqa: PLC0415  (takes a while)

        from preftd._src.tasks.environment import TaskEnvironment  # noqa: PLC0415  (it imports this)

        plain = TaskEnvironment(self.task)
        return TimeLimit(plain, self.limit) if self.limit else plain


def _endless(outcomes: Outcomes) -> NDArray[np.bool_]:
    """Whether some choice of actions may stay among such states for ever, shape (states,)."""
    endless = np.ones(outcomes.states, dtype=np.bool_)
    while True:
        leaves = outcomes.ends | ~endless[outcomes.next_state]
        pair_leaves = np.zeros((outcomes.states, outcomes.actions), dtype=np.bool_)
        np.logical_or.at(pair_leaves, (outcomes.state, outcomes.action), leaves)
        kept = endless & ~pair_leaves.all(axis=1)
        if (kept == endless).all():
            return endless
        endless = kept


@final
@dataclass(frozen=True)
class CartPole:
    """Keep a pole upright on a cart: +1 for each step until it falls or the cart leaves the track.

    The observation has 4 numbers: position, velocity, angle and angular velocity. An algorithm that
    acts runs it compiled, with the same results as Gymnasium's environment, to the bit.

    Parameters
    ----------
    limit : int
        The number of steps after which an episode is truncated; 0 for none.
    discount : float
        The discount of each step that does not end the episode.

    Examples
    --------
    >>> CartPole(limit=200).name
    'cartpole(limit=200)'

    """

    limit: int = 500
    discount: float = 0.99

    actions: ClassVar[int] = 2
    observation_size: ClassVar[int] = 4
    state_size: ClassVar[int] = 4

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", as_count("limit", self.limit, 0, MOST_STEPS))
        object.__setattr__(self, "discount", unit("discount", self.discount))

    @property
    def name(self) -> str:
        """The name with the parameters that are not defaults."""
        discount = "" if self.discount == 0.99 else f", discount={self.discount:g}"
        return f"cartpole(limit={self.limit}{discount})"

    @cached_property
    def tables(self) -> Tables:
        """The tables for compiled kernels."""
        from preftd._src.tasks.control_kernel import Tables  # noqa: PLC0415  (compiles)

        return Tables.cartpole()

    def environment(self, **options: Any) -> gymnasium.Env[Any, Any]:
        """Return Gymnasium's environment with the same limit.

        Parameters
        ----------
        **options
            Options of `gymnasium.make`, such as `render_mode="rgb_array"`.

        """
        import gymnasium  # noqa: PLC0415  (takes a while)

        return gymnasium.make("CartPole-v1", max_episode_steps=self.limit or -1, **options)


@final
@dataclass(frozen=True)
class CartPoleDropOuts:
    """CartPole in which an observation is dropped with some probability, independently of others.

    It shows noise or zeros instead. It is known which observations are dropped: they are hidden
    (`Observability()` is β = 0 there, and 1 elsewhere). An algorithm that acts runs it compiled,
    with the same results as the environment, to the bit.

    Parameters
    ----------
    dropped : float
        The probability that an observation is dropped, from 0 to 1.
    noise : float
        The noise shown instead: independent normal numbers of mean 0 whose standard deviations are
        `noise` times (1, 1, 0.1, 1), approximately those of real observations. 0 shows zeros.
    limit : int
        The number of steps after which an episode is truncated; 0 for none.
    discount : float
        The discount of each step that does not end the episode.

    Examples
    --------
    >>> task = CartPoleDropOuts(dropped=0.5, limit=200)
    >>> task.name
    'cartpole(limit=200), 0.5 dropped'
    >>> observation, info = task.environment().reset(seed=0)
    >>> bool(info["observable"])
    True

    """

    dropped: float = 0.5
    noise: float = 1.0
    limit: int = 500
    discount: float = 0.99

    actions: ClassVar[int] = CartPole.actions
    observation_size: ClassVar[int] = CartPole.observation_size
    state_size: ClassVar[int] = CartPole.state_size

    def __post_init__(self) -> None:
        object.__setattr__(self, "dropped", unit("dropped", self.dropped))
        object.__setattr__(self, "noise", as_deviation("noise", self.noise))
        plain = CartPole(self.limit, self.discount)
        object.__setattr__(self, "limit", plain.limit)
        object.__setattr__(self, "discount", plain.discount)

    @property
    def name(self) -> str:
        """The name with its parameters."""
        shown = "" if self.noise == 1 else f", noise={self.noise:g}"
        return f"{CartPole(self.limit, self.discount).name}, {self.dropped:.3g} dropped{shown}"

    @property
    def deviation(self) -> Vector:
        """The standard deviation of each number of the noise, shape (4,)."""
        return self.noise * np.array(SPREAD)

    @cached_property
    def tables(self) -> Tables:
        """The tables for compiled kernels."""
        from preftd._src.tasks.control_kernel import Tables  # noqa: PLC0415  (compiles)

        return Tables.drop_outs(self.dropped, self.deviation)

    def environment(self, **options: Any) -> gymnasium.Env[Any, Any]:
        """Return Gymnasium's environment with drop-outs, which `info["observable"]` reports.

        Parameters
        ----------
        **options
            Options of `gymnasium.make`, such as `render_mode="rgb_array"`.

        """
        from preftd._src.tasks.drop_observations import DropObservations  # noqa: PLC0415  (slow to load)

        plain = CartPole(self.limit, self.discount).environment(**options)
        return DropObservations(plain, self.dropped, deviation=self.deviation)
