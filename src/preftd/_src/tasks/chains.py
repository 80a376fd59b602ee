"""Chains: the random walk, corridors, and two on which TD(λ) diverges.

The random walk has its states in a row, and pays +1 for leaving at the right end, −1 at the left.

Corridors have decisions whose outcome is seen only after a walk through hidden states. Decisions
and goals have one-hot features. Hidden states show Gaussian noise of mean 0.5 and standard
deviation 1 in every feature, drawn at each visit.

On the counterexamples, TD(λ) with a λ per state diverges, although it learns on-policy. Rewards are
0, so weights of 0 are right; the question is where expected updates lead from other weights.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd._src.arrays import MOST_STATES, Dense, as_count
from preftd._src.tasks.features import Features
from preftd._src.tasks.outcomes import Outcomes
from preftd._src.tasks.task import Layout, Task

LAMBDAS = {"counterexample_1": (0.99, 0.8), "counterexample_2": (0.0, 0.99)}
"""The λ of each state at which TD(λ) diverges."""


def random_walk(states: int = 19) -> Task:
    """A walk to the left or right until it leaves at either end; all states are observable.

    Parameters
    ----------
    states : int
        The number of states.

    """
    states = as_count("states", states, 1, MOST_STATES)
    here = np.arange(states)
    right = np.where(here == states - 1, -1, here + 1)
    going = np.stack([here - 1, right], axis=1)
    reward = np.stack([-1.0 * (here == 0), 1.0 * (here == states - 1)], axis=1)
    return Task(
        f"random_walk(states={states})",
        Outcomes.deterministic(going, reward),
        sparse.eye_array(states),
        discount=1.0,
        start=np.arange(states) == (states - 1) // 2,
        layout=Layout.row(states),
    )


@dataclass
class _Map:
    """Builder of a corridor task: states are added one after the other."""

    position: list[tuple[float, float]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    following: dict[int, tuple[int, int]] = field(default_factory=dict)
    reward: dict[int, tuple[float, float]] = field(default_factory=dict)

    def observable(self, name: str, x: float, y: float) -> int:
        """Add an observable state; returns its number."""
        self.position.append((x, y))
        self.names[len(self.position) - 1] = name
        return len(self.position) - 1

    def corridor(self, length: int, into: int, above: float = 0.0) -> int:
        """Add `length` hidden states that lead to `into`; returns the first state of the way."""
        x, y = self.position[into]
        y += above
        first = len(self.position)
        for i in range(length):
            self.position.append((x - length + i, y))
            here = first + i
            self.following[here] = (here + 1,) * 2 if i < length - 1 else (into, into)
        return first if length else into

    def task(self, name: str) -> Task:
        """Build the task."""
        states = len(self.position)
        going = np.array([self.following.get(s, (-1, -1)) for s in range(states)])
        paid = np.array([self.reward.get(s, (0.0, 0.0)) for s in range(states)])
        shown = np.isin(np.arange(states), list(self.names))
        return Task(
            name,
            Outcomes.deterministic(going, paid[:, :1], paid[:, 1:]),
            _hidden_in_noise(shown),
            discount=1.0,
            start=np.arange(states) == 0,
            observable=shown,
            layout=Layout(np.array(self.position), names=self.names),
        )


def corridor(length: int = 10) -> Task:
    """One decision, two chains of `length` states, the last of each a goal: +2 above, −1 below.

    Parameters
    ----------
    length : int
        The number of states in each chain, goal included.

    """
    length = as_count("length", length, 1, MOST_STATES // 10)
    plan = _Map()
    first = plan.observable("S1", 0, 0)
    ways = []
    for name, y, pays in (("G1", 1.2, 2.0), ("G2", -1.2, -1.0)):
        goal = plan.observable(name, length, y)
        plan.reward[goal] = (pays, 0.0)
        ways.append(plan.corridor(length - 1, goal))
    plan.following[first] = (ways[0], ways[1])
    return plan.task(f"corridor(length={length})")


def double_corridor(length: int = 10) -> Task:
    """Two decisions in a row, corridors of `length` hidden states, three goals: 3, 2 and 1.

    Parameters
    ----------
    length : int
        The number of hidden states in each corridor.

    """
    length = as_count("length", length, 1, MOST_STATES // 10)
    plan = _Map()
    middle, end = length + 1.0, 2 * (length + 1.0)
    first = plan.observable("S1", 0, 0)
    upper, lower = plan.observable("S2", middle, 1.2), plan.observable("S3", middle, -1.2)
    ways = []
    for name, y, pays in (("G1", 2.4, 3.0), ("G2", 0.0, 2.0), ("G3", -2.4, 1.0)):
        goal = plan.observable(name, end, y)
        plan.reward[goal] = (pays, 0.2)
        ways.append(plan.corridor(length, goal))
    plan.following[first] = (plan.corridor(length, upper), plan.corridor(length, lower))
    plan.following[upper], plan.following[lower] = (ways[0], ways[1]), (ways[1], ways[2])
    return plan.task(f"double_corridor(length={length})")


def decision_corridors(length: int = 10, decisions: int = 3, bait: int = 2) -> Task:
    """Decisions in a row: one way leads on, to a goal that pays 3, the other pays less and ends.

    At decisions 1, 3, … the first action leads on, at the others the second. Each way is a corridor
    of hidden states; the last state of a wrong way pays the bait and ends the episode. So whether
    to go on depends on the value of the next decision, far behind noise.

    Parameters
    ----------
    length : int
        The number of hidden states in each way.
    decisions : int
        The number of decisions.
    bait : int
        The reward of a wrong way.

    """
    length = as_count("length", length, 1, MOST_STATES // 20)
    decisions = as_count("decisions", decisions, 1, MOST_STATES // (20 * length))
    bait = as_count("bait", bait, 0, 3)
    plan = _Map()
    shown = [plan.observable(f"S{i + 1}", i * (length + 1.0), 0) for i in range(decisions)]
    shown.append(plan.observable("G", decisions * (length + 1.0), 0))
    plan.reward[shown[-1]] = (3.0, 0.0)
    for i, (here, there) in enumerate(pairwise(shown)):
        on, off = (plan.corridor(length, there, above) for above in (0.0, -1.2))
        last = off + length - 1
        plan.reward[last], plan.following[last] = (bait, 0.0), (-1, -1)
        plan.following[here] = (on, off) if i % 2 == 0 else (off, on)
    return plan.task(f"decision_corridors(length={length}, decisions={decisions}, bait={bait})")


def geometric_corridor(length: int = 10) -> Task:
    """One decision, two ways of random length, then a goal: +2 above, −1 below.

    The number of hidden states on a way is geometric: its end cannot be predicted.

    Parameters
    ----------
    length : int
        The mean number of hidden states on a way.

    """
    length = as_count("length", length, 1, MOST_STATES)
    first, goals, ways = 0, (1, 2), (3, 4)
    rows = [(first, action, 1.0, way, 0.0) for action, way in enumerate(ways)]
    for action in (0, 1):
        for goal, way, pays in zip(goals, ways, (2.0, -1.0), strict=True):
            rows.append((goal, action, 1.0, -1, pays))
            rows.append((way, action, 1 / length, goal, 0.0))
            rows.append((way, action, 1 - 1 / length, way, 0.0))
    shown = np.arange(5) < 3
    place = [(0.0, 0.0), (2.0, 1.2), (2.0, -1.2), (1.0, 1.2), (1.0, -1.2)]
    return Task(
        f"geometric_corridor(length={length})",
        Outcomes.of(rows),
        _hidden_in_noise(shown),
        discount=1.0,
        start=np.arange(5) == 0,
        observable=shown,
        layout=Layout(np.array(place), names={0: "S1", 1: "G1", 2: "G2"}),
    )


def _hidden_in_noise(shown: NDArray[np.bool_]) -> Features:
    """The features of states: one-hot if they are shown, else noise; shape (states,)."""
    mean: Dense = np.full((shown.size, shown.sum()), 0.5)
    mean[shown] = np.eye(shown.sum())
    return Features(mean, covariance=np.where(shown, 0.0, 1.0))


def counterexample_1() -> Task:
    """Two states, the next one at random, one feature; TD(λ) diverges with λ = 0.99, 0.8."""
    rows = [(s, 0, 0.5, t, 0.0) for s in (0, 1) for t in (0, 1)]
    return Task("counterexample_1", Outcomes.of(rows), [[0.5], [1.0]], 0.99, layout=_side_by_side())


def counterexample_2() -> Task:
    """Two states in turn (periodic), two features; TD(λ) diverges with λ = 0, 0.99."""
    rows = [(0, 0, 1.0, 1, 0.0), (1, 0, 1.0, 0, 0.0)]
    features = [[3.0, 1.0], [1.0, 1.0]]
    return Task("counterexample_2", Outcomes.of(rows), features, 0.95, layout=_side_by_side())


def _side_by_side() -> Layout:
    """The layout of both: two states with their numbers."""
    row = Layout.row(2)
    return Layout(2 * row.position, names={0: "0", 1: "1"})
