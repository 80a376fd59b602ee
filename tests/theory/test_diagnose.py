"""The diagnosis: its verdicts are right, and its remedies work."""

import re

import numpy as np
import pytest
from hypothesis import given

from preftd import ETD, PTD, TD, Features, InputError, MarkovRewardProcess
from preftd.preferences import Constant
from preftd.rules import RULES
from preftd.tasks import make
from preftd.theory import compare, diagnose, fixed_point, mean_trajectory, report, value_error
from random_problems import RandomProblem, problems, rule_names


def counterexample() -> tuple[MarkovRewardProcess, Features, list[float]]:
    """The first: TD(λ) diverges on it."""
    task = make("counterexample_1")
    return task.process, task.features, [0.99, 0.8]


@given(problems(), rule_names)
def test_the_largest_step_size_divides_convergence_from_divergence(
    problem: RandomProblem, name: str
) -> None:
    found = diagnose(problem.process, problem.features, problem.rule(name), problem.beta)
    if found.stable and np.isfinite(found.largest_step_size):
        below = np.abs(1 - 0.999 * found.largest_step_size * found.eigenvalues)
        above = np.abs(1 - 1.001 * found.largest_step_size * found.eigenvalues)
        assert below.max() < 1 < above.max()
    if not found.stable:
        for alpha in (1e-6, 1e-3, 1.0):
            assert np.abs(1 - alpha * found.eigenvalues).max() > 1


def test_a_step_size_just_below_converges_and_just_above_does_not() -> None:
    process, features, lambda_ = counterexample()
    found = diagnose(process, features, PTD(), lambda_=lambda_)
    below = mean_trajectory(found.key, 0.99 * found.largest_step_size, 2000, [1])[-1]
    above = mean_trajectory(found.key, 1.01 * found.largest_step_size, 2000, [1])[-1]
    assert abs(below[0]) < 1e-6
    assert abs(above[0]) > 1e6


@given(problems())
def test_the_remedies_work(problem: RandomProblem) -> None:
    """PTD with the same β is positive definite; raising β where advised determines what it can."""
    found = diagnose(problem.process, problem.features, PTD(), problem.beta)
    assert found.positive_definite
    beta = problem.beta.copy()
    beta[found.would_determine] = 0.5
    fixed = diagnose(problem.process, problem.features, PTD(), beta)
    everywhere = diagnose(problem.process, problem.features, PTD(), np.ones_like(beta))
    assert fixed.undetermined.shape[1] == everywhere.undetermined.shape[1]
    gained = found.undetermined.shape[1] - fixed.undetermined.shape[1]
    assert gained == found.would_determine.size


@given(problems(noise=False), rule_names)
def test_the_fixed_point_is_the_smallest_solution(problem: RandomProblem, name: str) -> None:
    found = diagnose(problem.process, problem.features, problem.rule(name), problem.beta)
    if found.fixed_point is None or not found.positive_definite:
        return
    A, b = found.key
    scale = max(1.0, float(np.abs(found.fixed_point).max(initial=0)))
    np.testing.assert_allclose(A @ found.fixed_point, b, atol=1e-9 * scale)
    np.testing.assert_allclose(found.undetermined.T @ found.fixed_point, 0, atol=1e-9 * scale)


def test_hidden_states_drop_out_and_are_named() -> None:
    process = MarkovRewardProcess(np.full((3, 3), 1 / 3), [1, 2, 3], 0.9)
    found = diagnose(process, np.eye(3), PTD(), beta=[1, 0, 1])
    np.testing.assert_array_equal(found.undetermined, [[0], [1], [0]])
    assert found.would_determine.tolist() == [1]
    assert found.fixed_point is not None
    np.testing.assert_allclose(
        found.fixed_point, [process.values[0], 0, process.values[2]], atol=1e-12
    )
    text = str(found)
    assert "w[1]" in text
    assert "let updates reach state 1" in text


def test_redundant_features_are_distinguished_from_hidden_states() -> None:
    process = MarkovRewardProcess(np.full((2, 2), 1 / 2), [1, 2], 0.9)
    found = diagnose(process, [[1, 0, 1], [0, 1, 1]], PTD(), beta=1)
    assert found.undetermined.shape == (3, 1)
    assert found.would_determine.size == 0
    assert "drop features" in str(found)
    assert "w[0] + w[1] − w[2]" in str(found)


def test_a_state_that_is_not_visited_in_the_long_run_cannot_determine_anything() -> None:
    process = MarkovRewardProcess([[1.0, 0.0], [1.0, 0.0]], 1, 0.9)
    found = diagnose(process, np.eye(2), PTD(), beta=1)
    assert (found.undetermined.shape[1], found.would_determine.size) == (1, 0)
    assert "drop features: no visited state distinguishes them." in str(found)


def test_negative_numbers_have_a_minus_sign() -> None:
    process, features, lambda_ = counterexample()
    text = report(compare(process, features, [TD(), PTD()], lambda_=lambda_))
    assert "the eigenvalue −0.04289" in text
    assert "column sum −0.3688" in text
    assert not re.search(r"-\d", text)


