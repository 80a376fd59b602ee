"""Variants of tasks change what is observed, and nothing else."""

import numpy as np
import pytest

from preftd import InputError, tasks
from preftd._src.tasks.chains import geometric_corridor
from preftd._src.tasks.grids import open_grid
from preftd.tasks import Features, Task, aliased, failing, jittered

CORRIDOR = tasks.make("corridor", length=5)
WALK = tasks.make("random_walk")


@pytest.mark.parametrize("task", [CORRIDOR, tasks.make("cross_grid", size=4)], ids=repr)
@pytest.mark.parametrize("change", [aliased, lambda task: jittered(task, 0.1)])
def test_states_rewards_and_values_stay(task: Task, change: object) -> None:
    assert callable(change)
    made = change(task)
    np.testing.assert_array_equal(made.values, task.values)
    np.testing.assert_array_equal(made.observable, task.observable)
    np.testing.assert_array_equal(made.policy, task.policy)
    assert made.outcomes is task.outcomes
    assert made.name.startswith(task.name)


@pytest.mark.parametrize("task", [CORRIDOR, tasks.make("cross_grid", size=8)], ids=repr)
def test_hidden_states_of_an_aliased_task_look_alike(task: Task) -> None:
    drawn = aliased(task, seed=1).sampler(0).steps(2000)
    seen = drawn.features()[~np.asarray(drawn.observable)]
    assert len(seen) > 100
    assert (seen == seen[0]).all()
    shown = drawn.features()[np.asarray(drawn.observable)]
    assert (shown.sum(axis=1) == 1).all(), "observable states are as before"
    other = aliased(task, seed=2).sampler(0).steps(2000)
    assert (other.features()[~np.asarray(other.observable)] != seen[0]).all()


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_jitter_adds_to_what_is_random_already(axes: int) -> None:
    shape = (2, 3, 3)[:axes]
    covariance = np.ones(shape) if axes < 3 else np.tile(np.eye(3), (2, 1, 1))
    features = Features(np.zeros((2, 3)), covariance)
    task = Task("two", [(0, 0, 1, 1, 0), (1, 0, 1, -1, 1)], features, 1.0, start=[1, 0])
    found = jittered(task, 0.5).sampler(0).steps(20_000).features()
    np.testing.assert_allclose(np.cov(found.T), 1.25 * np.eye(3), atol=0.05)


def test_a_sensor_fails_for_stretches_and_recovers() -> None:
    drawn = failing(WALK, fails=0.02, recovers=0.05, deviation=2.0).sampler(0).steps(200_000)
    shown = np.asarray(drawn.observable)
    assert shown.mean() == pytest.approx(5 / 7, abs=0.02)
    same = ~np.asarray(drawn.is_first)[1:]
    assert (~shown[1:])[same & shown[:-1]].mean() == pytest.approx(0.02, rel=0.1)
    assert shown[1:][same & ~shown[:-1]].mean() == pytest.approx(0.05, rel=0.1)
    seen = drawn.features()
    np.testing.assert_array_equal(seen[shown], np.eye(19)[np.asarray(drawn.state)[shown]])
    assert seen[~shown].std() == pytest.approx(2.0, rel=0.01)
    assert abs(seen[~shown].mean()) < 0.01


def test_values_do_not_depend_on_the_sensor() -> None:
    grid = open_grid(4)
    made = failing(jittered(grid, 0.1), fails=0.3, recovers=0.7)
    np.testing.assert_allclose(made.values, np.tile(grid.values, 2), atol=1e-12)
    np.testing.assert_allclose(made.scored.values, grid.values, atol=1e-12)
    lost = np.asarray(made.sampler(0).steps(20_000).observable)
    assert lost.mean() == pytest.approx(0.7, abs=0.02)


def test_a_sensor_that_never_fails_changes_nothing() -> None:
    made = failing(WALK, fails=0.0, recovers=1.0)
    assert np.asarray(made.sampler(0).steps(1000).observable).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: aliased(WALK), "has no hidden states: give a task that has some"),
        (lambda: failing(WALK, 0.0, 0.0), "fails and recovers are both 0: give"),
        (lambda: jittered(WALK, -1.0), "deviation"),
        (lambda: jittered("walk", 1.0), "task is 'walk': give one"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_is_refused(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InputError, match=message):
        call()


def test_a_corridor_of_random_length_has_no_clock() -> None:
    task = geometric_corridor(10)
    np.testing.assert_allclose(task.values, [0.5, 2.0, -1.0, 2.0, -1.0])
    drawn = task.sampler(0).episodes(5000)
    lengths = np.diff(np.flatnonzero(drawn.is_last), prepend=-1) - 2
    assert lengths.min() == 1
    assert lengths.mean() == pytest.approx(10, rel=0.05)
    assert lengths.std() == pytest.approx(np.sqrt(90), rel=0.05)
