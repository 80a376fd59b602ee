"""Custom learners in a study see plain arrays, and score as others do."""

from typing import Any

import numpy as np
import pytest
import torch

from preftd import InputError, Linear, tasks
from preftd._src.arrays import Dense
from preftd._src.learners.linear import reference
from preftd.learners import Custom, Episode, LeastSquares, Network, Steps, as_spec
from preftd.preferences import Observability
from preftd.rules import PTD, stream_coefficients

GRID = tasks.make("cross_grid", size=4)
EPISODES = GRID.sampler(0).episodes(4)
STEPS = Steps.of(EPISODES, stream_coefficients(PTD(), Observability(1.0, 0.2), EPISODES))


class Mine:
    """The paper's algorithm, by its reference."""

    def __init__(self, size: int, step_size: float, seed: int) -> None:
        self.w, self.step_size, self.seed = np.zeros(size), step_size, seed

    def learn(self, episode: Episode) -> None:
        self.w = reference.backward(self.w, episode, self.step_size)[-1]

    def predict(self, features: Dense) -> Any:
        return features @ self.w


def test_it_learns_and_is_scored_as_the_library_does() -> None:
    sizes = [0.01, 0.003]
    expected = Linear("backward").start(16, sizes, 3).learn(STEPS, GRID.scored)
    batch = as_spec(Mine).start(16, sizes, 3)
    np.testing.assert_allclose(batch.learn(STEPS, GRID.scored), expected, rtol=1e-10)
    assert as_spec(Mine).label == "Mine"
    assert as_spec(Mine).takes_step_size


def test_episodes_are_plain_arrays_of_their_own() -> None:
    seen = []

    class Greedy(Mine):
        def learn(self, episode: Episode) -> None:
            seen.append(Episode(*(np.array(part) for part in episode)))
            for part in episode:
                part[:] = np.nan  # disturbs no other

    batch = as_spec(Greedy).start(16, [0.1, 0.2], 0)
    kept = [array.copy() for array in STEPS]
    errors = batch.learn(STEPS, GRID.scored)
    np.testing.assert_array_equal(errors, np.full((4, 2), (GRID.scored.values**2).mean()))
    for before, array in zip(kept, STEPS, strict=True):
        np.testing.assert_array_equal(array, before)
    assert len(seen) == 8
    whole = Episode(*(np.concatenate(parts) for parts in zip(*seen[::2], strict=True)))
    np.testing.assert_array_equal(whole.features, EPISODES.features())
    np.testing.assert_array_equal(whole.next_features, EPISODES.next_features())
    for name in ("reward", "discount_t", "discount_tp1", "beta", "decay", "gain"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(STEPS, name))
    for one, other in zip(seen[::2], seen[1::2], strict=True):
        assert one.discount_t[0] == 0
        assert all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


def test_predictions_that_are_not_finite_are_an_infinite_error() -> None:
    class Wild(Mine):
        def predict(self, features: Dense) -> Any:
            wild = np.full(len(features), [np.nan, 1e300][self.step_size == 1])
            return np.ma.array(wild, mask=True) if self.step_size == 3 else wild

    assert (as_spec(Wild).start(16, [1, 2, 3], 0).learn(STEPS, GRID.scored) == np.inf).all()


def test_a_word_does_not_say_whether_there_is_a_step_size() -> None:
    class Unsure(Mine):
        takes_step_size = "no"

    with pytest.raises(InputError, match=r"^takes_step_size is 'no': give True or False\.$"):
        as_spec(Unsure)


@pytest.mark.parametrize(
    ("found", "match"),
    [
        (lambda f: np.zeros(len(f) + 1), r"shape \(4,\) for 3 rows of features"),
        (lambda f: np.zeros((len(f), 1)), r"shape \(3, 1\) for 3 rows of features"),
        (lambda f: ["a"] * len(f), "not an array of real numbers"),
        (lambda f: np.zeros(len(f), dtype=complex), "not an array of real numbers"),
        (lambda _: None, "predict returned None, not an array"),
        (lambda f: torch.zeros(len(f), requires_grad=True), r"values\.detach\(\)\.numpy\(\)"),
        (lambda _: [[1.0], [1.0, 2.0]], "not an array of real numbers"),
    ],
)
def test_predictions_that_are_no_numbers_are_refused(found: Any, match: str) -> None:
    class Odd(Mine):
        def predict(self, features: Dense) -> Any:
            return found(features)

    with pytest.raises(InputError, match=match) as error:
        as_spec(Odd).start(16, [1], 0).learn(STEPS, GRID.scored)
    assert ". " not in str(error.value)


def test_predictions_of_torch_will_do() -> None:
    class Torch(Mine):
        def predict(self, features: Dense) -> Any:
            return torch.as_tensor(features) @ torch.as_tensor(self.w)

    expected = as_spec(Mine).start(16, [0.01], 0).learn(STEPS, GRID.scored)
    found = as_spec(Torch).start(16, [0.01], 0).learn(STEPS, GRID.scored)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_specifications_stay_and_factories_become_one() -> None:
    for spec in (Linear(), Network(3), LeastSquares(), Custom(Mine, "mine")):
        assert as_spec(spec) is spec

    def make(size: int, step_size: float, seed: int) -> Mine:
        return Mine(size, step_size, seed)

    assert as_spec(make) == Custom(make, "make")
    make.label = "by hand"  # type: ignore[attr-defined]
    assert as_spec(make).label == "by hand"


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (Linear, r"give Linear\(...\)"),
        (3, "learner is 3"),
        (type("Half", (), {"start": None})(), "has no label"),
    ],
)
def test_what_is_no_learner_is_refused(given: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        as_spec(given)


def test_a_factory_that_gives_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="without learn"):
        as_spec(lambda size, *_: size).start(16, [0.1], 0)


def test_steps_must_be_whole_episodes() -> None:
    with pytest.raises(InputError, match="not over"):
        as_spec(Mine).start(16, [0.1], 0).learn(STEPS.part(slice(2)), GRID.scored)
