"""Evaluation: what is measured, by what, and that nothing else has a say in it."""

import numpy as np
import pytest

from preftd import (
    ETD,
    PTD,
    TD,
    Decreasing,
    Features,
    Linear,
    Network,
    Task,
    evaluate,
    tasks,
)
from preftd._src.arrays import Vector
from preftd._src.experiments.learning import PIECE_STEPS, Method
from preftd.learners import LinearLearner, beta_advantages
from preftd.preferences import Constant, Observability
from preftd.rules import RULES

CORRIDOR = tasks.make("corridor", length=4)
GRID = tasks.make("cross_grid", size=4)
SIZES = [0.3, 0.1, 0.05, 0.02, 0.01]
METHODS: list[Method] = [
    *(Linear(view) for view in ("backward", "forward", "true_online")),
    *(Network(units=3, view=view) for view in ("backward", "forward", "held")),
    Network(units=3, view="forward", optimiser="adam"),
]
EPISODIC = [name for name, make in tasks.TASKS.items() if make().episodic]


@pytest.mark.parametrize("view", ["backward", "true_online"])
@pytest.mark.parametrize("name", sorted(RULES))
@pytest.mark.parametrize("task", EPISODIC)
def test_errors_are_those_of_a_learner_fed_step_by_step(task: str, name: str, view: str) -> None:
    made, rule = tasks.make(task), RULES[name](0.1)
    found = evaluate(made, rule, Observability(), [0.01], 3, [5], learner=Linear(view))
    learner = LinearLearner(made.features.size, rule, 0.01, view=view)
    sampler, phi = made.sampler(5), made.features.columns(slice(None))[made.observable]
    for episode in range(3):
        steps = sampler.episodes(1)
        x, y = steps.features(), steps.next_features()
        for t in range(len(steps)):
            beta = float(made.observable[steps.state[t]])  # type: ignore[index]
            discount, reward = float(steps.discount_tp1[t]), float(steps.reward[t])
            learner.update(x[t], reward, y[t], discount=discount, beta=beta)
        miss = phi @ learner.weights - made.values[made.observable]
        assert found.errors[0, 0, episode] == pytest.approx((miss**2).mean(), rel=1e-9)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_a_step_size_learns_alike_alone_and_among_others(method: Method) -> None:
    task = CORRIDOR if isinstance(method, Linear) else GRID
    together = evaluate(task, PTD(), Observability(), SIZES, 30, 2, learner=method)
    for i, alpha in enumerate(SIZES):
        alone = evaluate(task, PTD(), Observability(), [alpha], 30, 2, learner=method)
        np.testing.assert_array_equal(together.errors[:, i], alone.errors[:, 0])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_the_result_does_not_depend_on_workers_or_on_how_episodes_are_taken(
    method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = CORRIDOR if isinstance(method, Linear) else GRID

    def found(workers: int, take: int) -> Vector:
        monkeypatch.setattr("preftd._src.experiments.learning.PIECE_STEPS", take)
        return evaluate(
            task, TD(), Observability(), SIZES, 40, 4, learner=method, workers=workers
        ).errors

    expected = found(1, PIECE_STEPS)
    np.testing.assert_array_equal(found(4, PIECE_STEPS), expected)
    np.testing.assert_array_equal(found(2, 1), expected)


def test_seeds_are_what_they_are_called_and_not_their_order() -> None:
    some = evaluate(CORRIDOR, PTD(), Observability(), SIZES, 5, [7, 3])
    swapped = evaluate(CORRIDOR, PTD(), Observability(), SIZES, 5, [3, 7])
    np.testing.assert_array_equal(some.errors, swapped.errors[::-1])
    assert some.seeds == (7, 3)
    first = evaluate(CORRIDOR, PTD(), Observability(), SIZES, 5, 4)
    np.testing.assert_array_equal(some.errors[1], first.errors[3])


def test_a_task_may_be_made_for_each_seed() -> None:
    def make(seed: int) -> tasks.Task:
        return tasks.make("random_grid", size=4, seed=seed)

    found = evaluate(make, PTD(), Observability(), [0.1], 5, 3)
    for seed in range(3):
        own = evaluate(make(seed), PTD(), Observability(), [0.1], 5, [seed])
        np.testing.assert_array_equal(found.errors[seed], own.errors[0])


@pytest.mark.parametrize("method", METHODS[:-1], ids=repr)
def test_a_run_that_diverges_is_marked_and_disturbs_no_other(method: Method) -> None:
    task = CORRIDOR if isinstance(method, Linear) else GRID
    found = evaluate(task, TD(), Observability(), [1e9, 0.001], 100, 3, learner=method)
    assert found.diverged.tolist() == [[True, False]] * 3
    lost = found.errors[:, 0]
    assert np.isinf(lost[:, -1]).all()
    # Once lost, always lost: nothing that is not a number hides among the errors.
    assert not np.isnan(found.errors).any()
    assert (np.diff(np.isinf(lost).astype(int), axis=1) >= 0).all()
    calm = evaluate(task, TD(), Observability(), [0.001], 100, 3, learner=method)
    np.testing.assert_array_equal(found.errors[:, 1], calm.errors[:, 0])
    assert found.best == 1
    assert "3 of 6 runs diverged" in repr(found)
    mean, width = found.average()
    assert np.isinf(mean[0])
    assert np.isinf(width[0])
    assert np.isfinite([mean[1], width[1]]).all()


def test_constant_preference_is_td_with_a_smaller_step_size() -> None:
    walk, c = tasks.make("random_walk"), 0.25
    ours = evaluate(walk, PTD(), Constant(c), [0.4, 0.8], 10, 4)
    same = evaluate(walk, TD(), Constant(c), [0.1, 0.2], 10, 4)
    np.testing.assert_allclose(ours.errors, same.errors, rtol=1e-9)


def test_emphatic_td_knows_step_size_and_interest_by_their_product_only() -> None:
    walk = tasks.make("random_walk")
    ours = evaluate(walk, ETD(0.01), Constant(0.5), [0.8], 10, 4)
    same = evaluate(walk, ETD(0.08), Constant(0.5), [0.1], 10, 4)
    np.testing.assert_allclose(ours.errors, same.errors, rtol=1e-9)


@pytest.mark.parametrize("length", [5, 25])
def test_true_online_learning_keeps_the_noise_of_hidden_states_out(length: int) -> None:
    """The longer the corridor, the more of it leaks in along the trace; true online, none does."""
    task, sizes = tasks.make("double_corridor", length=length), [0.8, 0.5, 0.3, 0.1, 0.05, 0.03]
    least = {
        view: evaluate(task, PTD(), Observability(), sizes, 200, 8, learner=Linear(view))
        for view in ("backward", "true_online")
    }
    error = {view: float(np.min(found.average().mean)) for view, found in least.items()}
    assert error["true_online"] < 0.2
    assert error["backward"] > 5 * error["true_online"]


def test_a_decreasing_step_size_counts_the_steps_of_all_episodes() -> None:
    schedule = Decreasing(0.2, delay=50)
    found = evaluate(CORRIDOR, PTD(), Observability(), [schedule, 0.1], 300, [2])
    learner = LinearLearner(3, PTD(), schedule)
    stream = CORRIDOR.sampler(2).episodes(300)
    beta, _ = Observability().stream(stream)
    learner.learn(stream, beta=beta)
    miss = learner.weights - CORRIDOR.values[CORRIDOR.observable]
    assert found.errors[0, 0, -1] == pytest.approx((miss**2).mean(), rel=1e-9)
    plain = evaluate(CORRIDOR, PTD(), Observability(), [0.1], 300, [2])
    np.testing.assert_array_equal(found.errors[:, 1], plain.errors[:, 0])


def test_far_is_measured_by_the_error_of_predicting_nothing() -> None:
    found = evaluate(GRID, PTD(), Observability(), [0.1], 2, 2)
    trivial = (GRID.values[GRID.observable] ** 2).mean()
    np.testing.assert_allclose(found.trivial, trivial)


def test_states_with_random_features_are_scored_at_their_means() -> None:
    mean, covariance = np.array([[1.0, 0.0], [0.5, 2.0], [0.0, 1.0]]), np.array([0.3, 0.2, 0.0])
    # Each state leads to the next or back to itself; the last one to the end, which pays 1.
    rows = [(0, 0, 1.0, 1, 0.0), (1, 0, 1.0, 2, 0.0), (2, 0, 1.0, -1, 1.0)]
    task = Task("noisy", rows, Features(mean, covariance), 0.9, start=[1, 0, 0])
    found = evaluate(task, TD(), Constant(1.0), [0.05], 20, [3])
    stream = task.sampler(3).episodes(20)
    learner = LinearLearner(2, TD(), 0.05).learn(stream, beta=1.0)
    miss = mean @ learner.weights - task.values
    assert found.errors[0, 0, -1] == pytest.approx((miss**2).mean(), rel=1e-9)


@pytest.mark.parametrize("view", ["backward", "forward", "true_online"])
def test_a_schedule_goes_on_from_one_take_to_the_next(
    view: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(take: int) -> Vector:
        monkeypatch.setattr("preftd._src.experiments.learning.PIECE_STEPS", take)
        schedule = Decreasing(0.2, delay=30)
        return evaluate(
            CORRIDOR, PTD(), Observability(), [schedule], 40, 2, learner=Linear(view)
        ).errors

    np.testing.assert_array_equal(found(1), found(PIECE_STEPS))


def test_the_forward_view_updates_each_step_with_its_own_step_size() -> None:
    schedule, w = Decreasing(0.3, delay=5), np.zeros(3)
    found = evaluate(CORRIDOR, TD(), Constant(0.5), [schedule], 3, [1], learner=Linear("forward"))
    sampler, done = CORRIDOR.sampler(1), 0
    for _ in range(3):
        e = sampler.episodes(1)
        x = e.features()
        advantage = beta_advantages(
            e.reward, x @ w, e.next_features() @ w, 0.5, discount=e.discount_tp1
        )
        w = w + (schedule.at(np.arange(done, done + len(e))) * advantage) @ x
        done += len(e)
    miss = w - CORRIDOR.values[CORRIDOR.observable]
    assert found.errors[0, 0, -1] == pytest.approx((miss**2).mean(), rel=1e-9)
