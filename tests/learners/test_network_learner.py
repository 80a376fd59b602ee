"""The network learner: one transition at a time, streams in pieces, and what is refused."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from learners.network_cases import (
    CASES,
    RULES,
    distance,
    learned_by_reference,
    some_scored,
    steps_of,
)
from pairs import in_pairs
from preftd import PTD, TD, InputError
from preftd._src.learners.transition import DivergedError
from preftd.experience import Indices
from preftd.learners import Decreasing, Network, NetworkLearner

views = pytest.mark.parametrize("view", ["backward", "held"])


def same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """To the bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k]) for k in one)


def sent(learner: NetworkLearner) -> NetworkLearner:
    """As to another process."""
    there: NetworkLearner = pickle.loads(pickle.dumps(learner))  # noqa: S301  (just written)
    return there


@in_pairs(view=["backward", "held"], case=CASES, rule=RULES)
def test_one_transition_at_a_time_is_what_a_study_learns(view: str, case: str, rule: str) -> None:
    experience, preference = CASES[case]
    method, beta = Network(5, view), preference.stream(experience)[0]
    batch = method.start(experience.size, [0.01], seed=2)
    batch.learn(steps_of(experience, RULES[rule], preference), some_scored(experience.size))
    learner = method.learner(experience.size, RULES[rule], 0.01, seed=2)
    x, y = experience.features(), experience.next_features()
    for t in range(len(experience)):
        learner.update(
            x[t],
            experience.reward[t],
            y[t],
            discount=experience.discount_tp1[t],
            beta=beta[t],
            truncated=bool(experience.is_last[t]),
        )
    assert distance(learner.parameters, batch.parameters(0)) < 1e-12


@pytest.mark.parametrize(
    "method", [Network(5, "backward"), Network(5, "held"), Network(5, "forward", "adam")]
)
def test_a_stream_of_whole_episodes_is_learned_as_in_a_study_to_the_bit(method: Network) -> None:
    experience, preference = CASES["soft tiles"]
    batch = method.start(experience.size, [0.01], seed=2)
    batch.learn(steps_of(experience, RULES["ETD"], preference), some_scored(experience.size))
    learner = method.learner(experience.size, RULES["ETD"], 0.01, seed=2)
    learner.learn(experience, preference)
    for one, other in zip(learner.parameters, batch.parameters(0), strict=True):
        np.testing.assert_array_equal(one, other)


def test_held_updates_wait_for_the_beta_of_the_state_reached() -> None:
    """One step with β = 1; nothing moves until the next call tells how far x' is trusted."""
    x, y = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for beta in (0.0, 0.25, 1.0):
        learner = NetworkLearner(2, TD(), 0.1, 4, view="held")
        start = learner.parameters
        delta = learner.update(x, 1.0, y, discount=0.9, beta=1.0)
        assert distance(learner.parameters, start) == 0
        state = learner.state_dict()
        assert state["pending_bias"] + state["ahead"] == pytest.approx(delta)
        learner.update(y, 0.0, x, discount=0.9, beta=beta)
        assert learner.parameters.bias == pytest.approx(start.bias + 0.1 * beta * delta)
    for end in ({"discount": 0.0}, {"discount": 0.9, "truncated": True}):
        learner = NetworkLearner(2, TD(), 0.1, 4, view="held")
        delta = learner.update(x, 1.0, y, beta=1.0, **end)  # type: ignore[arg-type]
        assert learner.parameters.bias == pytest.approx(start.bias + 0.1 * delta)
        assert learner.state_dict()["pending_bias"] == 0


@views
def test_an_episode_left_unfinished_leaves_nothing_behind(view: str) -> None:
    """A new stream starts with an episode of its own: what was pending is applied first."""
    experience, preference = CASES["soft log"]
    learner = NetworkLearner(7, PTD(), 0.01, 5, view=view)
    learner.update(np.ones(7), 1.0, np.ones(7), discount=0.9, beta=0.5)
    ended = copy.deepcopy(learner)
    if view == "held":
        state = ended.state_dict()
        for name in ("hidden", "hidden_bias", "out", "bias"):
            state[name] = state[name] + 0.01 * state[f"pending_{name}"]
            state[f"pending_{name}"] *= 0
        ended.load_state_dict(state)
    first = int(np.flatnonzero(experience.is_last)[0])
    assert first > 0
    for piece in (experience, experience[:first]):  # compiled, and step by step
        one, other = copy.deepcopy(learner), copy.deepcopy(ended)
        for each in (one, other):
            each.learn(piece, preference)
        assert distance(one.parameters, other.parameters) < 1e-15


@views
@pytest.mark.parametrize("copied", [copy.deepcopy, sent])
def test_a_copy_learns_on_its_own_to_the_bit(view: str, copied: Any) -> None:
    experience, preference = CASES["soft log"]
    learner = NetworkLearner(7, PTD(), 0.01, 5, view=view).learn(experience[:9], preference)
    other = copied(learner)
    before = learner.state_dict()
    other.learn(experience[9:], preference)
    assert same(learner.state_dict(), before)
    learner.learn(experience[9:], preference)
    assert same(learner.state_dict(), other.state_dict())


