"""Tasks of the catalogue for control: compiled, and as environments, from one table."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from preftd import InputError, Task, tasks
from preftd._src.experiments.content import content
from preftd._src.tasks.grids import doorways
from preftd.tasks import ControlTask, Features
from tasks.compiled_control import Compiled

NOISY = Task(
    "noisy",
    [
        *((0, 0, 0.3, 1, 1, 0.5), (0, 0, 0.7, -1, 0, 0), (0, 1, 1, 1, 0, 2), (1, 0, 1, 0, 3, 0)),
        *((1, 1, 0.5, 1, 0, 0), (1, 1, 0.25, 0, 1, 0), (1, 1, 0.25, -1, -1, 1)),
    ],
    Features([[0.3, -2.0], [1.0, 0.5]], covariance=[[0.0, 0.0], [0.5, 4.0]]),
    0.9,
    start=[0.25, 0.75],
    observable=[True, False],
)
"""Everything random: outcomes, rewards, features with their own variances, starts."""
EPISODIC = {name: make() for name, make in tasks.TASKS.items() if make().episodic}


@pytest.mark.parametrize("task", [NOISY, *EPISODIC.values()], ids=["noisy", *EPISODIC])
def test_the_compiled_task_is_the_environment_to_the_bit(task: Task) -> None:
    control = ControlTask(task, limit=50)
    environment, choices = control.environment(), np.random.default_rng(5)
    shown, info = environment.reset(seed=7)
    ours = Compiled(control, gymnasium.utils.seeding.np_random(7)[0])
    for _ in range(40):
        assert (ours.reset() == shown).all()
        over = steps = 0
        while not over:
            assert ours.seen.tolist() == [info["state"], info["observable"]]
            action = choices.integers(control.actions)
            shown, their_reward, terminated, truncated, info = environment.step(action)
            observation, reward, ended = ours.step(int(action))
            assert (observation == shown).all()
            assert (reward, ended) == (their_reward, terminated)
            over, steps = terminated or truncated, steps + 1
        assert truncated == (steps == 50)
        assert ours.seen.tolist() == [info["state"], info["observable"]]
        shown, info = environment.reset()


def test_without_a_limit_it_is_the_environment_of_the_task() -> None:
    control = ControlTask(tasks.make("corridor", length=3))
    assert type(control.environment()).__name__ == "TaskEnvironment"
    assert control.name == "corridor(length=3)"


def test_a_task_that_a_learner_may_never_leave_needs_a_limit() -> None:
    for task in (tasks.make("cross_grid", size=4), NOISY):
        with pytest.raises(InputError, match="limit is 0 but a learner may stay"):
            ControlTask(task)
        assert ControlTask(task, limit=3).name == f"{task.name}, limit 3"


def test_a_state_that_cannot_be_left_without_risk_needs_no_limit() -> None:
    risky = Task("risky", [(0, 0, 0.9, 0, 0), (0, 0, 0.1, -1, 1)], [[1]], 1.0, start=[1])
    assert ControlTask(risky).limit == 0


def test_what_control_cannot_use_is_refused() -> None:
    given: Any = "corridor"
    with pytest.raises(InputError, match="task is 'corridor'"):
        ControlTask(given)
    with pytest.raises(InputError, match="no episodes"):
        ControlTask(tasks.make("counterexample_1"))
    with pytest.raises(InputError, match="limit is -1"):
        ControlTask(NOISY, limit=-1)
    correlated = Task(
        "correlated",
        [(0, 0, 1, -1, 0)],
        Features([[0, 0]], covariance=[[[1, 0.5], [0.5, 1]]]),
        1.0,
        start=[1],
    )
    with pytest.raises(InputError, match="covariance matrix per state"):
        ControlTask(correlated).tables  # noqa: B018  (made when asked for)


def test_it_is_known_by_its_task_and_limit() -> None:
    def made(length: int, limit: int) -> Any:
        control = ControlTask(tasks.make("corridor", length=length), limit)
        assert control.tables.actions == 2
        return content(control)

    assert made(3, 9) == made(3, 9)
    assert made(3, 9) != made(4, 9)
    assert made(3, 9) != made(3, 10)


@pytest.mark.parametrize("bait", [0, 2])
def test_ways_of_decision_corridors_pay_what_they_say(bait: int) -> None:
    task = tasks.make("decision_corridors", length=4, decisions=3, bait=bait)
    control = Compiled(ControlTask(task), np.random.default_rng(0))
    for right in range(4):
        control.reset()
        for i in range(right):
            assert control.seen.tolist() == [i, 1]
            for _ in range(5):
                assert control.step(i % 2)[1:] == (0.0, False)
        if right == 3:
            assert control.seen.tolist() == [3, 1]
            assert control.step(0)[1:] == (3.0, True)
            continue
        for _ in range(4):
            assert control.step(1 - right % 2)[1:] == (0.0, False)
            assert control.seen[1] == 0
        assert control.step(0)[1:] == (bait, True)


def test_doorways_are_the_only_ways_between_rooms() -> None:
    task, doors = tasks.make("four_rooms"), doorways()
    moves = task.process.transition
    inner = np.flatnonzero(~doors)
    joined: Any = (np.asarray(moves)[np.ix_(inner, inner)] > 0).astype(float)
    reached = np.linalg.matrix_power(joined + np.eye(inner.size), 200) > 0
    assert len({tuple(row) for row in reached}) == 4
    assert doors.sum() == 4
    for closed in np.flatnonzero(doors):
        others = np.flatnonzero(np.arange(task.states) != closed)
        open_to: Any = (np.asarray(moves)[np.ix_(others, others)] > 0).astype(float)
        assert (np.linalg.matrix_power(open_to + np.eye(others.size), 200) > 0).all()
