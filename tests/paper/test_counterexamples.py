"""Both counterexamples: TD(λ) diverges and PTD converges, in the key matrix.

Simulations of the same are tested with the report that draws them. Where a printed number is not
the right one, both stand here: what is computed, and what is printed.
"""

import numpy as np

from preftd import PTD, TD
from preftd._src.tasks.chains import LAMBDAS
from preftd.tasks import Features, MarkovRewardProcess, make
from preftd.theory import diagnose, key_matrix, mean_trajectory


def example(number: int) -> tuple[MarkovRewardProcess, Features, tuple[float, float]]:
    """Chain, features and λ."""
    task = make(f"counterexample_{number}")
    return task.process, task.features, LAMBDAS[f"counterexample_{number}"]


def test_counterexample_1_td_matrix_is_as_printed() -> None:
    process, features, lambda_ = example(1)
    A = key_matrix(process, features, TD(), lambda_=lambda_).A
    np.testing.assert_allclose(A, [[-0.0429]], atol=5e-5)


def test_counterexample_1_ptd_matrix_is_0_00997_not_0_009() -> None:
    """Printed 0.009, which is the matrix for λ(s₀) = 1, the original example: 0.00917."""
    process, features, lambda_ = example(1)
    np.testing.assert_allclose(
        key_matrix(process, features, PTD(), lambda_=lambda_).A, [[0.00997]], atol=5e-6
    )
    np.testing.assert_allclose(
        key_matrix(process, features, PTD(), lambda_=[1, 0.8]).A, [[0.00917]], atol=5e-6
    )


def test_counterexample_2_matrices_are_as_printed_but_for_one_entry() -> None:
    """TD(λ), entry (0, 1): 0.1705; printed 0.15."""
    process, features, lambda_ = example(2)
    td = key_matrix(process, features, TD(), lambda_=lambda_).A
    ptd = key_matrix(process, features, PTD(), lambda_=lambda_).A
    np.testing.assert_allclose(td, [[-0.46, 0.1705], [-0.77, 0.07]], atol=5e-3)
    np.testing.assert_allclose(td[0, 1], 0.1705, atol=5e-5)
    np.testing.assert_allclose(ptd, [[0.46, 0.15], [0.15, 0.05]], atol=5e-3)


def test_td_diverges_and_ptd_converges_on_both() -> None:
    for process, features, lambda_ in (example(1), example(2)):
        td = diagnose(process, features, TD(), lambda_=lambda_)
        ptd = diagnose(process, features, PTD(), lambda_=lambda_)
        assert not td.stable
        assert td.largest_step_size == 0
        assert td.column_sums.min() < 0
        assert ptd.stable
        assert ptd.positive_definite
        start = np.ones(features.size)
        away = mean_trajectory(td.key, 0.01, 50_000, start)[-1]
        back = mean_trajectory(ptd.key, ptd.largest_step_size / 2, 50_000, start)[-1]
        assert np.linalg.norm(away) > 1e6
        assert np.linalg.norm(back) < 1e-6
