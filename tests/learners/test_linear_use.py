"""Linear learners as people use them: copied, sent elsewhere, fed with what is at hand."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from preftd import ETD, TD, InputError, tasks
from preftd.experience import Indices
from preftd.learners import Decreasing, LinearLearner


def sent(learner: LinearLearner) -> LinearLearner:
    """As to another process."""
    there: LinearLearner = pickle.loads(pickle.dumps(learner))  # noqa: S301  (just written)
    return there


@pytest.mark.parametrize("copied", [copy.deepcopy, sent])
@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
@pytest.mark.parametrize("kind", ["vectors", "indices", "many", "indices, then vectors"])
def test_a_copy_goes_on_learning_to_the_bit(
    copied: Callable[[LinearLearner], LinearLearner], view: str, kind: str
) -> None:
    """Weights and trace are parts of one memory, which copies must not take apart."""
    predictions = 2 if kind == "many" else None
    learner = LinearLearner(5, ETD(0.3), 0.1, view=view, predictions=predictions)
    rng = np.random.default_rng(0)

    def step(one: LinearLearner, indices: bool, x: Any, y: Any) -> None:
        given = (Indices([1, 2]), Indices([2, 4])) if indices else (x, y)
        one.update(given[0], 1.0, given[1], discount=0.9, beta=0.5)

    for _ in range(3):
        step(learner, kind.startswith("indices"), rng.normal(size=5), rng.normal(size=5))
    other = copied(learner)
    before = learner.weights
    for _ in range(3):
        x, y = rng.normal(size=(2, 5))
        for one in (learner, other):
            step(one, kind == "indices", x, y)
    np.testing.assert_array_equal(other.weights, learner.weights)
    assert (learner.weights != before).any()


def test_numbers_of_lower_precision_do_not_lower_that_of_the_learner() -> None:
    """As ratios of probabilities from a network are."""
    one, other = (LinearLearner(2, ETD(0.1), 0.01) for _ in range(2))
    x, third = np.array([1.0, 0.5]), np.float32(1 / 3)
    for _ in range(50):
        one.update(x, third, x, discount=third, beta=third, interest=third, rho=np.float32(1))
        as_float = float(third)
        other.update(x, as_float, x, discount=as_float, beta=as_float, interest=as_float)
    assert one.state_dict()["follow_on"].dtype == np.float64
    np.testing.assert_array_equal(one.weights, other.weights)


def test_after_the_end_nothing_need_be_given() -> None:
    one, other = (LinearLearner(2, TD(), 0.1) for _ in range(2))
    x = np.array([1.0, 0.5])
    one.update(x, 1.0, None, discount=0.0, beta=1.0)
    other.update(x, 1.0, x, discount=0.0, beta=1.0)
    np.testing.assert_array_equal(one.weights, other.weights)
    with pytest.raises(InputError, match="next_features"):
        one.update(x, 1.0, None, discount=0.5, beta=1.0)


@pytest.mark.parametrize("truncated", [np.array([True, False]), "yes", None, 2])
def test_truncated_is_true_or_false(truncated: Any) -> None:
    learner = LinearLearner(2, TD(), 0.1, predictions=2)
    before = learner.state_dict()
    with pytest.raises(InputError, match="truncated is"):
        learner.update([1.0, 0.0], 1.0, [0.0, 1.0], discount=0.9, beta=1.0, truncated=truncated)
    for name, array in learner.state_dict().items():
        np.testing.assert_array_equal(array, before[name])


def test_a_step_size_goes_on_decreasing_from_one_stream_to_the_next() -> None:
    e = tasks.make("corridor", length=3).sampler(0).episodes(6)
    whole, pieces = (LinearLearner(3, TD(), Decreasing(0.5, delay=5)) for _ in range(2))
    whole.learn(e, beta=1.0)
    for piece in (e[:7], e[7:]):
        pieces.learn(piece, beta=1.0)
    np.testing.assert_array_equal(pieces.weights, whole.weights)
