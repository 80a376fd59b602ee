"""Least squares: exact where the sample is exact, near the fixed point where it is not."""

import numpy as np
import pytest

from learners.least_squares_cases import add_episode, feed, modes, rules, same, solution, stream
from preftd import (
    ETD,
    PTD,
    TD,
    Experience,
    Features,
    InputError,
    MarkovRewardProcess,
    Task,
    tasks,
)
from preftd._src.arrays import Dense, Vector
from preftd.experience import Indices
from preftd.learners import Episode, LeastSquares, LeastSquaresLearner, LinearLearner, Steps
from preftd.preferences import Observability
from preftd.rules import RULES, stream_coefficients
from preftd.theory import diagnose, fixed_point, key_matrix

LIMIT = 5.0
"""Standard errors; by chance one entry in two million is further off."""

RNG = np.random.default_rng(5)
BETA = np.array([1.0, 0.3, 0.0, 0.6, 0.8])
INTEREST = np.array([0.5, 0.0, 1.0, 0.2, 0.7])


# --- the right answer -------------------------------------------------------------------------


@rules
def test_on_a_chain_without_chance_one_episode_gives_the_values(name: str) -> None:
    reward, gamma = RNG.normal(size=5), 0.9
    values = np.zeros(6)
    for s in reversed(range(5)):
        values[s] = reward[s] + gamma * values[s + 1]
    learner = LeastSquaresLearner(5, RULES[name](1.0), regularisation=0)
    for s in range(5):
        discount = gamma if s < 4 else 0.0
        after = min(s + 1, 4)
        x, y = Indices([s]), Indices([after])
        learner.update(x, reward[s], y, discount=discount, beta=0.2 + 0.2 * s)
    np.testing.assert_allclose(learner.weights, values[:5], rtol=0, atol=1e-9)


@rules
@modes
def test_a_period_of_a_cycle_adds_the_exact_key_matrix(name: str, recursive: bool) -> None:
    """A cycle is a sample without chance: once the trace has settled, sums are expectations."""
    process = MarkovRewardProcess(np.roll(np.eye(5), 1, axis=1), RNG.normal(size=5), 0.8)
    phi, rule = RNG.normal(size=(5, 3)), RULES[name](INTEREST)
    learner = LeastSquaresLearner(3, rule, regularisation=1e-6, recursive=recursive)

    def go_round(times: int) -> None:
        for t in range(5 * times):
            s, after = t % 5, (t + 1) % 5
            here = {"beta": BETA[s], "interest": INTEREST[s]}
            learner.update(phi[s], process.reward[s], phi[after], discount=0.8, **here)

    def system() -> tuple[Dense, Vector]:
        state = learner.state_dict()
        if not recursive:
            return state["A"], state["b"]
        A = np.linalg.inv(state["inverse"])
        return A, A @ state["weights"]

    go_round(60)
    A, b = system()
    go_round(20)
    exact, tolerance = key_matrix(process, phi, rule, BETA), 1e-7 if recursive else 1e-11
    np.testing.assert_allclose((system()[0] - A) / 100, exact.A, rtol=0, atol=tolerance)
    np.testing.assert_allclose((system()[1] - b) / 100, exact.b, rtol=0, atol=tolerance)


def random_chain() -> Task:
    """Four states with two features, two of the states showing noisy ones."""
    rng = np.random.default_rng(8)
    P = rng.dirichlet(np.full(4, 0.8), 4)
    rows = [(s, 0, P[s, t], t, float(s == 2) - 0.5 * (t == 1)) for s in range(4) for t in range(4)]
    features = Features(rng.normal(size=(4, 2)), covariance=[0.0, 0.5, 0.0, 1.0])
    return Task("a random chain", rows, features, 0.8)


def samples(task: Task, name: str, beta: Vector, interest: Vector) -> Dense:
    """Weights after 6,000 steps of each of 40 seeds."""
    weights = []
    for seed in range(40):
        learner = LeastSquaresLearner(task.features.size, RULES[name](interest))
        e = task.sampler(seed).steps(6_000)
        assert e.state is not None
        learner.learn(e, beta=beta[e.state], interest=interest[e.state])
        weights.append(learner.weights)
    return np.array(weights)


@rules
@pytest.mark.parametrize("kind", ["chain", "corridor"])
def test_sampled_weights_lie_within_their_interval_of_the_fixed_point(name: str, kind: str) -> None:
    task = random_chain() if kind == "chain" else tasks.make("corridor", length=3)
    beta = np.resize(BETA, task.states) if kind == "chain" else np.where(task.observable, 1.0, 0.5)
    interest = np.resize(INTEREST, task.states) + 0.1
    drawn = samples(task, name, beta, interest)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    exact = fixed_point(task.process, task.features, RULES[name](interest), beta)
    assert np.abs((drawn.mean(axis=0) - exact) / error).max() < LIMIT
    # The interval is narrow enough to mean something: without the noise it is missed by far.
    assert error.max() < 0.02 * np.abs(exact).max()
    means_only = Features(task.features.mean)
    if name == "td":
        wrong = fixed_point(task.process, means_only, RULES[name](interest), beta)
        assert np.abs((drawn.mean(axis=0) - wrong) / error).max() > 4 * LIMIT


