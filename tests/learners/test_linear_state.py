"""Save, load and continue; and what is refused leaves a linear learner as it was."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learners.linear_cases import SIZE, case, feed, same, with_indices
from pairs import in_pairs
from preftd import ETD, TD, InputError
from preftd.experience import Indices
from preftd.learners import Decreasing, LinearLearner
from preftd.rules import RULES

VIEWS = ["backward", "true_online", "held"]
kinds = pytest.mark.parametrize("few", [False, True], ids=["vectors", "indices"])


@in_pairs(name=sorted(RULES), view=VIEWS, few=[False, True], predictions=[None, 3])
def test_saved_and_loaded_it_goes_on_to_the_bit(
    name: str, view: str, few: bool, predictions: int | None, tmp_path: Path
) -> None:
    given = with_indices(1, 80, 12, 2)[0] if few else case(1)
    size = given.experience.size
    cut = int(np.flatnonzero(~given.experience.is_first & (np.arange(80) > 30))[0])

    def new() -> LinearLearner:
        return LinearLearner(
            size,
            RULES[name](1.0),
            Decreasing(0.1, delay=10),
            view=view,
            predictions=predictions,
        )

    fixed: dict[str, Any] = {} if predictions is None else {"beta": np.array([0.0, 0.3, 1.0])}
    going_on = new()
    feed(going_on, given.part(0, cut), **fixed)
    state: dict[str, Any] = going_on.state_dict()
    np.savez(tmp_path / "state.npz", **state)
    feed(going_on, given.part(cut, 80), **fixed)
    stopped = new()
    with np.load(tmp_path / "state.npz", allow_pickle=False) as saved:
        stopped.load_state_dict(saved)
        forgetful = {**saved, "trace": np.zeros_like(saved["trace"])}
    feed(stopped, given.part(cut, 80), **fixed)
    assert same(stopped.state_dict(), going_on.state_dict())
    np.testing.assert_array_equal(stopped.weights, going_on.weights)
    # A trace that was lost would have shown.
    other = new()
    other.load_state_dict(forgetful)
    feed(other, given.part(cut, 80), **fixed)
    assert not np.array_equal(other.weights, going_on.weights)


@kinds
@pytest.mark.parametrize("key", ["trace", "value", "follow_on", "discount_t", "steps", "weights"])
def test_everything_that_is_saved_matters(few: bool, key: str) -> None:
    given = with_indices(1, 60, 12, 2)[0] if few else case(1, steps=60)
    middle = int(np.flatnonzero(~given.experience.is_first & (np.arange(60) > 20))[0])

    def end(change: dict[str, Any]) -> Any:
        size, step_size = given.experience.size, Decreasing(0.1, 10)
        learner = LinearLearner(size, ETD(), step_size, view="true_online")
        feed(learner, given.part(0, middle), rho=1.0, interest=0.5)
        learner.load_state_dict(learner.state_dict() | change)
        feed(learner, given.part(middle, 60), rho=1.0, interest=0.5, beta=0.5)
        return learner.weights

    learner = LinearLearner(given.experience.size, ETD(), 0.1)
    nothing = learner.state_dict()[key]
    assert np.abs(end({}) - end({key: nothing})).max() > 1e-6


@kinds
def test_a_state_is_a_copy(few: bool) -> None:
    given = with_indices(1, 80, 12, 2)[0] if few else case(1)
    learner = LinearLearner(given.experience.size, ETD(), 0.1)
    feed(learner, given.part(0, 40))
    state, weights = learner.state_dict(), learner.weights
    kept = {key: np.array(value) for key, value in state.items()}
    feed(learner, given.part(40, 80))
    assert same(state, kept)
    learner.load_state_dict(state)
    for array in state.values():
        array[...] = 0
    assert same(learner.state_dict(), kept)
    learner.weights[...] = 9.0
    np.testing.assert_array_equal(learner.weights, weights)


def test_a_state_that_does_not_fit_is_refused_and_changes_nothing() -> None:
    learner = LinearLearner(12, TD(), 0.1)
    feed(learner, with_indices(1, 80, 12, 2)[0])
    before = learner.state_dict()
    changes: list[tuple[Any, str]] = [
        (LinearLearner(11, TD(), 0.1).state_dict(), "same size"),
        (LinearLearner(12, TD(), 0.1, predictions=2).state_dict(), "same size"),
        ({}, "give a result of state_dict"),
        ({key: before[key] for key in before if key != "trace"}, "'trace'"),
        ({key: before[key] for key in before if key != "era"}, "'era'"),
        (before | {"more": 1.0}, "'more'"),
        (before | {"trace": before["trace"][:-1]}, "shape"),
        (before | {"weights": np.full((12, 1), np.nan)}, r"weights\[0, 0\] is nan"),
        (before | {"discount_t": 1.5}, r"discount_t is 1.5"),
        (before | {"follow_on": -1.0}, "follow_on is -1"),
        (before | {"era": np.full(13, 10**6)}, "era"),
        (before | {"era": np.full(13, -1)}, "era"),
        (before | {"trace": "no"}, "real numbers"),
    ]
    for state, match in changes:
        with pytest.raises(InputError, match=match) as error:
            learner.load_state_dict(state)
        assert str(error.value).endswith(".")
        assert same(learner.state_dict(), before)


# --- what cannot be used ------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "features": np.array([1.0, 0.5]),
    "reward": 1.0,
    "next_features": np.array([0.0, 1.0]),
    "discount": 0.9,
    "beta": 0.5,
    "interest": 1.0,
    "rho": 1.0,
}
BAD: list[dict[str, Any]] = [
    *({key: value} for key in GOOD for value in (np.nan, np.inf, "no", None, [1.0, 2.0, 3.0])),
    *({key: np.array([np.nan, 1.0])} for key in ("features", "next_features")),
    *({key: np.array([-np.inf, 1.0])} for key in ("features", "next_features")),
    *({key: [[1.0, 2.0]]} for key in ("features", "next_features")),
    *({key: np.array([0])} for key in ("features", "next_features")),
    *({key: Indices([0])} for key in ("features", "next_features")),
    {"features": Indices([0]), "next_features": Indices([2])},
    {"features": Indices([-1]), "next_features": Indices([0])},
    {"features": Indices(np.array([], dtype=int)), "next_features": Indices([0])},
    *({"beta": value} for value in (-0.1, 1.1)),
    *({"discount": value} for value in (-0.1, 1.1)),
    {"rho": -1.0},
    {"interest": -1.0},
    {"reward": 1j},
]


@in_pairs(view=VIEWS, predictions=[None, 2], change=[c for c in BAD if c != {"interest": None}])
def test_a_bad_update_is_refused_in_one_sentence_and_changes_nothing(
    view: str, predictions: int | None, change: dict[str, Any]
) -> None:
    learner = LinearLearner(2, ETD(), 0.1, view=view, predictions=predictions)
    learner.update(**GOOD)
    before = learner.state_dict()
    if view == "held" and isinstance(change.get("next_features"), np.ndarray):
        change = change | {"truncated": True}  # else it may turn out to have no weight
    with pytest.raises(InputError) as error:
        learner.update(**GOOD | change)
    message = str(error.value)
    assert message.endswith(".")
    assert ". " not in message
    assert same(learner.state_dict(), before)
    learner.update(**GOOD)


@in_pairs(view=VIEWS, few=[False, True], predictions=[None, 2])
def test_a_bad_reward_changes_nothing_however_features_are_given(
    view: str, few: bool, predictions: int | None
) -> None:
    given = with_indices(1, 80, 12, 2)[0] if few else case(1)
    size = given.experience.size
    learner = LinearLearner(size, ETD(), 0.1, view=view, predictions=predictions)
    x: Any = Indices([1, 1]) if few else np.ones(SIZE)
    for part in (given.part(0, 0), given.part(0, 80)):  # also before all else
        feed(learner, part)
        before = learner.state_dict()
        with pytest.raises(InputError, match="reward"):
            learner.update(x, np.nan, x, discount=0.9, beta=1.0)
        assert same(learner.state_dict(), before)


@pytest.mark.parametrize("predictions", [None, 2])
def test_what_comes_after_the_end_is_not_looked_at(predictions: int | None) -> None:
    one, other = (LinearLearner(2, TD(), 0.1, predictions=predictions) for _ in range(2))
    for learner, after in ((one, [np.nan, np.inf]), (other, [1.0, 2.0])):
        for _ in range(3):
            learner.update([1.0, 2.0], 1.0, np.array(after), discount=0.0, beta=1.0)
    np.testing.assert_array_equal(one.weights, other.weights)
    assert one.weights.any()


@pytest.mark.filterwarnings("ignore::preftd.learners.GrowthWarning")
@pytest.mark.parametrize("view", VIEWS)
@kinds
def test_divergence_is_said_with_a_remedy(view: str, few: bool) -> None:
    given = with_indices(1, 2000, 4, 3)[0] if few else case(1, steps=2000)
    size = given.experience.size
    stepwise, stream = (LinearLearner(size, TD(), 1e4, view=view) for _ in range(2))
    feed(stream, given.part(0, 5))
    before = stream.state_dict()
    with np.errstate(all="ignore"), pytest.raises(InputError, match="lower the step size"):
        feed(stepwise, given)
    with pytest.raises(InputError, match="lower the step size; nothing of this stream was learned"):
        stream.learn(given.experience, beta=0.3)
    assert same(stream.state_dict(), before)


def test_a_stream_that_does_not_fit_is_refused() -> None:
    given = case(1)
    with pytest.raises(InputError, match="make the learner with the same number"):
        LinearLearner(SIZE + 1, TD(), 0.1).learn(given.experience, beta=1.0)
    with pytest.raises(InputError, match="call update"):
        LinearLearner(SIZE, TD(), 0.1, predictions=2).learn(given.experience, beta=1.0)
    learner = LinearLearner(SIZE, TD(), 0.1)
    before = learner.state_dict()
    for signals in ({"beta": 1.5}, {"beta": np.ones(3)}, {"beta": 1.0, "rho": -1.0}):
        with pytest.raises(InputError):
            learner.learn(given.experience, **signals)
        assert same(learner.state_dict(), before)