def test_random_features_determine_what_their_means_do_not() -> None:
    process = MarkovRewardProcess(np.full((2, 2), 1 / 2), [1, 2], 0.9)
    assert diagnose(process, [[1, 1], [1, 1]], PTD(), 1).undetermined.shape[1] == 1
    noisy = Features([[1, 1], [1, 1]], covariance=[0, 1])
    assert diagnose(process, noisy, PTD(), 1).undetermined.shape[1] == 0
    # Noise that is never updated determines nothing.
    assert diagnose(process, noisy, PTD(), [1, 0]).undetermined.shape[1] == 1


def test_a_rare_state_is_not_taken_for_rounding() -> None:
    """D differs by 14 orders of magnitude, yet every value is determined and right."""
    rare = 1e-14
    P = np.array([[1 - rare, rare], [1, 0]])
    process = MarkovRewardProcess(P, [1, 5], 0.5)
    found = diagnose(process, np.eye(2), PTD(), beta=0.5)
    assert found.positive_definite
    assert found.undetermined.shape[1] == 0
    assert found.fixed_point is not None
    np.testing.assert_allclose(found.fixed_point, process.values, rtol=1e-9)


def test_nothing_to_update_is_said() -> None:
    process = MarkovRewardProcess([[1.0]], 1, 0.9)
    found = diagnose(process, [[1.0]], PTD(), beta=0)
    assert np.isinf(found.largest_step_size)
    assert "updates nothing" in str(found)


def test_why_td_diverges_is_said_with_the_state() -> None:
    process, features, lambda_ = counterexample()
    text = str(diagnose(process, features, TD(), lambda_=lambda_))
    assert "diverges" in text
    assert "State 1 is bootstrapped from more than it is updated" in text
    assert "use PTD with the same β" in text


def test_comparing_rules_gives_what_each_alone_gives() -> None:
    process, features, lambda_ = counterexample()
    rules = [make(1.0) for make in RULES.values()]
    together = compare(process, features, rules, lambda_=lambda_)
    for rule, found in zip(rules, together, strict=True):
        alone = diagnose(process, features, rule, lambda_=lambda_)
        np.testing.assert_array_equal(found.key.A, alone.key.A)
    heading = report(together).splitlines()[0].split()
    assert heading == [rule.name for rule in rules]


@pytest.mark.parametrize("rule", [TD(), ETD(), PTD()])
def test_the_value_error_at_the_fixed_point_is_that_of_its_predictions(
    rule: TD | ETD | PTD,
) -> None:
    """E (φᵀw − v)² over states and over what they show, against a large sample."""
    rng = np.random.default_rng(2)
    process = MarkovRewardProcess(rng.dirichlet(np.ones(3), 3), [1, 2, 3], 0.7)
    features = Features(rng.normal(size=(3, 2)), covariance=[0.0, 0.5, 0.0])
    w = fixed_point(process, features, rule, 0.5)
    found = diagnose(process, features, rule, 0.5)
    assert found.value_error == value_error(process, features, w)
    draws = 400_000
    states = rng.choice(3, draws, p=process.stationary_distribution)
    noise = rng.normal(size=(draws, 2)) * np.sqrt([0.0, 0.5, 0.0])[states][:, None]
    shown = features.columns(slice(None))[states] + noise
    squares = ((shown @ w) - process.values[states]) ** 2
    error = squares.std() / np.sqrt(draws)
    assert abs(squares.mean() - value_error(process, features, w)) < 5 * error


def test_an_interest_that_belongs_to_a_stream_is_refused_with_the_remedy() -> None:
    chain = MarkovRewardProcess([[0.5, 0.5], [0.5, 0.5]], reward=0, discount=0.9)
    with pytest.raises(InputError, match="signal of a stream: give a number per state"):
        diagnose(chain, [[1], [2]], ETD(interest=Constant(0.5)), beta=1)


def test_ptd_is_exact_where_beta_is_above_0_and_the_report_says_so() -> None:
    """Over all states, hidden ones count, whose features are noise: there PTD looks worst."""
    task = make("corridor", length=5)
    beta = task.observable.astype(float)
    td, ptd = compare(task.process, task.features, [TD(), PTD()], beta)
    for found in (td, ptd):
        assert found.fixed_point is not None
        over = task.process.visits * task.observable
        expected = value_error(task.process, task.features, found.fixed_point, over=over)
        assert found.preferred_error == expected
    assert td.value_error is not None
    assert ptd.value_error is not None
    assert ptd.value_error > td.value_error > 0.1
    assert ptd.preferred_error == pytest.approx(0, abs=1e-20)
    (line,) = [line for line in report([td, ptd]).splitlines() if "there, β > 0" in line]
    assert line.split()[-1] == "0"
    assert float(line.split()[-2]) == pytest.approx(td.preferred_error, rel=1e-3)
    nothing = diagnose(task.process, task.features, PTD(), beta=0)
    assert nothing.preferred_error is None
