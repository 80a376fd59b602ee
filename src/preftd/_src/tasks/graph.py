"""Checks on the graph of a chain: whether values exist, episodes end, and which states recur."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from preftd._src.arrays import InputError, Matrix, Sparse


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
    forward = _can_reach(sparse.csr_array(graph.T), start)
    stuck = forward & ~_can_reach(graph, ending)
    if stuck.any():
        raise InputError(
            f"from state {int(np.argmax(stuck))} episodes never end: add outcomes that lead to the "
            "end, or remove all ends and omit start."
        )


def _graph(matrix: Matrix) -> Sparse:
    """The transitions that are possible, as a sparse matrix."""
    graph: Sparse = sparse.csr_array(matrix)  # without zeros, as tables store none
    return graph


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
