"""The held view of linear learning: an update is applied as its target completes."""

import warnings
from typing import Any

import numpy as np
import pytest

from learners.linear_cases import SIZE, case, episodes_of, feed, same, with_indices
from preftd import ETD, PTD, TD, Experience, InputError, tasks
from preftd._src.arrays import Vector
from preftd._src.learners.linear import reference
from preftd._src.tasks.scored import Scored
from preftd.experience import Indices
from preftd.learners import Decreasing, Episode, Linear, LinearLearner, Steps
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import RULES, Carried, StreamCoefficients, stream_coefficients

rules = pytest.mark.parametrize("name", sorted(RULES))


def definition(w: Vector, episode: Episode, alpha: float) -> Vector:
    """P ← P + δ e; on arriving in a state w ← w + α β P, P ← (1 − β) P; at the end w ← w + α P."""
    e, P = np.zeros(w.size), np.zeros(w.size)
    for t, x in enumerate(episode.features):
        share = episode.beta[t]
        w, P = w + alpha * share * P, (1 - share) * P
        ahead = episode.discount_tp1[t] * (w @ episode.next_features[t])
        e = episode.decay[t] * e + episode.gain[t] * x
        P = P + (episode.reward[t] + ahead - w @ x) * e
    return np.asarray(w + alpha * P)


@rules
@pytest.mark.parametrize("seed", range(4))
def test_on_policy_it_is_the_definition(name: str, seed: int) -> None:
    given, rule = case(seed), RULES[name](1.0)
    object.__setattr__(given, "rho", np.ones(len(given.beta)))
    one, other = np.zeros(SIZE), np.zeros(SIZE)
    for episode in episodes_of(given, rule):
        one, other = definition(one, episode, 0.1), reference.held(other, episode, 0.1)[-1]
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-13)
    assert np.abs(one).max() > 0.01


@rules
@pytest.mark.parametrize("kind", ["number", "schedule", "per feature"])
@pytest.mark.parametrize("seed", range(3))
def test_each_update_is_that_of_the_reference(name: str, kind: str, seed: int) -> None:
    given, rule = case(seed), RULES[name](1.0)
    steps = len(given.beta)
    step_size, sizes = {
        "number": (0.05, np.full((steps, SIZE), 0.05)),
        "schedule": (
            Decreasing(0.1, 20, 0.7),
            np.tile(Decreasing(0.1, 20, 0.7).at(np.arange(steps))[:, None], SIZE),
        ),
        "per feature": (
            np.linspace(0.01, 0.1, SIZE),
            np.tile(np.linspace(0.01, 0.1, SIZE), (steps, 1)),
        ),
    }[kind]
    learner = LinearLearner(SIZE, rule, step_size, view="held")  # type: ignore[arg-type]
    w, first = np.zeros(SIZE), 0
    for episode in episodes_of(given, rule):
        end = first + len(episode.reward)
        expected = reference.held(w, episode, sizes[first:end])
        for t in range(first, end):
            feed(learner, given.part(t, t + 1))
            if t + 1 < steps:  # the last episode is not over
                np.testing.assert_allclose(learner.weights, expected[t - first], rtol=0, atol=1e-12)
        w, first = expected[-1], end
    assert np.abs(w).max() > 0.01


