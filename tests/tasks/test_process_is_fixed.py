"""A process is checked when built and not changed after: neither by its caller nor through it."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from preftd import Features, MarkovRewardProcess
from preftd._src.arrays import Dense, Matrix, MatrixLike, Vector, is_sparse

TRANSITION = np.array([[0.5, 0.5], [0.25, 0.75]])
REWARDS: dict[str, MatrixLike] = {"number": 1, "state": [1, 2], "transition": [[3, -1], [2, 2]]}
DISCOUNTS: dict[str, MatrixLike] = {
    "number": 0.5,
    "state": [0.5, 0.25],
    "transition": [[0.5, 0.25], [0.5, 0.0]],
}

Store: TypeAlias = Callable[[Dense], Matrix]
both_storages = pytest.mark.parametrize("store", [np.array, sparse.csr_array])


def numbers(matrix: Matrix | Vector) -> NDArray[np.float64]:
    """The array in memory that holds the entries."""
    return matrix.data if is_sparse(matrix) else np.asarray(matrix)


@both_storages
def test_changing_what_was_given_changes_nothing(store: Store) -> None:
    transition, discount = store(TRANSITION), store(np.full((2, 2), 0.5))
    reward, start = np.array([1.0, 2.0]), np.array([1.0, 0.0])
    process = MarkovRewardProcess(transition, reward, discount, start)
    for mine in (numbers(transition), numbers(discount), reward, start):
        mine[:] = 0.125
    np.testing.assert_allclose(process.values, [18 / 7, 26 / 7], rtol=1e-14)
    np.testing.assert_allclose(process.stationary_distribution, [1 / 3, 2 / 3], rtol=1e-14)
    np.testing.assert_array_equal(process.start, [1, 0])


@both_storages
def test_changing_the_features_given_changes_nothing(store: Store) -> None:
    mean, covariance = store(np.eye(2)), np.array([1.0, 2.0])
    features = Features(mean, covariance)
    numbers(mean)[:] = 5
    covariance[:] = 5
    np.testing.assert_array_equal(features.weighted_square(np.ones(2)), np.eye(2))
    np.testing.assert_array_equal(features.mean_covariance(np.ones(2)), 3 * np.eye(2))


@both_storages
@pytest.mark.parametrize("reward", REWARDS.values(), ids=[f"reward per {k}" for k in REWARDS])
@pytest.mark.parametrize(
    "discount", DISCOUNTS.values(), ids=[f"discount per {k}" for k in DISCOUNTS]
)
def test_no_array_of_a_process_can_be_written_to(
    store: Store, reward: MatrixLike, discount: MatrixLike
) -> None:
    process = MarkovRewardProcess(store(TRANSITION), reward, discount, start=[1, 0])
    arrays: dict[str, Matrix | Vector] = {
        "transition": process.transition,
        "discounted_transition": process.discounted_transition,
        "reward": process.reward,
        "values": process.values,
        "stationary_distribution": process.stationary_distribution,
        "start": process.start,
    }
    assert [name for name, array in arrays.items() if numbers(array).flags.writeable] == []


@both_storages
def test_no_array_of_the_features_can_be_written_to(store: Store) -> None:
    features = Features(store(np.eye(2)), [1, 2])
    assert features.covariance is not None
    assert not numbers(features.mean).flags.writeable
    assert not features.covariance.flags.writeable
