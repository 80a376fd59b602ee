"""Moments of weights in the long run, where β is 0 or 1 and the gain is 0 where β is 0.

With ŵ = (1, w, …) and M_s = E[ŵ ŵᵀ; the chain is in s], random linear steps ŵ ← U ŵ whose U
depends on the past by s alone give

    M_j = Σ_s E[U M_s Uᵀ; s → j] + Σ_s E[U M_s Uᵀ; s → end, then an episode starts in j]

Moments tend to the solution if the map contracts. It keeps matrices positive, so it contracts if
and only if Y = map(Y) + I, for the part without the 1, has a positive solution.

**The held view** is TD(0) from a preferred state to the next, with the reward R and the discount Γ
of the whole stretch (see `learners.linear`): U = I + α g φ̂_s ζᵀ with φ̂_s = (0, φ_s) and
ζ = (R, Γ φ_j − φ_s) from s to j, or to the end (Γ = 0). E[U M Uᵀ] needs R and Γ up to their second
moments only. From a state s, one step pays r and leads to u: then R = r, Γ = γ if u is preferred,
R = r, Γ = 0 at the end, and R = r + γ R_u, Γ = γ Γ_u if u is hidden. So their moments, split by
where the stretch ends,

    E[f; j | s] = E[f if the stretch from s ends in j, else 0],     f = 1, Γ, Γ², R, R Γ, R²

solve six linear systems in the hidden states, with I − P, I − γP and I − γ²P.

**The other views** learn while hidden states are crossed. A node is a state and the preferred state
x before it, along which the trace points. With η, the pending amount along x, and α including the
gain of preferred states, (1, w, η) changes linearly:

    arriving in z                w' = w + (η + γ α w·z) x         (γ = 1 if there are hidden states)
                                 η' = −α w'·z, or true online in a hidden z, −α w·z
    leaving                      η'' = η' + α r, and x is z from then on if z is preferred
    at the end                   w'' = w' + η'' x

Features of hidden states are normal. E[U ⊗ U] has their powers up to the fourth, which three points
per feature reproduce.
"""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from preftd._src.arrays import Dense, InputError, Vector
from preftd._src.solve import Resolvent
from preftd._src.tasks.process import reachable
from preftd._src.tasks.stationary import stationary_distribution
from preftd.tasks import Task

MOST = 50_000
"""The largest number of moments in a system."""
LARGEST = 1e12
"""The largest solution Y of Y = map(Y) + I: beyond it, rounding leaves fewer than four digits."""


def check_count(states: int, width: int) -> None:
    """Refuse a system that is too large."""
    if states * width**2 > MOST:
        raise InputError(
            f"the moments of {width - 1} numbers in {states} states or more are above {MOST:,}: "
            "use a smaller task."
        )


def check_digits(enough: bool) -> None:
    """Refuse moments that rounding would spoil."""
    if not enough:
        raise InputError(
            "some weights move too slowly for their moments to be computed: use features of about "
            "the same size, a lower discount, or another step size."
        )


def check_overflow(*found: ArrayLike) -> None:
    """Refuse moments that are not finite."""
    if not all(np.isfinite(one).all() for one in found):
        raise InputError("the moments of the weights overflow: use smaller rewards or features.")


class MomentMaps(NamedTuple):
    """Linear maps of n matrices M_s of shape (width, width), as one vector."""

    visits: Vector
    """E[1; s], shape (n,)."""
    steps: Any
    """The moments after a step: a sparse matrix of shape (n width², n width²)."""
    ends: Any
    """A multiple of E[ŵ ŵᵀ] after an episode, shape (width², n width²)."""


