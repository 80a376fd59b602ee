"""Projection, errors and time, with random features; and what theory refuses."""

from collections.abc import Callable
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings

from preftd import ETD, PTD, TD, InputError, MarkovRewardProcess, tasks
from preftd.theory import (
    KeyMatrix,
    diagnose,
    key_matrices_over_time,
    key_matrix,
    mean_trajectory,
    operator,
    project,
    projected_bellman_error,
    report,
    value_error,
)
from random_problems import RandomProblem, problems, rule_names


@given(problems())
def test_projection_minimises_the_expected_squared_error(problem: RandomProblem) -> None:
    """E (φᵀw − v)² over visits and over what they show: no other weights do better."""
    process, features = problem.process, problem.features
    best = project(process, features, process.values)
    weights = np.linalg.lstsq(problem.phi, best, rcond=None)[0]
    least = value_error(process, features, weights)
    rng = np.random.default_rng(0)
    for _ in range(10):
        other = weights + 0.1 * rng.normal(size=weights.size)
        assert value_error(process, features, other) >= least - 1e-9 * max(1.0, least)


@given(problems())
def test_the_projected_bellman_error_weighs_by_what_is_shown(problem: RandomProblem) -> None:
    """(b − A w)ᵀ (Φᵀ D Φ + Σ d Σ_s)⁺ (b − A w)."""
    w = np.random.default_rng(1).normal(size=problem.features.size)
    A, b = key_matrix(problem.process, problem.features, PTD(), problem.beta)
    square = problem.phi.T @ (problem.visits[:, None] * problem.phi)
    square += problem.features.mean_covariance(problem.visits)
    expected = (b - A @ w) @ np.linalg.pinv(square, hermitian=True) @ (b - A @ w)
    found = projected_bellman_error(problem.process, problem.features, PTD(), w, problem.beta)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-12)


@settings(max_examples=25)
@given(problems(constant_discount=True), rule_names)
def test_expectations_from_the_long_run_are_settled_after_the_trace_is(
    problem: RandomProblem, name: str
) -> None:
    """Started where the chain often is, E[A_t] only waits for the trace to fill."""
    rule, beta = problem.rule(name), problem.beta
    exact = key_matrix(problem.process, problem.features, rule, beta)
    over_time = key_matrices_over_time(problem.process, problem.features, rule, beta)
    late = next(islice(over_time, 900, None))
    np.testing.assert_allclose(late.A, exact.A, atol=1e-8 * max(1.0, np.abs(exact.A).max()))
    np.testing.assert_allclose(late.b, exact.b, atol=1e-8 * max(1.0, np.abs(exact.b).max()))


def test_weights_that_overflow_stay_infinite() -> None:
    """Not NaN, which infinite weights subtracted from each other would be."""
    key = KeyMatrix(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2))
    found = mean_trajectory(key, 1e200, 5)
    assert np.isfinite(found[:2]).all()
    assert np.isinf(found[-1]).all()


def test_a_report_of_weights_whose_squares_overflow() -> None:
    process = MarkovRewardProcess([[1]], 1e99, 0.0)
    assert "converges" in str(diagnose(process, [[1e-100]], PTD(), 1.0))


def test_a_state_that_is_left_for_good_is_updated_by_its_own_interest_only() -> None:
    """Nothing leads there, so the follow-on at state 0 is its interest, whatever β is."""
    process = MarkovRewardProcess([[0, 1], [0, 1]], [1, 2], 0.5)
    assert process.stationary_distribution.tolist() == [0, 1]
    # From 0: reward 1, then half of what is bootstrapped from state 1, whose value is taken as 6.
    target = operator(process, ETD(interest=[0.25, 1]), beta=1)([0, 6])
    np.testing.assert_allclose(target[0], 0 + 0.25 * ((1 + 0.5 * 6) - 0))


CHAIN = MarkovRewardProcess([[0.5, 0.5], [0.5, 0.5]], 0, 0.9)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: diagnose(CHAIN, np.eye(2), TD, 1), r"give an instance, such as PTD\(\)"),  # type: ignore[arg-type]
        (lambda: diagnose(tasks.make("corridor"), np.eye(2), TD(), 1), "a task's .process"),  # type: ignore[arg-type]
        (lambda: operator(CHAIN, TD()), "beta and lambda_ .* are both given or both missing"),
        (lambda: operator(CHAIN, TD(), 1)([1, 2, 3]), "values has shape"),
        (lambda: value_error(CHAIN, np.eye(2), [1]), "weights has shape"),
        (lambda: value_error(CHAIN, np.eye(2), [1, 2], over=[0, 0]), "over is 0 everywhere"),
        (lambda: key_matrix(CHAIN, np.eye(3), TD(), 1), "features has 3 rows"),
        (lambda: mean_trajectory(KeyMatrix(np.eye(1), np.ones(1)), 0.1, -1), "steps is -1"),
        (lambda: mean_trajectory(KeyMatrix(np.eye(1), np.ones(1)), [0.1], 3), "give one number"),
    ],
)
def test_what_cannot_be_answered_is_said(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()


def test_a_report_takes_one_diagnosis_or_several() -> None:
    found = diagnose(CHAIN, np.eye(2), TD(), 1)
    assert report(found) == report([found]) == str(found)
