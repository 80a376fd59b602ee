"""Theorem 2: forward and backward views agree in expectation, b − A w = Φᵀ D (T Φw − Φw)."""

import numpy as np
from hypothesis import given

from preftd.theory import key_matrix, operator
from random_problems import RandomProblem, problems, rule_names


@given(problems(noise=False), rule_names)
def test_the_expected_update_is_the_projected_step_towards_the_target(
    problem: RandomProblem, name: str
) -> None:
    w = np.random.default_rng(1).normal(size=problem.features.size)
    rule = problem.rule(name)
    A, b = key_matrix(problem.process, problem.features, rule, problem.beta)
    v = problem.phi @ w
    step = operator(problem.process, rule, problem.beta)(v) - v
    forward = problem.phi.T @ (problem.visits * step)
    np.testing.assert_allclose(b - A @ w, forward, atol=1e-10)


@given(problems(noise=False))
def test_ptd_in_the_words_of_the_appendix(problem: RandomProblem) -> None:
    """A = Φᵀ D B (I − P^β) Φ and b = Φᵀ D B (I − PγC)⁻¹ r, with plain inverses."""
    phi, kept, beta = problem.phi, problem.kept, problem.beta
    identity = np.eye(beta.size)
    inverse = np.linalg.inv(identity - kept * (1 - beta))
    weighted = phi.T * (problem.visits * beta)
    A, b = key_matrix(problem.process, problem.features, problem.rule("ptd"), beta)
    np.testing.assert_allclose(A, weighted @ (identity - inverse @ (kept * beta)) @ phi, atol=1e-10)
    np.testing.assert_allclose(b, weighted @ inverse @ problem.process.reward, atol=1e-10)