@pytest.mark.parametrize("preference", [Observability(), Observability(0.8, 0.0), Constant(0.4)])
@pytest.mark.parametrize("rule", [PTD(), TD(), ETD(Observability(0.5, 0.0)), ETD(0.3)], ids=repr)
@pytest.mark.parametrize("task", ["corridor", "random_walk", "cross_grid"])
def test_a_study_learns_what_the_reference_does(task: str, rule: Any, preference: Signal) -> None:
    """Chains of preferred states, and any β; also with step sizes that decrease."""
    drawn = tasks.make(task, size=4) if task == "cross_grid" else tasks.make(task)
    episodes = drawn.sampler(1).episodes(5)
    steps = Steps.of(episodes, stream_coefficients(rule, preference, episodes))
    sizes: list[Any] = [0.02, Decreasing(0.05, 30.0)]
    batch = Linear("held").start(drawn.features.size, sizes, 0)
    batch.learn(steps, drawn.scored)
    alone = Linear("held").start(drawn.features.size, sizes[:1], 0)
    for which in steps.episodes():
        alone.learn(steps.part(which), drawn.scored)
    np.testing.assert_array_equal(alone.weights[:, 0], batch.weights[:, 0])
    for lane, alpha in enumerate(sizes):
        w = np.zeros(drawn.features.size)
        for which in steps.episodes():
            t = np.arange(which.start, which.stop)[:, None]
            each = alpha.at(t) if isinstance(alpha, Decreasing) else alpha
            w = reference.held(w, Episode.of(steps, which), each)[-1]
        assert np.abs(w).max() > 1e-3
        np.testing.assert_allclose(batch.weights[:, lane], w, rtol=1e-10, atol=1e-12)


def test_a_study_bootstraps_through_hidden_steps_where_episodes_are_cut_short() -> None:
    """The last observation is two discounts away from the state that learns from it."""
    e = Experience.from_log(
        np.tile(np.eye(2), (3, 1)),
        np.arange(6.0),
        discount=0.5,
        terminated=np.zeros(6, dtype=bool),
        truncated=np.arange(6) % 2 == 1,
        final=np.tile([[1.0, 0.0]], (3, 1)),
    )
    beta = np.tile([1.0, 0.0], 3)
    coefficients = PTD().coefficients(discount_t=e.discount_t, beta=beta)
    given = StreamCoefficients(beta, coefficients, Carried())
    scored = Scored(np.zeros(1, dtype=np.int32), np.zeros((0, 2)), np.zeros(1))
    batch = Linear("held").start(2, [0.1], 0)
    batch.learn(Steps.of(e, given), scored)
    learner = LinearLearner(2, PTD(), 0.1, view="held").learn(e, beta=beta)
    np.testing.assert_allclose(batch.weights[:, 0], learner.weights, rtol=1e-12)


@pytest.mark.parametrize("first_beta", [0.0, 1.0])
def test_a_study_scores_each_episode_also_where_discounts_are_0_inside(first_beta: float) -> None:
    """The second episode starts with two steps whose discount is 0; final β is 0 or 1."""
    e = Experience.from_log(
        np.eye(2)[[0, 0, 1, 0, 1]],
        [1.0, 2.0, 3.0, 4.0, 5.0],
        discount=[0.9, 0.0, 0.0, 0.9, 0.9],
        terminated=[True, False, False, False, False],
        final=[[1.0, 0.0]],
    )
    beta = np.array([1.0, first_beta, first_beta, 1.0, 1.0])
    coefficients = PTD().coefficients(discount_t=e.discount_t, beta=beta)
    given = StreamCoefficients(beta, coefficients, Carried())
    scored = Scored(np.zeros(1, dtype=np.int32), np.zeros((0, 2)), np.zeros(1))
    for final_beta in (0.0, 1.0):
        batch, expected = Linear("held").start(2, [0.1], 0), []
        errors = batch.learn(Steps.of(e, given, final_beta), scored)
        learner = LinearLearner(2, PTD(), 0.1, view="held")
        for first, end, ends in ((0, 1, None), (1, 5, final_beta)):
            learner.learn(e[first:end], beta=beta[first:end], final_beta=ends)
            expected.append(learner.weights[0] ** 2)
        np.testing.assert_allclose(errors[:, 0], expected, rtol=1e-12)
        np.testing.assert_allclose(batch.weights[:, 0], learner.weights, rtol=1e-12)


