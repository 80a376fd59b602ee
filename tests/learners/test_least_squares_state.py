"""Least squares: ends of episodes, save and load, and what cannot be used."""

from typing import Any

import numpy as np
import pytest

from learners.least_squares_cases import feed, modes, rules, same, stream
from preftd import ETD, PTD, TD, InputError
from preftd.experience import Indices
from preftd.learners import LeastSquaresLearner
from preftd.rules import RULES

# --- ends of episodes -------------------------------------------------------------------------


@modes
def test_a_truncation_bootstraps_and_a_termination_does_not(recursive: bool) -> None:
    """One state that pays 1 for ever, looked at for five steps at a time: worth 10."""
    cut, ended = (LeastSquaresLearner(1, TD(), recursive=recursive) for _ in range(2))
    for t in range(50):
        last = t % 5 == 4
        cut.update([1.0], 1.0, [1.0], discount=0.9, beta=0.5, truncated=last)
        ended.update([1.0], 1.0, [1.0], discount=0.0 if last else 0.9, beta=0.5)
    assert cut.weights[0] == pytest.approx(10, abs=1e-5)
    assert ended.weights[0] < 5


@modes
def test_what_comes_after_the_end_is_not_looked_at(recursive: bool) -> None:
    one, other = (LeastSquaresLearner(2, TD(), recursive=recursive) for _ in range(2))
    one.update([1.0, 2.0], 1.0, np.array([np.nan, np.inf]), discount=0.0, beta=1.0)
    other.update([1.0, 2.0], 1.0, [3.0, 4.0], discount=0.0, beta=1.0)
    assert same(one.state_dict(), other.state_dict())
    assert one.weights.any()


@rules
@pytest.mark.parametrize("terminated", [True, False])
def test_episodes_do_not_see_each_other(name: str, terminated: bool) -> None:
    """A and b of two episodes in a row are the sums of each alone; not so if the end is missed."""
    rng = np.random.default_rng(6)
    x, r = rng.normal(size=(9, 3)), rng.normal(size=9)

    def run(learner: LeastSquaresLearner, steps: range, *, end: int) -> None:
        for t in steps:
            stop = t == end
            learner.update(
                x[t],
                r[t],
                x[t + 1],
                discount=0.0 if stop and terminated else 0.9,
                beta=0.4,
                truncated=stop and not terminated,
            )

    together, first, second, missed = (LeastSquaresLearner(3, RULES[name](1.0)) for _ in range(4))
    run(together, range(8), end=3)
    run(first, range(4), end=3)
    run(second, range(4, 8), end=3)
    A, A1, A2 = (learner.state_dict()["A"] for learner in (together, first, second))
    np.testing.assert_allclose(A, A1 + A2, rtol=0, atol=1e-12)
    run(missed, range(8), end=-1)
    assert np.abs(missed.state_dict()["A"] - A).max() > 0.1


# --- save and load ----------------------------------------------------------------------------


@rules
@modes
def test_saved_and_loaded_it_goes_on_to_the_bit(name: str, recursive: bool) -> None:
    e = stream(3)
    middle = int(np.flatnonzero(~e.is_first & (np.arange(60) > 20))[0])
    rule = RULES[name](0.6)
    one, two = (LeastSquaresLearner(4, rule, recursive=recursive) for _ in range(2))
    one.learn(e[:middle], beta=0.3)
    state = one.state_dict()
    kept = {key: np.array(value) for key, value in state.items()}
    two.load_state_dict(state)
    np.testing.assert_array_equal(one.weights, two.weights)
    for learner in (one, two):
        # The first of these continues in the midst of an episode.
        feed(learner, e[middle : middle + 3], np.full(3, 0.5))
        learner.learn(e[middle + 3 :], beta=0.3)
    assert same(one.state_dict(), two.state_dict())
    np.testing.assert_array_equal(one.weights, two.weights)
    # What was saved is not touched by going on, and a fresh start would have shown.
    assert same(state, kept)
    fresh = LeastSquaresLearner(4, rule, recursive=recursive)
    fresh.load_state_dict(state | {"trace": np.zeros(4)})
    fresh.learn(e[middle:], beta=0.3)
    assert not np.array_equal(fresh.weights, one.weights)
    # Nor is the learner touched by what is done to its state.
    at_the_end = {key: np.array(value) for key, value in one.state_dict().items()}
    for value in one.state_dict().values():
        value[...] = 9.0
    assert same(one.state_dict(), at_the_end)


@modes
def test_a_state_that_does_not_fit_is_refused_and_changes_nothing(recursive: bool) -> None:
    learner = LeastSquaresLearner(3, PTD(), recursive=recursive)
    learner.update(Indices([0]), 1.0, Indices([1]), discount=0.9, beta=0.5)
    before = learner.state_dict()
    other = LeastSquaresLearner(3, PTD(), recursive=not recursive).state_dict()
    small = LeastSquaresLearner(2, PTD(), recursive=recursive).state_dict()
    strong = LeastSquaresLearner(3, PTD(), regularisation=1.0, recursive=recursive).state_dict()
    bad: list[tuple[dict[str, Any], str]] = [
        (other, "made in the same way"),
        (small, "same size"),
        (strong, "regularisation"),
        (before | {"trace": [1.0, np.nan, 0.0]}, r"trace\[1\] is nan"),
        (before | {"discount_t": 2.0}, "discount_t is 2"),
        (before | {"follow_on": -1.0}, "follow_on is -1"),
        ({}, "give a result of state_dict"),
    ]
    for state, match in bad:
        with pytest.raises(InputError, match=match):
            learner.load_state_dict(state)
        assert same(learner.state_dict(), before)