def test_it_finds_the_fixed_point_where_td_diverges() -> None:
    """The second counterexample, with rewards, so that the fixed point is not 0."""
    process = MarkovRewardProcess([[0, 1], [1, 0]], [1.0, -2.0], 0.95)
    beta, phi = np.array([1.0, 0.01]), np.array([[3.0, 1.0], [1.0, 1.0]])
    exact = fixed_point(process, phi, TD(), beta)
    assert not diagnose(process, phi, TD(), beta).stable
    squares, descent = LeastSquaresLearner(2, TD(), regularisation=0), LinearLearner(2, TD(), 0.01)
    for t in range(8000):
        s, after = t % 2, (t + 1) % 2
        for learner in (squares, descent):
            learner.update(phi[s], process.reward[s], phi[after], discount=0.95, beta=beta[s])
    np.testing.assert_allclose(squares.weights, exact, rtol=1e-9)
    assert np.abs(descent.weights - exact).max() > 100 * np.abs(exact).max()


# --- ways to the same answer ------------------------------------------------------------------


@rules
@modes
@pytest.mark.parametrize("seed", range(3))
def test_learning_a_stream_in_pieces_is_learning_step_by_step(
    name: str, recursive: bool, seed: int
) -> None:
    e, rng = stream(seed), np.random.default_rng(seed)
    signals = {
        "beta": rng.random(60),
        "interest": rng.random(60),
        "rho": rng.choice([0.5, 1.0, 2.0], 60),
    }
    rule = RULES[name](0.7)
    one = LeastSquaresLearner(4, rule, regularisation=1.0, recursive=recursive)
    two = LeastSquaresLearner(4, rule, regularisation=1.0, recursive=recursive)
    for piece in (slice(0, 7), slice(7, 8), slice(8, 8), slice(8, 60)):
        two.learn(e[piece], **{key: signal[piece] for key, signal in signals.items()})
    feed(one, e, **signals)
    for key, expected in one.state_dict().items():
        scale = np.abs(expected).max() if np.size(expected) else 0.0
        got = two.state_dict()[key]
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12 * (1 + scale), err_msg=key)


@rules
def test_steps_may_go_on_where_a_stream_stopped(name: str) -> None:
    e, rule, beta = stream(3), RULES[name](0.7), np.full(60, 0.25)
    middle = int(np.flatnonzero(~e.is_first & (np.arange(60) > 20))[0])
    one, two = (LeastSquaresLearner(4, rule) for _ in range(2))
    feed(one, e, beta)
    two.learn(e[:middle], beta=0.25)
    feed(two, e[middle:], beta[middle:])
    np.testing.assert_allclose(two.state_dict()["A"], one.state_dict()["A"], rtol=0, atol=1e-11)


