"""The stationary distribution of a chain: d with dᵀP = dᵀ.

Only the probabilities of *leaving* a state matter, so the chain is first replaced by its jump chain
J (the same moves without staying), whose distribution y gives d_s ∝ y_s / P(leave s). Then

    small   the elimination of Grassmann, Taksar and Heyman (GTH). It never subtracts, so every d_s
            is right to nearly all its digits, also on periodic and nearly decomposable chains.
    large   stochastic complement: set aside a few states K, solve (I − Jᵀ_TT) on the others T,
            find y_K from the small chain observed only in K, and y_T from y_K. Where groups of
            states are linked much more strongly inside than between, the masses of the groups are
            corrected with the stationary distribution of the chain of groups.

K holds the states whose rows are dense (the restarts of an episodic task), because they would spoil
the sparsity of the rest, or else one state; and, if those are hardly ever visited, one that is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from preftd._src.arrays import Dense, Matrix, Sparse, Vector, as_dense, is_sparse
from preftd._src.solve import Resolvent
from preftd.failures import DidNotConvergeError

ELIMINATION_STATES = 500
"""Up to this many states, elimination takes no noticeable time, although it is cubic."""

STRONG = 1e-3
"""Links weaker than this, relative to the strongest out of the same state, separate groups."""

LARGE = 1e200
"""Visits are scaled down when they exceed this, so that they do not overflow."""

RARE = 1e6
"""If other states have more visits than this per visit to K, a better K is chosen."""

DENSE_ROW = 100
"""A row this many times longer than the average counts as dense."""


def stationary_distribution(transition: Matrix) -> Vector:
    """Return the stationary distribution of an irreducible chain, periodic or not.

    Parameters
    ----------
    transition : array or sparse matrix of shape (states, states)

    Returns
    -------
    array of shape (states,)

    Examples
    --------
    >>> stationary_distribution(np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([0.5, 0.5])

    """
    if transition.shape[0] == 1:
        return np.ones(1)
    moves = _without_diagonal(transition)
    leave = np.asarray(moves.sum(axis=1)).ravel()
    jumps = _scale_rows(moves, 1 / leave)
    if jumps.shape[0] <= ELIMINATION_STATES:
        visits = eliminate(as_dense(jumps))
    else:
        visits = _regroup(sparse.csr_array(jumps), _complement(jumps))
    return _normalised(visits / leave)


def eliminate(chain: Dense) -> Vector:
    """Return the distribution by GTH: remove states from the last, redirecting their flow."""
    p = chain.copy()
    states = p.shape[0]
    for k in range(states - 1, 0, -1):
        p[:k, k] /= p[k, :k].sum()
        p[:k, :k] += np.outer(p[:k, k], p[k, :k])
    visits = np.ones(states)
    for k in range(1, states):
        visits[k] = visits[:k] @ p[:k, k]
        if visits[k] > LARGE:
            visits[: k + 1] /= visits[k]
    return _normalised(visits)


def _complement(jumps: Matrix) -> Vector:
    """The distribution by stochastic complement."""
    dense = np.zeros(0, dtype=np.intp)
    if is_sparse(jumps):
        length = np.diff(jumps.indptr)
        dense = np.flatnonzero(length > DENSE_ROW * length.mean())
    visits = _visits(jumps, dense if dense.size else np.array([0]))
    if visits is None:
        # The new state comes first, so that elimination ends with it: all others lead to it.
        often = _often_visited(jumps)
        visits = _visits(jumps, np.append(often, dense[dense != often]), np.inf)
    if visits is None:
        raise DidNotConvergeError(
            "the stationary distribution cannot be computed because the chain hardly ever returns "
            "to any of its states: make it smaller, or raise the probabilities of returning."
        )
    return visits


def _visits(jumps: Matrix, aside: NDArray[np.intp], most: float = RARE) -> Vector | None:
    """The distribution with the states `aside` as K, or None if they are visited too rarely."""
    others = np.setdiff1d(np.arange(jumps.shape[0]), aside)
    leave, back = as_dense(jumps[aside][:, others]), as_dense(jumps[others][:, aside])
    try:
        solved = Resolvent(jumps[others][:, others]).solve_unchecked(leave.T, transposed=True)
    except DidNotConvergeError:
        return None
    per_visit = np.maximum(solved, 0.0)
    if per_visit.max() > most:
        return None
    visits = np.empty(jumps.shape[0])
    visits[aside] = eliminate(as_dense(jumps[aside][:, aside]) + per_visit.T @ back)
    visits[others] = per_visit @ visits[aside]
    return _normalised(visits)


def _often_visited(jumps: Matrix) -> int:
    """A state that is visited often, found with restarts in 1 of n steps."""
    states = jumps.shape[0]
    restarted = Resolvent((1 - 1 / states) * jumps)
    return int(np.argmax(restarted.solve(np.ones(states), transposed=True)))


def _regroup(jumps: Sparse, visits: Vector) -> Vector:
    """Correct the masses of strongly linked groups of states."""
    groups, member = _strong_groups(jumps)
    if groups in (1, jumps.shape[0]):
        return visits
    visits = np.maximum(visits, 1 / LARGE)  # a group of mass 0 could not be corrected
    belongs = sparse.csr_array(
        (np.ones(member.size), (np.arange(member.size), member)), shape=(member.size, groups)
    )
    flow = sparse.csr_array(belongs.T @ _scale_rows(jumps, visits) @ belongs)
    mass = np.bincount(member, visits, groups)
    right_mass = stationary_distribution(_scale_rows(flow, 1 / mass))
    return visits * (right_mass / mass)[member]


def _strong_groups(jumps: Sparse) -> tuple[int, NDArray[np.int32]]:
    """The number of strongly linked groups, and the group of each state."""
    strongest = np.asarray(jumps.max(axis=1).toarray()).ravel()
    strong = jumps.copy()
    strong.data = np.where(
        jumps.data >= STRONG * np.repeat(strongest, np.diff(jumps.indptr)), 1.0, 0.0
    )
    strong.eliminate_zeros()
    count, member = csgraph.connected_components(strong, connection="strong")
    return int(count), member


def _normalised(visits: Vector) -> Vector:
    """Scaled to sum to 1."""
    return np.asarray(visits / visits.sum())


def _without_diagonal(matrix: Matrix) -> Matrix:
    """The transitions to other states."""
    if not is_sparse(matrix):
        return matrix - np.diag(np.diag(matrix))
    moves = sparse.csr_array(matrix - sparse.diags_array(matrix.diagonal(), format="csr"))
    moves.eliminate_zeros()
    return moves


def _scale_rows(matrix: Matrix, factors: Vector) -> Matrix:
    """Each row times its factor."""
    if is_sparse(matrix):
        return sparse.csr_array(sparse.diags_array(factors, format="csr") @ matrix)
    return factors[:, None] * matrix
