"""Solving (I − M) x = y for a nonnegative M whose rows or columns sum to at most 1.

Values, visits, traces and follow-on of a chain all solve such a system. I − M is an M-matrix, which
decides the method:

    dense           LU by LAPACK
    sparse, small   LU by SuperLU, columns ordered for a symmetric pattern
    sparse, large   BiCGSTAB preconditioned by classical algebraic multigrid, which suits
                    M-matrices: time and memory grow linearly with the number of transitions

The iterative method is wrapped in iterative refinement on the true residual, so that its solutions
are as accurate as those of a direct solver. A solution that is not accurate, or whose system is
singular to working precision, raises DidNotConvergeError.
"""

import warnings
from collections.abc import Callable
from typing import final

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import linalg as sparse_linalg

from preftd._src.arrays import LARGE, Dense, InputError, Matrix, Sparse, Vector, is_sparse
from preftd.failures import DidNotConvergeError

DIRECT_STATES = 2_000
"""Up to this many states, sparse LU takes no noticeable time, even with much fill-in."""

_EPSILON = float(np.finfo(np.float64).eps)
_ENOUGH = 8 * _EPSILON
"""Backward error, relative to |y| + 2 |x|, at which refinement stops."""
_REFINEMENTS = 10
_ACCEPTABLE = 1e-12
"""Backward error above which a solution is refused."""

_USELESS = 1e-2
"""Relative error above which a solution means nothing."""
_SINGULAR = (
    "the linear system is singular to working precision: lower the discount, or make the end of an "
    "episode more likely."
)
_TOO_LARGE = "the solution of the linear system overflows: rescale the summands, such as rewards."


@final
class Resolvent:
    """(I − M)⁻¹ and its transpose, factorised once for any number of right-hand sides.

    Parameters
    ----------
    matrix : array or sparse matrix of shape (states, states)
        M.

    Examples
    --------
    >>> Resolvent(np.array([[0.0, 0.5], [0.0, 0.0]])).solve(np.array([1.0, 2.0]))
    array([2., 2.])

    """

    def __init__(self, matrix: Matrix) -> None:
        self._solver: _Dense | _Sparse
        if is_sparse(matrix):
            self._solver = _Sparse(matrix)
        else:
            self._solver = _Dense(np.eye(matrix.shape[0]) - matrix)

    def solve(self, right: Vector, *, transposed: bool = False) -> Vector:
        """Solve (I − M) x = right, or (I − Mᵀ) x = right.

        Parameters
        ----------
        right : array of shape (states,) or (states, columns)
        transposed : bool
            Whether to solve the transposed system.

        Returns
        -------
        array in the shape of `right`

        """
        given = np.abs(right).max(axis=0)
        largest = float(given.max(initial=0.0))
        if largest > LARGE:  # methods that square or add numbers would overflow before the end
            with np.errstate(over="ignore"):
                large = self.solve(right / largest, transposed=transposed) * largest
            if not np.isfinite(large).all():
                raise InputError(_TOO_LARGE)
            return large
        solution = self.solve_unchecked(right, transposed=transposed)
        # The condition number is at least |x| / |right|; times a rounding, that is the error of x.
        grown = np.abs(solution).max(axis=0)
        if not (_EPSILON * grown <= _USELESS * given).all():
            raise DidNotConvergeError(_SINGULAR)
        return solution

    def solve_unchecked(self, right: Vector, *, transposed: bool = False) -> Vector:
        """Solve without the check for singularity, where only the direction of x matters."""
        return self._solver.solve(right, transposed)


@final
class _Sparse:
    """Solves only for states whose column of M is not empty; the others follow from them.

    If β is 1 on most states, this leaves a small part of the chain.
    """

    def __init__(self, matrix: Sparse) -> None:
        entered = np.zeros(matrix.shape[0], dtype=np.bool_)
        entered[matrix.indices] = True
        self._needed = np.flatnonzero(entered)
        columns = matrix[:, self._needed]
        inner: Sparse = columns[self._needed]
        system: Sparse = sparse.csr_array(sparse.eye_array(inner.shape[0], format="csr") - inner)
        self._columns = sparse.csr_array(columns)
        self._solver = (_Direct if inner.shape[0] <= DIRECT_STATES else Multigrid)(system)

    def solve(self, right: Vector, transposed: bool) -> Vector:
        needed = self._needed
        if not transposed:
            return np.asarray(right + self._columns @ self._solver.solve(right[needed], False))
        solution = right.copy()
        elsewhere = right.copy()
        elsewhere[needed] = 0
        solution[needed] = self._solver.solve(right[needed] + self._columns.T @ elsewhere, True)
        return solution