def test_a_chain_is_td_0_on_its_preferred_states() -> None:
    """The hidden steps of a stream may be left out, their rewards added to the previous one."""
    x, rng = np.eye(3), np.random.default_rng(0)
    held, plain = LinearLearner(3, PTD(), 0.1, view="held"), LinearLearner(3, TD(), 0.1)
    for _ in range(20):
        a, b = rng.integers(0, 3, 2)
        paid = rng.normal(size=4)
        held.update(x[a], paid[0], np.full(3, np.nan), discount=0.9, beta=1.0)
        held.update(np.full(3, np.nan), paid[1], np.full(3, np.inf), discount=0.8, beta=0.0)
        held.update(np.full(3, np.inf), paid[2], x[b], discount=0.7, beta=0.0)
        held.update(x[b], paid[3], None, discount=0.0, beta=1.0)
        total = paid[0] + 0.9 * (paid[1] + 0.8 * paid[2])
        plain.update(x[a], total, x[b], discount=0.9 * 0.8 * 0.7, beta=1.0)
        plain.update(x[b], paid[3], None, discount=0.0, beta=1.0)
    np.testing.assert_allclose(held.weights, plain.weights, rtol=1e-13)


def test_updates_wait_for_the_beta_of_the_state_reached_and_take_its_step_size() -> None:
    x, y = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    for beta in (0.0, 0.25, 1.0):
        learner = LinearLearner(2, TD(), Decreasing(0.2, delay=1.0), view="held")
        assert learner.update(x, 1.0, y, discount=0.9, beta=1.0) == 1.0
        assert not learner.weights.any()
        assert learner.update(y, 2.0, x, discount=0.5, beta=beta) == pytest.approx(2 + 0.05 * beta)
        np.testing.assert_allclose(learner.weights, [0.1 * beta, 0.0])
    for end in ({"discount": 0.0}, {"discount": 0.9, "truncated": True}):
        learner = LinearLearner(2, TD(), 0.1, view="held")
        learner.update(x, 1.0, y, beta=1.0, **end)  # type: ignore[arg-type]
        np.testing.assert_allclose(learner.weights, [0.1, 0.0])


def test_what_update_returns_is_nan_where_a_value_is_not_known() -> None:
    learner = LinearLearner(2, PTD(), 0.1, view="held")
    x, unseen = np.array([1.0, 0.0]), np.array([np.nan, 0.0])
    assert np.isnan(learner.update(x, 1.0, unseen, discount=0.9, beta=1.0))
    assert np.isnan(learner.update(unseen, 1.0, x, discount=0.9, beta=0.0))
    assert learner.update(x, 1.0, x, discount=0.9, beta=1.0) == pytest.approx(1 - 0.1 * 0.19)
    before = learner.state_dict()
    for wrong in ({"beta": 0.5}, {"beta": 0.0, "rule": TD()}):
        other = LinearLearner(2, wrong.get("rule", PTD()), 0.1, view="held")  # type: ignore[arg-type]
        with pytest.raises(InputError, match="features holds something that is not finite: give β"):
            other.update(unseen, 1.0, x, discount=0.9, beta=wrong["beta"])
    with pytest.raises(InputError, match=r"next_features holds .* next_beta=0"):
        learner.update(x, 1.0, unseen, discount=0.9, beta=1.0, truncated=True)
    assert same(learner.state_dict(), before)
    # lists, too
    learner.update([np.nan, 1.0], 0.0, [0.0, 1.0], discount=0.9, beta=0.0)


