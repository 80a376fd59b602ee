"""Algorithm 1 and true online learning at a constant step size, in the long run."""

import numpy as np
import pytest

from preftd import PTD, TD, Features, Linear, Task, evaluate, tasks
from preftd._src.arrays import Dense
from preftd._src.theory.crossing import VIEWS, CrossingView
from preftd.preferences import Observability
from preftd.theory import crossing, steady_state
from theory.loops import LONGER_LOOP


@pytest.mark.parametrize("view", VIEWS)
def test_simulations_of_other_views_end_there_too(view: CrossingView) -> None:
    """Means over seeds lie within 4.5 of their standard errors, and those of views differ."""
    seeds, begin, alpha = 40, 300, 0.2
    errors = evaluate(
        LONGER_LOOP,
        PTD(),
        Observability(),
        [alpha],
        3000,
        seeds,
        learner=Linear(view),
        workers=1,
    ).errors[:, 0, begin:]
    means = errors.mean(axis=1)
    standard_error = means.std(ddof=1) / np.sqrt(seeds)
    found = {
        one: steady_state(LONGER_LOOP, PTD(), Observability(), alpha, one).error for one in VIEWS
    }
    assert abs(means.mean() - found[view]) < 4.5 * standard_error
    assert all(abs(found[view] - found[one]) > 9 * standard_error for one in VIEWS if one != view)


@pytest.mark.parametrize("task", ["corridor", "double_corridor"])
def test_true_online_ends_where_held_does_on_corridors(task: str) -> None:
    made = tasks.make(task, length=4)
    held, other = (steady_state(made, PTD(), Observability(), 0.3, view) for view in VIEWS[:0:-1])
    np.testing.assert_allclose(other.mean, held.mean, atol=1e-10)
    np.testing.assert_allclose(other.covariance, held.covariance, atol=1e-10)
    np.testing.assert_allclose(other.error, held.error, atol=1e-10)


def test_without_hidden_states_all_views_are_td_0() -> None:
    coin = Task("coin", [(0, 0, 0.75, 0, 1), (0, 0, 0.25, -1, -2)], [[1]], 0.9, start=[1])
    for task in (tasks.make("random_walk", states=5), coin):
        errors = [steady_state(task, TD(), 1.0, 0.3, view).error for view in VIEWS]
        np.testing.assert_allclose(errors, errors[-1], rtol=1e-10)


def test_backward_moments_stay_the_same_over_a_crossing() -> None:
    """Goals are known in the long run; the decision's mean and variance are kept by crossings."""
    length, alpha = 6, 0.2
    task = tasks.make("corridor", length=length)
    found = steady_state(task, PTD(), Observability(), alpha, "backward")
    hidden = Features(np.full((length - 1, 3), 0.5), np.ones(length - 1))

    def after(weight: float) -> Dense:
        """The first two moments of the weight after a crossing, either way."""
        w, x = [weight, 2, -1], np.eye(3)
        ways = [crossing("backward", w, x[0], hidden, goal, alpha) for goal in x[1:]]
        means = [weight + way.mean[-1] for way in ways]
        squares = [m**2 + way.variance[-1] for m, way in zip(means, ways, strict=True)]
        return np.asarray(np.mean([means, squares], axis=1))

    # Both are polynomials of the weight, of degree 2 at most.
    at = np.array([-1.0, 0.0, 1.0])
    powers = np.linalg.solve(np.vander(at, increasing=True), [after(weight) for weight in at])
    mean, second = found.mean[0], found.covariance[0, 0] + found.mean[0] ** 2
    np.testing.assert_allclose([1, mean, second] @ powers, [mean, second], atol=1e-10)
    np.testing.assert_allclose(found.mean[1:], [2, -1], atol=1e-10)
    error = (second - mean + 0.25) / 3
    np.testing.assert_allclose(found.error, error, atol=1e-10)


def test_backward_the_variance_grows_without_bound_at_smaller_step_sizes() -> None:
    """Held, the limit is 2, whatever the length."""
    errors = [
        steady_state(tasks.make("corridor", length=length), PTD(), Observability(), 0.6, view).error
        for length in (5, 25)
        for view in VIEWS[::-2]
    ]
    np.testing.assert_allclose(errors[::2], 0.75 * 0.6 / 1.4)
    assert 1 < errors[1] < np.inf == errors[3]
