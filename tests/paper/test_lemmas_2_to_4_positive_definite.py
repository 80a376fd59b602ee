"""Lemmas 2 to 4: row and column sums of D B (I − P^β) are positive, so A is positive definite.

The paper says this of A; it is D B (I − P^β), the matrix between the features, that has the sums.
Rows and columns of states with β = 0 are 0, so "positive" holds where β > 0 only, and A is positive
definite only if the features of those states have full column rank.
"""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from preftd import ETD, PTD, TD, MarkovRewardProcess
from preftd._src.arrays import Dense
from preftd.theory import diagnose, key_matrix, operator
from random_problems import RandomProblem, chain, problems


def between_features(problem: RandomProblem) -> Dense:
    """D B (I − P^β)."""
    transition = np.asarray(operator(problem.process, PTD(), problem.beta).transition)
    weights = problem.visits * problem.beta
    return np.asarray(weights[:, None] * (np.eye(weights.size) - transition))


@given(problems(constant_discount=True))
def test_lemma_2_rows_and_diagonal_are_positive(problem: RandomProblem) -> None:
    matrix, preferred = between_features(problem), problem.beta > 0
    assert (matrix.sum(axis=1)[preferred] > 0).all()
    assert (np.diag(matrix)[preferred] > 0).all()
    assert np.abs(matrix[~preferred]).max(initial=0) == 0


@given(problems(constant_discount=True))
def test_lemma_3_columns_are_positive(problem: RandomProblem) -> None:
    matrix, preferred = between_features(problem), problem.beta > 0
    assert (matrix.sum(axis=0)[preferred] > 0).all()
    np.testing.assert_allclose(matrix.sum(axis=0)[~preferred], 0, atol=1e-12)


@given(problems())
def test_lemmas_2_and_3_hold_weakly_for_any_discounts(problem: RandomProblem) -> None:
    """With undiscounted steps and terminations, sums may be 0 but not negative."""
    matrix = between_features(problem)
    assert matrix.sum(axis=1).min() > -1e-12
    assert matrix.sum(axis=0).min() > -1e-12


@given(st.integers(0, 2**32 - 1))
def test_lemma_3_column_sums_vanish_as_the_discount_goes_to_1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    P, beta, tiny = chain(rng, 5), rng.uniform(0.1, 1, 5), 1e-7
    process = MarkovRewardProcess(P, 0, 1 - tiny)
    found = diagnose(process, np.eye(5), PTD(), beta)
    # d B P^β ≥ d B − (1 − γ) (expected steps to a bootstrap), and those are at most 1 / min β.
    assert (found.column_sums > 0).all()
    assert found.column_sums.max() < tiny / beta.min() + 1e-12


@given(problems())
def test_the_diagnosis_reports_the_same_sums(problem: RandomProblem) -> None:
    matrix = between_features(problem)
    found = diagnose(problem.process, problem.features, PTD(), problem.beta)
    np.testing.assert_allclose(found.row_sums, matrix.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(found.column_sums, matrix.sum(axis=0), atol=1e-10)


@given(problems())
def test_lemma_4_the_key_matrix_is_positive_definite_where_determined(
    problem: RandomProblem,
) -> None:
    found = diagnose(problem.process, problem.features, PTD(), problem.beta)
    assert found.positive_definite
    assert found.stable
    A = found.key.A
    x = np.random.default_rng(3).normal(size=(100, problem.features.size))
    assert np.einsum("ni,ij,nj->n", x, A, x).min() > -1e-9
    # Singular exactly along the directions that no preferred state shows.
    np.testing.assert_allclose(A @ found.undetermined, 0, atol=1e-9)
    np.testing.assert_allclose(A.T @ found.undetermined, 0, atol=1e-9)


@given(problems(noise=False))
def test_full_column_rank_of_all_features_is_not_enough(problem: RandomProblem) -> None:
    """Assumption 1 asks for the rank of Φ; what counts is that of the rows with β > 0."""
    states = problem.beta.size
    beta = np.where(np.arange(states) == 0, 0.0, problem.beta)
    A = key_matrix(problem.process, np.eye(states), PTD(), beta).A
    assert np.linalg.matrix_rank(np.eye(states)) == states
    # Nothing of the first weight is ever updated, and nothing depends on it.
    np.testing.assert_array_equal(A[0], 0)
    np.testing.assert_allclose(A[:, 0], 0, atol=1e-14)


@given(problems())
def test_emphatic_column_sums_are_visits_times_interest(problem: RandomProblem) -> None:
    """What makes Emphatic TD converge: no column sum can be negative, whatever β is."""
    found = diagnose(problem.process, problem.features, ETD(problem.interest), problem.beta)
    np.testing.assert_allclose(found.column_sums, problem.visits * problem.interest, atol=1e-9)


@given(problems(noise=False), st.floats(0, 1))
def test_td_with_one_lambda_for_all_states_is_positive_definite(
    problem: RandomProblem, lambda_: float
) -> None:
    found = diagnose(problem.process, problem.features, TD(), lambda_=lambda_)
    assert found.positive_definite