# --- bad input --------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "features": [1.0, 0.5],
    "reward": 1.0,
    "next_features": [0.0, 1.0],
    "discount": 0.9,
    "beta": 0.5,
}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"features": [np.nan, 1.0]}, "features holds something that is not finite"),
    ({"features": np.array([np.nan, 1.0])}, "features holds something that is not finite"),
    ({"next_features": np.array([np.inf, 1.0]), "truncated": True}, "next_features holds"),
    ({"next_features": [1.0, np.nan], "truncated": True}, "next_features holds something"),
    ({"next_beta": 0.5}, "next_beta is for truncated episodes"),
    ({"next_beta": 1.5, "truncated": True}, "next_beta is 1.5"),
    ({"features": [1.0, 2.0, 3.0]}, r"features has shape \(3,\): give 2 numbers"),
    ({"features": np.array([2])}, r"features has shape \(1,\): give 2 numbers, or Indices"),
    ({"features": Indices([2])}, "index 2, but there are 2 features"),
    ({"next_features": Indices([-1])}, "index -1"),
    ({"next_features": [[1.0, 2.0]]}, "next_features has shape"),
    ({"features": "no"}, "not an array of real numbers"),
    ({"reward": np.nan}, "reward is nan"),
    ({"reward": [1.0]}, r"reward is \[1.0\]: give a number"),
    ({"beta": None}, "beta is None: give a number"),
    ({"beta": "no"}, "beta is 'no': give a number"),
    ({"discount": 1.5}, "discount is 1.5"),
    ({"discount": np.nan}, "discount is nan"),
    ({"beta": -0.1}, "β is -0.1"),
    ({"beta": np.nan}, "β is nan"),
    ({"rho": -1.0}, "ρ is -1"),
    ({"rho": np.inf}, "ρ is inf"),
    ({"interest": -1.0}, "interest is -1"),
    ({"features": [1e200, 0.0], "next_features": [1e200, 1.0]}, "too large"),
]


@modes
@pytest.mark.parametrize(("change", "match"), BAD)
def test_a_bad_update_is_refused_in_one_sentence_and_changes_nothing(
    recursive: bool, change: dict[str, Any], match: str
) -> None:
    learner = LeastSquaresLearner(2, ETD(), recursive=recursive)
    learner.update(**GOOD)
    before = learner.state_dict()
    with pytest.raises(InputError, match=match) as error:
        learner.update(**GOOD | change)
    assert str(error.value).endswith(".")
    assert same(learner.state_dict(), before)
    learner.update(**GOOD)


@modes
def test_a_bad_stream_is_refused_and_changes_nothing(
    recursive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("preftd._src.learners.least_squares.systems.BLOCK", 40)
    learner = LeastSquaresLearner(4, ETD(), recursive=recursive)
    learner.learn(stream(0), beta=0.5)
    before = learner.state_dict()
    for array in ("reward", "dense"):
        e = stream(1)
        bad = np.array(getattr(e, array))
        bad[45] = np.nan
        object.__setattr__(e, array, bad)
        with pytest.raises(InputError, match="is nan" if array == "reward" else "step 45 are not"):
            learner.learn(e, beta=0.5)
        assert same(learner.state_dict(), before)
    with pytest.raises(InputError, match="the experience has 3 features, the learner 4"):
        learner.learn(stream(0, size=3), beta=0.5)


def test_a_step_that_makes_the_inverse_singular_is_refused() -> None:
    """Here d = x − γ x' = −1 and e = 1, so that A + ε I = 1 − 1."""
    step: dict[str, Any] = {"reward": 1.0, "next_features": [2.0], "discount": 1.0, "beta": 1.0}
    step["truncated"] = True
    learner = LeastSquaresLearner(1, TD(), regularisation=1.0, recursive=True)
    before = learner.state_dict()
    with pytest.raises(InputError, match="singular"):
        learner.update([1.0], **step)
    assert same(learner.state_dict(), before)
    batch = LeastSquaresLearner(1, TD(), regularisation=1.0)
    batch.update([1.0], **step)
    with pytest.raises(InputError, match="singular"):
        _ = batch.weights


def test_bad_settings_are_refused() -> None:
    for size, rule, more, match in [
        (0, TD(), {}, "size is 0"),
        (1.5, TD(), {}, "whole number"),
        (1, "td", {}, "give an instance"),
        (1, TD(), {"regularisation": -1.0}, "0 or more"),
        (1, TD(), {"regularisation": np.nan}, "regularisation is nan"),
        (1, TD(), {"regularisation": 0, "recursive": True}, "more than 0 if recursive"),
    ]:
        with pytest.raises(InputError, match=match):
            LeastSquaresLearner(size, rule, **more)  # type: ignore[arg-type]


def test_weights_are_a_copy() -> None:
    learner = LeastSquaresLearner(2, TD(), recursive=True)
    early = learner.weights
    learner.update(Indices([0]), 1.0, Indices([1]), discount=0.0, beta=1.0)
    assert (early == 0).all()
    with pytest.raises(ValueError, match="read-only"):
        learner.weights[0] = 1
    assert learner.weights[0] == pytest.approx(1, abs=1e-5)
