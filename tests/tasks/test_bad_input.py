"""Whatever cannot be used is refused in one sentence: what, where first, and what to do."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from preftd import Features, InputError, MarkovRewardProcess

EVEN = [[0.5, 0.5], [0.5, 0.5]]
SWAP = [[0.0, 1.0], [1.0, 0.0]]
NUMBERS = "is not an array of real numbers"


def process(transition: Any = EVEN, reward: Any = 0, discount: Any = 0.9, start: Any = None) -> Any:
    return lambda: MarkovRewardProcess(transition, reward, discount, start)


def mdp(
    transitions: Any = (EVEN, SWAP), policy: Any = (0, 1), reward: Any = 0, discount: Any = 0.9
) -> Any:
    return lambda: MarkovRewardProcess.from_mdp(transitions, policy, reward, discount)


def features(mean: Any, covariance: Any = None) -> Any:
    return lambda: Features(mean, covariance)


# Matrices to be given dense and sparse. Where two entries are bad, the first is to be named.
TRANSITIONS: dict[str, tuple[Any, str]] = {
    "not square": (np.full((2, 3), 1 / 3), "transition has shape (2, 3)"),
    "no states": (np.zeros((0, 0)), "transition has shape (0, 0)"),
    "negative": ([[1, 0], [1.5, -0.5]], "transition[1, 1] is -0.5"),
    "row sums": ([[1, 0, 0], [0, 0.5, 0.4], [0, 0, 2]], "transition row 1 sums to 0.9"),
    "empty row": ([[0, 1], [0, 0]], "transition row 1 sums to 0"),
    "typed decimals": ([[0.333, 0.667], [0.333, 0.666]], "transition row 1 sums to 0.999"),
    "nan": ([[0, 1], [np.nan, np.nan]], "transition[1, 0] is nan"),
    "inf": ([[0, 1], [-np.inf, np.inf]], "transition[1, 0] is -inf"),
    "complex": (np.array(EVEN) * (1 + 1j), f"transition {NUMBERS}"),
    "several recurrent classes": (np.eye(3), "states 0 and 1"),
    "two classes and a way in": (
        [[0, 0.5, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]],
        "states 1 and 2",
    ),
}
REWARDS: dict[str, tuple[Any, str]] = {
    "shape": (np.ones((2, 3)), "reward has shape (2, 3) but there are 2 states"),
    "nan": ([[1, 2], [np.nan, np.nan]], "reward[1, 0] is nan"),
    "complex": ([[1, 2], [3, 1j]], f"reward {NUMBERS}"),
}
DISCOUNTS: dict[str, tuple[Any, str]] = {
    "shape": (np.full((3, 3), 0.5), "discount has shape (3, 3) but there are 2 states"),
    "negative": ([[0.5, -0.1], [-1, 0.5]], "discount[0, 1] is -0.1"),
    "above 1": ([[0.5, 0.5], [1.01, 2]], "discount[1, 0] is 1.01"),
    "inf": ([[0.5, 0.5], [0.5, np.inf]], "discount[1, 1] is inf"),
    "always 1": ([[1, 1], [1, 1]], "from state 0 the discount is 1"),
}
CASES: dict[str, tuple[Callable[[], Any], str]] = {
    "transition: a number": (process(1.0), "transition has shape ()"),
    "transition: a vector": (process([0.5, 0.5]), "transition has shape (2,)"),
    "transition: three dimensions": (process(np.ones((2, 2, 2))), "transition has shape (2, 2, 2)"),
    "transition: ragged": (process([[1, 0], [1]]), f"transition {NUMBERS}"),
    "transition: strings": (process([["a", "b"], ["c", "d"]]), f"transition {NUMBERS}"),
    "transition: numbers as strings": (process([["0", "1"], ["1", "0"]]), f"transition {NUMBERS}"),
    "transition: nothing": (process(None), "transition is None"),
    "reward: too many": (process(reward=[1, 2, 3]), "reward has shape (3,) but there are 2 states"),
    "reward: nan": (process(reward=np.nan), "reward is nan"),
    "reward: inf": (process(reward=[0, np.inf]), "reward[1] is inf"),
    "reward: ragged": (process(reward=[1, [2, 3]]), f"reward {NUMBERS}"),
    "reward: a string": (process(reward="high"), f"reward {NUMBERS}"),
    "discount: above 1": (process(discount=1.5), "discount[0] is 1.5"),
    "discount: below 0": (process(discount=[0.5, -0.5]), "discount[1] is -0.5"),
    "discount: too many": (process(discount=[0.5] * 3), "discount has shape (3,) but there are 2"),
    "discount: nan": (process(discount=[0.5, np.nan]), "discount[1] is nan"),
    "discount: complex": (process(discount=0.5j), f"discount {NUMBERS}"),
    "discount: 1": (process(discount=1), "from state 0 the discount is 1"),
    "discount: 1 in a part without end": (
        process([[0, 0.5, 0.5], [0, 0, 1], [0, 1, 0]], discount=[0.5, 1, 1]),
        "from state 0 the discount is 1",
    ),
    "discount: 1 from state 1 on": (
        process([[0, 1, 0], [0, 0, 1], [0, 1, 0]], discount=[[0, 0, 0], [1, 1, 1], [1, 1, 1]]),
        "from state 1 the discount is 1",
    ),
    "start: shape": (process(start=[1, 0, 0]), "start has shape (3,)"),
    "start: a number": (process(start=1), "start has shape ()"),
    "start: negative": (process(start=[1.5, -0.5]), "start[1] is -0.5"),
    "start: sum": (process(start=[0.5, 0.6]), "start sums to 1.1"),
    "start: nan": (process(start=[0, np.nan]), "start[1] is nan"),
    "start: ragged": (process(start=[[0, 1], [0]]), f"start {NUMBERS}"),
    "features: a vector": (features([1, 2]), "features has shape (2,)"),
    "features: none": (features(np.zeros((2, 0))), "features has no columns"),
    "features: nan": (features([[1, 2], [3, np.nan]]), "features[1, 1] is nan"),
    "features: sparse inf": (features(sparse.coo_array([[1, np.inf]])), "features[0, 1] is inf"),
    "features: ragged": (features([[1, 2], [3]]), f"features {NUMBERS}"),
    "features: strings": (features([["a"], ["b"]]), f"features {NUMBERS}"),
    "features: sparse complex": (features(sparse.coo_array([[1j]])), f"features {NUMBERS}"),
    "features: of other states": (lambda: Features.of(np.eye(2), 3), "features has 2 rows but"),
    "covariance: a number": (features(np.eye(2), 1), "covariance has shape ()"),
    "covariance: shape": (features(np.eye(2), [1, 2, 3]), "covariance has shape (3,)"),
    "covariance: negative": (features(np.eye(2), [[0, 1], [-1, -1]]), "covariance[1, 0] is -1"),
    "covariance: not symmetric": (
        features(np.eye(2), [np.eye(2), [[1, 0.5], [0, 1]]]),
        "covariance of state 1",
    ),
    "covariance: inf": (features(np.eye(2), [0, np.inf]), "covariance[1] is inf"),
    "policy: action": (mdp(policy=[1, 2]), "policy[1] is 2"),
    "policy: negative action": (mdp(policy=[-1, 2]), "policy[0] is -1"),
    "policy: half an action": (mdp(policy=[0, 0.5]), "policy has shape (2,)"),
    "policy: shape": (mdp(policy=np.full((3, 2), 0.5)), "policy has shape (3, 2)"),
    "policy: negative": (mdp(policy=[[1, 0], [1.5, -0.5]]), "policy[1, 1] is -0.5"),
    "policy: sum": (mdp(policy=[[1, 0], [0.5, 0.4]]), "policy row 1 sums to 0.9"),
    "policy: nan": (mdp(policy=[0, np.nan]), "policy[1] is nan"),
    "policy: strings": (mdp(policy=["left", "right"]), f"policy {NUMBERS}"),
    "transitions: row sum": (mdp([EVEN, [[1, 0], [0, 2]]]), "transitions[1] row 1 sums to 2"),
    "transitions: shapes": (mdp([EVEN, SWAP, np.eye(3)]), "transitions[2] has shape (3, 3)"),
    "transitions: no actions": (mdp([]), "transitions has no actions"),
    "transitions: one matrix": (mdp(EVEN), "transitions[0] has shape (2,)"),
    "transitions: a number": (mdp(1), "transitions"),
    "transitions: one sparse matrix": (mdp(sparse.csr_array(EVEN)), "transitions"),
    "action rewards: shape": (mdp(reward=np.ones((2, 3))), "reward has shape (2, 3)"),
    "action rewards: how many": (mdp(reward=np.ones((3, 2, 2))), "reward has 3 matrices for 2"),
    "action rewards: matrices": (mdp(reward=np.ones((2, 3, 3))), "reward[0] has shape (3, 3)"),
    "action discounts: how many": (mdp(discount=np.ones((1, 2, 2))), "discount has 1 matrices"),
    "action discounts: entry": (mdp(discount=[EVEN, [[0, 0], [2, 0]]]), "discount[1][1, 0] is 2"),
}
STORES: dict[str, Callable[[Any], Any]] = {"dense": np.array, "sparse": sparse.coo_array}
for name, store in STORES.items():
    for what, (bad, where) in TRANSITIONS.items():
        CASES[f"transition: {what}, {name}"] = process(store(bad)), where
    for what, (bad, where) in REWARDS.items():
        CASES[f"reward: {what}, {name}"] = process(reward=store(bad)), where
    for what, (bad, where) in DISCOUNTS.items():
        CASES[f"discount: {what}, {name}"] = process(discount=store(bad)), where
        CASES[f"discount: {what}, {name} on sparse"] = (
            process(sparse.csr_array(EVEN), discount=store(bad)),
            where,
        )


@pytest.mark.parametrize(("build", "where"), CASES.values(), ids=CASES)
def test_bad_input_is_refused_with_its_index_and_a_remedy(
    build: Callable[[], Any], where: str
) -> None:
    with pytest.raises(InputError) as refusal:
        build()
    sentence = str(refusal.value)
    cause, colon, remedy = sentence.partition(": ")
    assert where in cause
    assert colon
    assert len(remedy.split()) > 1
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert "\n" not in sentence


def test_a_row_may_be_off_by_what_typed_decimals_leave() -> None:
    third = 0.3333333333
    process([[third, third, third], [0, 0, 1], [1, 0, 0]])()
