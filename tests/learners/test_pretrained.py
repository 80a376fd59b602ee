"""Linear learning on trained hidden layers, against the same done by hand."""

from typing import Any

import numpy as np
import pytest
import torch

from preftd import PTD, TD, InputError, Linear, Network, evaluate, tasks
from preftd.experience import Experience
from preftd.learners.linear.batch import LinearBatch
from preftd.learners.pretrained import Pretrained, Training
from preftd.learners.steps import Steps
from preftd.preferences import Constant, Observability
from preftd.rules import stream_coefficients
from preftd.tasks.grids import open_grid
from preftd.tasks.scored import Scored

NETWORK = Network(5, "forward", "adam", "xavier")
SIZES = [0.05, 0.01]


def training(step_size: float = 0.01) -> Training:
    return Training(open_grid(4), NETWORK, TD(), Constant(0.0), step_size, episodes=6)


def test_it_is_linear_learning_on_what_the_layer_gives() -> None:
    """The features of every input are written out, and learned from as from any vectors."""
    grid = tasks.make("cross_grid", size=4)
    taken = grid.sampler(3).episodes(5)
    hidden, hidden_bias, _, _ = training().net(3).parameters(0)

    def features(codes: np.ndarray, dense: np.ndarray) -> np.ndarray:
        inputs = [np.eye(16)[code] if code >= 0 else dense[-1 - code] for code in codes]
        return np.maximum(np.array(inputs) @ hidden + hidden_bias, 0)

    at, following = (features(codes, taken.dense) for codes in (taken.code_t, taken.code_tp1))
    steps = len(taken)
    rows = np.arange(steps, dtype=np.int32)
    by_hand = Experience(
        **dict(
            vars(taken),
            size=5,
            dense=np.concatenate([at, following]),
            at=(-1 - rows).astype(np.int32),
            following=(-1 - steps - rows).astype(np.int32),
        )
    )
    scored = Scored(
        (-1 - np.arange(grid.scored.codes.size)).astype(np.int32),
        features(grid.scored.codes, grid.scored.dense),
        grid.scored.values,
    )
    signals = stream_coefficients(PTD(), Observability(), taken)
    expected = LinearBatch(Linear(), 5, SIZES).learn(Steps.of(by_hand, signals), scored)
    found = Pretrained(training()).start(16, SIZES, 3).learn(Steps.of(taken, signals), grid.scored)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_episodes_one_by_one_teach_the_same_to_the_bit() -> None:
    """What the layer makes of one take is not mistaken for what it makes of the next."""
    grid = tasks.make("cross_grid", size=4)
    learner, sampler = Pretrained(training()), grid.sampler(3)
    together = learner.start(16, SIZES, 3)
    taken = grid.sampler(3).episodes(4)
    errors = together.learn(
        Steps.of(taken, stream_coefficients(PTD(), Observability(), taken)), grid.scored
    )
    apart = learner.start(16, SIZES, 3)
    for expected in errors:
        one = sampler.episodes(1)
        found = apart.learn(
            Steps.of(one, stream_coefficients(PTD(), Observability(), one)), grid.scored
        )
        assert np.array_equal(found, expected[None])


def test_each_seed_has_its_own_network_in_all_learners() -> None:
    one, same, other = (training().net(seed).parameters(0) for seed in (1, 1, 2))
    assert np.array_equal(one.hidden, same.hidden)
    assert not np.array_equal(one.hidden, other.hidden)
    fresh = NETWORK.start(16, [0.01], 1).parameters(0)
    assert not np.array_equal(one.hidden, fresh.hidden), "it was trained"


def test_networks_are_trained_on_monte_carlo_returns() -> None:
    """As torch trains the same network on the mean squared error over an episode, with Adam."""
    grid = open_grid(4)
    begin = NETWORK.start(16, [0.01], 7).parameters(0)
    weights = [torch.tensor(np.array(w), requires_grad=True) for w in begin]
    adam = torch.optim.Adam(weights, lr=0.01)
    sampler = grid.sampler(7)
    for _ in range(6):
        episode = sampler.episodes(1)
        returns = 5 * 0.99 ** np.arange(len(episode) - 1, -1, -1.0)
        x = torch.tensor(np.eye(16)[episode.code_t])
        hidden, hidden_bias, out, bias = weights
        values = bias + torch.relu(x @ hidden + hidden_bias) @ out
        adam.zero_grad()
        loss: Any = ((values - torch.tensor(returns)) ** 2).mean()
        loss.backward()
        adam.step()
    trained = training().net(7).parameters(0)
    for ours, theirs in zip(trained, weights, strict=True):
        # The gradient of a square is twice ours, so Adam's 1e-8 weighs a little less.
        np.testing.assert_allclose(np.asarray(ours), theirs.detach().numpy(), atol=1e-7)


def test_xavier_begins_with_biases_of_1() -> None:
    hidden, hidden_bias, out, bias = Network(400, init="xavier").start(200, [1], 0).parameters(0)
    assert 0.099 < np.abs(hidden).max() <= 0.1  # √(6 / 600)
    assert 0.11 < np.abs(out).max() <= (6 / 401) ** 0.5
    assert (hidden_bias == 1).all()
    assert bias == 1


def test_it_takes_part_in_studies_in_both_forms() -> None:
    grid = tasks.make("random_grid", size=4)
    for linear in (Linear(), Linear("true_online")):
        learner = Pretrained(training(), linear)
        assert learner.label == linear.label
        found = evaluate(grid, PTD(), Observability(), SIZES, 10, 2, learner=learner)
        assert np.isfinite(found.errors).all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match="36 features, that of the training 16"):
        Pretrained(training()).start(36, SIZES, 0)
    with pytest.raises(InputError, match="did you mean 'xavier'"):
        Network(2, init="xavie")


def test_nothing_is_hidden_on_an_open_grid() -> None:
    grid = open_grid(4)
    assert grid.observable.all()
    assert grid.features.size == 16
    assert np.array_equal(grid.values, tasks.make("cross_grid", size=4).values)
