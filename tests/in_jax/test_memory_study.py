"""The study of distrust and memory: its tasks, its failures, its methods, and its file."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from preftd import tasks
from preftd.failures import FailedError
from preftd.tasks import ControlTask

EXAMPLES = Path(__file__).parents[2] / "examples"
QUICK: Any = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Compiles in a third of the time."""


@pytest.fixture(scope="module")
def kit() -> Iterator[Any]:
    """The modules of the study."""
    sys.path.insert(0, str(EXAMPLES))
    names = ("tasks", "agents", "study")
    yield SimpleNamespace(**{name: import_module(f"memory_{name}") for name in names})
    sys.path.remove(str(EXAMPLES))
    for name in names:
        del sys.modules[f"memory_{name}"]


VERSIONS = {"CartPole": 1, "Acrobot": 1, "Pendulum": 1, "MountainCar": 0}


@pytest.mark.parametrize("name", VERSIONS)
def test_dynamics_are_those_of_gymnasium(kit: Any, name: str) -> None:
    task, theirs = kit.tasks.TASKS[name](), gymnasium.make(f"{name}-v{VERSIONS[name]}")
    assert theirs.spec is not None
    assert theirs.spec.max_episode_steps == task.limit
    own: Any = theirs.unwrapped
    step, observe = jax.jit(task.step), jax.jit(task.observe)
    own.reset(seed=0)
    rng, ratios = np.random.default_rng(0), []
    for _ in range(200):
        action = rng.integers(task.actions) if task.actions else rng.uniform(-3, 3)
        before = np.array(own.state, float)
        seen, reward, terminated, *_ = own.step(action if task.actions else np.array([action]))
        after, paid, over = step(before, action)
        np.testing.assert_allclose(after, own.state, atol=1e-12)
        assert float(paid) == pytest.approx(float(reward))
        assert bool(over) == terminated
        ratios.append(seen / observe(jax.random.key(0), after)[0])
        if terminated:
            own.reset()
    np.testing.assert_allclose(ratios, np.broadcast_to(ratios[0], np.shape(ratios)), rtol=1e-4)


def test_corridors_are_those_of_this_library(kit: Any) -> None:
    ours, theirs = kit.tasks.TASKS["corridors"](), tasks.make("decision_corridors", length=4)
    environment, rng = ControlTask(theirs).environment(), np.random.default_rng(0)
    _, info = environment.reset(seed=0)
    for _ in range(100):
        action = int(rng.integers(2))
        state = jnp.array([info["state"]])
        assert ours.value(state) == info["value"]
        _, real = ours.observe(jax.random.key(0), state)
        assert real == info["observable"]
        after, paid, over = ours.step(state, action)
        seen, reward, terminated, _, info = environment.step(action)
        assert (paid, over) == (reward, terminated)
        assert terminated or after[0] == info["state"]
        if info["observable"]:
            assert (ours.observe(jax.random.key(0), after)[0] == seen).all()
        if terminated:
            _, info = environment.reset()


def test_the_t_maze_pays_for_the_goal_that_was_shown_first(kit: Any) -> None:
    task = kit.tasks.TASKS["T-maze"]()
    for goal, action in np.ndindex(2, 2):
        state, seen = jnp.array([0.0, goal]), []
        for _ in range(6):
            seen.append(task.observe(jax.random.key(0), state)[0])
            state, reward, over = task.step(state, 2)
            assert (reward, over) == (0, False)
        assert seen[0].tolist() == [2 * goal, 2, 0]
        assert all(one.tolist() == [0, 2, 0] for one in seen[1:])
        assert task.observe(jax.random.key(0), state)[0].tolist() == [0, 0, 2]
        _, reward, over = task.step(state, action)
        assert over
        assert reward == pytest.approx(4 if action == goal else -0.1)


