"""Identities that claims name as their reason: what is the method, and what only its axis."""

from functools import partial

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Linear, LinearLearner, evaluate, tasks
from preftd._src.arrays import Vector
from preftd._src.experiments.evaluation import Evaluation
from preftd._src.paper.corridors.claims import exact_limit
from preftd._src.paper.walk.studies import VALUES
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import Rule
from preftd.theory import limit

WALK = tasks.make("random_walk")
CORRIDOR = tasks.make("corridor", length=5)
DOUBLE = tasks.make("double_corridor", length=5)
SIZES = np.array([1.0, 0.3, 0.03])


def same(one: Evaluation, other: Evaluation) -> None:
    """The same errors after every episode, but for rounding."""
    assert one.errors.shape == other.errors.shape
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("beta", [value for value in VALUES if value > 0])
def test_with_constant_beta_ptd_is_td_with_a_step_size_of_alpha_beta(beta: float) -> None:
    one = evaluate(WALK, PTD(), Constant(beta), list(SIZES), 10, 5, learner=Linear("backward"))
    same(one, evaluate(WALK, TD(), Constant(beta), list(SIZES * beta), 10, 5))
    other = evaluate(WALK, TD(), Constant(beta), list(SIZES), 10, 5)
    assert beta == 1 or not np.allclose(one.errors, other.errors, rtol=1e-3)


@pytest.mark.parametrize("preference", [Constant(0.3), Observability()])
@pytest.mark.parametrize("task", [WALK, CORRIDOR, DOUBLE], ids=lambda task: task.name)
def test_with_constant_interest_etd_depends_on_its_product_with_the_step_size(
    task: tasks.Task, preference: Signal
) -> None:
    sizes = SIZES * 0.1
    one = evaluate(task, ETD(interest=0.05), preference, list(sizes), 10, 5)
    same(one, evaluate(task, ETD(interest=0.01), preference, list(5 * sizes), 10, 5))
    other = evaluate(task, ETD(interest=0.01), preference, list(sizes), 10, 5)
    assert not np.allclose(one.errors, other.errors, rtol=1e-3)


@pytest.mark.parametrize("hidden", [0.0, 0.05])
def test_a_factor_on_all_interest_is_one_on_the_step_size(hidden: float) -> None:
    twice, once = (ETD(interest=Observability(i, i * hidden)) for i in (0.5, 0.25))
    one = evaluate(DOUBLE, twice, Observability(), [0.1], 50, 5)
    same(one, evaluate(DOUBLE, once, Observability(), [0.2], 50, 5))


def test_the_fixed_point_of_etd_does_not_depend_on_a_constant_interest() -> None:
    for task in (CORRIDOR, DOUBLE):
        one, other = (limit(task, ETD(interest=i), Observability()) for i in (0.01, 1.0))
        assert one == pytest.approx(other, rel=1e-9)


def test_the_gain_of_etd_variable_counts_observable_states() -> None:
    beta = np.array([1.0, 0, 0, 1, 0, 1, 1, 0, 0, 1, 1])
    discount = np.ones(beta.size)
    begins = [0, 7]
    discount[begins] = 0
    found = ETD().coefficients(beta=beta, interest=0.5 * beta, discount_t=discount)
    seen = np.concatenate([np.cumsum(beta[:7]), np.cumsum(beta[7:])])
    np.testing.assert_allclose(found.gain, 0.5 * seen * beta, atol=0)
    np.testing.assert_array_equal(
        found.decay, PTD().coefficients(beta=beta, discount_t=discount).decay
    )


def after_episodes(rule: Rule, view: str, lengths: int, seed: int) -> Vector:
    """Weights after episodes through corridors of `lengths` hidden states, which show noise."""
    learner = LinearLearner(size=3, rule=rule, step_size=0.3, view=view)
    noise, route = np.random.default_rng(seed), np.random.default_rng(7)
    for _ in range(20):
        goal = int(route.integers(1, 3))
        seen = [np.eye(3)[0], *noise.normal(0.5, 1, (lengths, 3)), np.eye(3)[goal]]
        for t, x in enumerate(seen):
            observable = float(t in (0, len(seen) - 1))
            last = t == len(seen) - 1
            learner.update(
                x,
                (2.0 if goal == 1 else -1.0) * last,
                None if last else seen[t + 1],
                discount=0.0 if last else 1.0,
                beta=observable,
                interest=0.5 * observable if rule.interest is not None else None,
            )
    return np.asarray(learner.weights)


@pytest.mark.parametrize("rule", [PTD(), ETD()], ids=["PTD", "ETD-variable"])
def test_true_online_hidden_states_leave_no_trace(rule: Rule) -> None:
    short, long = (after_episodes(rule, "true_online", n, seed) for n, seed in ((4, 1), (24, 2)))
    np.testing.assert_allclose(short, long, atol=1e-10)
    online = [after_episodes(rule, "backward", n, seed) for n, seed in ((4, 1), (24, 2))]
    assert np.abs(online[0] - online[1]).max() > 0.01


def test_the_limit_of_td_grows_with_the_length_as_the_claim_says() -> None:
    found = [
        exact_limit(task, n, "TD(λ)") for task in ("corridor", "double_corridor") for n in (5, 25)
    ]
    np.testing.assert_allclose(found, [1.398, 1.683, 4.330, 4.399], atol=5e-4)


def test_a_lower_beta_on_observable_states_does_no_harm_with_a_step_size_between() -> None:
    backward = partial(evaluate, DOUBLE, PTD(), learner=Linear("backward"))
    usual = backward(Observability(), [0.1], 200, 25).errors
    lower = backward(Observability(0.5, 0.0), [0.15, 0.3], 200, 25).errors
    over = lower.mean(axis=(0, 2)) / usual.mean()
    assert over[0] == pytest.approx(0.9, abs=0.02)
    assert over[1] > 1.2


def test_a_constant_step_size_moves_the_mean_weights_which_may_be_for_the_better() -> None:
    found = evaluate(DOUBLE, TD(), Observability(), [0.05, 0.0125], 600, 25).errors[:, :, 200:]
    above = found.mean(axis=2) - exact_limit("double_corridor", 5, "TD(λ)")
    mean, error = above.mean(axis=0), above.std(axis=0, ddof=1) / 5
    assert mean[0] + 3 * error[0] < 0
    assert abs(mean[1]) < abs(mean[0]) / 2
