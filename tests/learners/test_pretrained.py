"""Linear learning on trained hidden layers, against the same done by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from preftd import PTD, TD, InputError, Linear, Network, evaluate, tasks
from preftd._src.learners.linear.batch import LinearBatch
from preftd._src.learners.pretrained import Pretrained, Training
from preftd._src.learners.steps import Steps
from preftd._src.tasks.grids import open_grid
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience, Indices
from preftd.preferences import Constant, Observability
from preftd.rules import stream_coefficients

NETWORK = Network(5, "forward", "adam", "xavier")
SIZES = [0.05, 0.01]


def training(step_size: float = 0.01) -> Training:
    return Training(open_grid(4), NETWORK, TD(), Constant(0.0), step_size, episodes=6)


@pytest.mark.parametrize("view", ["backward", "forward", "true_online", "held"])
def test_it_is_linear_learning_on_what_the_layer_gives(view: str) -> None:
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
            code_t=(-1 - rows).astype(np.int32),
            code_tp1=(-1 - steps - rows).astype(np.int32),
        )
    )
    scored = Scored(
        (-1 - np.arange(grid.scored.codes.size)).astype(np.int32),
        features(grid.scored.codes, grid.scored.dense),
        grid.scored.values,
    )
    signals = stream_coefficients(PTD(), Observability(), taken)
    expected = LinearBatch(Linear(view), 5, SIZES).learn(Steps.of(by_hand, signals), scored)
    learner = Pretrained(training(), Linear(view)).start(16, SIZES, 3)
    found = learner.learn(Steps.of(taken, signals), grid.scored)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_episodes_one_by_one_teach_the_same_to_the_bit() -> None:
    """What the layer makes of one take is not mistaken for what it makes of the next."""
    grid = tasks.make("cross_grid", size=4)
    learner, sampler = Pretrained(training(), Linear("backward")), grid.sampler(3)
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
    hidden, hidden_bias, out, bias = (
        Network(400, "backward", init="xavier").start(200, [1], 0).parameters(0)
    )
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
    with pytest.raises(InputError, match="36 features, the training task 16"):
        Pretrained(training()).start(36, SIZES, 0)
    with pytest.raises(InputError, match="did you mean 'xavier'"):
        Network(2, init="xavie")


def test_nothing_is_hidden_on_an_open_grid() -> None:
    grid = open_grid(4)
    assert grid.observable.all()
    assert grid.features.size == 16
    assert np.array_equal(grid.values, tasks.make("cross_grid", size=4).values)


def test_a_learner_on_a_stream_and_step_by_step_is_that_of_a_study() -> None:
    grid = tasks.make("cross_grid", size=4)
    for view in ("backward", "true_online", "forward"):
        spec, taken = Pretrained(training(), Linear(view)), grid.sampler(3).episodes(5)
        batch = spec.start(16, [0.01], 3)
        batch.learn(
            Steps.of(taken, stream_coefficients(PTD(), Observability(), taken)), grid.scored
        )
        stream = spec.learner(16, PTD(), 0.01, seed=3)
        assert stream.learn(taken, Observability()) is stream
        np.testing.assert_allclose(stream.linear.weights, batch.linear.weights[:, 0], atol=1e-10)
        assert np.abs(stream.linear.weights).max() > 0.01
        shown = grid.features.columns(slice(None))
        hidden, hidden_bias, _, _ = training().net(3).parameters(0)
        outputs = np.maximum(shown @ hidden + hidden_bias, 0)
        np.testing.assert_allclose(
            stream.predict(shown), outputs @ stream.linear.weights, atol=1e-12
        )
        other = spec.learner(16, PTD(), 0.01, seed=3)
        other.load_state_dict(stream.state_dict())
        np.testing.assert_array_equal(other.predict(shown), stream.predict(shown))
        if view == "forward":
            continue
        stepwise, x, y = spec.learner(16, PTD(), 0.01, seed=3), taken.features(), None
        for t in range(len(taken)):
            y = None if taken.discount_tp1[t] == 0 else taken.next_features()[t]
            assert taken.observable is not None
            beta = float(taken.observable[t])
            stepwise.update(x[t], taken.reward[t], y, discount=taken.discount_tp1[t], beta=beta)
        np.testing.assert_allclose(stepwise.linear.weights, stream.linear.weights, atol=1e-10)
        assert stepwise.predict(Indices([2])) == pytest.approx(stepwise.predict(np.eye(16))[2])  # type: ignore[index]


def test_a_preference_sees_observations_not_the_hidden_layer() -> None:
    taken = tasks.make("cross_grid", size=4).sampler(3).episodes(2)
    seen = []

    def look(x: np.ndarray) -> float:
        seen.append(x.copy())
        return 0.5

    Pretrained(training()).learner(16, PTD(), 0.01).learn(taken, look)
    np.testing.assert_array_equal(seen, taken.features())


def test_inputs_with_several_ones_are_refused() -> None:
    taken = tasks.make("cross_grid", size=4).sampler(3).episodes(1)
    tiled = replace(taken, active=np.zeros((16, 2), dtype=np.int32))
    with pytest.raises(InputError, match="ones at several indices"):
        Pretrained(training()).learner(16, PTD(), 0.01).learn(tiled, 0.5)
    with pytest.raises(InputError, match="36 features, the training task 16"):
        Pretrained(training()).learner(36, PTD(), 0.01)
