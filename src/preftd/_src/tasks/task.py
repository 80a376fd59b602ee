"""A task: a table of outcomes, a policy, the features of states, and a layout for pictures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self, SupportsIndex, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from preftd._src.arrays import (
    MOST_STATES,
    Dense,
    InputError,
    Matrix,
    MatrixLike,
    Sparse,
    Vector,
    as_array,
    as_count,
    as_dense,
    as_distribution,
    instance,
    short,
    unit,
)
from preftd._src.experience.fields import flags
from preftd._src.names import is_text, nearest
from preftd._src.solve import Resolvent
from preftd._src.tasks.features import Features
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.process import MarkovRewardProcess, check_episodes_end, policy_table, share
from preftd._src.tasks.scored import Scored

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from preftd._src.tasks.sampler import Sampler, SamplingTable

DENSE_STATES = 500
"""Up to this many states, the matrices of a task's process are dense."""


@final
@dataclass(frozen=True, eq=False)
class Layout:
    """Positions of states in a picture.

    Parameters
    ----------
    position : array of shape (states, 2)
        x to the right and y upwards.
    kind : "graph" or "grid"
        Whether states are nodes joined by arrows, or cells of side 1.
    names : dict of int to str, optional
        Names of states, written into their nodes.
    end : tuple of (x, y), optional
        The position of the end of episodes, if it has its own cell.

    """

    position: Dense
    kind: Literal["graph", "grid"] = "graph"
    names: dict[int, str] | None = None
    end: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        position = as_array("position", self.position)
        if position.ndim != 2 or position.shape[1] != 2:
            raise InputError(f"position has shape {position.shape}: give x and y of each state.")
        object.__setattr__(self, "position", position)
        nearest("kind of layout", self.kind, ("graph", "grid"))
        if self.end is not None and as_array("end", self.end).shape != (2,):
            raise InputError(f"end is {short(self.end)}: give its x and y.")
        if self.names is None:
            return
        instance("names", self.names, dict, "a dict of states to names")
        for state in self.names:
            as_count("a state in names", state, 0, len(position) - 1)

    @classmethod
    def circle(cls, states: int) -> Self:
        """Arrange the states on a circle."""
        states = as_count("states", states, 1, MOST_STATES)
        angle = np.pi - 2 * np.pi * np.arange(states) / states
        radius = max(1.0, states / 5)
        return cls(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))

    @classmethod
    def row(cls, states: int) -> Self:
        """Arrange the states in a row."""
        states = as_count("states", states, 1, MOST_STATES)
        return cls(np.stack([np.arange(states), np.zeros(states)], axis=1))