def long_run(maps: MomentMaps) -> Dense | None:
    """Return E[ŵ ŵᵀ] after an episode, shape (width, width); None if it grows without bound."""
    visits, steps, ends = maps
    count, width = visits.size, round(np.sqrt(ends.shape[0]))
    check_overflow(steps.data, ends.data)
    known = np.tile(np.arange(width**2) == 0, count)  # E[1; s]
    system = sparse.csc_array(sparse.eye_array(known.size) - steps)[~known]
    positive = np.tile(np.pad(np.eye(width - 1), (1, 0)).ravel(), count)
    given = np.asarray(system[:, known] @ visits)
    right = np.stack([-given, positive[~known]], axis=1)
    moments, certificate = np.zeros((2, known.size))
    moments[known] = visits
    try:
        solver = sparse_linalg.splu(sparse.csc_array(system[:, ~known]))
    except RuntimeError:  # singular, as where a step size is the least that is too large
        return None
    moments[~known], certificate[~known] = solver.solve(right).T
    after = np.asarray(ends @ moments).reshape(width, width)
    blocks = certificate.reshape(count, width, width)[:, 1:, 1:]
    if not (np.isfinite(after).all() and np.isfinite(blocks).all()):
        return None
    if not (np.linalg.eigvalsh(blocks) > 0).all():
        return None
    check_digits(float(np.abs(blocks).max()) <= LARGEST)
    return np.asarray(after / after[0, 0])


class PreferredChain(NamedTuple):
    """Moments of stretches between m preferred states; the last column of each is the end."""

    states: NDArray[np.intp]
    """The preferred states that are visited, shape (m,)."""
    entry: Vector
    """Probabilities of the first of them in an episode, shape (m,)."""
    visits: Vector
    """Shares of the steps of this chain, shape (m,)."""
    one: Dense
    """Shape (m, m + 1), like all that follow."""
    discount: Dense
    discount_squared: Dense
    reward: Dense
    reward_discount: Dense
    reward_squared: Dense


def preferred_chain(task: Task, preferred: NDArray[np.bool_]) -> PreferredChain:
    """Return the chain of preferred states of an on-policy task whose episodes end."""
    gamma, hidden = task.discount, np.flatnonzero(~preferred)
    stops = np.append(np.flatnonzero(preferred), task.states)
    chance, paid, squared = _one_step(task)
    going = chance[:, hidden]
    solvers = [Resolvent(gamma**power * going[hidden]) for power in range(3)]

    def sums(power: int, first: Dense) -> Dense:
        """Y = first + γ^power P Y, in which P leads to hidden states only."""
        inside = solvers[power].solve(first[hidden]) if hidden.size else first[:0]
        return np.asarray(first + gamma**power * going @ inside)

    not_end = np.append(np.ones(stops.size - 1), 0.0)
    one = sums(0, chance[:, stops])
    discount = sums(1, gamma * chance[:, stops] * not_end)
    discount_squared = sums(2, gamma**2 * chance[:, stops] * not_end)
    reward = sums(1, paid[:, stops] + paid[:, hidden] @ one[hidden])
    both = gamma * (paid[:, stops] * not_end + paid[:, hidden] @ discount[hidden])
    twice = squared[:, hidden] @ one[hidden] + 2 * gamma * paid[:, hidden] @ reward[hidden]
    moments = (
        one,
        discount,
        discount_squared,
        reward,
        sums(2, both),
        sums(2, squared[:, stops] + twice),
    )
    entry = task.start[stops[:-1]] + task.start[hidden] @ one[hidden, :-1]
    possible = (one[stops[:-1], :-1] > 0).astype(np.float64)
    seen = reachable(possible, entry > 0)  # what episodes visit
    entry, kept = entry[seen] / entry[seen].sum(), np.append(np.flatnonzero(seen), stops.size - 1)
    rows = stops[:-1][seen]
    parts = [moment[rows][:, kept] for moment in moments]
    restarted = parts[0][:, :-1] + np.outer(parts[0][:, -1], entry)
    return PreferredChain(rows, entry, stationary_distribution(restarted), *parts)


def _one_step(task: Task) -> tuple[Dense, Dense, Dense]:
    """E[1; s'], E[r; s'] and E[r²; s'] of one step from s, shape (states, states + 1); end last."""
    rows = task.outcomes
    chance = rows.probability * task.policy[rows.state, rows.action]
    target = np.where(rows.ends, task.states, rows.next_state)
    tables = np.zeros((3, task.states, task.states + 1))
    powers = (np.ones_like(chance), rows.reward, rows.reward**2 + rows.spread**2)
    for table, power in zip(tables, powers, strict=True):
        np.add.at(table, (rows.state, target), chance * power)
    return tables[0], tables[1], tables[2]


