"""The held view at a constant step size: exact in the long run, and as simulated."""

from collections.abc import Callable

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Features, InputError, Linear, Task, evaluate, tasks, theory
from preftd._src.arrays import Dense
from preftd._src.theory.crossing import CrossingView
from preftd._src.theory.moments import preferred_chain
from preftd.preferences import Observability
from preftd.theory import steady_state
from theory.loops import LOOP

CORRIDOR = tasks.make("corridor", length=5)


@pytest.mark.parametrize("length", [1, 5, 25])
@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.5])
def test_the_corridor_by_hand(length: int, alpha: float) -> None:
    """Goals pay what they pay; the decision sees 2 or −1, of variance 2.25, whatever lies there."""
    found = steady_state(tasks.make("corridor", length=length), PTD(), Observability(), alpha)
    variance = 2.25 * alpha / (2 - alpha)
    np.testing.assert_allclose(found.mean, [0.5, 2, -1], atol=1e-12)
    np.testing.assert_allclose(found.covariance, np.diag([variance, 0, 0]), atol=1e-12)
    np.testing.assert_allclose(found.error, variance / 3, rtol=1e-12)


def by_ways(task: Task, ways: list[list[int]], alpha: float, spread: float) -> Dense:
    """E[ŵ ŵᵀ] after many episodes, each of which takes one of these ways, equally likely."""
    phi = np.array(task.features.rows(np.arange(task.states)))
    size = task.features.size
    moments = np.zeros((size + 1, size + 1))
    moments[0, 0] = 1
    paid = dict(zip(task.outcomes.state.tolist(), task.outcomes.reward.tolist(), strict=False))
    for _ in range(3000):
        after = np.zeros_like(moments)
        for way in ways:
            step = moments / len(ways)
            for i, s in enumerate(way):
                last = i == len(way) - 1
                ahead = np.zeros(size) if last else phi[way[i + 1]]
                update = np.eye(size + 1)
                update[1:] += alpha * np.outer(phi[s], np.append(paid[s], ahead - phi[s]))
                step = update @ step @ update.T
                if last:
                    step[1:, 1:] += (alpha * spread) ** 2 * np.outer(phi[s], phi[s]) / len(ways)
            after += step
        moments = after
    return moments


WAYS = [[0, 1, 3], [0, 1, 4], [0, 2, 4], [0, 2, 5]]
"""Of the double corridor, through its observable states, by their order."""


@pytest.mark.parametrize("mixed", [False, True])
def test_the_double_corridor_by_its_four_ways(mixed: bool) -> None:
    """Also with features that overlap, three for six states."""
    plain = tasks.make("double_corridor", length=3)
    phi = np.random.default_rng(4).normal(size=(6, 3)) if mixed else np.eye(6)
    means = np.full((plain.states, phi.shape[1]), 0.5)
    means[plain.observable] = phi
    noise = np.where(plain.observable, 0.0, 1.0)
    task = Task(
        "ways",
        plain.outcomes,
        Features(means, noise),
        1.0,
        start=plain.start,
        observable=plain.observable,
    )
    alpha = 0.1 if mixed else 0.4
    shown = np.flatnonzero(plain.observable)
    moments = by_ways(task, shown[WAYS].tolist(), alpha, spread=0.2)
    found = steady_state(task, PTD(), Observability(), alpha)
    np.testing.assert_allclose(found.mean, moments[0, 1:], atol=1e-11)
    covariance = moments[1:, 1:] - np.outer(moments[0, 1:], moments[0, 1:])
    np.testing.assert_allclose(found.covariance, covariance, atol=1e-11)
    off = phi @ moments[1:, 1:] @ phi.T - 2 * np.outer(phi @ moments[0, 1:], plain.values[shown])
    error = np.mean(np.diag(off) + plain.values[shown] ** 2)
    np.testing.assert_allclose(found.error, error, atol=1e-11)


def test_after_an_episode_weights_remember_how_it_ended() -> None:
    """One state: steps are alike, so that weights have no bias on average, but have at the end."""
    alpha, gamma = 0.3, 0.9
    task = Task("coin", [(0, 0, 0.75, 0, 1), (0, 0, 0.25, -1, -2)], [[1]], gamma, start=[1])
    value = 0.25 / (1 - 0.75 * gamma)
    np.testing.assert_allclose(task.values, value)
    # E w² = ¾ E((1 − α(1 − γ)) w + α)² + ¼ E((1 − α) w − 2α)²
    a, b = 1 - alpha * (1 - gamma), 1 - alpha
    constant = 0.75 * (2 * a * alpha * value + alpha**2)
    constant += 0.25 * (-4 * b * alpha * value + 4 * alpha**2)
    second = constant / (1 - 0.75 * a**2 - 0.25 * b**2)
    mean = b * value - 2 * alpha
    square = b**2 * second - 4 * alpha * b * value + 4 * alpha**2
    for rule in (TD(), PTD()):
        found = steady_state(task, rule, 1.0, alpha)
        np.testing.assert_allclose(found.mean, mean, atol=1e-12)
        np.testing.assert_allclose(found.covariance, square - mean**2, atol=1e-12)
        error = square - 2 * value * mean + value**2
        np.testing.assert_allclose(found.error, error, atol=1e-12)


