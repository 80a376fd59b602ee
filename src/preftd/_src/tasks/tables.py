"""Tables over transitions: probabilities, and numbers per state or per transition."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from preftd._src.arrays import (
    SUM_TOLERANCE,
    InputError,
    Matrix,
    MatrixLike,
    Sparse,
    Vector,
    as_dense,
    as_matrix,
    as_table,
    check_not_negative,
    check_size,
    check_unit_interval,
    is_sparse,
    per_state,
    read_only,
)


def transition_table(name: str, given: MatrixLike) -> Matrix:
    """Return a matrix of probabilities, n × n, checked: rows sum to 1."""
    table = as_matrix(name, given)
    if table.shape[0] != table.shape[1] or table.shape[0] == 0:
        raise InputError(
            f"{name} has shape {table.shape}, which is not square: "
            "give a row and a column for each state."
        )
    check_not_negative(name, table)
    with np.errstate(over="ignore"):
        sums = np.asarray(table.sum(axis=1)).ravel()
    wrong = np.abs(sums - 1) > SUM_TOLERANCE
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{name} row {row} sums to {sums[row]:.10g}, not 1: divide the row by its sum, or, if "
            "episodes end there, add a transition to the start of the next with discount 0."
        )
    return table


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
