"""A decision process with a policy is the chain that mixing its actions by hand gives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from preftd import InputError, MarkovRewardProcess
from preftd._src.arrays import Dense, Matrix, MatrixLike, as_dense, is_sparse

Store: TypeAlias = Callable[[Dense], Matrix]
both_storages = pytest.mark.parametrize("store", [np.array, sparse.csr_array])

from_mdp = MarkovRewardProcess.from_mdp

# Going left or right in three states in a row; past either end the next episode starts at state 1.
LEFT = np.array([[0.0, 1, 0], [1, 0, 0], [0, 1, 0]])
RIGHT = np.array([[0.0, 1, 0], [0, 0, 1], [0, 1, 0]])
ENDS_LEFT = np.array([[0.0, 0, 0], [1, 1, 1], [1, 1, 1]])
ENDS_RIGHT = np.array([[1.0, 1, 1], [1, 1, 1], [0, 0, 0]])


@dataclass(frozen=True)
class RandomMdp:
    """Tables of a random decision process, by action first."""

    transitions: NDArray[np.float64]
    policy: Dense
    rewards: NDArray[np.float64]
    discounts: NDArray[np.float64]


def random_mdp(seed: int, states: int = 4, actions: int = 3) -> RandomMdp:
    rng = np.random.default_rng(seed)
    shape = (actions, states, states)
    weights = rng.random(shape) * (rng.random(shape) < 0.5) + np.roll(np.eye(states), 1, axis=1)
    policy = rng.random((states, actions)) * (rng.random((states, actions)) < 0.7)
    policy[:, 0] += 0.1
    return RandomMdp(
        weights / weights.sum(axis=2, keepdims=True),
        policy / policy.sum(axis=1, keepdims=True),
        rng.standard_normal(shape),
        0.95 * rng.random(shape),
    )


def mixed(policy: Dense, tables: NDArray[np.float64]) -> Dense:
    """Σ_a π(s, a) x_a(s, ·), row by row."""
    rows = []
    for state, probabilities in enumerate(policy):
        rows.append(sum(p * table[state] for p, table in zip(probabilities, tables, strict=True)))
    return np.array(rows)


@both_storages
@pytest.mark.parametrize("action_numbers", [True, False])
def test_three_states_in_a_row_come_out_as_by_hand(store: Store, action_numbers: bool) -> None:
    # Always right: from 0 to 1 to 2 and out, with reward 1 for each step.
    policy = [1, 1, 1] if action_numbers else [[0, 1], [0, 1], [0, 1]]
    process = from_mdp(
        [store(LEFT), store(RIGHT)],
        policy,
        1,
        [store(ENDS_LEFT), store(ENDS_RIGHT)],
        start=[0, 1, 0],
    )
    np.testing.assert_array_equal(as_dense(process.transition), RIGHT)
    np.testing.assert_array_equal(process.values, [3, 2, 1])
    np.testing.assert_array_equal(process.stationary_distribution, [0, 0.5, 0.5])
    np.testing.assert_array_equal(process.start, [0, 1, 0])


@both_storages
def test_an_even_policy_is_the_walk_with_restart(store: Store) -> None:
    # State 0 goes to 1 either way, but only one of the two ends the episode.
    process = from_mdp(
        [store(LEFT), store(RIGHT)],
        np.full((3, 2), 0.5),
        [[-1, 0], [0, 0], [0, 1]],
        [store(ENDS_LEFT), store(ENDS_RIGHT)],
    )
    np.testing.assert_array_equal(
        as_dense(process.discounted_transition), [[0, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0]]
    )
    np.testing.assert_allclose(process.values, [-0.5, 0, 0.5], rtol=0, atol=1e-15)


@given(seed=st.integers(0, 2**32 - 1), thin=st.booleans())
def test_everything_per_action_is_mixed_by_the_policy(seed: int, thin: bool) -> None:
    mdp = random_mdp(seed)
    store: Store = sparse.csr_array if thin else np.array
    each = [[store(one) for one in t] for t in (mdp.transitions, mdp.rewards, mdp.discounts)]
    process = from_mdp(each[0], mdp.policy, each[1], each[2])
    expected_reward = mixed(mdp.policy, mdp.transitions * mdp.rewards).sum(axis=1)
    for found, by_hand in (
        (as_dense(process.transition), mixed(mdp.policy, mdp.transitions)),
        (
            as_dense(process.discounted_transition),
            mixed(mdp.policy, mdp.transitions * mdp.discounts),
        ),
        (process.reward, expected_reward),
    ):
        np.testing.assert_allclose(found, by_hand, rtol=1e-13, atol=1e-15)


PER_STATE = np.array([1.0, -2, 3, 0.5])
PER_ACTION = np.arange(12.0).reshape(4, 3)
REWARDS: dict[str, tuple[Any, Dense]] = {
    "a number": (2, np.full((4, 3), 2.0)),
    "per state": (PER_STATE, np.tile(PER_STATE[:, None], 3)),
    "per state and action": (PER_ACTION, PER_ACTION),
    "per action and transition": (np.full((3, 4, 4), 2.0), np.full((3, 4), 2.0).T),
}


@both_storages
@pytest.mark.parametrize(("reward", "by_action"), REWARDS.values(), ids=REWARDS)
def test_every_way_to_give_the_reward_is_mixed_by_the_policy(
    store: Store, reward: Any, by_action: Dense
) -> None:
    mdp = random_mdp(5)
    process = from_mdp([store(p) for p in mdp.transitions], mdp.policy, reward, 0.9)
    by_hand = [float(mdp.policy[s] @ by_action[s]) for s in range(4)]
    np.testing.assert_allclose(process.reward, by_hand, rtol=1e-14)


@both_storages
@pytest.mark.parametrize("discount", [0.9, np.linspace(0, 0.9, 4), np.full((4, 4), 0.8)])
def test_a_discount_for_all_actions_is_the_one_of_the_chain(store: Store, discount: Any) -> None:
    mdp = random_mdp(6)
    process = from_mdp([store(p) for p in mdp.transitions], mdp.policy, 0, discount)
    by_hand = mixed(mdp.policy, mdp.transitions) * discount
    np.testing.assert_allclose(as_dense(process.discounted_transition), by_hand, rtol=1e-14)


def test_one_sparse_action_makes_the_chain_sparse_and_unused_actions_leave_nothing() -> None:
    actions: list[MatrixLike] = [sparse.csr_array(LEFT), RIGHT]
    process = from_mdp(actions, [1, 1, 1], 0, [ENDS_LEFT, ENDS_RIGHT])
    for table in (process.transition, process.discounted_transition):
        assert is_sparse(table)
    assert is_sparse(process.transition)
    assert process.transition.nnz == 3
    np.testing.assert_array_equal(process.transition.toarray(), RIGHT)


def test_an_array_of_all_actions_is_a_list_of_them() -> None:
    mdp = random_mdp(7)
    one = from_mdp(mdp.transitions, mdp.policy, mdp.rewards, mdp.discounts)
    other = from_mdp(
        list(mdp.transitions), mdp.policy.tolist(), list(mdp.rewards), tuple(mdp.discounts)
    )
    np.testing.assert_array_equal(one.values, other.values)


@both_storages
def test_a_discount_of_1_for_every_action_is_1_in_the_chain_to_the_last_bit(store: Store) -> None:
    # 1/x · x is not 1 for this x; a discount just below 1 would hide that values do not exist.
    x = 0.028319671145462966
    assert 1 / x * x < 1
    chain = store(np.array([[x, 1 - x], [1 - x, x]]))
    with pytest.raises(InputError, match="from state 0 the discount is 1 for ever"):
        from_mdp([chain, chain], [0, 0], 0, [store(np.ones((2, 2)))] * 2)