def test_stretches_between_preferred_states_by_how_long_they_are() -> None:
    chain = preferred_chain(LOOP, LOOP.observable)
    # from state 0 into state 1, then round k times, and out: to state 0, to state 2, to the end
    expected = np.zeros((6, 3))
    for k in range(60):
        way = [(0.5, 0.1), *[(0.2, 0.3)] * k]
        for column, chance, out in ((0, 0.1, (-1, 0.5)), (1, 0.4, (1, 0)), (2, 0.2, (3, 0))):
            steps = [*way, out]
            fade = 0.8 ** np.arange(len(steps))
            mean = fade @ [m for m, _ in steps]
            square = mean**2 + fade**2 @ [s**2 for _, s in steps]
            gamma = 0.0 if column == 2 else 0.8 ** len(steps)
            moments = [1, gamma, gamma**2, mean, mean * gamma, square]
            expected[:, column] += 0.5 * 0.3**k * chance * np.array(moments)
    expected[:, 1] += 0.5 * np.array([1, 0.8, 0.64, 1, 0.8, 1])  # past it
    np.testing.assert_allclose(np.array(chain[3:])[:, 0], expected, atol=1e-14)
    share = np.array([0.3 + 0.6 / 7, 0.1 + 0.6 * 4 / 7])
    np.testing.assert_allclose(chain.entry, share / share.sum())


def test_the_chain_is_the_operator_s() -> None:
    grid = tasks.make("cross_grid", size=8)
    chain = preferred_chain(grid, grid.observable)
    beta = grid.observable.astype(float)
    whole = theory.operator(grid.process, PTD(), beta)
    rows = np.asarray(whole.transition)[np.ix_(chain.states, chain.states)]
    np.testing.assert_allclose(chain.discount[:, :-1], rows, atol=1e-12)
    paid = whole(np.zeros(grid.states))[chain.states]
    np.testing.assert_allclose(chain.reward.sum(axis=1), paid, atol=1e-12)


def test_small_steps_end_at_the_fixed_point_with_an_error_in_proportion() -> None:
    fixed = theory.fixed_point(LOOP.process, LOOP.features, PTD(), LOOP.observable.astype(float))
    found = [steady_state(LOOP, PTD(), Observability(), alpha) for alpha in (1e-7, 2e-7)]
    np.testing.assert_allclose(found[0].mean, fixed, atol=1e-5)
    np.testing.assert_allclose(found[1].error / found[0].error, 2, rtol=1e-5)
    np.testing.assert_allclose((found[1].mean - fixed) / (found[0].mean - fixed), 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("task", "alpha"), [(LOOP, 0.3), (tasks.make("random_walk"), 0.2)], ids=["loop", "walk"]
)
def test_simulations_end_there(task: Task, alpha: float) -> None:
    """Means over seeds lie within 4.5 of their standard errors."""
    seeds, begin = 40, 300
    held = evaluate(
        task, PTD(), Observability(), [alpha], 1500, seeds, learner=Linear("held"), workers=1
    )
    errors = held.errors[:, 0, begin:].mean(axis=1)
    found = steady_state(task, PTD(), Observability(), alpha)
    standard_error = errors.std(ddof=1) / np.sqrt(seeds)
    assert abs(errors.mean() - found.error) < 4.5 * standard_error
    assert standard_error < 0.02 * found.error


def test_a_variance_that_grows_without_bound_is_infinite() -> None:
    assert steady_state(CORRIDOR, PTD(), Observability(), 1.999).error > 100
    for alpha in (2.0, 2.001):
        found = steady_state(CORRIDOR, PTD(), Observability(), alpha)
        assert found.error == np.inf
        assert np.isnan(found.mean).all()


