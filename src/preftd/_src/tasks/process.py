"""Markov reward processes, exactly: values and long-run visits of a chain with rewards.

With P(s, s') the probability of going from s to s', γ(s, s') the discount of that transition, and
r(s) the expected reward on leaving s,

    Pγ = P ∘ γ                  discounted transitions
    v  = r + Pγ v               the true values
    dᵀ = dᵀ P                   the stationary distribution: visits in the long run

The end of an episode is a transition to the start of the next one with discount 0. So the value of
the next episode does not count, and d counts visits over many episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self, cast, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from preftd._src.arrays import (
    SUM_TOLERANCE,
    Dense,
    InputError,
    Matrix,
    MatrixLike,
    Sparse,
    Vector,
    as_array,
    as_dense,
    as_distribution,
    as_matrix,
    as_table,
    check_not_negative,
    check_size,
    check_unit_interval,
    is_sparse,
    per_state,
    read_only,
)
from preftd._src.solve import Resolvent
from preftd._src.tasks.stationary import stationary_distribution


@final
class MarkovRewardProcess:
    """A chain with rewards and discounts, checked when built and immutable.

    Parameters
    ----------
    transition : array or scipy.sparse matrix of shape (states, states)
        Probabilities; rows sum to 1. A sparse matrix stays sparse.
    reward : float, array of shape (states,), or array or sparse matrix of shape (states, states)
        Expected reward: one for all, per state (on leaving it), or per transition.
    discount : float, array of shape (states,), or array or sparse matrix of shape (states, states)
        One for all, per state (on entering it), or per transition. Entries that a sparse matrix
        does not store are 0.
    start : array of shape (states,), optional
        Probabilities of the first state (default: the stationary distribution).
    visits : array of shape (states,), optional
        The shares of visits of states in the data, if another policy acts (default: the stationary
        distribution).

    Examples
    --------
    >>> process = MarkovRewardProcess([[0, 1], [1, 0]], reward=[1, 0], discount=0.5)
    >>> process.values
    array([1.33333333, 0.66666667])
    >>> process.stationary_distribution
    array([0.5, 0.5])

    """

    def __init__(
        self,
        transition: MatrixLike,
        reward: MatrixLike,
        discount: MatrixLike,
        start: ArrayLike | None = None,
        *,
        visits: ArrayLike | None = None,
    ) -> None:
        self.transition: Matrix = transition_table("transition", transition)
        self.states: int = self.transition.shape[0]
        self.reward: Vector = expected(self.transition, "reward", reward)
        self.discounted_transition: Matrix = discounted(self.transition, "discount", discount)
        check_values_exist(self.transition, self.discounted_transition)
        self._start = None if start is None else as_distribution("start", start, self.states)
        self._visits = None if visits is None else as_distribution("visits", visits, self.states)
        if visits is None:
            recurrent_states(self.transition)  # refuse now what has no one long run

    @classmethod
    def from_mdp(
        cls,
        transitions: Sequence[MatrixLike] | ArrayLike,
        policy: ArrayLike,
        reward: MatrixLike | Sequence[MatrixLike],
        discount: MatrixLike | Sequence[MatrixLike],
        start: ArrayLike | None = None,
    ) -> Self:
        """Build the process that a policy induces in a Markov decision process.

        Parameters
        ----------
        transitions : sequence of (states, states) matrices, one per action
        policy : array of shape (states, actions) or (states,)
            Probabilities, or one action (an integer) per state.
        reward : float, array of shape (states,) or (states, actions), or a matrix per action
            The matrices have shape (states, states).
        discount : float, array or matrix as for the process, or a matrix per action
        start : array of shape (states,), optional
            Probabilities of the first state (default: the stationary distribution).

        Examples
        --------
        >>> stay, swap = [[1, 0], [0, 1]], [[0, 1], [1, 0]]
        >>> MarkovRewardProcess.from_mdp([stay, swap], [1, 1], reward=1, discount=0.5).values
        array([2., 2.])

        """
        return cls(*average_over_actions(transitions, policy, reward, discount), start)

    @property
    def start(self) -> Vector:
        """Probabilities of the first state, shape (states,)."""
        return self.visits if self._start is None else self._start

    @property
    def off_policy(self) -> bool:
        """Whether a policy other than the chain's visits its states."""
        return self._visits is not None

    @property
    def visits(self) -> Vector:
        """The shares of visits of states in the data, shape (states,).

        On-policy, in the long run.
        """
        return self.stationary_distribution if self._visits is None else self._visits

    @cached_property
    def stationary_distribution(self) -> Vector:
        """The long-run shares of visits of states, shape (states,)."""
        recurrent = recurrent_states(self.transition)
        within = self.transition[recurrent][:, recurrent]
        visits = np.zeros(self.states)
        visits[recurrent] = stationary_distribution(within)
        visits.setflags(write=False)
        return visits

    @cached_property
    def discounted_visits(self) -> Resolvent:
        """(I − Pγ)⁻¹: discounted sums over the future; transposed, over the past."""
        return Resolvent(self.discounted_transition)

    @cached_property
    def values(self) -> Vector:
        """The expected discounted sum of future rewards at each state, shape (states,)."""
        values = self.discounted_visits.solve(self.reward)
        values.setflags(write=False)
        return values

    def __repr__(self) -> str:
        kind = "sparse" if is_sparse(self.transition) else "dense"
        return f"MarkovRewardProcess({self.states} states, {kind})"


