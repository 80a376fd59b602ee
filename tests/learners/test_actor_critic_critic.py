"""The critic: features of every kind, and the same weights as a linear learner."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learners import actor_critic_reference as reference
from learners.actor_critic_cases import ACTIONS, RULES, SIZE, logs
from preftd import ActorCriticLearner, Critic, LinearLearner, Rule, StepSizePair
from preftd._src.learners.actor_critic.critic import Encoding
from preftd.experience import Encoder, Fourier, Indices, Polynomial, TileCoding

PAIR = StepSizePair(actor=0.05, critic=0.02)
LOW, HIGH = [-2.0] * SIZE, [2.0] * SIZE


class _Hashed:
    """Two tilings whose tiles may be hashed to the same index: an encoder of the user."""

    size = 7

    def __call__(self, observation: Any) -> Indices:
        return Indices((np.floor(np.asarray(observation)[:2] * 2).astype(int) * [3, 5]) % 7)


ENCODERS: dict[str, Callable[[], Encoder | None]] = {
    "raw": lambda: None,
    "tiles": lambda: TileCoding(LOW, HIGH, tiles=[3, 4, 2], tilings=4),
    "cosines": lambda: Fourier(LOW, HIGH, order=2),
    "polynomial": lambda: Polynomial(SIZE, degree=2),
    "hashed": _Hashed,
}


def _encoded(encoder: Encoder | None, bias: bool, x: np.ndarray) -> np.ndarray:
    """Features as vectors, computed in the plain way."""
    found = np.zeros((len(x), SIZE if encoder is None else encoder.size))
    for row, observation in zip(found, x, strict=True):
        features = observation if encoder is None else encoder(observation)
        if isinstance(features, Indices):
            np.add.at(row, features.array, 1.0)
        else:
            row[:] = features
    return np.hstack([found, np.ones((len(x), 1))]) if bias else found


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kind", ENCODERS)
@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
@pytest.mark.parametrize("rule", [RULES["PTD"], RULES["ETD fixed"]], ids=["PTD", "ETD"])
def test_the_critic_learns_from_features_of_every_kind(
    rule: Rule, view: str, kind: str, bias: bool
) -> None:
    encoder = ENCODERS[kind]()
    critic = Critic(view, encoder, bias)
    learner = ActorCriticLearner(SIZE, ACTIONS, rule, PAIR, critic=critic)
    weights = learner.weights
    for log in logs(seed=4):
        deltas = log.give(learner)
        features = _encoded(encoder, bias, log.x)
        episode = log.coefficients(rule, features)
        weights = reference.learn_critic(weights, episode, critic, PAIR.critic)
        np.testing.assert_allclose(learner.weights, weights, rtol=1e-11, atol=1e-13)
        assert np.isfinite(deltas).all()
        np.testing.assert_allclose(learner.predict(log.x), features @ weights, atol=1e-12)


@pytest.mark.parametrize("view", ["backward", "true_online"])
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_the_critic_is_a_linear_learner(rule: Rule, view: str) -> None:
    learner = ActorCriticLearner(SIZE, ACTIONS, rule, PAIR, critic=Critic(view))
    linear = LinearLearner(SIZE, rule, PAIR.critic, view=view)
    for log in logs(seed=5):
        for t in range(len(log.action)):
            delta = linear.update(
                log.x[t],
                log.reward[t],
                log.x[t + 1],
                discount=log.discount_tp1[t],
                beta=log.beta[t],
                truncated=log.cut and t == len(log.action) - 1,
            )
            assert log.give_step(learner, t) == pytest.approx(delta, rel=1e-12, abs=1e-13)
            np.testing.assert_allclose(learner.weights, linear.weights, rtol=1e-12, atol=1e-13)


def test_what_is_shown_where_beta_and_gain_are_0_cannot_change_a_held_critic() -> None:
    found = []
    for shown in (0.0, 9.0):
        learner = ActorCriticLearner(SIZE, ACTIONS, RULES["PTD"], PAIR, critic=Critic("held"))
        for log in logs(seed=6):
            hidden = log.x.copy()
            hidden[:-1][log.beta == 0] += shown
            log._replace(x=hidden).give(learner)
        found.append(learner.weights)
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[0]).max() > 0


def test_a_fourier_basis_has_all_products_of_waves() -> None:
    basis = Fourier(low=[0, -1], high=[2, 1], order=2)
    x, y = 0.7, 0.4
    scaled = (x / 2, (y + 1) / 2)
    wanted = [np.cos(np.pi * (a * scaled[0] + b * scaled[1])) for a in range(3) for b in range(3)]
    np.testing.assert_allclose(basis([x, y]), wanted, rtol=1e-14)
    assert basis.size == 9
    np.testing.assert_array_equal(basis([5, -5]), basis([2, -1]))


@pytest.mark.parametrize("kind", ["tiles", "cosines", "raw"])
def test_encoders_of_the_library_are_compiled(kind: str) -> None:
    assert Encoding.of(ENCODERS[kind](), bias=False) is not None


def test_other_encoders_are_not_compiled() -> None:
    assert Encoding.of(_Hashed(), bias=False) is None