def test_rock_sample_pays_for_good_rocks_once_and_shows_what_was_checked(kit: Any) -> None:
    task, key = kit.tasks.TASKS["RockSample"](), jax.random.key(0)
    state, paid, says = jnp.array([0.0, 0, -1, 1, 0, 1]), [], []
    for action in (5, 3, 3, 4, 4, 1, 1, 3, 3, 7, 4, 0, 2, 3, 3):
        state, reward, over = task.step(state, action)
        says.append(np.asarray(task.observe(key, state)[0][-3:]).tolist())
        paid.append(float(reward))
    assert paid == [0, 0, 0, 10, -10, 0, 0, 0, 0, 0, 10, 0, 0, 0, 10]
    assert over
    assert {i for i, one in enumerate(says) if any(one)} == {0, 9}
    assert says[9] == [0, 0, 2]  # at the rock, a check is always right
    far = jnp.array([0.0, 4, 0, 1, 0, 0])
    seen = jax.vmap(task.observe, (0, None))(jax.random.split(key, 4000), far)[0][:, -3]
    assert (np.asarray(seen) == 2).mean() == pytest.approx(
        0.5 + 2 ** (-(20**0.5) / 20 - 1), abs=0.02
    )
    total, state = 0.0, jnp.array([0.0, 0, -1, 1, 0, 1])
    for _ in range(7):
        state, reward, over = task.step(state, task.policy(key, state))
        total += float(reward)
    assert (total, bool(over)) == (20.0, True)


@pytest.mark.parametrize("name", ["noise", "outages", "misleading"])
def test_sensors_fail_as_often_and_as_long_as_they_should(kit: Any, name: str) -> None:
    failure = kit.tasks.FAILURES[name]
    rows, steps = 200, 400
    x = jnp.arange(1.0, rows + 1)[:, None] + jnp.zeros((rows, 2))
    no = jnp.zeros(rows, bool)

    def look(before: Any, now: Any) -> tuple[Any, Any]:
        key, t = now
        seen = kit.tasks.sense(key, failure, before, (x + 1000 * t, ~no), no | (t == 0))
        return seen, seen

    keys = jax.random.split(jax.random.key(0), steps), jnp.arange(steps)
    _, found = jax.lax.scan(look, kit.tasks.Seen(0 * x, no, no), keys)
    fails, shown = np.asarray(found.fails), np.asarray(found.shown)
    truth = np.asarray(x) + 1000 * np.arange(steps)[:, None, None]
    assert (np.asarray(found.real) == ~fails).all()
    assert (shown[~fails] == truth[~fails]).all()
    assert fails.mean() == pytest.approx(0.3, abs=0.02)
    begun = fails[1:] & ~fails[:-1]
    assert fails[1:].sum() / begun.sum() == pytest.approx(failure.length, rel=0.1)
    late = fails[1:]
    if name == "outages":
        assert not fails[0].any()
        assert (shown[1:][late] == shown[:-1][late]).all()
    elif name == "misleading":
        assert (shown[fails] == np.roll(truth, 1, 1)[fails]).all()
    else:
        assert shown[fails].std() == pytest.approx(1, abs=0.05)


def test_sensors_may_fail_where_observations_are_extreme(kit: Any) -> None:
    failure = kit.tasks.Failure(1.0, 2.0, 0, 1.0)
    x, no = jnp.array([[0.9, 0.9], [2.0, 0.0]]), jnp.zeros(2, bool)
    before = kit.tasks.Seen(x, no, no)
    found = kit.tasks.sense(jax.random.key(0), failure, before, (x, ~no), ~no)
    assert found.real.tolist() == [True, False]


@pytest.fixture(scope="module")
def learned(kit: Any) -> Any:
    """Measures of two agents that learn for a moment; each program is compiled once."""

    @cache
    def program(recurrent: bool, acts: bool) -> Any:
        task, size = kit.tasks.TASKS["T-maze"](), kit.agents.Size(3, 16, 64)
        one = partial(kit.agents.train, task=task, recurrent=recurrent, size=size, acts=acts)
        every = jax.jit(jax.vmap(one, (0, 0, None, None)))
        return every.lower(*given("GRU" if recurrent else "PPO", "noise")).compile(QUICK)

    def given(method: str, failure: str) -> Any:
        numbers = kit.agents.Numbers.of(kit.study.METHODS[method])
        keys = jax.random.split(jax.random.key(0), 2)
        return keys, jnp.full(2, 0.01), numbers, kit.tasks.FAILURES[failure]

    def learn(method: str, failure: str, *, acts: bool) -> Any:
        run = program(kit.study.METHODS[method].recurrent, acts)
        return jax.tree.map(np.asarray, run(*given(method, failure)))

    return learn


ALIKE = ("flag", "λ = 1 at drops", "preferences")