@pytest.mark.parametrize("view", ["held", "backward", "true_online"])
@pytest.mark.parametrize("alpha", [1e-10, 1e-15, 1e-16, 1e-17, 1e-100, 1e-300])
def test_tiny_steps_leave_a_variance_in_proportion(view: CrossingView, alpha: float) -> None:
    """They end at the fixed point, however far they are below rounding."""
    found = steady_state(CORRIDOR, PTD(), Observability(), alpha, view)
    np.testing.assert_allclose(found.mean, [0.5, 2, -1], atol=1e-9)
    np.testing.assert_allclose(found.covariance / alpha, np.diag([1.125, 0, 0]), atol=1e-8)
    np.testing.assert_allclose(found.error / alpha, 0.375, rtol=1e-8)


def test_small_features_take_steps_as_tiny_as_a_small_step_size() -> None:
    def coin(size: float) -> Task:
        return Task("coin", [(0, 0, 0.5, -1, 1), (0, 0, 0.5, -1, -1)], [[size]], 1.0, start=[1])

    found = steady_state(coin(1e-12), TD(), 1.0, 0.1)
    np.testing.assert_allclose(found.covariance, 0.05, rtol=1e-8)
    assert steady_state(coin(1e-12), TD(), 1.0, 3e24).error == np.inf


def test_what_overflows_or_leaves_no_digits_is_refused() -> None:
    def task(reward: float, *sizes: float) -> Task:
        return Task(
            "two",
            [(0, 0, 1, 1, reward), (1, 0, 0.5, -1, 0), (1, 0, 0.5, -1, -reward)],
            np.diag(sizes),
            1.0,
            start=[1, 0],
        )

    with pytest.raises(InputError, match=r"^the moments of the weights overflow: use smaller"):
        steady_state(task(1e99, 1e100, 1e100), TD(), 1.0, 1e50)
    with pytest.raises(InputError, match=r"^the moments of the weights overflow: use smaller"):
        theory.weight_noise(task(1e99, 1e100, 1e100), TD(), 1.0)
    for alpha in (1e-200, 0.1):
        with pytest.raises(InputError, match=r"^some weights move too slowly for their moments"):
            steady_state(task(1, 1, 1e-9), TD(), 1.0, alpha)


OFF_POLICY = Task(
    "off",
    [(0, 0, 1, -1, 1), (0, 1, 1, -1, 0)],
    [[1]],
    1.0,
    start=[1],
    policy=[[0.9, 0.1]],
    behaviour=[[0.5, 0.5]],
)
CONTINUING = Task("continuing", [(0, 0, 1, 0, 1)], [[1]], 0.5)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: steady_state(CORRIDOR, PTD(), Observability(), 0.0), "step_size is 0"),
        (lambda: steady_state("corridor", PTD(), 1.0, 0.1), "task is 'corridor'"),  # type: ignore[arg-type]
        (lambda: steady_state(CORRIDOR, PTD, 1.0, 0.1), "give an instance"),  # type: ignore[arg-type]
        (lambda: steady_state(CORRIDOR, PTD(), 0.5, 0.1), "β of state 0 is 0.5: give 0 or 1"),
        (lambda: steady_state(CORRIDOR, PTD(), 0.0, 0.1), "preference is 0 everywhere"),
        (lambda: steady_state(CORRIDOR, PTD(), 1.0, 0.1), "features of state 2 are random"),
        (lambda: steady_state(CORRIDOR, TD(), Observability(), 0.1), "gain at hidden states"),
        (lambda: steady_state(CORRIDOR, ETD(0.1), Observability(), 0.1), "depends on the past"),
        (lambda: steady_state(OFF_POLICY, PTD(), 1.0, 0.1), "off-policy or has no end"),
        (lambda: steady_state(CONTINUING, PTD(), 1.0, 0.1), "off-policy or has no end"),
        (
            lambda: steady_state(
                Task("two", [(0, 0, 1, -1, 1)], [[1, 2]], 1, start=[1]), PTD(), 1.0, 0.1
            ),
            "do not determine the weights of their 2 features",
        ),
        (
            lambda: steady_state(tasks.make("random_walk", states=51), PTD(), 1.0, 0.1),
            "above 50,000: use a smaller task",
        ),
        (
            lambda: steady_state(CORRIDOR, PTD(), Observability(), 0.1, "forward"),  # type: ignore[arg-type]
            "no view 'forward'",
        ),
        (
            lambda: steady_state(LOOP, PTD(), Observability(), 0.1, "backward"),
            'discount is 0.8, .*: use view="held"',
        ),
        (
            lambda: steady_state(
                tasks.make("cross_grid", size=8), PTD(), Observability(), 0.1, "backward"
            ),
            'use view="held"',
        ),
    ],
)
def test_what_has_no_steady_state_is_refused(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask()
