"""A chain's values and visits, against chains worked out by hand and against a direct solve."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from preftd import Features, MarkovRewardProcess
from preftd._src.arrays import Dense, Matrix, MatrixLike, Vector, as_dense, is_sparse

Store: TypeAlias = Callable[[Dense], Matrix]
both_storages = pytest.mark.parametrize("store", [np.array, sparse.csr_array])


def walk_with_restart(states: int = 19) -> tuple[Dense, Dense, Dense]:
    """Left or right, evenly; past an end (reward −1 or 1) the next episode starts in the middle."""
    middle, last = states // 2, states - 1
    transition, reward, discount = np.zeros((3, states, states))
    for state in range(states):
        for after, payoff in ((state - 1, -1.0), (state + 1, 1.0)):
            ends = after in (-1, states)
            goes = middle if ends else after
            transition[state, goes] += 0.5
            reward[state, goes] = payoff if ends else 0.0
            discount[state, goes] = 0.0 if ends else 1.0
    assert transition[0, middle] == transition[last, middle] == 0.5
    return transition, reward, discount


def random_chain(seed: int, states: int) -> tuple[Dense, Vector, Dense]:
    """About half of all transitions, among them a cycle, which makes the chain irreducible."""
    rng = np.random.default_rng(seed)
    weights = rng.random((states, states)) * (rng.random((states, states)) < 0.5)
    weights += np.roll(np.eye(states), 1, axis=1)
    transition = weights / weights.sum(axis=1, keepdims=True)
    return transition, rng.standard_normal(states), 0.99 * rng.random((states, states))


@both_storages
def test_the_random_walk_has_its_known_values_and_visits(
    store: Store,
) -> None:
    transition, reward, discount = walk_with_restart()
    process = MarkovRewardProcess(store(transition), store(reward), store(discount))
    np.testing.assert_allclose(process.values, np.arange(-9, 10) / 10, rtol=0, atol=1e-12)
    triangle = np.minimum(np.arange(1, 20), np.arange(19, 0, -1)) / 100
    np.testing.assert_allclose(process.stationary_distribution, triangle, rtol=1e-12)


@both_storages
def test_a_chain_of_two_states_has_the_values_worked_out_by_hand(
    store: Store,
) -> None:
    # 3/4 v₀ − 1/4 v₁ = 1 and −1/8 v₀ + 5/8 v₁ = 2
    process = MarkovRewardProcess(store(np.array([[0.5, 0.5], [0.25, 0.75]])), [1, 2], 0.5)
    np.testing.assert_allclose(process.values, [18 / 7, 26 / 7], rtol=1e-14)
    np.testing.assert_allclose(process.stationary_distribution, [1 / 3, 2 / 3], rtol=1e-14)


@given(seed=st.integers(0, 2**32 - 1), states=st.integers(1, 15))
def test_dense_and_sparse_chains_have_the_values_of_a_direct_solve(seed: int, states: int) -> None:
    transition, reward, discount = random_chain(seed, states)
    dense = MarkovRewardProcess(transition, reward, discount)
    thin = MarkovRewardProcess(sparse.csr_array(transition), reward, sparse.csr_array(discount))
    direct = np.linalg.solve(np.eye(states) - transition * discount, reward)
    for process in (dense, thin):
        np.testing.assert_allclose(process.values, direct, rtol=1e-10, atol=1e-12)
        visits = process.stationary_distribution
        np.testing.assert_allclose(visits @ transition, visits, rtol=1e-12)
        assert visits.sum() == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(
    "form",
    [
        sparse.bsr_array,
        sparse.coo_array,
        sparse.csc_array,
        sparse.csr_array,
        sparse.csr_matrix,
        sparse.dia_array,
        sparse.dok_array,
        sparse.lil_matrix,
    ],
)
def test_every_sparse_format_is_taken_and_stays_sparse(form: Callable[[Dense], MatrixLike]) -> None:
    transition, reward, discount = random_chain(0, 12)
    process = MarkovRewardProcess(form(transition), reward, form(discount))
    for table, entries in (
        (process.transition, transition),
        (process.discounted_transition, transition * discount),
    ):
        assert is_sparse(table)
        assert table.nnz == np.count_nonzero(entries)
        np.testing.assert_array_equal(table.toarray(), entries)


def test_entries_stored_twice_are_added_and_stored_zeros_dropped() -> None:
    entries = [0.25, 0.75, 0.0, 1.0], ([0, 0, 1, 1], [1, 1, 1, 0])
    process = MarkovRewardProcess(sparse.coo_array(entries, shape=(2, 2)), 1, 0.5)
    np.testing.assert_array_equal(as_dense(process.transition), [[0, 1], [1, 0]])
    assert is_sparse(process.transition)
    assert process.transition.nnz == 2


@both_storages
def test_a_discount_per_state_is_that_of_the_state_entered(
    store: Store,
) -> None:
    transition, reward, _ = random_chain(1, 6)
    per_state = np.linspace(0, 1, 6)
    entered, left = np.tile(per_state, (6, 1)), np.tile(per_state[:, None], (1, 6))
    process = MarkovRewardProcess(store(transition), reward, per_state)
    same = MarkovRewardProcess(store(transition), reward, entered)
    other = MarkovRewardProcess(store(transition), reward, left)
    np.testing.assert_array_equal(
        as_dense(process.discounted_transition), as_dense(same.discounted_transition)
    )
    np.testing.assert_allclose(process.values, same.values, rtol=1e-14)
    assert np.abs(process.values - other.values).max() > 0.01


@both_storages
def test_one_discount_is_the_same_as_that_discount_everywhere(
    store: Store,
) -> None:
    transition, reward, _ = random_chain(2, 6)
    number = MarkovRewardProcess(store(transition), reward, 0.9)
    for everywhere in (
        np.full(6, 0.9),
        np.full((6, 6), 0.9),
        sparse.csr_array(np.full((6, 6), 0.9)),
    ):
        process = MarkovRewardProcess(store(transition), reward, everywhere)
        np.testing.assert_array_equal(process.values, number.values)


@both_storages
def test_what_a_sparse_discount_does_not_store_is_0(store: Store) -> None:
    cycle = np.roll(np.eye(3), 1, axis=1)
    ends_after_two = sparse.csr_array(([1.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))
    process = MarkovRewardProcess(store(cycle), 1, ends_after_two)
    np.testing.assert_array_equal(process.values, [3, 2, 1])


@both_storages
def test_a_reward_per_transition_counts_as_its_mean_over_what_comes_next(
    store: Store,
) -> None:
    transition = np.array([[0.5, 0.5], [0.25, 0.75]])
    per_transition = np.array([[3.0, -1.0], [2.0, 2.0]])
    for reward in (per_transition, sparse.csr_array(per_transition), [1.0, 2.0]):
        process = MarkovRewardProcess(store(transition), reward, 0.5)
        np.testing.assert_array_equal(process.reward, [1, 2])
    np.testing.assert_array_equal(MarkovRewardProcess(store(transition), 4, 0.5).reward, [4, 4])


@both_storages
def test_states_that_are_left_for_good_are_not_visited_but_have_values(
    store: Store,
) -> None:
    transition = np.array([[0, 0.5, 0.5, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    process = MarkovRewardProcess(store(transition), [8, 4, 2, 0], 0.5)
    np.testing.assert_allclose(process.stationary_distribution, [0, 0, 0.5, 0.5], rtol=1e-15)
    v_2, v_3 = 8 / 3, 4 / 3
    v_1 = 4 + v_2 / 2
    np.testing.assert_allclose(process.values, [8 + (v_1 + v_2) / 4, v_1, v_2, v_3], rtol=1e-14)


@both_storages
def test_a_process_starts_in_its_stationary_distribution_by_default(
    store: Store,
) -> None:
    transition = store(np.array([[0.5, 0.5], [0.25, 0.75]]))
    by_default = MarkovRewardProcess(transition, 0, 0.5)
    np.testing.assert_allclose(by_default.start, [1 / 3, 2 / 3], rtol=1e-14)
    given = MarkovRewardProcess(transition, 0, 0.5, start=[1, 0])
    np.testing.assert_array_equal(given.start, [1, 0])
    np.testing.assert_allclose(given.stationary_distribution, [1 / 3, 2 / 3], rtol=1e-14)


# A process is checked when built and not changed after: neither by its caller nor through it.

TRANSITION = np.array([[0.5, 0.5], [0.25, 0.75]])
REWARDS: dict[str, MatrixLike] = {"number": 1, "state": [1, 2], "transition": [[3, -1], [2, 2]]}
DISCOUNTS: dict[str, MatrixLike] = {
    "number": 0.5,
    "state": [0.5, 0.25],
    "transition": [[0.5, 0.25], [0.5, 0.0]],
}


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
