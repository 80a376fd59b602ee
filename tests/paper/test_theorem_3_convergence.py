"""Theorem 3: expected updates of PTD converge to one fixed point of no projected error."""

import numpy as np
from hypothesis import assume, given

from preftd import PTD
from preftd.theory import (
    diagnose,
    fixed_point,
    mean_trajectory,
    operator,
    project,
    projected_bellman_error,
)
from random_problems import RandomProblem, problems, rule_names


@given(problems())
def test_expected_updates_reach_the_fixed_point_at_a_constant_step_size(
    problem: RandomProblem,
) -> None:
    found = diagnose(problem.process, problem.features, PTD(), problem.beta)
    assert found.fixed_point is not None
    alpha = min(found.largest_step_size / 2, 1e3)
    factors = np.abs(1 - alpha * found.eigenvalues)
    slowest = factors.max(initial=0.0)
    assert slowest < 1
    assume(slowest < 0.995)
    start = np.random.default_rng(5).normal(size=problem.features.size)
    end = mean_trajectory(found.key, alpha, 5000, start)[-1]
    # Directions that no preferred state shows stay where they began.
    untouched = found.undetermined @ np.linalg.lstsq(found.undetermined, start, rcond=None)[0]
    np.testing.assert_allclose(end, found.fixed_point + untouched, atol=1e-7)


@given(problems())
def test_expected_updates_reach_the_fixed_point_under_a_robbins_monro_schedule(
    problem: RandomProblem,
) -> None:
    found = diagnose(problem.process, problem.features, PTD(), problem.beta)
    assume(found.eigenvalues.size > 0 and found.undetermined.shape[1] == 0)
    slowest = found.eigenvalues.real.min()
    assume(np.abs(found.eigenvalues).max() / slowest < 30)
    # Σ α_t = ∞ and Σ α_t² < ∞; the distance then falls like t^(−2) or faster.
    begin = np.ceil(4 * np.abs(found.eigenvalues).max() / slowest)
    step_sizes = 2 / slowest / (np.arange(4000) + begin)
    end = mean_trajectory(found.key, step_sizes, 4000)[-1]
    assert found.fixed_point is not None
    distance = np.linalg.norm(end - found.fixed_point)
    assert distance < 1e-2 * max(float(np.linalg.norm(found.fixed_point)), 1e-12)


@given(problems(), rule_names)
def test_the_projected_bellman_error_at_the_fixed_point_is_0(
    problem: RandomProblem, name: str
) -> None:
    rule, beta = problem.rule(name), problem.beta
    found = diagnose(problem.process, problem.features, rule, beta)
    assume(found.positive_definite and found.fixed_point is not None)
    assume(found.fixed_point is not None and np.abs(found.fixed_point).max(initial=0) < 1e4)
    process, features = problem.process, problem.features
    w = fixed_point(process, features, rule, beta)
    scale = projected_bellman_error(process, features, rule, w + 1, beta)
    error = projected_bellman_error(process, features, rule, w, beta)
    assert error <= 1e-12 * max(scale, 1.0)


@given(problems(noise=False))
def test_the_projected_bellman_error_is_the_norm_it_claims_to_be(problem: RandomProblem) -> None:
    """‖Π (T^β Φw − Φw)‖²_D, with Π applied to the operator's step."""
    w = np.random.default_rng(6).normal(size=problem.features.size)
    v = problem.phi @ w
    step = operator(problem.process, PTD(), problem.beta)(v) - v
    projected = project(problem.process, problem.features, step)
    norm = float(problem.visits @ projected**2)
    error = projected_bellman_error(problem.process, problem.features, PTD(), w, problem.beta)
    np.testing.assert_allclose(error, norm, rtol=1e-6, atol=1e-12)
