"""Features that are 1 at a few indices are learned as vectors are, for the work of the ones."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from learners.linear_cases import Case, feed, with_indices
from pairs import in_pairs
from preftd import PTD, TD
from preftd._src.learners.linear.sparse_kernel import SparseState, settle
from preftd.experience import Indices, TileCoding
from preftd.learners import Decreasing, LinearLearner
from preftd.rules import RULES

rules = pytest.mark.parametrize("name", sorted(RULES))
VIEWS = ["backward", "true_online", "held"]
views = pytest.mark.parametrize("view", VIEWS)


def both(
    name: str, view: str, cases: tuple[Case, Case], step_size: Any = 0.05
) -> tuple[LinearLearner, LinearLearner]:
    """Learners of indices and of vectors, after the same stream."""
    learners = []
    for given in cases:
        size = given.experience.size
        learner = LinearLearner(size, RULES[name](1.0), step_size, view=view)
        learners.append(learner.learn(given.experience, **given.signals))
    return learners[0], learners[1]


def agree(one: LinearLearner, other: LinearLearner, tolerance: float = 1e-10) -> None:
    """The same weights."""
    assert np.abs(other.weights).max() > 1e-3
    np.testing.assert_allclose(one.weights, other.weights, rtol=0, atol=tolerance)


@in_pairs(name=sorted(RULES), view=VIEWS, ones=[1, 3], decays=["mixed", "slow", "tiny", "none"])
def test_indices_learn_what_vectors_learn_over_long_streams(
    name: str, view: str, ones: int, decays: str
) -> None:
    """With decays of about 1e-12, 0, or 0.7, eras end all the time, and pages fill up."""
    agree(*both(name, view, with_indices(3, 6000, 70, ones, decays=decays)))


@pytest.mark.parametrize("view", ["backward", "true_online", "held"])
def test_step_by_step_is_the_stream_with_indices_too(view: str) -> None:
    few, _ = with_indices(5, 400, 20, 2)
    for step_size in (0.05, Decreasing(0.1, 50), np.linspace(0.01, 0.1, 20)):
        stream, stepwise = (
            LinearLearner(20, RULES["etd"](1.0), step_size, view=view) for _ in range(2)
        )
        stream.learn(few.experience, **few.signals)
        feed(stepwise, few)
        for key, expected in stepwise.state_dict().items():
            got = stream.state_dict()[key]
            np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12, err_msg=key)
        agree(*both("etd", view, with_indices(5, 400, 20, 2), step_size))


@views
def test_a_trace_that_never_ends_fades_without_a_trace(view: str) -> None:
    """One episode of 20,000 steps: products of decays underflow again and again."""
    few, many = with_indices(8, 20_000, 50)
    going_on: dict[str, Any] = {
        "is_first": np.arange(20_000) == 0,
        "is_last": np.zeros(20_000, dtype=np.bool_),
        "discount_tp1": np.full(20_000, 0.9),
        "discount_t": np.r_[0.0, np.full(19_999, 0.9)],
    }
    cases = [replace(c, experience=replace(c.experience, **going_on)) for c in (few, many)]
    for beta in (np.full(20_000, 0.01), np.where(np.arange(20_000) % 3, 0.5, 1 - 2.0**-40)):
        of_beta = [replace(c, beta=beta, rho=np.ones(20_000)) for c in cases]
        agree(*both("td", view, (of_beta[0], of_beta[1])))


@views
def test_a_trace_that_grew_large_and_small_again_leaves_no_rounding_behind(
    view: str,
) -> None:
    """Ratios make it 2³⁰ at indices 0 to 9, and 1 before indices 10 to 19 come: they see little."""
    rng = np.random.default_rng(0)
    one, other = (LinearLearner(20, TD(), 1e-12, view=view) for _ in range(2))
    rho = [*[2.0] * 30, *[0.5] * 30, *[1.0] * 60]
    at = [*rng.integers(0, 10, 60), *rng.integers(10, 20, 61)]
    vectors = np.eye(20)
    for t, ratio in enumerate(rho):
        paid = rng.normal()
        signals: dict[str, Any] = {"discount": 1.0, "beta": 1e-3, "rho": ratio}
        one.update(Indices([at[t]]), paid, Indices([at[t + 1]]), **signals)
        other.update(vectors[at[t]], paid, vectors[at[t + 1]], **signals)
    assert np.abs(other.weights[:10]).max() > 1e7 * np.abs(other.weights[10:]).max() > 0
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-11)


def test_nothing_seen_stays_nothing_however_large_the_ratios() -> None:
    learner = LinearLearner(3, PTD(), 0.1, view="backward")
    for _ in range(3000):
        learner.update(Indices([0]), 1.0, Indices([1]), discount=1.0, beta=0.0, rho=4.0)
    learner.update(Indices([0]), 1.0, Indices([1]), discount=1.0, beta=1.0)
    np.testing.assert_array_equal(learner.weights, [0.1, 0.0, 0.0])


def test_tile_coding_is_learned_as_indices() -> None:
    coder = TileCoding(low=[0, 0], high=[1, 1], tiles=[4, 4], tilings=4)
    rng = np.random.default_rng(2)
    one, other = (LinearLearner(coder.size, TD(), 0.02, view="true_online") for _ in range(2))
    seen = rng.random((500, 2))
    for before, after in pairwise(seen):
        indices = coder(before), coder(after)
        vectors = [np.bincount(p.array, minlength=coder.size).astype(np.float64) for p in indices]
        signals: dict[str, Any] = {"discount": 0.9, "beta": float(before[0])}
        a = one.update(indices[0], before[1], indices[1], **signals)
        b = other.update(vectors[0], before[1], vectors[1], **signals)
        assert a == pytest.approx(b, abs=1e-12)
        assert one.predict(indices[1]) == pytest.approx(other.predict(vectors[1]), abs=1e-12)
    agree(one, other, 1e-12)


@views
def test_indices_and_vectors_may_alternate(view: str) -> None:
    few, many = with_indices(4, 300, 9, 2)
    alternating, vectors = (LinearLearner(9, RULES["etd"](1.0), 0.05, view=view) for _ in range(2))
    feed(vectors, many)
    for first in range(0, 300, 10):
        feed(alternating, (few if first % 20 else many).part(first, first + 10))
    agree(alternating, vectors, 1e-12)


# --- the work ------------------------------------------------------------------------------------


@views
def test_a_step_writes_only_to_the_indices_it_is_at(view: str) -> None:
    """Of 3,000 indices all but two keep every bit, though the weights of all seen before move."""
    few, _ = with_indices(6, 500, 3_000)
    learner = LinearLearner(3_000, TD(), 0.1, view=view)
    learner.learn(few.experience, beta=0.01)
    step: dict[str, Any] = {"discount": 0.9, "beta": 0.01}
    learner.update(Indices([1, 2]), 1.0, Indices([3, 4]), **step)
    before, weights = learner.state_dict(), learner.weights
    learner.update(Indices([3, 4]), 1.0, Indices([5, 6]), **step)
    after = learner.state_dict()
    for key in {"weights", "trace", "pending", "seen", "seen_along"} & after.keys():
        changed = np.flatnonzero((before[key] != after[key]).any(axis=1))
        assert set(changed) <= {3, 4}
    moved = {1, 2} if view == "held" else {1, 2, 3, 4}
    assert moved <= set(np.flatnonzero(weights != learner.weights))


def test_looking_changes_nothing() -> None:
    few, _ = with_indices(6, 500, 40)
    learner = LinearLearner(40, TD(), 0.1).learn(few.experience, beta=0.3)
    before = learner.state_dict()
    values = [learner.predict(Indices([i])) for i in range(40)]
    np.testing.assert_allclose(values, learner.weights, rtol=0, atol=1e-15)
    np.testing.assert_allclose(learner.predict(np.eye(40)), values, rtol=0, atol=1e-15)
    after = learner.state_dict()
    assert all(np.array_equal(before[key], after[key]) for key in before)


def test_bringing_all_indices_up_to_date_changes_nothing_and_happens_only_when_pages_are_full() -> (
    None
):
    """100 indices have 100 pages; with decay 0, each step fills one."""
    few, _ = with_indices(1, 250, 100, decays="none")
    one, other = (LinearLearner(100, TD(), 0.1) for _ in range(2))
    eras = []
    for t in range(250):
        for learner in (one, other):
            feed(learner, few.part(t, t + 1))
        eras.append(int(one.state_dict()["era"][-1]))
        settle(other._state.for_indices())
        np.testing.assert_allclose(other.weights, one.weights, rtol=0, atol=1e-13)
    assert max(eras) == 99
    assert eras.count(0) == 2
    weights, trace = np.zeros((2, 100, 1))
    assert len(SparseState.of(weights, trace, np.zeros((0, 1))).past) == 100
