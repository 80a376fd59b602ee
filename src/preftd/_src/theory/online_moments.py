"""The moments of weights in views that learn while hidden states are crossed, without discounts.

A node is a state and the preferred state x before it, along which the trace points. With what is
still to be added along x, η, and α with the gain of preferred states, (1, w, η) moves linearly:

    arriving in z                w' = w + (η + γ α w·z) x         (γ = 1 if there are hidden states)
                                 η' = −α w'·z, or true online in a hidden z, −α w·z
    leaving                      η'' = η' + α r, and x is z from then on if z is preferred
    at the end                   w'' = w' + η'' x

What hidden states show is normal. E[U ⊗ U] has powers up to the fourth of it, which are right for
three points a feature.
"""

from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from preftd._src.arrays import Dense, Vector
from preftd._src.tasks.stationary import stationary_distribution
from preftd._src.theory.moments import MomentMaps, check_count
from preftd._src.theory.preferred_chain import PreferredChain
from preftd.tasks import Task

MOST_FEATURES = 7
"""Of random hidden states: 3⁷ points for each."""


class Learning(NamedTuple):
    """How weights move."""

    view: str
    """Backward or true online, as users type it."""
    alpha: float
    """The step size times the gain of preferred states."""
    moving: NDArray[np.bool_]
    """Which weights move, shape (features,)."""
    centre: Vector
    """Near these weights, so that differences lose no digits, shape (moving features,)."""


def online_maps(task: Task, chain: PreferredChain, learning: Learning) -> MomentMaps:
    """Return the maps of the moments of (1, w − centre, η)."""
    arrivals = _Arrivals(task, chain, learning)
    size = arrivals.size**2
    preferred = chain.states.tolist()
    entries = {(s, s): chance for s, chance in zip(preferred, chain.entry.tolist(), strict=True)}
    numbers = {node: n for n, node in enumerate(entries)}
    moves: list[tuple[int, int, Dense]] = []
    ends: list[Dense] = []
    todo = list(numbers)
    for node in todo:
        ends.append(np.zeros((size, size)))
        for chance, target, reward, spread in _outcomes(task, node[0]):
            paid = chance * arrivals.paid(reward, spread)
            if target < 0:
                ends[-1] += arrivals.ended(node[1]) @ paid
                continue
            after = (target, target if target in preferred else node[1])
            if after not in numbers:
                numbers[after] = len(numbers)
                todo.append(after)
                check_count(len(numbers), arrivals.size)
            moves.append((numbers[after], numbers[node], arrivals.arrived(target, node[1]) @ paid))
    for j, (node, chance) in enumerate(entries.items()):
        begun = chance * arrivals.begun(node[0])
        moves += [(j, n, begun @ end) for n, end in enumerate(ends) if end.any()]
    return _together(len(numbers), moves, ends)


def _outcomes(task: Task, state: int) -> list[tuple[float, int, float, float]]:
    """Probability, next state (−1: the end), reward and its spread of all that can happen."""
    rows = task.outcomes
    here = np.flatnonzero(rows.state == state)
    chances = rows.probability[here] * task.policy[state, rows.action[here]]
    columns = (chances, rows.next_state[here], rows.reward[here], rows.spread[here])
    every = zip(*(column.tolist() for column in columns), strict=True)
    return [one for one in every if one[0] > 0]


def _together(count: int, moves: list[tuple[int, int, Dense]], ends: list[Dense]) -> MomentMaps:
    """The maps of all nodes, and how often each is visited."""
    size = len(ends[0])
    row, column = (np.repeat(np.arange(size), size), np.tile(np.arange(size), size))
    rows = np.concatenate([j * size + row for j, _, _ in moves])
    columns = np.concatenate([n * size + column for _, n, _ in moves])
    entries = np.concatenate([block.ravel() for _, _, block in moves])
    steps: Any = sparse.csr_array((entries, (rows, columns)), shape=(count * size, count * size))
    steps.eliminate_zeros()
    chances = np.zeros((count, count))
    for j, n, block in moves:
        chances[n, j] += block[0, 0]
    visits = stationary_distribution(chances)
    return MomentMaps(visits, steps, sparse.csr_array(np.hstack(ends)))