@pytest.mark.parametrize("few", [False, True], ids=["vectors", "indices"])
@pytest.mark.parametrize("next_beta", [0.0, 0.3, 1.0])
def test_a_final_observation_has_a_beta(few: bool, next_beta: float) -> None:
    """At 0 what is pending is dropped; in between, a share of it is applied."""
    x: Any = (Indices([0]), Indices([1])) if few else (np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    learner = LinearLearner(2, PTD(), 0.1, view="held")
    learner.load_state_dict(learner.state_dict() | {"weights": np.array([[2.0], [3.0]])})
    learner.update(x[0], 1.0, x[1], discount=0.9, beta=1.0, truncated=True, next_beta=next_beta)
    expected = 2 + 0.1 * next_beta * (1 + 0.9 * 3 - 2)
    np.testing.assert_allclose(learner.weights, [expected, 3.0])
    learner.update(x[1], 1.0, None, discount=0.0, beta=1.0)  # nothing is left of it
    np.testing.assert_allclose(learner.weights, [expected, 3 + 0.1 * (1 - 3)])
    unseen = np.full(2, np.nan)
    if not few and next_beta == 0:
        learner.update(x[0], 1.0, unseen, discount=0.9, beta=1.0, truncated=True, next_beta=0.0)


def test_next_beta_is_refused_where_it_means_nothing() -> None:
    x = np.ones(2)
    for view, given, match in (
        ("backward", {"truncated": True, "next_beta": 0.5}, "for the held view"),
        ("held", {"next_beta": 0.5}, "for truncated episodes"),
        ("held", {"truncated": True, "next_beta": 1.5}, r"next_beta is 1.5"),
        ("held", {"truncated": True, "next_beta": [0.1, 0.2]}, "next_beta has shape"),
    ):
        learner = LinearLearner(2, PTD(), 0.1, view=view)
        with pytest.raises(InputError, match=match):
            learner.update(x, 1.0, x, discount=0.9, beta=1.0, **given)


def test_predictions_end_one_by_one() -> None:
    """Where the discount of a prediction is 0, its targets are complete; those of others wait."""
    together = LinearLearner(2, TD(), 0.1, view="held", predictions=2)
    x, y = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    together.update(x, 1.0, y, discount=np.array([0.0, 0.9]), beta=0.5)
    np.testing.assert_allclose(together.weights, [[0.1, 0.0], [0.0, 0.0]])
    together.update(y, 1.0, x, discount=0.9, beta=1.0, truncated=True, next_beta=[0.0, 1.0])
    alone = LinearLearner(2, TD(), 0.1, view="held")
    alone.update(x, 1.0, y, discount=0.9, beta=0.5)
    alone.update(y, 1.0, x, discount=0.9, beta=1.0, truncated=True)
    np.testing.assert_allclose(together.weights[:, 1], alone.weights)
    np.testing.assert_allclose(together.weights[:, 0], [0.1, 0.0])


@pytest.mark.parametrize("few", [False, True], ids=["vectors", "indices"])
def test_an_episode_that_is_left_counts_as_truncated(few: bool) -> None:
    given = with_indices(1, 60, 12, 2)[0] if few else case(1, steps=60)
    e, size = given.experience, given.experience.size
    middle = int(np.flatnonzero(~e.is_first & ~e.is_last & (np.arange(60) > 20))[0])
    first = given.part(0, middle)
    assert not first.experience.is_last[-1]
    left, cut = (LinearLearner(size, ETD(), 0.05, view="held") for _ in range(2))
    left.learn(first.experience, **first.signals)
    feed(cut, given.part(0, middle - 1))
    feed(cut, given.part(middle - 1, middle), truncated=True)
    for learner in (left, cut):
        start = int(np.flatnonzero(e.is_first)[0])
        learner.learn(e[start:], **given.part(start, 60).signals)
    np.testing.assert_allclose(left.weights, cut.weights, rtol=0, atol=1e-12)


def test_a_log_with_drop_outs_is_learned_as_without_them() -> None:
    """−99 or NaN at 20 % of the steps, β = 0 there; Algorithm 1 ends nowhere near."""
    rng = np.random.default_rng(0)
    true = np.array([1.0, 0.5])
    x = np.column_stack([np.ones(1000), rng.normal(size=1000)])
    ended = np.arange(1000) % 10 == 9
    lost = (rng.random(1000) < 0.2) & ~ended
    reward = np.where(ended, x @ true, 0.0)

    def weights(view: str, fill: float) -> Vector:
        shown = np.where(lost[:, None], np.array([1.0, fill]), x)
        log = Experience.from_log(shown, reward, discount=0.9, terminated=ended)
        learner = LinearLearner(2, PTD(), 0.05, view=view)
        return learner.learn(log, beta=(~lost).astype(float)).weights

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = weights("held", 0.0)
        np.testing.assert_allclose(weights("held", -99.0), whole, rtol=1e-12)
        np.testing.assert_allclose(weights("held", np.nan), whole, rtol=1e-12)
        assert np.abs(weights("backward", -99.0) - whole).max() > 10