def test_indices_are_vectors() -> None:
    one, other = (NetworkLearner(4, PTD(), 0.1, 3) for _ in range(2))
    signals: dict[str, Any] = {"discount": 0.9, "beta": 0.5}
    one.update(Indices([0, 3, 3]), 1.0, Indices([1]), **signals)
    other.update([1.0, 0, 0, 2], 1.0, [0.0, 1, 0, 0], **signals)
    assert same(one.state_dict(), other.state_dict())
    assert one.predict(Indices([2])) == pytest.approx(one.predict(np.eye(4))[2])  # type: ignore[index]


@views
def test_divergence_is_said_and_changes_nothing(view: str) -> None:
    experience, preference = CASES["soft log"]
    for piece in (experience, experience[:7]):  # compiled, and step by step
        learner = NetworkLearner(7, TD(), 1e200, 5, view=view)
        before = learner.state_dict()
        with pytest.raises(DivergedError, match="lower the step size"):
            learner.learn(piece, preference)
        assert same(learner.state_dict(), before)


GOOD: dict[str, Any] = {
    "features": [1.0, 0.5],
    "reward": 1.0,
    "next_features": [0.0, 1.0],
    "discount": 0.9,
    "beta": 0.5,
}


@views
@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"features": np.array([np.nan, 1.0])}, "features holds something that is not finite"),
        ({"next_features": np.array([np.inf, 1.0]), "truncated": True}, "next_features holds"),
        ({"features": [1.0]}, "give 2 numbers"),
        ({"features": Indices([0])}, "differ in kind"),
        ({"next_features": None}, "next_features is missing"),
        ({"reward": np.nan}, "reward is nan"),
        ({"reward": "no"}, "reward is 'no': give a number"),
        ({"discount": 1.1}, "discount is 1.1"),
        ({"beta": 1.1}, "β is 1.1"),
        ({"rho": -1.0}, "ρ is -1"),
        ({"truncated": "yes"}, "truncated is"),
    ],
)
def test_a_bad_update_is_refused_and_changes_nothing(
    view: str, change: dict[str, Any], match: str
) -> None:
    learner = NetworkLearner(2, PTD(), 0.1, 3, view=view)
    learner.update(**GOOD)
    before = learner.state_dict()
    with pytest.raises(InputError, match=match):
        learner.update(**GOOD | change)
    assert same(learner.state_dict(), before)


def test_what_makes_no_sense_is_refused() -> None:
    bad: list[tuple[Any, str]] = [
        (lambda: NetworkLearner(2, "td", 0.1, 3), "give an instance"),  # type: ignore[arg-type]
        (lambda: NetworkLearner(2, TD(), -0.1, 3), "above 0"),
        (lambda: NetworkLearner(2, TD(), Decreasing(0.1), 3), "do not change"),  # type: ignore[arg-type]
        (lambda: NetworkLearner(0, TD(), 0.1, 3), "size is 0"),
        (lambda: NetworkLearner(2, TD(), 0.1, 3, view="held", optimiser="adam"), "adam"),
        (lambda: NetworkLearner(2, TD(), 0.1, 3, view="forward").update(**GOOD), "call learn"),
        (lambda: NetworkLearner(2, TD(), 0.1, 3).learn(CASES["log"][0], 0.5), "7 features"),
    ]
    for build, match in bad:
        with pytest.raises(InputError, match=match):
            build()


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    learner = NetworkLearner(2, PTD(), 0.1, 3, view="held")
    learner.update(**GOOD)
    before = learner.state_dict()
    bad: list[tuple[dict[str, Any], str]] = [
        ({}, "result of state_dict"),
        (NetworkLearner(2, PTD(), 0.1, 4, view="held").state_dict(), "same size"),
        (NetworkLearner(2, PTD(), 0.1, 3, view="forward").state_dict(), "same way"),
        (before | {"out": np.full(3, np.nan)}, r"out\[0\] is nan"),
        (before | {"discount_t": 2.0}, "discount_t is 2"),
        (before | {"follow_on": -1.0}, "follow_on is -1"),
    ]
    for state, match in bad:
        with pytest.raises(InputError, match=match):
            learner.load_state_dict(state)
        assert same(learner.state_dict(), before)


def test_the_reference_of_a_stream_is_that_of_its_episodes() -> None:
    """Pieces that cut episodes are learned by the reference itself, one step at a time."""
    experience, preference = CASES["soft log"]
    steps = steps_of(experience, RULES["PTD"], preference)
    for view in ("backward", "held"):
        learner = NetworkLearner(7, RULES["PTD"], 0.01, 5, view=view, seed=4)
        for first in range(0, len(experience), 4):
            learner.learn(experience[first : first + 4], preference)
        expected = learned_by_reference(Network(5, view), steps, 0.01, seed=4)
        assert distance(learner.parameters, expected) < 1e-12
