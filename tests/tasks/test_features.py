"""Features: the moments of what states show, however mean and covariance are given."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from preftd import Features, InputError
from preftd._src.arrays import Dense, Matrix, is_sparse

STATES, SIZE = 7, 3

Store: TypeAlias = Callable[[Dense], Matrix]
both_storages = pytest.mark.parametrize("store", [np.array, sparse.csr_array])


def some_mean() -> Dense:
    rng = np.random.default_rng(0)
    return rng.standard_normal((STATES, SIZE)) * (rng.random((STATES, SIZE)) < 0.6)


def some_weights() -> NDArray[np.float64]:
    return np.random.default_rng(1).random(STATES)


def full_covariances() -> NDArray[np.float64]:
    roots = np.random.default_rng(2).standard_normal((STATES, SIZE, SIZE))
    return np.asarray(roots @ roots.transpose(0, 2, 1))


def as_full(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each shape of covariance written out, one k × k matrix per state."""
    if covariance.ndim == 1:
        return np.stack([variance * np.eye(SIZE) for variance in covariance])
    if covariance.ndim == 2:
        return np.stack([np.diag(variances) for variances in covariance])
    return covariance


COVARIANCES: dict[str, NDArray[np.float64]] = {
    "one per state": np.arange(STATES, dtype=np.float64),
    "one per state and feature": np.random.default_rng(3).random((STATES, SIZE)),
    "a matrix per state": full_covariances(),
}


@pytest.mark.parametrize("covariance", COVARIANCES.values(), ids=COVARIANCES)
def test_the_mean_covariance_is_the_weighted_sum_over_states(
    covariance: NDArray[np.float64],
) -> None:
    weights = some_weights()
    by_hand = sum(w * matrix for w, matrix in zip(weights, as_full(covariance), strict=True))
    found = Features(some_mean(), covariance).mean_covariance(weights)
    assert found.shape == (SIZE, SIZE)
    np.testing.assert_allclose(found, by_hand, rtol=1e-14, atol=1e-15)


def test_features_that_are_not_random_have_covariance_0() -> None:
    assert Features(some_mean()).covariance is None
    np.testing.assert_array_equal(
        Features(some_mean()).mean_covariance(some_weights()), np.zeros((SIZE, SIZE))
    )


@both_storages
def test_the_weighted_square_is_the_sum_of_outer_products(
    store: Store,
) -> None:
    mean, weights = some_mean(), some_weights()
    by_hand = sum(w * np.outer(row, row) for w, row in zip(weights, mean, strict=True))
    found = Features(store(mean)).weighted_square(weights)
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, by_hand, rtol=1e-14, atol=1e-15)


@both_storages
def test_predictions_rows_and_columns_are_those_of_the_matrix(
    store: Store,
) -> None:
    mean, weights = some_mean(), np.array([1.0, -2.0, 0.5])
    features = Features(store(mean))
    np.testing.assert_allclose(features.predict(weights), mean @ weights, rtol=1e-14, atol=1e-15)
    over_states = some_weights()
    np.testing.assert_allclose(
        features.transposed_times(over_states), over_states @ mean, rtol=1e-14, atol=1e-15
    )
    np.testing.assert_array_equal(features.rows(np.array([4, 1])), mean[[4, 1]])
    np.testing.assert_array_equal(features.columns(slice(1, 3)), mean[:, 1:3])


def test_sparse_means_stay_sparse() -> None:
    features = Features(sparse.coo_array(some_mean()))
    assert is_sparse(features.mean)
    assert features.mean.nnz == np.count_nonzero(some_mean())
    assert (features.states, features.size) == (STATES, SIZE)


def test_features_of_features_are_themselves() -> None:
    features = Features(some_mean())
    assert Features.of(features, STATES) is features
    np.testing.assert_array_equal(Features.of(some_mean(), STATES).rows(np.arange(7)), some_mean())


@pytest.mark.parametrize("rounding", [1e-12, -1e-12])
def test_a_covariance_may_be_off_by_rounding(rounding: float) -> None:
    # Rank 1 with its zero eigenvalue computed just below 0, and just not symmetric.
    singular = np.array([[1.0, 1.0], [1.0 + rounding, 1.0]])
    assert Features(np.eye(2), [np.eye(2), singular]).covariance is not None


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize(
    "bad", [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.0, -0.01]]]
)
def test_what_is_no_covariance_is_refused_at_any_scale(
    bad: list[list[float]], scale: float
) -> None:
    given = scale * np.array([np.eye(2), bad, bad])
    with pytest.raises(InputError, match=r"covariance of state 1 is not a covariance: .+\."):
        Features(np.ones((3, 2)), given)
