"""True online learning is, at every step, a pass over all steps so far of the episode.

For a horizon h, from the weights w_0 at the episode's start, for k = 0 … h:

    w ← w + α_k gain_k (G_k^h − w·x_k) x_k
    G_k^h = w_{k−1}·x_k + Σ_{j=k}^{h} (Π_{i=k+1}^{j} decay_i) δ'_j
    δ'_j  = r_{j+1} + γ_{j+1} w_j·x_{j+1} − w_{j−1}·x_j

with w_j what the pass with horizon j − 1 gave, and w_{−1} = w_0.
"""

from typing import Any

import numpy as np
import pytest

from learners.linear_cases import SIZE, Case, case, feed
from preftd import PTD
from preftd._src.arrays import Dense, Vector
from preftd.learners import Decreasing, LinearLearner
from preftd.rules import RULES

rules = pytest.mark.parametrize("name", sorted(RULES))


def episodes_of(given: Case) -> list[range]:
    """The steps of each episode."""
    starts = np.flatnonzero(given.experience.is_first)
    return [range(a, b) for a, b in zip(starts, [*starts[1:], len(given.beta)], strict=True)]


def forward_view(given: Case, decay: Vector, gain: Vector, alpha: Dense) -> Dense:
    """The weights after each step; `alpha` has a row for each step."""
    e, x, y = given.experience, given.experience.features(), given.experience.next_features()
    alphas = np.broadcast_to(alpha, x.shape)
    out, start = np.empty(x.shape), np.zeros(e.size)
    for episode in episodes_of(given):
        online = [start]  # online[j]: before the j-th update of the episode
        for h in episode:
            w, first = start, episode[0]
            deltas = {}
            for j in range(first, h + 1):
                now, before = online[j - first], online[max(j - first - 1, 0)]
                deltas[j] = e.reward[j] + e.discount_tp1[j] * (now @ y[j]) - before @ x[j]
            for k in range(first, h + 1):
                target = online[max(k - first - 1, 0)] @ x[k]
                for j in range(k, h + 1):
                    target += np.prod(decay[k + 1 : j + 1]) * deltas[j]
                w = w + alphas[k] * gain[k] * (target - w @ x[k]) * x[k]
            online.append(w)
            out[h] = w
        start = online[-1]
    return out


@rules
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("kind", ["number", "schedule", "per feature"])
def test_each_step_equals_the_interim_forward_view(name: str, seed: int, kind: str) -> None:
    given, rule = case(seed, steps=50), RULES[name](1.0)
    decay, gain = rule.coefficients(discount_t=given.experience.discount_t, **given.signals)
    kinds: dict[str, tuple[Any, Dense]] = {
        "number": (0.1, np.full((50, 1), 0.1)),
        "schedule": (Decreasing(0.2, delay=9), 0.2 / (1 + np.arange(50)[:, None] / 9)),
        "per feature": (
            np.linspace(0.02, 0.2, SIZE),
            np.tile(np.linspace(0.02, 0.2, SIZE), (50, 1)),
        ),
    }
    step_size, alpha = kinds[kind]
    expected = forward_view(given, decay, gain, alpha)
    learner = LinearLearner(SIZE, rule, step_size, view="true_online")
    for t in range(50):
        feed(learner, given.part(t, t + 1))
        np.testing.assert_allclose(learner.weights, expected[t], rtol=0, atol=1e-12)
    # The accumulating update, or one that misses where episodes begin, would not.
    plain = LinearLearner(SIZE, rule, step_size, view="backward").learn(
        given.experience, **given.signals
    )
    assert np.abs(plain.weights - expected[-1]).max() > 1e-3
    decay[given.experience.is_first] = 0.5
    missed = forward_view(given, np.roll(decay, 1), gain, alpha)
    assert np.abs(missed[-1] - expected[-1]).max() > 1e-4


@pytest.mark.parametrize("seed", range(3))
def test_on_policy_its_targets_are_the_beta_returns_of_the_paper(seed: int) -> None:
    """G_k = r_{k+1} + γ_{k+1} (β_{k+1} v(x_{k+1}) + (1 − β_{k+1}) G_{k+1}), v by online weights."""
    given, alpha = case(seed, steps=40), 0.1
    e, x, y = given.experience, given.experience.features(), given.experience.next_features()
    learner = LinearLearner(SIZE, PTD(), alpha, view="true_online")
    start = np.zeros(SIZE)
    for episode in episodes_of(given):
        online, first = [start], episode[0]
        for h in episode:
            target = e.reward[h] + e.discount_tp1[h] * (online[-1] @ y[h])
            targets = {h: target}
            for k in range(h - 1, first - 1, -1):
                value, beta = online[k - first] @ x[k + 1], given.beta[k + 1]
                target = e.reward[k] + e.discount_tp1[k] * (beta * value + (1 - beta) * target)
                targets[k] = target
            w = start
            for k in range(first, h + 1):
                w = w + alpha * given.beta[k] * (targets[k] - w @ x[k]) * x[k]
            online.append(w)
            feed(learner, given.part(h, h + 1), rho=1.0)
            np.testing.assert_allclose(learner.weights, w, rtol=0, atol=1e-12)
        start = online[-1]


def test_what_hidden_states_show_does_not_leak_in() -> None:
    """Between two states with β = 1, features with β = 0 may be anything, if nothing is paid."""
    rng = np.random.default_rng(0)

    def weights(view: str, noise: float) -> Vector:
        learner = LinearLearner(4, PTD(), 0.1, view=view)
        learner.learn(case(1, size=4).experience, beta=1.0)
        x = np.concatenate([[[1, 0, 0, 0]], noise * rng.normal(size=(6, 4)), [[0, 1, 0, 0]]])
        for t, beta in enumerate([1, 0, 0, 0, 0, 0, 0, 1]):
            y, out = (x[t + 1], 1.0) if t < 7 else (x[t], 0.0)
            learner.update(x[t], float(t == 7), y, discount=out, beta=beta)
        return learner.weights

    np.testing.assert_allclose(
        weights("true_online", 1.0), weights("true_online", 0.0), rtol=0, atol=1e-12
    )
    assert np.abs(weights("backward", 1.0) - weights("backward", 0.0)).max() > 1e-3


def test_the_error_of_a_first_step_does_not_know_the_episode_before() -> None:
    learner = LinearLearner(1, PTD(), 0.5, view="true_online")
    learner.update([1.0], 1.0, [0.5], discount=0.9, beta=1.0)
    learner.update([0.5], 1.0, [2.0], discount=0.9, beta=1.0, truncated=True)
    value = learner.predict([1.0])
    assert learner.update([1.0], 2.0, None, discount=0.0, beta=1.0) == 2.0 - value