@final
class _Dense:
    """LU factors of a dense system."""

    def __init__(self, system: Dense) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", linalg.LinAlgWarning)  # found by checking the solution
            self._triangles, self._pivots = linalg.lu_factor(system, check_finite=False)

    def solve(self, right: Vector, transposed: bool) -> Vector:
        # A copy of the pivots, because LAPACK's wrapper changes them while it works: two threads
        # that share them would corrupt memory.
        factors = (self._triangles, self._pivots.copy())
        return linalg.lu_solve(factors, right, 1 if transposed else 0, check_finite=False)


@final
class _Direct:
    """LU factors of a sparse system."""

    def __init__(self, system: Sparse) -> None:
        try:
            self._factors = sparse_linalg.splu(
                sparse.csc_array(system), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0
            )
        except RuntimeError as singular:
            raise DidNotConvergeError(_SINGULAR) from singular

    def solve(self, right: Vector, transposed: bool) -> Vector:
        # The stubs of scipy do not know the second argument.
        solve: Callable[..., Vector] = self._factors.solve
        return solve(right, "T" if transposed else "N")


@final
class Multigrid:
    """BiCGSTAB with multigrid, refined until it is as accurate as a direct solution."""

    def __init__(self, system: Sparse) -> None:
        # Imported here because it is slow to load and only large chains need it.
        import pyamg  # noqa: PLC0415

        finest = sparse.csr_matrix(system)
        # Before pyamg 5.4, its indices have 32 bits; those of scipy may have 64.
        finest.indptr, finest.indices = (
            part.astype(np.int32) for part in (finest.indptr, finest.indices)
        )
        hierarchy = pyamg.ruge_stuben_solver(finest, max_coarse=500)
        # The transposed system is preconditioned by the transposed cycle, because the interpolation
        # suits I − M, whose slowest mode is a constant vector.
        self._systems = [(level.A, sparse.csr_matrix(level.A.T)) for level in hierarchy.levels]
        self._transfers = [(level.P, level.R) for level in hierarchy.levels[:-1]]
        self._sweep = pyamg.relaxation.relaxation.gauss_seidel
        self._coarsest = _Dense(hierarchy.levels[-1].A.toarray())

    def solve(self, right: Vector, transposed: bool) -> Vector:
        """Solve for one right-hand side, or for the columns of a matrix."""
        if right.ndim == 1:
            return self._refine(right, transposed)
        solution = np.empty_like(right, order="F")
        for column in range(right.shape[1]):
            solution[:, column] = self._refine(np.ascontiguousarray(right[:, column]), transposed)
        return solution

    def _refine(self, right: Vector, transposed: bool) -> Vector:
        """Solve, then solve for the residual again, until the error no longer decreases."""
        system = self._systems[0][transposed]
        cycle = sparse_linalg.LinearOperator(
            system.shape, lambda residual: self._cycle(0, residual, transposed), dtype=np.float64
        )
        solution, residual, best = np.zeros_like(right), right, np.inf
        for _ in range(_REFINEMENTS):
            correction, _info = sparse_linalg.bicgstab(
                system, residual, rtol=1e-8, atol=0.0, maxiter=100, M=cycle
            )
            candidate = solution + correction
            left_over = right - system @ candidate
            scale = float(np.abs(right).max() + 2 * np.abs(candidate).max())
            error = float(np.abs(left_over).max()) / scale if scale else 0.0
            if not error < best:
                break
            solution, residual, best = candidate, left_over, error
            if best <= _ENOUGH:
                break
        if best > _ACCEPTABLE:
            raise DidNotConvergeError(
                f"the linear system of {right.size} states was solved only to a relative residual "
                f"of {best:.1e}: lower the discount, or make the chain smaller."
            )
        return solution

    def _cycle(self, level: int, right: Vector, transposed: bool) -> Vector:
        """One V-cycle: smooth, correct from the coarser level, smooth in the other direction."""
        if level == len(self._transfers):
            return self._coarsest.solve(right, transposed)
        system = self._systems[level][transposed]
        interpolate, restrict = self._transfers[level]
        solution = np.zeros_like(right)
        self._sweep(system, solution, right, sweep="forward")
        coarse = restrict @ (right - system @ solution)
        solution += interpolate @ self._cycle(level + 1, coarse, transposed)
        self._sweep(system, solution, right, sweep="backward")
        return solution
