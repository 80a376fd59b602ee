"""The features of states: fixed vectors, or random ones drawn at each visit.

φ_t = μ(s_t) + noise of covariance Σ(s_t), independent between visits
"""

from __future__ import annotations

from functools import cached_property
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from preftd._src.arrays import (
    Dense,
    InputError,
    Matrix,
    MatrixLike,
    Vector,
    as_array,
    as_count,
    as_dense,
    as_matrix,
    check_not_negative,
    check_scale,
    check_size,
    instance,
    is_sparse,
    number,
)
from preftd._src.experience.indices import chosen_rows


@final
class Features:
    """The mean features of states and, if they are random, their covariance.

    Parameters
    ----------
    mean : array or scipy.sparse matrix of shape (states, size)
    covariance : array of shape (states,), (states, size) or (states, size, size), optional
        One variance per state, one per state and feature, or a matrix per state.

    Examples
    --------
    >>> Features([[1, 0], [0.5, 0.5]], covariance=[0, 1]).mean_covariance(np.array([0.5, 0.5]))
    array([[0.5, 0. ],
           [0. , 0.5]])

    """

    def __init__(self, mean: MatrixLike, covariance: ArrayLike | None = None) -> None:
        self.mean: Matrix = as_matrix("features", mean)
        self.states, self.size = self.mean.shape
        check_scale("features", self.mean)
        if self.size == 0:
            raise InputError("features has no columns: give at least one feature.")
        self.covariance: NDArray[np.float64] | None = None
        if covariance is not None:
            self.covariance = _checked_covariance(covariance, self.states, self.size)

    def __repr__(self) -> str:
        kind = "fixed" if self.covariance is None else "random"
        return f"<Features: {self.states} states, {self.size} features, {kind}>"

    @classmethod
    def of(cls, given: Features | MatrixLike, states: int) -> Self:
        """Return features, checked to belong to this many states, from features or a matrix."""
        features = given if isinstance(given, cls) else cls(given)  # type: ignore[arg-type]
        if features.states != as_count("states", states):
            raise InputError(
                f"features has {features.states} rows but there are {states} states: "
                "give a row for each state."
            )
        return features

    def mean_covariance(self, weights: Vector) -> Dense:
        """Return Σ_s weights(s) Σ(s), shape (size, size); 0 if the features are not random.

        Parameters
        ----------
        weights : array of shape (states,)

        """
        weights = _with_rows("weights", weights, self.states, axes=1)
        if self.covariance is None:
            return np.zeros((self.size, self.size))
        if self.covariance.ndim == 1:
            return float(weights @ self.covariance) * np.eye(self.size)
        if self.covariance.ndim == 2:
            return np.diag(weights @ self.covariance)
        return np.asarray(np.tensordot(weights, self.covariance, axes=1))

    def codes(self) -> tuple[Dense, NDArray[np.int32], NDArray[np.bool_]]:
        """Return the features as codes of `Experience`.

        Returns
        -------
        tuple
            The fixed vectors that are not one-hot, shape (rows, size); the code of each state, the
            index of its only 1 or −1 − row of those; and whether it is drawn at each visit.

        """
        covariance = np.zeros(self.states) if self.covariance is None else self.covariance
        fresh = np.asarray(covariance.reshape(self.states, -1).any(axis=1))
        rows = sparse.csr_array(self.mean)  # stores no zeros
        single = np.diff(rows.indptr) == 1
        one_hot = single & ~fresh
        one_hot[one_hot] = rows.data[rows.indptr[:-1][one_hot]] == 1
        shown = np.zeros(self.states, dtype=np.int32)
        shown[one_hot] = rows.indices[rows.indptr[:-1][one_hot]]
        fixed = np.flatnonzero(~one_hot & ~fresh)
        shown[fixed] = -1 - np.arange(fixed.size)
        return self.rows(fixed), shown, fresh

    def draw(self, states: NDArray[np.int32], noise: np.random.Generator, out: Dense) -> None:
        """Draw the features of visits to states with random features.

        Parameters
        ----------
        states : array of integers, shape (visits,)
        noise : numpy.random.Generator
        out : array of shape (visits, size)
            Filled with the features.

        """
        noise.standard_normal(out=out)
        if states.size == 0 or self.covariance is None:
            return
        spread, mean = self._common
        if spread is None:
            self._spread_out(states, out)
        elif spread != 1:
            out *= spread
        if mean is None:
            out += self.rows(states.astype(np.intp))
        elif mean.any():
            out += mean

    @cached_property
    def _common(self) -> tuple[float | None, Vector | None]:
        """The standard deviation and mean of random features, each if all states share it."""
        covariance = np.asarray(self.covariance)
        random = np.flatnonzero(covariance.reshape(self.states, -1).any(axis=1))
        spread = mean = None
        variances = np.unique(covariance[random])
        if covariance.ndim == 1 and variances.size == 1:
            spread = float(np.sqrt(variances[0]))
        means = self.mean[random]
        if is_sparse(means):
            mean = np.zeros(self.size) if means.nnz == 0 else None
        elif (means == means[0]).all():
            mean = means[0]
        return spread, mean

    def _spread_out(self, states: NDArray[np.int32], out: Dense) -> None:
        """Give standard normal noise the covariance of each visit's state."""
        covariance = np.asarray(self.covariance)
        if covariance.ndim == 1:
            out *= np.sqrt(covariance[states])[:, None]
        elif covariance.ndim == 2:
            out *= np.sqrt(covariance[states])
        else:
            out[:] = np.einsum("vij,vj->vi", self._roots[states], out)

    @cached_property
    def _roots(self) -> NDArray[np.float64]:
        """R with R Rᵀ = Σ for each state, shape (states, size, size)."""
        values, vectors = np.linalg.eigh(np.asarray(self.covariance))
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0))[:, None, :])

    def predict(self, weights: Vector) -> Vector:
        """Return the mean prediction at each state, Φ w, shape (states,)."""
        return np.asarray(self.mean @ _with_rows("weights", weights, self.size, axes=1))

    def transposed_times(self, vector: Vector) -> Vector:
        """Return Φᵀ x, shape (size, ...), for x of shape (states, ...)."""
        return np.asarray(self.mean.T @ _with_rows("vector", vector, self.states, axes=2))

    def weighted_square(self, weights: Vector) -> Dense:
        """Return Φᵀ diag(weights) Φ, shape (size, size)."""
        weights = _with_rows("weights", weights, self.states, axes=1)
        if is_sparse(self.mean):
            scaled = sparse.diags_array(weights, format="csr") @ self.mean
            return np.asarray((self.mean.T @ scaled).toarray())
        return np.asarray(self.mean.T @ (weights[:, None] * self.mean))

    def columns(self, which: slice) -> Dense:
        """Return columns of the mean, dense."""
        instance("which", which, slice, "a slice, such as slice(None)")
        return as_dense(self.mean[:, which])

    def rows(self, states: NDArray[np.intp]) -> Dense:
        """Return rows of the mean, dense."""
        return as_dense(self.mean[chosen_rows("states", states, self.states)])