@final
class Task:
    """A prediction problem: exact process, sampler, environment and picture from one table.

    Parameters
    ----------
    name : str
        The name with its parameters. The name seeds the random numbers of the sampler.
    outcomes : Outcomes, or array of shape (rows, 5) or (rows, 6)
        Everything that can happen; see `Outcomes.of` for the columns.
    features : Features, or array or sparse matrix of shape (states, features)
        The features of each state; `Features(mean, covariance)` if they are random.
    discount : float
        The discount of each step that does not end an episode.
    start : array of shape (states,), optional
        Probabilities of the first state, needed if episodes end (default: the stationary
        distribution).
    observable : array of bool, shape (states,), optional
        Whether each state is observable. Predictions are scored there (default: all).
    policy : array of shape (states, actions) or (states,), optional
        The target policy, whose values are predicted: probabilities, or one action per state
        (default: all actions equally likely).
    behaviour : array of shape (states, actions) or (states,), optional
        The policy that acts (default: the target policy).
    layout : Layout, optional
        The layout of pictures (default: a circle).

    Examples
    --------
    >>> coin = Task("coin", [(0, 0, 0.5, 0, 1), (0, 0, 0.5, -1, 0)], [[1]], 1.0, start=[1])
    >>> coin.values
    array([1.])

    """

    def __init__(  # noqa: PLR0913  (what a task consists of)
        self,
        name: str,
        outcomes: Outcomes | ArrayLike,
        features: Features | MatrixLike,
        discount: float,
        *,
        start: ArrayLike | None = None,
        observable: ArrayLike | None = None,
        policy: ArrayLike | None = None,
        behaviour: ArrayLike | None = None,
        layout: Layout | None = None,
    ) -> None:
        if not is_text(name):
            raise InputError(f"name is {short(name)}: give a text.")
        self.name = name
        self.outcomes = outcomes if isinstance(outcomes, Outcomes) else Outcomes.of(outcomes)
        states, actions = self.outcomes.states, self.outcomes.actions
        self.features = Features.of(features, states)
        self.discount = unit("discount", discount)
        everywhere = np.ones(states, dtype=np.bool_)
        self.observable = (
            everywhere if observable is None else _mask("observable", observable, states)
        )
        equal = np.full((states, actions), 1 / actions)
        self.policy = equal if policy is None else policy_table(policy, states, actions)
        self.behaviour = self.policy if behaviour is None else self._covering(behaviour)
        self.layout = Layout.circle(states) if layout is None else layout
        drawn: object = self.layout
        if not isinstance(drawn, Layout) or len(drawn.position) != states:
            raise InputError(
                f"layout is {short(layout)}: give a Layout with a position for each of {states} "
                "states."
            )
        if start is None and self.episodic:
            raise InputError(
                "start is missing but episodes end: give the probabilities of the first state."
            )
        given = None if start is None else as_distribution("start", start, states)
        if given is not None and self.episodic:
            for acting in (self.policy, self.behaviour):
                moves, ending, _ = self.outcomes.under(acting)
                check_episodes_end(moves, given > 0, ending > 0)
        self.process = self._process(given)
        self.start = self.process.start

    @property
    def states(self) -> int:
        """The number of states."""
        return self.outcomes.states

    @property
    def values(self) -> Vector:
        """The true value of each state, shape (states,)."""
        return self.process.values

    @property
    def episodic(self) -> bool:
        """Whether episodes end."""
        return bool(self.outcomes.ends.any())

    @property
    def off_policy(self) -> bool:
        """Whether a behaviour policy other than the target policy acts."""
        return self.behaviour is not self.policy

    @cached_property
    def mean_episode_length(self) -> float:
        """The expected number of steps of a sampled episode; infinite if episodes do not end."""
        if not self.episodic:
            return float("inf")
        moves, _, _ = self.outcomes.under(self.behaviour)
        small = self.states <= DENSE_STATES
        to_the_end = Resolvent(as_dense(moves) if small else moves)
        return float(self.start @ to_the_end.solve(np.ones(self.states)))

    @cached_property
    def table(self) -> SamplingTable:
        """The outcomes, prepared for sampling."""
        from preftd._src.tasks.sampler import SamplingTable  # noqa: PLC0415  (compiles)

        return SamplingTable.of(self)

    @cached_property
    def scored(self) -> Scored:
        """The observable states and their values, on which predictions are scored."""
        return Scored.of(self)

    def sampler(self, seed: SupportsIndex) -> Sampler:
        """Return a sampler, which draws episodes or steps on request.

        Parameters
        ----------
        seed : int
            The same task and seed give the same experience.

        Examples
        --------
        >>> from preftd import tasks
        >>> len(tasks.make("corridor", length=5).sampler(seed=0).episodes(2))
        12

        """
        from preftd._src.tasks.sampler import Sampler  # noqa: PLC0415  (compiles)

        return Sampler(self, seed)

    def plot(
        self,
        beta: ArrayLike | None = None,
        axes: Axes | None = None,
        lambda_: ArrayLike | None = None,
    ) -> Axes:
        """Draw the task: states, hidden or observable, rewards, and β or λ if given.

        A graph of three states or fewer also shows probabilities and features.

        Parameters
        ----------
        beta : float or array of shape (states,), optional
            Numbers to write at the states, in [0, 1].
        axes : matplotlib.axes.Axes, optional
            Where to draw (default: a new figure).
        lambda_ : float or array of shape (states,), optional
            Given instead of beta: λ = 1 − β.

        """
        from preftd._src.tasks.picture import draw  # noqa: PLC0415  (matplotlib)

        return draw(self, beta, axes, lambda_)

    def __repr__(self) -> str:
        return f"<Task {self.name}: {self.states} states, {self.features.size} features>"

    def _process(self, start: Vector | None) -> MarkovRewardProcess:
        """The exact process, visited by the behaviour policy."""
        transition, reward, discount = self._chain(self.policy, start)
        visits = None
        if self.off_policy:
            acting, _, its_discount = self._chain(self.behaviour, start)
            visits = MarkovRewardProcess(acting, 0, its_discount, start).stationary_distribution
        return MarkovRewardProcess(transition, reward, discount, start, visits=visits)

    def _chain(self, policy: Dense, start: Vector | None) -> tuple[Matrix, Vector, Matrix]:
        """The transitions with restarts, expected rewards and discounts under a policy."""
        moves, ending, reward = self.outcomes.under(policy)
        transition: Sparse = moves
        if start is not None:
            restart = sparse.csr_array(ending[:, None]) @ sparse.csr_array(start[None, :])
            transition = sparse.csr_array(moves + restart)
        # A pair of states may be joined by a move and by a restart, whose discount is 0.
        kept = self.discount * share(moves, transition)
        if self.states <= DENSE_STATES:
            return as_dense(transition), reward, as_dense(kept)
        return transition, reward, kept

    def _covering(self, behaviour: ArrayLike) -> Dense:
        """The behaviour policy, checked to take every action that the target policy takes."""
        acting = policy_table(
            behaviour, self.outcomes.states, self.outcomes.actions, name="behaviour"
        )
        missed = (self.policy > 0) & (acting == 0)
        if missed.any():
            state, action = (int(i) for i in np.argwhere(missed)[0])
            raise InputError(
                f"behaviour never takes action {action} in state {state} but policy does: give it "
                "a probability above 0."
            )
        return acting


def as_task(given: object, name: str = "task") -> Task:
    """Return the task, checked to be one."""
    return instance(name, given, Task, 'one, such as tasks.make("corridor")')


def changed(task: Task, **parts: Any) -> Task:
    """Return the task with some parts, which are parameters of `Task`, replaced."""
    own = {
        "start": task.start if task.episodic else None,
        "behaviour": task.behaviour if task.off_policy else None,
    }
    names = ("name", "outcomes", "features", "discount", "observable", "policy", "layout")
    return Task(**{name: getattr(task, name) for name in names} | own | parts)


def _mask(name: str, given: ArrayLike, states: int) -> NDArray[np.bool_]:
    """True or false for each state, checked."""
    array = as_array(name, given)
    if array.shape != (states,):
        raise InputError(
            f"{name} has shape {array.shape}: give true or false for each of {states} states."
        )
    return flags(name, array, states)