def held_maps(chain: PreferredChain, phi: Dense, alpha: float, centre: Vector) -> MomentMaps:
    """Return the maps of the moments of (1, w − centre).

    Parameters
    ----------
    chain : PreferredChain
        Of n states.
    phi : array of shape (n, features)
    alpha : float
        The step size times the gain of preferred states.
    centre : array of shape (features,)
        A point near the weights, so that differences lose no digits.

    """
    count, width = len(phi), phi.shape[1] + 1
    nothing = sparse.csr_array((width**2, width**2))
    blocks: NDArray[Any] = np.empty((count, count), dtype=object)
    ends = []
    for s in range(count):
        maps = {
            j: _held_map(chain, phi, s, j, alpha, centre)
            for j in np.flatnonzero(chain.one[s] > 0).tolist()
        }
        ends.append(maps.get(count, nothing))
        for j in range(count):
            blocks[j, s] = maps.get(j, nothing) + chain.entry[j] * ends[s]
    steps = sparse.block_array(blocks, format="csr")
    return MomentMaps(chain.visits, steps, sparse.hstack(ends, format="csr"))


def _held_map(
    chain: PreferredChain, phi: Dense, s: int, j: int, alpha: float, centre: Vector
) -> Any:
    """E[U ⊗ U; s → j], in which j may be the end, for the weights less the centre."""
    following = phi[j] if j < len(phi) else np.zeros(phi.shape[1])
    before, after = (np.append(x @ centre, x) for x in (phi[s], following))
    paid = np.append(1.0, np.zeros(phi.shape[1]))
    one, gamma, gamma_2, r, r_gamma, r_2 = (moment[s, j] for moment in chain[3:])
    # ζ = R paid + Γ after − before
    first = r * paid + gamma * after - one * before
    cross = np.outer(paid, r_gamma * after - r * before) - gamma * np.outer(after, before)
    second = r_2 * np.outer(paid, paid) + gamma_2 * np.outer(after, after)
    second += one * np.outer(before, before) + cross + cross.T
    along = np.append(0.0, phi[s])
    moved = sparse.csr_array(alpha * np.outer(along, first))
    square = sparse.csr_array(alpha**2 * np.outer(along, along).reshape(-1, 1))
    twice = sparse.kron(square, sparse.csr_array(second.reshape(1, -1)))
    unit = sparse.eye_array(along.size)
    kept = one * sparse.eye_array(along.size**2)
    return kept + sparse.kron(moved, unit) + sparse.kron(unit, moved) + twice


MOST_FEATURES = 7
"""The most features with random hidden states, which need 3⁷ points each."""


class Learning(NamedTuple):
    """How weights move."""

    view: str
    """The name of the view, backward or true online."""
    alpha: float
    """The step size times the gain of preferred states."""
    moving: NDArray[np.bool_]
    """Whether each weight moves, shape (features,)."""
    centre: Vector
    """A point near the weights, so that differences lose no digits, shape (moving features,)."""


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
    """Probability, next state (−1: the end), reward and its spread of all outcomes."""
    rows = task.outcomes
    here = np.flatnonzero(rows.state == state)
    chances = rows.probability[here] * task.policy[state, rows.action[here]]
    columns = (chances, rows.next_state[here], rows.reward[here], rows.spread[here])
    every = zip(*(column.tolist() for column in columns), strict=True)
    return [one for one in every if one[0] > 0]


def _together(count: int, moves: list[tuple[int, int, Dense]], ends: list[Dense]) -> MomentMaps:
    """The maps of all nodes, and their shares of visits."""
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
    """E[U ⊗ U] over all outcomes, for vectors (1, w − centre, η), shape (size², size²)."""

    def __init__(self, task: Task, chain: PreferredChain, learning: Learning) -> None:
        self._task, self._preferred = task, chain.states
        self._view, self._alpha, self._moving, self._centre = learning
        self.size = self._centre.size + 2
        _, _, self._random = task.features.codes()
        self._known: dict[tuple[bytes, bool, int], Dense] = {}

    def _mean(self, state: int) -> Vector:
        return np.asarray(self._task.features.rows(np.array([state]))[0, self._moving])

    def _value(self, x: Dense) -> Dense:
        """The row vector that gives w·x, for x of shape (points, features)."""
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
        """At the end: pending updates are added."""
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
