"""Moments of weights in the long run, from a linear map of what they are in each state of a chain.

With ŵ = (1, w, …) and M_s = E[ŵ ŵᵀ; the chain is in s], random linear steps ŵ ← U ŵ whose U
depends on the past by s alone give

    M_j = Σ_s E[U M_s Uᵀ; s → j] + Σ_s E[U M_s Uᵀ; s → end, then an episode starts in j]

Moments tend to the solution if the map contracts. It keeps matrices positive, so it contracts if
and only if Y = map(Y) + I, for the part without the 1, has a positive solution.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse import linalg as sparse_linalg

from preftd._src.arrays import Dense, InputError, Vector

MOST = 50_000
"""The most moments that are solved for."""
LARGEST = 1e12
"""Of a solution Y of Y = map(Y) + I: with larger ones, rounding leaves fewer than four digits."""


def check_count(states: int, width: int) -> None:
    """Refuse a system that is too large."""
    if states * width**2 > MOST:
        raise InputError(
            f"the moments of {width - 1} numbers in {states} states or more are above {MOST:,}: "
            "use a smaller task."
        )


def check_digits(enough: bool) -> None:
    """Refuse moments of which rounding leaves no digits."""
    if not enough:
        raise InputError(
            "some weights move too slowly for their moments to be computed: use features of about "
            "the same size, a lower discount, or another step size."
        )


def check_overflow(*found: ArrayLike) -> None:
    """Refuse what is not finite."""
    if not all(np.isfinite(one).all() for one in found):
        raise InputError("the moments of the weights overflow: use smaller rewards or features.")


class MomentMaps(NamedTuple):
    """Maps of vectors that hold n matrices M_s of shape (width, width), one after the other."""

    visits: Vector
    """E[1; s], shape (n,)."""
    steps: Any
    """To the same after a step: a sparse matrix of shape (n width², n width²)."""
    ends: Any
    """To a matrix in proportion to E[ŵ ŵᵀ] after an episode, shape (width², n width²)."""


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