def transition_table(name: str, given: MatrixLike) -> Matrix:
    """Return a matrix of probabilities, n × n, checked: rows sum to 1."""
    table = as_matrix(name, given)
    if table.shape[0] != table.shape[1] or table.shape[0] == 0:
        raise InputError(
            f"{name} has shape {table.shape}, which is not square: "
            "give a row and a column for each state."
        )
    _check_probabilities(
        name,
        table,
        "divide the row by its sum, or, if episodes end there, add a transition to the start of "
        "the next with discount 0.",
    )
    return table


def _check_probabilities(name: str, table: Matrix, remedy: str) -> None:
    """Refuse negative numbers, and rows that do not sum to 1."""
    check_not_negative(name, table)
    with np.errstate(over="ignore"):
        sums = np.asarray(table.sum(axis=1)).ravel()
    wrong = np.abs(sums - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{name} row {row} sums to {sums[row]:.10g}, not 1: {remedy}")


def expected(transition: Matrix, name: str, given: MatrixLike) -> Vector:
    """Return x(s), shape (n,): a number, one per state, or Σ_s' P(s, s') x(s, s') of n × n."""
    table = as_table(name, given)
    check_size(name, table)
    if not is_sparse(table) and table.ndim < 2:
        return per_state(name, table, transition.shape[0])
    sums = np.asarray(_times(transition, _same_shape(transition, name, table)).sum(axis=1))
    return read_only(sums.ravel())


def discounted(transition: Matrix, name: str, given: MatrixLike) -> Matrix:
    """Return P ∘ γ, n × n, with γ a number, one per state entered, or n × n."""
    table = as_table(name, given)
    if not is_sparse(table) and table.ndim < 2:
        discount: Matrix = per_state(name, table, transition.shape[0])
    else:
        discount = _same_shape(transition, name, table)
    check_unit_interval(name, discount)
    return read_only(_times(transition, discount))


def _same_shape(transition: Matrix, name: str, table: Matrix) -> Matrix:
    """The table, checked to have an entry for each transition."""
    if table.shape != transition.shape:
        raise InputError(
            f"{name} has shape {table.shape} but there are {transition.shape[0]} states: "
            "give a number, one per state, or a square matrix of that size."
        )
    return table


def _times(transition: Matrix, factor: Matrix) -> Matrix:
    """The product entry by entry; sparse if the transition is."""
    if not is_sparse(transition):
        return transition * as_dense(factor)
    product: Sparse = sparse.csr_array(transition.multiply(factor))
    product.eliminate_zeros()
    return product


def check_values_exist(transition: Matrix, discounted: Matrix) -> None:
    """Refuse a chain that can continue for ever without discounting: its values do not exist."""
    graph = _graph(transition)
    undiscounted = _graph(discounted)
    # A state leaks if some step out of it is discounted; values exist where a leak can be reached.
    lost = sparse.csr_array(graph - undiscounted)
    leaks = np.asarray(lost.max(axis=1).toarray()).ravel() > 0
    stuck = ~_can_reach(graph, leaks)
    if stuck.any():
        state = int(np.argmax(stuck))
        raise InputError(
            f"from state {state} the discount is 1 for ever: lower it there, or end episodes by a "
            "transition with discount 0."
        )


def recurrent_states(transition: Matrix) -> NDArray[np.intp]:
    """Return the states that are visited for ever; refuse a chain with several such classes."""
    graph = _graph(transition)
    count, member = csgraph.connected_components(graph, connection="strong")
    sources, targets = graph.nonzero()
    open_classes = np.unique(member[sources][member[sources] != member[targets]])
    closed = np.setdiff1d(np.arange(count), open_classes)
    if closed.size > 1:
        first, second = sorted(int(np.argmax(member == c)) for c in closed)[:2]
        raise InputError(
            f"transition has {closed.size} recurrent classes, such as those of states {first} and "
            f"{second}: the long run depends on the start, so give each class as its own process."
        )
    return np.flatnonzero(member == closed[0])


def check_episodes_end(moves: Matrix, start: NDArray[np.bool_], ending: NDArray[np.bool_]) -> None:
    """Refuse a task whose episodes may never end."""
    graph = _graph(moves)
    stuck = reachable(moves, start) & ~_can_reach(graph, ending)
    if stuck.any():
        raise InputError(
            f"from state {int(np.argmax(stuck))} episodes never end: add outcomes that lead to the "
            "end, or remove all ends and omit start."
        )


def _graph(matrix: Matrix) -> Sparse:
    """The transitions that are possible, as a sparse matrix."""
    graph: Sparse = sparse.csr_array(matrix)  # without zeros, as tables store none
    return graph


def reachable(moves: Matrix, start: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which states moves may lead to from where they start, shape (states,)."""
    return _can_reach(sparse.csr_array(_graph(moves).T), start)


def _can_reach(graph: Sparse, goal: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which states can reach a goal, found backwards from an extra state after all goals."""
    states = graph.shape[0]
    backwards = sparse.csr_array(graph.T)
    last_row = np.flatnonzero(goal)
    indices = np.concatenate([backwards.indices, last_row])
    ends = np.append(backwards.indptr, indices.size)
    extended = sparse.csr_array((np.ones(indices.size), indices, ends), (states + 1, states + 1))
    reached = csgraph.breadth_first_order(extended, states, return_predecessors=False)
    found = np.zeros(states + 1, dtype=np.bool_)
    found[reached] = True
    return found[:states]


def average_over_actions(
    transitions: Sequence[MatrixLike] | ArrayLike,
    policy: ArrayLike,
    reward: MatrixLike | Sequence[MatrixLike],
    discount: MatrixLike | Sequence[MatrixLike],
) -> tuple[Matrix, Vector, MatrixLike]:
    """Return (transition, expected reward per state, discount) under the policy.

    The parameters are those of `MarkovRewardProcess.from_mdp`.
    """
    matrices = _each("transitions", transitions)
    tables = [transition_table(f"transitions[{a}]", p) for a, p in enumerate(matrices)]
    if not tables:
        raise InputError("transitions has no actions: give one n × n matrix for each action.")
    for a, p in enumerate(tables):
        if p.shape != tables[0].shape:
            raise InputError(
                f"transitions[{a}] has shape {p.shape}, unlike transitions[0], {tables[0].shape}: "
                "give one n × n matrix for each action."
            )
    chosen = policy_table(policy, tables[0].shape[0], len(tables))
    transition = _mix(tables, chosen)
    mean_reward = (chosen * _rewards(tables, reward)).sum(axis=1)
    discounts = _per_action("discount", discount, len(tables))
    if discounts is None:
        return transition, mean_reward, cast(MatrixLike, discount)
    kept = [discounted(p, f"discount[{a}]", discounts[a]) for a, p in enumerate(tables)]
    return transition, mean_reward, share(_mix(kept, chosen), transition)


def _each(name: str, given: Any) -> list[MatrixLike]:
    """The matrices of a sequence or of an array of three dimensions."""
    if not isinstance(given, Sequence):
        given = as_array(name, given)
        if given.ndim == 0:
            raise InputError(f"{name} is one number: give one n × n matrix for each action.")
    return list(given)


def _per_action(name: str, given: Any, actions: int) -> list[MatrixLike] | None:
    """The matrix of each action, or None if the same holds for all actions."""
    if sparse.issparse(given):
        return None
    some_sparse = isinstance(given, Sequence) and any(sparse.issparse(one) for one in given)
    if not some_sparse and as_array(name, given).ndim != 3:
        return None
    matrices = _each(name, given)
    if len(matrices) != actions:
        raise InputError(
            f"{name} has {len(matrices)} matrices for {actions} actions: give one for each."
        )
    return matrices


def policy_table(policy: ArrayLike, states: int, actions: int, *, name: str = "policy") -> Dense:
    """Return probabilities, shape (states, actions), from these or from one action per state."""
    table = as_array(name, policy)
    if table.shape == (states,) and np.array_equal(table, np.floor(table)):
        outside = (table < 0) | (table >= actions)
        if outside.any():
            state = int(np.argmax(outside))
            raise InputError(
                f"{name}[{state}] is {table[state]:.6g}: give an action from 0 to {actions - 1}."
            )
        return np.eye(actions)[table.astype(np.intp)]
    if table.shape != (states, actions):
        raise InputError(
            f"{name} has shape {table.shape}: give {states} × {actions} probabilities, "
            f"or a whole number for each of the {states} states."
        )
    _check_probabilities(name, table, "divide it by its sum.")
    return table


def _rewards(tables: list[Matrix], given: Any) -> Dense:
    """The expected rewards, shape (states, actions)."""
    states, actions = tables[0].shape[0], len(tables)
    matrices = _per_action("reward", given, actions)
    if matrices is not None:
        columns = [expected(p, f"reward[{a}]", matrices[a]) for a, p in enumerate(tables)]
        return np.stack(columns, axis=1)
    if sparse.issparse(given):
        raise InputError("reward is one sparse matrix for all actions: give one for each action.")
    array = as_array("reward", given)
    if array.ndim == 2:
        if array.shape != (states, actions):
            raise InputError(
                f"reward has shape {array.shape}: give a number, one per state, "
                f"{states} × {actions} numbers, or a matrix for each action."
            )
        return array
    return np.repeat(per_state("reward", array, states)[:, None], actions, axis=1)


def _mix(tables: list[Matrix], chosen: Dense) -> Matrix:
    """The average of the actions' matrices, weighted by the policy."""
    if any(is_sparse(p) for p in tables):
        mixed = sparse.csr_array(tables[0].shape)
        for a, p in enumerate(tables):
            mixed = mixed + sparse.diags_array(chosen[:, a], format="csr") @ sparse.csr_array(p)
        mixed.eliminate_zeros()
        return sparse.csr_array(mixed)
    dense = np.stack([as_dense(p) for p in tables])
    return np.asarray((chosen.T[:, :, None] * dense).sum(axis=0))


def share(part: Matrix, whole: Matrix) -> Matrix:
    """Return part / whole, and 0 where whole is 0; at most 1 in spite of rounding."""
    if is_sparse(whole):
        ratio: Sparse = sparse.csr_array(part)
        if ratio.nnz == 0:
            return ratio
        # Divided, not multiplied by 1 / whole: x / x is 1 to the last bit, x · (1 / x) is not.
        rows = np.repeat(np.arange(ratio.shape[0]), np.diff(ratio.indptr))
        ratio.data = np.minimum(ratio.data / np.asarray(whole[rows, ratio.indices]).ravel(), 1.0)
        return ratio
    dense = as_dense(part)
    divided = np.divide(dense, whole, out=np.zeros_like(dense), where=whole > 0)
    return np.minimum(divided, 1.0)
