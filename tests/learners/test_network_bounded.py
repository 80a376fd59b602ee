"""Bounded steps of networks: kernels, the readable reference and autograd agree."""

from typing import Any

import numpy as np
import pytest
import torch

from learners import network_reference as reference
from learners.linear_cases import SIZE, case, feed, same
from learners.network_cases import (
    CASES,
    RULES,
    distance,
    learned_by_reference,
    some_scored,
    steps_of,
)
from pairs import in_pairs
from preftd._src.learners.bounding import squares_of
from preftd._src.learners.network import backward, held
from preftd._src.learners.network.layers import Lesson, Parameters
from preftd.learners import Network, NetworkLearner

VIEWS = ["backward", "forward", "held"]
SIZES = [0.02, 0.6, 0.15]
"""Of which the first is hardly ever bounded, the second nearly always."""

cases = pytest.mark.parametrize("which", CASES)
rules = pytest.mark.parametrize("name", RULES)

pytestmark = pytest.mark.filterwarnings("ignore::preftd.learners.GrowthWarning")


def flat(w: Parameters) -> Any:
    return np.concatenate([np.ravel(part) for part in w])


@in_pairs(view=VIEWS, which=CASES, name=RULES)
def test_kernels_are_the_reference_and_each_lane_is_itself_alone(
    view: str, which: str, name: str
) -> None:
    experience, preference = CASES[which]
    steps, scored = steps_of(experience, RULES[name], preference), some_scored(experience.size)
    method = Network(5, view, bounded=True)
    batch = method.start(experience.size, SIZES, seed=5)
    errors = batch.learn(steps, scored)
    for lane, size in enumerate(SIZES):
        expected = learned_by_reference(method, steps, size, seed=5)
        assert distance(batch.parameters(lane), expected) < 1e-10
        alone = method.start(experience.size, [size], seed=5)
        np.testing.assert_array_equal(alone.learn(steps, scored)[:, 0], errors[:, lane])
        np.testing.assert_array_equal(flat(alone.parameters(0)), flat(batch.parameters(lane)))
    without = Network(5, view).start(experience.size, SIZES, seed=5).learn(steps, scored)
    assert not np.allclose(without[:, 1], errors[:, 1], rtol=1e-3)


@cases
@rules
def test_segments_of_any_length_and_the_general_way_learn_the_same(which: str, name: str) -> None:
    experience, preference = CASES[which]
    steps, scored = steps_of(experience, RULES[name], preference), some_scored(experience.size)
    squares, sizes = 1 + squares_of(steps, np.ones(experience.size)), np.array(SIZES)
    ways: dict[str, Any] = {
        "backward": (backward.learn_backward, 0),
        "held": (held.learn_held, True),
    }
    for view, (learn, how) in ways.items():
        usual, other = (
            Network(5, view, bounded=True).start(experience.size, SIZES, 0) for _ in "ab"
        )
        expected = usual.learn(steps, scored)
        errors = np.empty_like(expected)
        learn(Lesson(other._weights, 5, sizes, steps, squares), scored, errors, how)
        np.testing.assert_allclose(errors, expected, rtol=1e-9, atol=0)


@pytest.mark.parametrize("units", [1, 5])
def test_the_bound_is_that_of_autograd(units: int) -> None:
    w = Network(units, "backward").start(7, [0.1], seed=3).parameters(0)
    for x in np.random.default_rng(0).normal(size=(20, 7)):
        weights = [torch.tensor(np.array(part), requires_grad=True) for part in w]
        hidden, hidden_bias, out, bias = weights
        v = bias + torch.relu(torch.as_tensor(x) @ hidden + hidden_bias) @ out
        square = sum(float((g**2).sum()) for g in torch.autograd.grad(v, weights))
        found = reference.entering_gain(9.0, reference.gradient(w, x), 0.7, bounded=True)
        assert found == pytest.approx(1 / (0.7 * square), rel=1e-12)
        assert reference.entering_gain(9.0, reference.gradient(w, x), 0.7, bounded=False) == 9.0
        small = 0.5 / (0.7 * square)
        assert reference.entering_gain(small, reference.gradient(w, x), 0.7, bounded=True) == small


@pytest.mark.parametrize("view", ["backward", "held"])
def test_one_step_ends_near_its_target_however_large_the_step_size(view: str) -> None:
    """As near as the gradient says: the target is close to what was predicted."""
    x, moved = np.array([1.0, -1.0, 2.0]), []
    for step_size in (1.0, 1e6):
        learner = NetworkLearner(3, RULES["PTD"], step_size, 8, view=view, bounded=True, seed=2)
        target = float(learner.predict(x)) + 1e-4
        learner.update(x, target, None, discount=0.0, beta=1.0)
        moved.append(float(learner.predict(x)) - target)
    np.testing.assert_allclose(moved, 0.0, atol=1e-8)


@pytest.mark.parametrize("view", ["backward", "held"])
@rules
def test_streams_are_steps_and_what_is_saved_continues_to_the_bit(view: str, name: str) -> None:
    given = case(6)
    whole, stepwise, pieces = (
        NetworkLearner(SIZE, RULES[name], 0.3, 4, view=view, bounded=True) for _ in range(3)
    )
    whole.learn(given.experience, **given.signals)
    feed(stepwise, given)  # type: ignore[arg-type]
    assert distance(stepwise.parameters, whole.parameters) < 1e-9
    first, second = given.part(0, 43), given.part(43, 80)
    pieces.learn(first.experience, **first.signals)
    loaded = NetworkLearner(SIZE, RULES[name], 0.3, 4, view=view, bounded=True)
    loaded.load_state_dict(pieces.state_dict())
    for learner in (pieces, loaded):
        learner.learn(second.experience, **second.signals)
    assert same(loaded.state_dict(), pieces.state_dict())
    assert distance(pieces.parameters, whole.parameters) < 1e-9