def as_deviation(name: str, given: float) -> float:
    """Return a standard deviation, checked to be a number of 0 or more whose square is finite."""
    checked = number(name, given)
    check_not_negative(name, np.array(checked))
    check_size(name, np.array(checked))
    return checked


def _with_rows(name: str, given: ArrayLike, rows: int, axes: int) -> NDArray[np.float64]:
    """An array with the given number of rows, and at most `most` axes."""
    array = as_array(name, given)
    if array.shape[:1] != (rows,) or array.ndim > axes:
        raise InputError(f"{name} has shape {array.shape}: give {rows} numbers.")
    return array


def _checked_covariance(given: ArrayLike, states: int, size: int) -> NDArray[np.float64]:
    """The covariance, checked to be of a known shape, symmetric and positive semidefinite."""
    covariance = as_array("covariance", given)
    if covariance.shape not in ((states,), (states, size), (states, size, size)):
        raise InputError(
            f"covariance has shape {covariance.shape}: give {states} variances, "
            f"{states} × {size}, or {states} × {size} × {size}."
        )
    check_size("covariance", covariance)
    if covariance.ndim < 3:
        check_not_negative("covariance", covariance)
        return covariance
    scale = np.abs(covariance).max(axis=(1, 2))
    skew = np.abs(covariance - covariance.transpose(0, 2, 1)).max(axis=(1, 2))
    smallest = np.linalg.eigvalsh(covariance)[:, 0]
    wrong = (skew > 1e-9 * scale) | (smallest < -1e-9 * scale)
    if wrong.any():
        raise InputError(
            f"covariance of state {int(np.argmax(wrong))} is not a covariance: "
            "give a symmetric matrix without negative eigenvalues."
        )
    return covariance
