"""A refused call changes nothing, and after an accepted one all numbers are finite.

Whatever the learner and the view: with rewards, ratios and features near the largest number.
"""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learners.all_learners import INDICES, LEARNERS, ONLINE, SIZE, STREAMS, is_finite, same, update
from preftd import Experience, InputError, LeastSquaresLearner
from preftd.experience import Indices

pytestmark = pytest.mark.filterwarnings("ignore::preftd.learners.GrowthWarning")

few_examples = settings(max_examples=settings().max_examples // 15)  # each has several steps
online = pytest.mark.parametrize("name", ONLINE)
extreme = st.sampled_from(
    [0.0, 1.0, -1.0, 1e-150, 1e30, 1e99, 1e101, 1e150, -1e200, 1e300, -1.7e308]
)
features = st.lists(extreme, min_size=SIZE, max_size=SIZE)
few = st.lists(st.integers(0, SIZE - 1), min_size=1, max_size=2).map(Indices)
step = st.fixed_dictionaries(
    {
        "reward": extreme,
        "discount": st.sampled_from([0.0, 0.5, 1.0]),
        "beta": st.sampled_from([0.0, 0.3, 1.0]),
        "rho": extreme.map(abs),
        "truncated": st.booleans(),
    }
)


def check(learner: Any, call: Any) -> bool:
    """Make a call; whether it was accepted."""
    before = learner.state_dict()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        try:
            call()
        except InputError:
            assert same(before, learner.state_dict())
            return False
    assert is_finite(learner)
    if hasattr(type(learner), "weights"):
        try:
            weights = learner.weights
        except InputError:  # least squares solves when it is asked, or says why it cannot
            assert isinstance(learner, LeastSquaresLearner)
        else:
            assert np.isfinite(weights).all()
    return True


@online
@few_examples
@given(steps=st.lists(st.tuples(features, features, step), min_size=1, max_size=6))
def test_updates_from_vectors(name: str, steps: Any) -> None:
    learner = LEARNERS[name]()
    for x, y, numbers in steps:
        check(learner, lambda x=x, y=y, n=numbers: update(learner, x, n["reward"], y, **_rest(n)))


@pytest.mark.parametrize("name", INDICES)
@few_examples
@given(
    steps=st.lists(
        st.tuples(st.booleans(), few, few, features, features, step), min_size=1, max_size=8
    )
)
def test_updates_from_indices_with_vectors_in_between(name: str, steps: Any) -> None:
    learner = LEARNERS[name]()
    for as_vectors, i, j, x, y, numbers in steps:
        pair = (x, y) if as_vectors else (i, j)

        def call(pair: Any = pair, n: Any = numbers) -> None:
            update(learner, pair[0], n["reward"], pair[1], **_rest(n))

        check(learner, call)


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("as_indices", [False, True], ids=["vectors", "indices"])
@few_examples
@given(steps=st.lists(st.tuples(features, extreme, extreme.map(abs)), min_size=2, max_size=8))
def test_streams(name: str, as_indices: bool, steps: Any) -> None:
    learner = LEARNERS[name]()
    x, reward, rho = zip(*steps, strict=True)
    inputs: Any = Indices(np.arange(len(x)) % SIZE) if as_indices else x
    terminated = np.arange(len(x)) % 3 == 2
    terminated[-1] = True
    log = Experience.from_log(
        inputs, reward, discount=0.9, terminated=terminated, rho=rho, size=SIZE
    )
    for _ in range(2):
        check(learner, lambda: learner.learn(log, beta=0.5))


@online
def test_the_last_step_may_overflow_and_is_then_refused(name: str) -> None:
    """One step whose δ is finite, and whose update is not."""
    learner, refused = LEARNERS[name](), 0
    for size in (1.0, 1e120, 1e160, 1e300):
        x, zero = np.full(SIZE, size), np.zeros(SIZE)
        accepted = check(learner, lambda x=x, y=zero: update(learner, x, 1e300, y, discount=0.0))
        refused += not accepted
    inactive = ("recursive", "network", "held network", "held module", "pretrained")
    assert refused or name in inactive


def _rest(numbers: dict[str, Any]) -> dict[str, Any]:
    return {name: number for name, number in numbers.items() if name != "reward"}
