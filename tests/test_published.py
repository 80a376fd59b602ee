"""Other ways to learn a preference: kernels are the references, and limiting cases are known."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

import published_reference as reference
from benchmarks.published import (
    RIVALS,
    AdaptiveInterest,
    AdaptiveTD,
    DiscerningTD,
    ExpectedTrace,
    LambdaDiscrepancy,
    LambdaGreedy,
    MetaGradient,
)
from benchmarks.published.adaptive_interest import interest_gradient, learn_emphatically
from benchmarks.published.batch import Cells, Lesson
from benchmarks.published.beliefs import learn_adaptively
from benchmarks.published.meta_gradient import gradient, learn_forward, learn_preference
from preftd import ETD, PTD, TD, Linear, evaluate, tasks
from preftd._src.arrays import Dense, InputError
from preftd._src.learners.custom import Episode, Specification
from preftd._src.learners.linear import reference as views
from preftd._src.learners.steps import Steps
from preftd._src.tasks.scored import Scored
from preftd.experience import Experience
from preftd.learners import Decreasing
from preftd.preferences import Constant
from preftd.rules import Rule, stream_coefficients

pytestmark = pytest.mark.slow  # their kernels are compiled for benchmarks alone

CORRIDOR = tasks.make("corridor", length=2)
STEP_SIZES = [0.5, 0.1]


def random_lesson(seed: int, truncated: bool = False, m: int = 4) -> Lesson:
    """An episode of noise, with discounts below 1."""
    rng, steps = np.random.default_rng(seed), 6
    x, z = rng.standard_normal((steps + 1, 3)), rng.standard_normal((steps + 1, m))
    out = np.append(rng.uniform(0.5, 1.0, steps - 1), 0.9 * truncated)
    into = np.append(0.0, out[:-1])
    return Lesson(x[:-1], x[1:], z[:-1], z[1:], rng.standard_normal(steps), into, out)


def check_learning(
    learn: Callable[..., None], rows: int, expected: Callable[..., Any], truncated: bool
) -> None:
    """Compare a kernel with its reference over two episodes, for each step size."""
    rng = np.random.default_rng(9)
    weights, beliefs = rng.standard_normal((2, 3)), rng.uniform(0.5, 1.5, (2, rows, 4))
    alphas = rng.uniform(0.1, 0.6, (6, 2))
    for seed in range(2):
        lesson = random_lesson(seed, truncated)
        wanted = [
            expected(lesson, alphas[:, i], weights[i].copy(), beliefs[i].copy()) for i in range(2)
        ]
        learn(lesson, alphas, weights, beliefs, np.ones((6, 2)))
        for i, (w, believed) in enumerate(wanted):
            np.testing.assert_allclose(weights[i], w, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(beliefs[i], believed, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("preferential", [False, True])
def test_lambda_greedy_is_its_reference(truncated: bool, preferential: bool) -> None:
    spec = LambdaGreedy(rate=0.2, least=0.05, preferential=preferential)
    check_learning(*spec.teach(0), partial(reference.lambda_greedy, spec), truncated)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("width", [0.3, 2.0])
def test_adaptive_td_is_its_reference(truncated: bool, width: float) -> None:
    spec, dealt = AdaptiveTD(rate=0.2, width=width, members=3), np.array([True, False, True])
    learn = partial(learn_adaptively, width, 0.2, dealt)
    check_learning(learn, 3, partial(reference.adaptive_td, spec, dealt), truncated)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("preferential", [False, True])
def test_the_lambda_discrepancy_is_its_reference(truncated: bool, preferential: bool) -> None:
    spec = LambdaDiscrepancy(rate=0.2, sharpness=3.0, preferential=preferential)
    check_learning(*spec.teach(0), partial(reference.lambda_discrepancy, spec), truncated)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("emphasis", ["error", "noise"])
def test_discerning_td_is_its_reference(truncated: bool, emphasis: str) -> None:
    spec = DiscerningTD(emphasis, trace=0.7, rate=0.2, sharpness=0.5)
    check_learning(*spec.teach(0), partial(reference.discerning_td, spec), truncated)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.4])
def test_expected_traces_are_their_reference(truncated: bool, share: float) -> None:
    spec = ExpectedTrace(trace=0.7, rate=0.2, share=share)
    learn, rows = spec.teach(0)
    assert rows == 0  # as many as features
    check_learning(learn, 3, partial(reference.expected_trace, spec), truncated)


@pytest.mark.parametrize("alpha", [0.05, 0.6])
def test_the_gradient_of_the_interest_is_that_of_finite_differences(alpha: float) -> None:
    """0.6 is bounded at some steps and not at others."""
    lesson, direction, options = random_lesson(0), np.array([0.3, -1.0, 0.5]), (0.3, 0.6)
    rng, alphas = np.random.default_rng(3), np.full((6, 1), alpha)
    w, theta = rng.standard_normal(3), rng.standard_normal(4)

    def after(theta: Dense) -> float:
        weights, trust = w[None].copy(), np.ones((6, 1))
        learn_emphatically(options, lesson, alphas, weights, theta[None, None], trust)
        return float(direction @ weights[0])

    found = interest_gradient(options, lesson, alphas[:, 0].copy(), w, theta, direction)
    wanted = [(after(theta + step) - after(theta - step)) / 2e-6 for step in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.1, 0.9])
def test_meta_gradients_are_finite_differences(alpha: float) -> None:
    """0.9 is bounded at some steps and not at others."""
    lesson, following = random_lesson(0), random_lesson(1)
    rng, alphas, offset = np.random.default_rng(3), np.full(6, alpha), 0.3
    w, theta = rng.standard_normal(3), rng.standard_normal(4)
    after = w[None].copy()
    trust = np.ones((6, 1))
    learn_forward(offset, lesson, alphas[:, None], after, theta[None, None], trust)
    np.testing.assert_allclose(trust[:, 0], reference.preferences(offset, theta, lesson))
    found_returns = reference.monte_carlo(following, np.zeros(4))
    direction = (found_returns - following.x @ after[0]) @ following.x / 6
    found = gradient(offset, lesson, alphas, w, theta, direction)

    def error(theta: Dense) -> float:
        return reference.error_afterwards(offset, theta, lesson, alphas, w, following)

    wanted = [(error(theta - step) - error(theta + step)) / 2e-6 for step in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)
    moved = np.stack([theta, np.zeros(4)])[None]
    learn_preference(0.1, offset, lesson, alphas[:, None], w[None], following, after, moved)
    np.testing.assert_allclose(moved[0, 0] - theta, 0.1 * found / np.linalg.norm(found), rtol=1e-9)


def errors_of(learner: Specification, rule: Rule | None = None, beta: float = 1.0) -> Dense:
    """Errors on a corridor, learned in two pieces."""
    sampler, found = CORRIDOR.sampler(3), []
    batch = learner.start(CORRIDOR.features.size, STEP_SIZES, 5)
    for _ in range(2):
        piece = sampler.episodes(15)
        signals = stream_coefficients(rule or PTD(), Constant(beta), piece)
        found.append(batch.learn(Steps.of(piece, signals), CORRIDOR.scored))
    return np.concatenate(found)


LIMITS: dict[str, tuple[Specification, Specification, Rule, float]] = {
    "λ-greedy, λ fixed": (
        LambdaGreedy(least=0.7, most=0.7), Linear("true_online", bounded=True), TD(), 0.3,
    ),
    "λ-greedy as β, β fixed": (
        LambdaGreedy(least=0.7, most=0.7, preferential=True), Linear("held", bounded=True), PTD(),
        0.3,
    ),
    "Adaptive-TD, any target credible": (
        AdaptiveTD(width=1e300), Linear("backward", bounded=True), TD(), 1.0,
    ),
    "meta-gradient, step size 0": (
        MetaGradient(meta_rate=0.0, offset=np.log(3.0)), Linear("forward", bounded=True), PTD(),
        0.75,
    ),
    "λ-discrepancy, ignored": (
        LambdaDiscrepancy(sharpness=0.0), Linear("held", bounded=True), PTD(), 1.0,
    ),
    "λ-discrepancy as λ, ignored": (
        LambdaDiscrepancy(sharpness=0.0, preferential=False),
        Linear("true_online", bounded=True), TD(), 1.0,
    ),
    "Discerning TD, emphasis 1": (
        DiscerningTD("noise", sharpness=0.0, trace=0.6), Linear("backward", bounded=True), TD(),
        0.4,
    ),
    "expected trace, all of it seen": (
        ExpectedTrace(trace=0.6, share=1.0), Linear("backward", bounded=True), TD(), 0.4,
    ),
    "adaptive interest, step size 0": (
        AdaptiveInterest(meta_rate=0.0, offset=np.log(3.0), trace=0.6),
        Linear("forward", bounded=True), ETD(interest=0.75), 0.4,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIMITS)
def test_in_the_limit_each_is_a_known_learner(name: str) -> None:
    rival, known, rule, beta = LIMITS[name]
    np.testing.assert_allclose(errors_of(rival), errors_of(known, rule, beta), rtol=1e-9)
    assert (errors_of(rival) != errors_of(known, rule, beta / 2)).any()


@pytest.mark.parametrize("name", RIVALS)
def test_each_takes_part_in_evaluations(name: str) -> None:
    found = evaluate(
        CORRIDOR, PTD(), Constant(1.0), STEP_SIZES, 20, 2, learner=RIVALS[name], workers=1
    )
    assert np.isfinite(found.errors).all()
    np.testing.assert_array_equal(errors_of(RIVALS[name]), errors_of(RIVALS[name]))


def test_meta_gradients_go_by_the_episode_before_and_the_next() -> None:
    """θ after three episodes of different lengths, by finite differences."""
    walk = tasks.make("random_walk")
    piece = walk.sampler(2).episodes(3)
    steps = Steps.of(piece, stream_coefficients(PTD(), Constant(1.0), piece))
    batch = MetaGradient(meta_rate=0.5, offset=0.3).start(walk.features.size, [0.4], 0)
    batch.learn(steps, walk.scored)
    w, theta, size = np.zeros(walk.features.size), np.zeros(walk.features.size + 1), 0.0
    lessons = [batch.lesson(Episode.of(steps, which)) for which in steps.episodes()]
    assert len({len(lesson.x) for lesson in lessons}) == 3
    old, alphas = w, np.full(max(len(lesson.x) for lesson in lessons), 0.4)
    for before, lesson in zip([None, *lessons], lessons, strict=False):
        if before is not None:
            known = (before, alphas[: len(before.x)], old, lesson)
            found = np.array([
                (reference.error_afterwards(0.3, theta - h, *known)
                - reference.error_afterwards(0.3, theta + h, *known)) / 2e-4
                for h in 1e-4 * np.eye(theta.size)
            ])  # fmt: skip
            size = size + 0.01 * (found @ found - size) if size > 0 else found @ found
            theta = theta + 0.5 / np.sqrt(size) * found
        old, alpha = w, alphas[: len(lesson.x)]
        beta = reference.preferences(0.3, theta, lesson)
        episode = reference.bounded_episode(lesson, beta, alpha, True)
        w = views.forward(w, episode, alpha[:, None])
    np.testing.assert_allclose(batch.beliefs[0, 0], theta, rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(batch.weights[0], w, rtol=1e-3, atol=1e-6)


def test_step_sizes_decrease_over_the_whole_stream() -> None:
    piece = CORRIDOR.sampler(3).episodes(10)
    steps = Steps.of(piece, stream_coefficients(TD(), Constant(0.3), piece))
    fixed, known = LambdaGreedy(least=0.7, most=0.7), Linear("true_online", bounded=True)
    found, expected = (
        learner.start(CORRIDOR.features.size, [Decreasing(0.5, delay=5)], 0).learn(
            steps, CORRIDOR.scored
        )
        for learner in (fixed, known)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_what_follows_a_truncated_episode_is_looked_up() -> None:
    x = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    log = Experience.from_log(
        x, np.ones(3), discount=1.0, terminated=[False] * 3, final=np.array([[1.0, 0.0]])
    )
    steps = Steps.of(log, stream_coefficients(TD(), Constant(1.0), log))
    batch = LambdaGreedy(cells=True).start(2, [0.1], 0)
    lesson = batch.lesson(Episode.of(steps, slice(0, 3)))
    assert lesson.z.argmax(axis=1).tolist() == [0, 0, 1]
    assert lesson.z_next.argmax(axis=1).tolist() == [0, 1, 1]
    final = batch.lesson(Episode.of(steps, slice(0, 3))._replace(next_features=x[[1, 2, 1]]))
    assert final.z_next.argmax(axis=1).tolist() == [2, 1, 2]


def test_what_is_in_cells() -> None:
    cells, seen = Cells(), np.array([[1.0, 0.0], [0.3, 0.2], [1.0, -0.0], [1.0, 0.0], [0.3, 0.2]])
    assert cells.see(seen).argmax(axis=1).tolist() == [0, 0, 1, 1, 2]
    assert cells.look_up(np.array([0.3, 0.2])).tolist() == [0, 0, 1]
    assert cells.look_up(np.array([9.0, 9.0])).tolist() == [1, 0, 0]
    assert cells.look_up(np.array([9.0, 9.0])).tolist() == [1, 0, 0]
    assert cells.see(seen[:1]).tolist() == [[0, 1, 0]]


def test_adaptive_td_deals_episodes_by_the_seed() -> None:
    def learned(seed: int) -> Dense:
        batch = AdaptiveTD().start(CORRIDOR.features.size, STEP_SIZES, seed)
        piece = CORRIDOR.sampler(0).episodes(10)
        steps = Steps.of(piece, stream_coefficients(TD(), Constant(1.0), piece))
        return batch.learn(steps, CORRIDOR.scored)

    np.testing.assert_array_equal(learned(1), learned(1))
    assert (learned(1) != learned(2)).any()


BAD: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (LambdaGreedy, {"rate": 1.1}),
    (LambdaGreedy, {"least": -0.1}),
    (LambdaGreedy, {"cells": "yes"}),
    (AdaptiveTD, {"width": -1.0}),
    (AdaptiveTD, {"members": 1}),
    (MetaGradient, {"meta_rate": -0.1}),
    (MetaGradient, {"offset": np.inf}),
    (LambdaDiscrepancy, {"sharpness": -1.0}),
    (DiscerningTD, {"emphasis": "errors"}),
    (DiscerningTD, {"trace": 2.0}),
]


@pytest.mark.parametrize(("make", "given"), BAD)
def test_a_bad_option_is_refused(make: Callable[..., Any], given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        make(**given)


@pytest.mark.parametrize("bad", [[0.0], [], ["x"]])
def test_a_bad_step_size_is_refused(bad: Sequence[Any]) -> None:
    with pytest.raises(InputError):
        LambdaGreedy().start(3, bad, 0)


def test_an_unfinished_episode_is_refused() -> None:
    log = Experience.from_log(np.eye(3), np.ones(3), discount=1.0, terminated=[False, False, True])
    steps = Steps.of(log, stream_coefficients(TD(), Constant(1.0), log))
    scored = Scored(np.zeros(1, np.int32), np.zeros((0, 3)), np.zeros(1))
    batch = LambdaGreedy().start(3, STEP_SIZES, 0)
    steps = steps._replace(is_last=np.zeros(3, np.bool_))
    with pytest.raises(InputError, match="not over"):
        batch.learn(steps, scored)