def test_long_streams_are_learned_in_blocks_that_join(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, parts = LeastSquaresLearner(4, ETD()), LeastSquaresLearner(4, ETD())
    whole.learn(stream(1), beta=0.4)
    monkeypatch.setattr("preftd._src.learners.least_squares.systems.BLOCK", 28)
    parts.learn(stream(1), beta=0.4)
    np.testing.assert_allclose(parts.state_dict()["A"], whole.state_dict()["A"], rtol=1e-12)


@rules
@pytest.mark.parametrize("regularisation", [1e-3, 1.0])
def test_recursive_is_batch(name: str, regularisation: float) -> None:
    e, beta = stream(2, steps=2000), np.random.default_rng(2).random(2000)
    batch, recursive = (
        LeastSquaresLearner(4, RULES[name](1.0), regularisation=regularisation, recursive=kind)
        for kind in (False, True)
    )
    feed(batch, e, beta)
    feed(recursive, e, beta)
    np.testing.assert_allclose(recursive.weights, batch.weights, rtol=1e-8)
    state = batch.state_dict()
    expected = np.linalg.solve(state["A"] + regularisation * np.eye(4), state["b"])
    np.testing.assert_allclose(batch.weights, expected, rtol=1e-12)


@modes
def test_indices_of_ones_are_vectors(recursive: bool) -> None:
    by_index, by_vector = (LeastSquaresLearner(5, PTD(), recursive=recursive) for _ in range(2))
    by_index.update(Indices([0, 4, 4]), 1.0, Indices([1]), discount=0.9, beta=0.5)
    by_vector.update([1.0, 0, 0, 0, 2], 1.0, [0.0, 1, 0, 0, 0], discount=0.9, beta=0.5)
    assert same(by_index.state_dict(), by_vector.state_dict())
    w = by_index.weights
    assert by_index.predict(Indices([0, 4, 4])) == pytest.approx(w[0] + 2 * w[4])
    assert by_index.predict([1.0, 0, 0, 0, 2]) == pytest.approx(w[0] + 2 * w[4])
    np.testing.assert_allclose(by_index.predict(np.eye(5)), w)


@modes
def test_regularisation_pulls_weights_to_0(recursive: bool) -> None:
    sizes = []
    for regularisation in (1e-3, 10.0, 1e3, 1e9):
        learner = LeastSquaresLearner(4, TD(), regularisation=regularisation, recursive=recursive)
        learner.learn(stream(4), beta=1.0)
        sizes.append(float(np.linalg.norm(learner.weights)))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > 0.1
    assert 0 < sizes[-1] < 1e-6


@modes
def test_an_episode_that_is_left_ends_as_if_truncated(recursive: bool) -> None:
    left, cut = (LeastSquaresLearner(2, TD(), recursive=recursive) for _ in range(2))
    for learner, truncated in ((left, False), (cut, True)):
        learner.update([1.0, 0.0], 1.0, [0.5, 1.0], discount=0.5, beta=1.0, truncated=truncated)
        other = Experience.from_log([[0.0, 1.0]], [2.0], discount=0.5, terminated=[1])
        learner.learn(other, beta=1.0)
    np.testing.assert_array_equal(left.weights, cut.weights)


def test_what_no_update_has_seen_is_left_at_0() -> None:
    task = tasks.make("corridor", length=3)
    shown = np.eye(task.states)
    e = task.sampler(0).episodes(20)
    learner = LeastSquaresLearner(task.states, PTD(), regularisation=0)
    x = Experience.from_log(
        shown[e.state], e.reward, discount=task.discount, terminated=e.discount_tp1 == 0
    )
    feed(learner, x, task.observable[e.state].astype(np.float64))
    assert np.abs(learner.weights[~task.observable]).max() < 1e-9
    assert np.abs(learner.weights).max() < 10


def test_of_many_solutions_the_least_is_given() -> None:
    """A third feature that is a mixture of the others, but for rounding, adds nothing."""
    e = stream(7, steps=3000, size=2)
    mixed = np.array([[1.0, 0.0, 0.3], [0.0, 1.0, 0.7]])
    one, two = (LeastSquaresLearner(n, TD(), regularisation=0) for n in (2, 3))
    one.learn(e, beta=0.3)
    x, y = e.features() @ mixed, e.next_features() @ mixed
    for t in range(len(e)):
        more = {"discount": e.discount_tp1[t], "beta": 0.3, "truncated": bool(e.is_last[t])}
        two.update(x[t], e.reward[t], y[t], **more)
    np.testing.assert_allclose(two.weights, np.linalg.pinv(mixed) @ one.weights, atol=1e-10)


# --- in a study -------------------------------------------------------------------------------


@rules
@modes
def test_in_a_study_the_system_is_solved_after_each_episode(name: str, recursive: bool) -> None:
    """As by the readable reference, and as by a learner that is given the episodes."""
    task, rule = tasks.make("cross_grid", size=3), RULES[name](0.3)
    spec, sampler = LeastSquares(0.1, recursive), task.sampler(0)
    batch, learner = spec.start(9, [None], 0), spec.learner(9, rule)
    A, b, phi = np.zeros((9, 9)), np.zeros(9), task.features.columns(slice(None))[task.observable]
    for count in (1, 3):
        taken = sampler.episodes(count)
        steps = Steps.of(taken, stream_coefficients(rule, Observability(1.0, 0.2), taken))
        errors = batch.learn(steps, task.scored)
        assert errors.shape == (count, 1)
        for episode, which in enumerate(steps.episodes()):
            A, b = add_episode(A, b, Episode.of(steps, which))
            learner.learn(taken[which], Observability(1.0, 0.2))
            weights = solution(A, b, 0.1)
            np.testing.assert_allclose(learner.weights, weights, rtol=0, atol=1e-8)
            miss = phi @ weights - task.values[task.observable]
            assert errors[episode, 0] == pytest.approx((miss**2).mean(), rel=1e-6)


def test_it_has_no_step_size() -> None:
    assert not LeastSquares().takes_step_size
    assert (LeastSquares().label, LeastSquares(recursive=True).label) == (
        "least squares",
        "recursive least squares",
    )
    with pytest.raises(InputError, match="has no step size"):
        LeastSquares().start(3, [0.1], 0)
    with pytest.raises(InputError, match="has none, leave it out"):
        LeastSquares().learner(3, TD(), 0.1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="more than 0 if recursive"):
        LeastSquares(0, recursive=True)
