"""Gradients and whole updates equal torch's, and the readable reference, for every option."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from learners import actor_critic_reference as reference
from learners.actor_critic_cases import ACTIONS, RULES, SIZE, Log, logs
from pairs import in_pairs
from preftd import Actor, ActorCriticLearner, Critic, Rule, StepSizePair
from preftd._src.arrays import Dense, Vector

PAIR = StepSizePair(actor=0.05, critic=0.02)
ACTORS = [
    Actor(5, activation, bias, optimiser, reduction, gain)
    for activation, bias, optimiser, reduction, gain in [
        *product(("tanh", "relu"), (False, True), ("adam", "sgd"), ("sum",), ("rule",)),
        ("tanh", True, "sgd", "mean", "rule"),
        ("relu", True, "adam", "mean", "rule"),
        ("tanh", False, "adam", "sum", "one"),
    ]
]


def _name(actor: Actor) -> str:
    return "-".join(str(part) for part in vars(actor).values())


class TorchActorCritic:
    """The same algorithm by automatic differentiation."""

    def __init__(self, learner: ActorCriticLearner) -> None:
        self.learner, options = learner, learner.actor
        units: Any = {"tanh": torch.nn.Tanh, "relu": torch.nn.ReLU}[options.activation]
        layers: list[torch.nn.Module] = [
            torch.nn.Linear(SIZE, options.units, bias=options.bias),
            units(),
            torch.nn.Linear(options.units, ACTIONS, bias=options.bias),
        ]
        self.network = torch.nn.Sequential(*layers).double()
        self._load(0, learner.parameters.hidden, learner.parameters.hidden_bias)
        self._load(2, learner.parameters.out, learner.parameters.out_bias)
        kind: Any = {"adam": torch.optim.Adam, "sgd": torch.optim.SGD}[options.optimiser]
        self.optimiser = kind(self.network.parameters(), lr=PAIR.actor)
        self.critic = torch.zeros(SIZE, dtype=torch.float64, requires_grad=True)

    def _load(self, number: int, weights: Dense, bias: Vector) -> None:
        layer: Any = self.network[number]
        layer.weight.data = torch.from_numpy(np.array(weights.T))
        if layer.bias is not None:
            layer.bias.data = torch.from_numpy(np.array(bias))

    def learn(self, log: Log) -> None:
        """One episode: the critic step by step, then the actor."""
        episode = log.coefficients(self.learner.rule)
        x = torch.from_numpy(log.x)
        trace = torch.zeros(SIZE, dtype=torch.float64)
        for t in range(len(log.action)):
            value = x[t] @ self.critic
            (gradient,) = torch.autograd.grad(value, self.critic)
            with torch.no_grad():
                ahead = episode.discount_tp1[t] * (x[t + 1] @ self.critic)
                delta = episode.reward[t] + ahead - value
                trace = episode.decay[t] * trace + episode.gain[t] * gradient
                self.critic += PAIR.critic * delta * trace
        self._learn_actor(log, x)

    def _learn_actor(self, log: Log, x: torch.Tensor) -> None:
        with torch.no_grad():
            values = x @ self.critic
        target, steps = 0.0, len(log.action)
        targets = np.empty(steps)
        for t in reversed(range(steps)):
            # G_t = r + γ (β v + (1 − β) G), with the β of the state reached; v alone at the end.
            share = 1.0 if t + 1 == steps else log.beta[t + 1]
            value_next = float(values[t + 1])
            mixed = share * value_next + (1 - share) * target
            target = targets[t] = log.reward[t] + log.discount_tp1[t] * mixed
        advantage = torch.from_numpy(targets) - values[:-1]
        if self.learner.actor.gain == "rule":
            advantage *= torch.from_numpy(np.array(log.coefficients(self.learner.rule).gain))
        chosen = torch.log_softmax(self.network(x[:-1]), dim=1)[range(steps), log.action]
        loss = -(advantage * chosen).sum()
        if self.learner.actor.reduction == "mean":
            loss = loss / steps
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()

    def flat(self) -> Vector:
        """The actor's weights in the learner's order."""
        layers: list[Any] = list(self.network)
        hidden, _, out = layers
        parts = [hidden.weight.T.reshape(-1), hidden.bias, out.weight.T.reshape(-1), out.bias]
        sizes = [SIZE * hidden.out_features, hidden.out_features, hidden.out_features * ACTIONS]
        found = [
            np.zeros(size) if part is None else part.detach().numpy()
            for part, size in zip(parts, [*sizes, ACTIONS], strict=True)
        ]
        return np.concatenate(found)


@pytest.mark.parametrize("actor", ACTORS, ids=_name)
@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_whole_updates_equal_autograd(rule: Rule, actor: Actor) -> None:
    critic = Critic("backward")
    learner = ActorCriticLearner(SIZE, ACTIONS, rule, PAIR, actor=actor, critic=critic, seed=3)
    other = TorchActorCritic(learner)
    started = learner.parameters.flat
    for log in logs(seed=1):
        log.give(learner)
        other.learn(log)
        wanted = other.critic.detach().numpy()
        np.testing.assert_allclose(learner.weights, wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(learner.parameters.flat, other.flat(), rtol=1e-12, atol=1e-12)
    assert np.abs(learner.parameters.flat - started).max() > 0.01


def test_probabilities_equal_torch() -> None:
    learner = ActorCriticLearner(SIZE, ACTIONS, RULES["TD"], PAIR, actor=Actor(6, bias=True))
    x = np.random.default_rng(0).normal(size=(20, SIZE))
    with torch.no_grad():
        wanted = torch.softmax(TorchActorCritic(learner).network(torch.from_numpy(x)), dim=1)
    np.testing.assert_allclose(learner.probabilities(x), wanted.numpy(), rtol=1e-12)
    np.testing.assert_allclose(learner.probabilities(x[0]), wanted.numpy()[0], rtol=1e-12)


@in_pairs(view=["backward", "true_online", "held"], actor=ACTORS[::3], rule=RULES.values())
def test_the_learner_equals_the_reference(rule: Rule, actor: Actor, view: str) -> None:
    critic = Critic(view)
    learner = ActorCriticLearner(SIZE, ACTIONS, rule, PAIR, actor=actor, critic=critic)
    nothing = np.zeros(learner.parameters.flat.size)
    moments = reference.Moments(nothing, nothing, 0)
    learned = reference.Learned(learner.weights, learner.parameters, moments)
    for log in logs(seed=2):
        log.give(learner)
        episode = log.coefficients(rule)
        options = (actor, critic, PAIR)
        learned = reference.learn_episode(learned, episode, log.x[:-1], log.action, options)
        np.testing.assert_allclose(learner.weights, learned.critic, rtol=1e-12, atol=1e-13)
        flat = learner.parameters.flat
        np.testing.assert_allclose(flat, learned.actor.flat, rtol=1e-11, atol=1e-12)
