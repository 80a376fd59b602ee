"""What hidden states do to the weights of the state before them: exact, and the reason why."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from preftd import Features, InputError
from preftd._src.arrays import Dense, Vector
from preftd._src.learners.custom import Episode
from preftd._src.learners.linear import reference
from preftd._src.theory.crossing import VIEWS, CrossingView
from preftd.theory import crossing

VIEW = {
    "backward": reference.backward,
    "true_online": reference.true_online,
    "held": reference.held,
}
W, X, Y = np.array([0.7, -1.3]), np.array([1.0, 0.4]), np.array([0.3, 1.0])
REWARD = np.array([0.2, -0.5, 1.0])
MEANS = np.array([[0.5, 0.5], [0.1, -0.4]])
SPREADS = np.array([[1.0, 0.8], [0.5, 1.2]])
ALPHA, GAMMA = 0.3, 0.9


def changes(view: str, shown: Dense) -> Vector:
    """c_1 … c_{n+1} along X, as the reference learns from one crossing."""
    steps = len(shown) + 1
    discount_t = np.append(0.0, np.full(steps - 1, GAMMA))
    beta = np.append(1.0, np.zeros(steps - 1))
    episode = Episode(
        np.vstack([X, shown]),
        np.vstack([shown, Y]),
        REWARD,
        discount_t,
        np.full(steps, GAMMA),
        beta,
        discount_t * (1 - beta),
        beta,
    )
    moved = VIEW[view](W, episode, ALPHA) - W
    np.testing.assert_allclose(moved, np.outer(moved @ X, X) / (X @ X), atol=1e-12)
    return np.asarray(moved @ X / (X @ X))


@pytest.mark.parametrize("view", VIEWS)
def test_moments_are_those_of_all_that_can_be_shown(view: CrossingView) -> None:
    """Four points a direction have the moments of normal numbers up to the seventh."""
    points, chances = np.polynomial.hermite_e.hermegauss(4)
    chances = chances / chances.sum()
    every, weight = [], []
    for index in product(range(4), repeat=MEANS.size):
        noise = points[list(index)].reshape(MEANS.shape)
        every.append(changes(view, MEANS + SPREADS * noise))
        weight.append(chances[list(index)].prod())
    mean = np.average(every, axis=0, weights=weight)
    variance = np.average((np.array(every) - mean) ** 2, axis=0, weights=weight)
    hidden = Features(MEANS, SPREADS**2)
    found = crossing(view, W, X, hidden, Y, ALPHA, reward=REWARD, discount=GAMMA)
    np.testing.assert_allclose(found.mean, np.append(0.0, mean), atol=1e-12)
    np.testing.assert_allclose(found.variance, np.append(0.0, variance), atol=1e-12)
    assert (found.variance[-1] > 1e-5) == (view != "held")


@pytest.mark.parametrize("middle", [0.0, 0.5, -2.0])
def test_backward_each_hidden_state_takes_the_same_share_whatever_its_mean(middle: float) -> None:
    """E c_t + w_x follows D_{t+2} = D_{t+1} − (ασ)² D_t: a factor of about 1 − (ασ)² a state."""
    alpha, spread, n = 0.1, 1.5, 400
    hidden = Features(np.full((n, 2), middle), np.full(n, spread**2))
    found = crossing("backward", [0.8, -3], [1, 0], hidden, [0, 1], alpha)
    left = found.mean[:-1] + 0.8
    expected = left[1:-1] - (alpha * spread) ** 2 * left[:-2]
    np.testing.assert_allclose(left[2:], expected, atol=1e-13)
    factor = (1 + np.sqrt(1 - (2 * alpha * spread) ** 2)) / 2
    np.testing.assert_allclose(left[31] / left[30], factor, rtol=1e-12)
    assert abs(left[-1]) < 1e-3 < abs(left[1])  # a long way erases the weight


def test_true_online_ends_where_held_does_if_features_do_not_overlap() -> None:
    hidden = Features(np.full((9, 3), 0.5), np.ones(9))
    given = [0.3, 2, -1], [1, 0, 0], hidden
    ends = {view: crossing(view, *given, [0, 1, 0], 0.2, reward=0.1) for view in VIEWS}
    target = 0.2 * (10 * 0.1 + 2 - 0.3)
    np.testing.assert_allclose(ends["held"].mean, [*[0] * 10, target], atol=1e-15)
    np.testing.assert_allclose(ends["true_online"].mean[-1], target)
    assert ends["true_online"].variance[-1] < 1e-30
    assert ends["true_online"].variance[5] > 1e-2
    assert ends["backward"].variance[-1] > 1e-3
    overlapping = crossing("true_online", *given, [1, 1, 0], 0.2, reward=0.1)
    assert overlapping.variance[-1] > 1e-3


HIDDEN = np.ones((2, 2))


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: crossing("forward", W, X, HIDDEN, Y, 0.1), "no view 'forward'"),  # type: ignore[arg-type]
        (lambda: crossing("held", [1], X, HIDDEN, Y, 0.1), r"weights has shape \(1,\): give 2"),
        (lambda: crossing("held", W, X, HIDDEN, [1, 2, 3], 0.1), r"y has shape \(3,\): give 2"),
        (lambda: crossing("held", W, X, HIDDEN, Y, 0.0), "step_size is 0: give a number above 0"),
        (lambda: crossing("held", W, X, HIDDEN, Y, 0.1, discount=2), "discount is 2"),
        (
            lambda: crossing("held", W, X, HIDDEN, Y, 0.1, reward=[1, 2]),
            r"reward has shape \(2,\): give one number, or 3",
        ),
    ],
)
def test_what_makes_no_crossing_is_refused(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()
