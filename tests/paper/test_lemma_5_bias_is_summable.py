"""Lemma 5: from any start, Σ_t ‖E[A_t] − A‖ and Σ_t ‖E[b_t] − b‖ are finite."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preftd import MarkovRewardProcess
from preftd._src.arrays import Dense
from preftd._src.tasks.chains import LAMBDAS
from preftd.rules import RULES
from preftd.tasks import make
from preftd.theory import key_matrices_over_time, key_matrix
from random_problems import chain, preference

GAMMA = 0.9


def problem(seed: int) -> tuple[MarkovRewardProcess, Dense, Dense]:
    """A chain that mixes, started in state 0; features; β with zeros and ones."""
    rng = np.random.default_rng(seed)
    P = 0.8 * chain(rng, 4) + 0.2 / 4
    process = MarkovRewardProcess(P, rng.normal(size=4), GAMMA, start=[1, 0, 0, 0])
    return process, rng.normal(size=(4, 3)), preference(rng, 4)


@pytest.mark.parametrize("name", sorted(RULES))
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_sum_of_deviations_is_bounded_by_a_geometric_series(name: str, seed: int) -> None:
    process, features, beta = problem(seed)
    rule = RULES[name](1.0)
    exact = key_matrix(process, features, rule, beta)
    over_time = list(islice(key_matrices_over_time(process, features, rule, beta), 400))
    for deviations in (
        np.array([np.linalg.norm(a.A - exact.A) for a in over_time]),
        np.array([np.linalg.norm(a.b - exact.b) for a in over_time]),
    ):
        # Mixing (0.8) and discounting (0.9) both shrink deviations; t of them compete in E[A_t].
        rate = 0.95
        bound = deviations[:50].max() / rate**50 * rate ** np.arange(400)
        assert (deviations <= bound + 1e-11).all()
        assert deviations[-1] < 1e-11 * max(1.0, deviations.max())


@given(st.integers(0, 2**32 - 1))
def test_the_expectation_at_time_t_is_a_sum_over_past_distributions(seed: int) -> None:
    """E[A_t] = Σ_k Φᵀ D_{t−k} B (PγC)^k (I − Pγ) Φ.

    Printed: the same with D_t in every term, which is another matrix; the proof's bound survives,
    because D_{t−k} too approaches D at rate ρ^{t−k}.
    """
    process, features, beta = problem(seed)
    P, t = np.asarray(process.transition), 3
    going_on = GAMMA * P * (1 - beta)
    right = (np.eye(4) - GAMMA * P) @ features
    d = [np.eye(4)[0]]
    for _ in range(t):
        d.append(d[-1] @ P)

    def summed(use: list[int]) -> Dense:
        terms = [
            features.T @ np.diag(d[use[k]] * beta) @ np.linalg.matrix_power(going_on, k) @ right
            for k in range(t + 1)
        ]
        return np.asarray(sum(terms))

    found = next(
        islice(key_matrices_over_time(process, features, RULES["ptd"](1.0), beta), t, None)
    )
    np.testing.assert_allclose(found.A, summed([t - k for k in range(t + 1)]), atol=1e-12)
    if beta.min() < 1 and (beta > 0).any() and 0 < beta[0] < 1:
        assert np.abs(found.A - summed([t] * (t + 1))).max() > 1e-6


def test_a_periodic_chain_never_settles_so_the_assumption_of_mixing_is_needed() -> None:
    """Counterexample 2 of the paper is such a chain: Assumption 2 does not hold for it."""
    example = make("counterexample_2")
    process = MarkovRewardProcess(example.process.transition, 0, 0.95, start=[1, 0])
    rule, beta = RULES["ptd"](1.0), 1 - np.array(LAMBDAS["counterexample_2"])
    exact = key_matrix(process, example.features, rule, beta).A
    over_time = islice(key_matrices_over_time(process, example.features, rule, beta), 1000, 1010)
    assert min(np.linalg.norm(a.A - exact) for a in over_time) > 0.1
