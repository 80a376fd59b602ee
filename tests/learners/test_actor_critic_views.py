"""The critic of an actor-critic is a linear learner, in every view; hidden steps are ignored."""

from typing import Any

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Rule
from preftd._src.arrays import Dense, Vector
from preftd._src.learners.actor_critic.learner import ActorCriticLearner
from preftd._src.learners.actor_critic.options import VIEWS, Actor, Critic
from preftd._src.learners.step_size import StepSizePair
from preftd._src.learners.transition import DivergedError
from preftd.experience import Fourier, Indices, TileCoding
from preftd.learners import LinearLearner

LOW, HIGH = [-1.0, -1.0], [1.0, 1.0]
FEATURES: dict[str, Any] = {
    "raw": None,
    "tiles": TileCoding(LOW, HIGH, [3, 3], 2),
    "cosines": Fourier(LOW, HIGH, 2),
}
RULES: dict[str, Rule] = {"TD": TD(), "PTD": PTD(), "ETD": ETD(interest=0.5)}
SIZES = StepSizePair(actor=0.01, critic=0.05)


class Steps:
    """Five episodes of random steps, every other one truncated."""

    def __init__(self, seed: int, *, hidden: float = 0.4) -> None:
        rng = np.random.default_rng(seed)
        self.lengths = [1, 7, 12, 5, 9]
        self.x: list[Dense] = [rng.uniform(-1, 1, (n + 1, 2)) for n in self.lengths]
        self.beta: list[Vector] = [
            np.where(rng.random(n) < hidden, 0.0, rng.choice([1.0, 0.3], n)) for n in self.lengths
        ]
        self.reward: list[Vector] = [rng.normal(size=n) for n in self.lengths]
        self.action = [rng.integers(3, size=n) for n in self.lengths]

    def feed(self, learner: Any, encode: Any = None) -> None:
        """Let a learner learn from all of them; `encode` is that of a learner without actions."""
        for e, length in enumerate(self.lengths):
            for t in range(length):
                last, cut = t == length - 1, bool(e % 2)
                given = {
                    "discount": 0.0 if last and not cut else 0.9,
                    "beta": float(self.beta[e][t]),
                    "truncated": last and cut,
                }
                x, y, reward = self.x[e][t], self.x[e][t + 1], float(self.reward[e][t])
                if encode is None:
                    learner.update(x, int(self.action[e][t]), reward, y, **given)
                else:
                    learner.update(encode(x), reward, encode(y), **given)


def _learner(view: str, features: str, rule: str, **critic: Any) -> ActorCriticLearner:
    parts = Critic(view=view, features=FEATURES[features], **critic)
    return ActorCriticLearner(2, 3, RULES[rule], SIZES, critic=parts, seed=3)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("rule", RULES)
def test_the_critic_is_a_linear_learner(view: str, features: str, rule: str) -> None:
    encode = FEATURES[features] or np.asarray
    learner, steps = _learner(view, features, rule), Steps(0)
    linear = LinearLearner(learner.weights.size, RULES[rule], SIZES.critic, view=view)
    steps.feed(learner)
    steps.feed(linear, encode)
    assert np.abs(linear.weights).max() > 0.05
    np.testing.assert_allclose(learner.weights, linear.weights, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("features", ["raw", "tiles"])
def test_a_bias_is_one_more_feature(features: str) -> None:
    learner, steps = _learner("held", features, "PTD", bias=True), Steps(1)
    linear = LinearLearner(learner.weights.size, PTD(), SIZES.critic, view="held")

    def encode(x: Vector) -> Any:
        own = FEATURES[features]
        if own is None:
            return np.append(x, 1.0)
        return Indices([*own(x).array, own.size])

    steps.feed(learner)
    steps.feed(linear, encode)
    np.testing.assert_allclose(learner.weights, linear.weights, rtol=1e-12, atol=1e-14)


def _hidden_changed(steps: Steps) -> Steps:
    """Other observations where β = 0, with the same action and reward."""
    rng, other = np.random.default_rng(99), Steps(0)
    other.__dict__.update(steps.__dict__)
    other.x = [x.copy() for x in steps.x]
    for x, beta in zip(other.x, steps.beta, strict=True):
        hidden = np.flatnonzero(beta == 0)
        x[hidden] = rng.uniform(-1, 1, (hidden.size, 2))
    return other


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("rule", ["PTD", "TD"])
@pytest.mark.parametrize("view", VIEWS)
def test_hidden_observations_have_no_part_in_a_held_critic_with_ptd(
    view: str, rule: str, features: str
) -> None:
    steps = Steps(4)
    learners = [_learner(view, features, rule) for _ in range(2)]
    steps.feed(learners[0])
    _hidden_changed(steps).feed(learners[1])
    (critic, actor), (other_critic, other_actor) = (
        (learner.weights, learner.parameters.flat) for learner in learners
    )
    if view == "held" and rule == "PTD":
        assert (critic == other_critic).all()
        # In returns, hidden values cancel to rounding.
        np.testing.assert_allclose(actor, other_actor, rtol=1e-10, atol=1e-12)
    else:
        assert np.abs(critic - other_critic).max() > 1e-9
        assert np.abs(actor - other_actor).max() > 1e-9


def test_an_actor_gain_of_one_lets_hidden_observations_in() -> None:
    steps = Steps(4)
    critic = Critic(view="held")
    learners = [
        ActorCriticLearner(2, 3, PTD(), SIZES, actor=Actor(gain="one"), critic=critic, seed=3)
        for _ in range(2)
    ]
    steps.feed(learners[0])
    _hidden_changed(steps).feed(learners[1])
    assert (learners[0].weights == learners[1].weights).all()
    assert np.abs(learners[0].parameters.flat - learners[1].parameters.flat).max() > 1e-9


def test_a_held_update_that_is_not_finite_changes_nothing() -> None:
    learner = ActorCriticLearner(
        2, 3, PTD(), StepSizePair(actor=0.01, critic=1e200), critic=Critic(view="held")
    )
    learner.update([1.0, 0.0], 0, 1.0, [1.0, 1.0], discount=0.9, beta=1.0)
    learner.update([1.0, 1.0], 0, 1e150, [1.0, 1.0], discount=0.9, beta=1.0)
    before = learner.state_dict()
    with pytest.raises(DivergedError):
        learner.update([1.0, 1.0], 0, 1.0, [1.0, 1.0], discount=0.9, beta=1.0)
    after = learner.state_dict()
    assert all((after[name] == array).all() for name, array in before.items())