@final
class _Arrivals:
    """E[U ⊗ U] of all that happens, for vectors (1, w − centre, η), shape (size², size²)."""

    def __init__(self, task: Task, chain: PreferredChain, learning: Learning) -> None:
        self._task, self._preferred = task, chain.states
        self._view, self._alpha, self._moving, self._centre = learning
        self.size = self._centre.size + 2
        _, _, self._random = task.features.codes()
        self._known: dict[tuple[bytes, bool, int], Dense] = {}

    def _mean(self, state: int) -> Vector:
        return np.asarray(self._task.features.rows(np.array([state]))[0, self._moving])

    def _value(self, x: Dense) -> Dense:
        """What gives w·x, for x of shape (points, features)."""
        return np.column_stack([x @ self._centre, x, np.zeros(len(x))])

    def _along(self, state: int) -> Vector:
        return np.concatenate([[0.0], self._mean(state), [0.0]])

    def _pending(self) -> Vector:
        return np.asarray(np.eye(self.size)[-1])

    def _shown(self, state: int) -> tuple[Dense, Vector]:
        """Points and their chances, shapes (points, features) and (points,)."""
        mean = self._mean(state)
        if not self._random[state]:
            return mean[None], np.ones(1)
        one = (np.arange(self._task.states) == state).astype(np.float64)
        covariance = self._task.features.mean_covariance(one)[np.ix_(self._moving, self._moving)]
        eigenvalues, directions = np.linalg.eigh(covariance)
        root = (directions * np.sqrt(np.maximum(eigenvalues, 0))).T
        nodes = np.array(list(product((-1.0, 0.0, 1.0), repeat=mean.size)))
        chances = np.where(nodes == 0, 2 / 3, 1 / 6).prod(axis=1)
        return mean + np.sqrt(3.0) * nodes @ root, chances

    def arrived(self, state: int, before: int) -> Dense:
        """In a state, if `before` is the preferred state before it."""
        x, chances = self._shown(state)
        takes_back_the_same = self._view == "true_online" and state not in self._preferred
        key = (x.tobytes(), takes_back_the_same, before)  # many hidden states show the same
        if key not in self._known:
            value = self._value(x)
            added = self._pending() + self._task.discount * self._alpha * value
            maps = np.eye(self.size) + self._along(before)[:, None] * added[:, None, :]
            seen = value if takes_back_the_same else np.einsum("ki,kij->kj", value, maps)
            maps[:, -1] = -self._alpha * seen
            self._known[key] = _squared(maps, chances)
        return self._known[key]

    def begun(self, state: int) -> Dense:
        """In the first preferred state of an episode."""
        one = np.eye(self.size)
        one[-1] = -self._alpha * self._value(self._mean(state)[None])[0]
        return _squared(one[None], np.ones(1))

    def ended(self, before: int) -> Dense:
        """At the end: what is pending is added."""
        one = np.eye(self.size) + np.outer(self._along(before), self._pending())
        return _squared(one[None], np.ones(1))

    def paid(self, reward: float, spread: float) -> Dense:
        """On leaving a state with a reward."""
        one = np.eye(self.size)
        one[-1, 0] = self._alpha * reward
        found = _squared(one[None], np.ones(1))
        found[-1, 0] += (self._alpha * spread) ** 2
        return found


def _squared(maps: Dense, chances: Vector) -> Dense:
    """E[U ⊗ U] for maps of shape (points, size, size)."""
    size = maps.shape[1]
    flat = maps.reshape(len(maps), -1)
    pairs = ((flat * chances[:, None]).T @ flat).reshape(size, size, size, size)
    return np.asarray(pairs.transpose(0, 2, 1, 3).reshape(size**2, size**2))
