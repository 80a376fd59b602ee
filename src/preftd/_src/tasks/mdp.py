"""From a Markov decision process and a policy to the tables of a Markov reward process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

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
    check_not_negative,
    is_sparse,
    per_state,
)
from preftd._src.tasks.tables import discounted, expected, transition_table


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
    check_not_negative(name, table)
    wrong = np.abs(table.sum(axis=1) - 1) > SUM_TOLERANCE
    if wrong.any():
        state = int(np.argmax(wrong))
        raise InputError(
            f"{name} row {state} sums to {table[state].sum():.10g}, not 1: divide it by its sum."
        )
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
