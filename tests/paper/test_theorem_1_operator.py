"""Theorem 1: the expected target of the forward view is T^β."""

import numpy as np
from hypothesis import given

from preftd import PTD
from preftd.theory import operator
from random_problems import RandomProblem, problems, rule_names


@given(problems())
def test_the_operator_is_the_series_of_the_proof(problem: RandomProblem) -> None:
    """(I − B) v + B (r + PγB v + PγC r + PγC PγB v + …), summed term by term."""
    rng = np.random.default_rng(0)
    v, beta, kept = rng.normal(size=problem.beta.size), problem.beta, problem.kept
    term = problem.process.reward + kept @ (beta * v)
    total = np.zeros_like(v)
    for _ in range(2000):
        total += term
        term = kept @ ((1 - beta) * term)
    expected = (1 - beta) * v + beta * total
    np.testing.assert_allclose(operator(problem.process, PTD(), beta)(v), expected, atol=1e-9)


@given(problems(), rule_names)
def test_true_values_are_a_fixed_point_for_every_rule(problem: RandomProblem, name: str) -> None:
    T = operator(problem.process, problem.rule(name), problem.beta)
    np.testing.assert_allclose(T(problem.process.values), problem.process.values, atol=1e-9)


@given(problems())
def test_the_transition_matrix_is_its_series(problem: RandomProblem) -> None:
    """P^β = Σ_k (PγC)^k PγB, with rows that sum to at most 1."""
    beta, kept = problem.beta, problem.kept
    term, total = kept * beta, np.zeros_like(kept)
    for _ in range(2000):
        total += term
        term = kept @ ((1 - beta)[:, None] * term)
    transition = np.asarray(operator(problem.process, PTD(), beta).transition)
    np.testing.assert_allclose(transition, total, atol=1e-9)
    assert transition.min() > -1e-12
    assert transition.sum(axis=1).max() < 1 + 1e-12