def test_methods_learn_to_act_and_differ_where_sensors_fail(learned: Any) -> None:
    found = {name: learned(name, "noise", acts=True) for name in ("PPO", *ALIKE)}
    for one in found.values():
        assert set(one) == {"all", "last"}
        assert np.isfinite(one["all"]).all()
        assert (one["all"] >= -0.1).all()
        assert (one["all"] <= 4).all()
    assert len({one["all"].tobytes() for one in found.values()}) == 4


def test_where_no_sensor_fails_preferences_change_nothing(learned: Any) -> None:
    found = {name: learned(name, "none", acts=True)["all"] for name in ALIKE}
    assert (found["flag"] == found["preferences"]).all()
    assert (found["flag"] == found["λ = 1 at drops"]).all()


def test_recurrent_critics_learn_values(learned: Any) -> None:
    found = [
        learned(name, "noise", acts=False) for name in ("GRU", "GRU, flag", "GRU, preferences")
    ]
    for one in found:
        assert set(one) == {"real", "hidden"}
        assert all((error > 0).all() and (error < 10).all() for error in one.values())
    assert len({one["real"].tobytes() for one in found}) == 3


def test_errors_are_those_of_known_values(kit: Any) -> None:
    """Of values that are 1 too large in a task that pays 1 at each of three steps."""
    task = kit.tasks.TASKS["CartPole"]()
    ends = np.arange(60) % 3 == 2
    truth = 1 + 0.99 * np.array([0.99 + 1, 1, 0])[np.arange(60) % 3]
    truth[ends] = 1.0
    value, real = truth + np.where(np.arange(60) % 3 == 0, 1.0, 0.0), np.arange(60) % 3 == 0
    parts = (value, np.ones(60), ends, real, 0 * truth)
    found = kit.agents._errors(task, *(part.reshape(6, 10, 1) for part in parts))
    assert found["real"] == pytest.approx(1 / truth[-15:].std())
    assert found["hidden"] == pytest.approx(0, abs=1e-12)


def test_memories_are_frames_and_averages(kit: Any) -> None:
    seen = np.random.default_rng(0).normal(size=10)
    memories = {}
    for name in ("frames", "traces", "now"):
        numbers = kit.agents.Numbers.of(kit.agents.Method(memory=name))
        memories[name] = np.zeros(len(numbers.add))
        for x in seen:
            memories[name] = np.asarray(numbers.keep @ memories[name] + numbers.add * x)
    np.testing.assert_allclose(memories["frames"], seen[:-5:-1])
    np.testing.assert_allclose(memories["now"], seen[-1:])
    weights = [(1 - decay) * decay ** np.arange(9, -1, -1) for decay in kit.agents.DECAYS]
    np.testing.assert_allclose(memories["traces"], weights @ seen)


def test_a_study_resumes_and_tunes_on_other_seeds(
    kit: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, calls = kit.study, []

    def compute(cells: list[Any]) -> Any:
        calls.append(cells)
        better = {"values": 1, "control": -1}
        return 1.0, [
            {name: [better[one.question] * abs(one.rate - 0.01)] for name in measures}
            for one in cells
            for measures in [study.QUESTIONS[one.question]]
        ]

    monkeypatch.setattr(study, "compute", compute)
    monkeypatch.setattr(study, "TASKS", {study.SINGLE_TASK: None, study.OTHER_TASKS[0]: None})
    file = tmp_path / "rows.csv"
    study.fill(file)
    whole, number = file.read_text(encoding="utf-8"), len(calls)
    reported = [cells[0] for cells in calls if cells[0].seeds == "reported"]
    main, other = 2 * 9 * 3 + 3 + 3 * 3 + 2 * 5 * 6, 2 * 6 + 3
    assert len(reported) == len(set(reported)) == main + other
    assert {cell.rate for cell in reported} == {0.01}
    assert not set(study.TUNED) & set(study.REPORTED)
    begun = whole.splitlines(keepends=True)[:3]  # half of the first call
    file.write_text("".join(begun), encoding="utf-8")
    study.fill(file)
    assert len(calls) == 2 * number
    assert file.read_text(encoding="utf-8") == whole
    lines = list(study.check(file, 3))
    assert [line.rpartition(" ")[2] for line in lines] == ["equal"] * 3
    apart = {name: [9.0] for name in study.MEASURES}
    monkeypatch.setattr(study, "compute", lambda _: (1.0, [apart]))
    with pytest.raises(FailedError, match="not those on file"):
        list(study.check(file, 3))
