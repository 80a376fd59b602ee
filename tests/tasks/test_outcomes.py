"""The table of outcomes: rows in any order are the same, and what means nothing is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from preftd import InputError, MarkovRewardProcess, tasks
from preftd._src.tasks.environment import TaskEnvironment
from preftd._src.tasks.sampler import Sampler
from preftd.tasks import CartPoleDropOuts, Features, Layout, Outcomes, Scored, Task

ROWS = np.array(
    [
        # state, action, probability, next state, reward, spread
        (0, 0, 0.25, 1, 1.0, 0.0),
        (0, 0, 0.75, 0, -1.0, 0.5),
        (0, 1, 1.0, -1, 4.0, 0.0),
        (1, 0, 1.0, -1, 2.0, 0.0),
        (1, 1, 1.0, 0, 3.0, 0.0),
    ]
)


def columns(rows: Any = ROWS, **changes: Any) -> dict[str, Any]:
    names = ("state", "action", "probability", "next_state", "reward", "spread")
    given = dict(zip(names, rows.T, strict=True))
    return {**given, "ends": rows[:, 3] < 0, **changes}


def coin(outcomes: Outcomes) -> Task:
    return Task("coin", outcomes, np.eye(2), 0.9, start=[1, 0], policy=[[0.6, 0.4], [0.3, 0.7]])


@pytest.mark.parametrize("order", [[4, 3, 2, 1, 0], [3, 0, 4, 1, 2]])
def test_rows_in_any_order_are_the_same_task(order: list[int]) -> None:
    """Process, sampler and environment agree, because all read rows in one order."""
    sorted_, given = Outcomes(**columns()), Outcomes(**columns(ROWS[order]))
    assert given.state.tolist() == [0, 0, 0, 1, 1]
    assert given.action.tolist() == [0, 0, 1, 0, 1]
    task, same = coin(given), coin(sorted_)
    np.testing.assert_allclose(task.values, same.values, rtol=1e-12)
    steps = task.sampler(0).steps(20_000)
    reward: Any = np.zeros((2, 2))
    ends: Any = np.zeros((2, 2))
    for state in (0, 1):
        for action in (0, 1):
            here = (steps.state == state) & (steps.action == action)
            reward[state, action] = steps.reward[here].mean()
            ends[state, action] = steps.is_last[here].mean()
    np.testing.assert_allclose(reward, [[-0.5, 4.0], [2.0, 3.0]], atol=0.05)
    np.testing.assert_array_equal(ends, [[0, 1], [1, 0]])
    environment = TaskEnvironment(task)
    for action, pays in ((1, 4.0), (0, None)):
        environment.reset(seed=0)
        _, paid, terminated, _, _ = environment.step(np.int64(action))
        assert terminated == (action == 1)
        assert pays in (None, paid)


def test_a_table_cannot_be_changed_behind_a_tasks_back() -> None:
    given = columns()
    outcomes = Outcomes(**given)
    given["reward"][:] = 100
    assert outcomes.reward.max() == 4
    with pytest.raises(ValueError, match="read-only"):
        outcomes.reward[0] = 1


def direct(**changes: Any) -> Callable[[], Any]:
    return lambda: Outcomes(**columns(**changes))


ONE: Any = [(0, 0, 1, -1, 0)]
BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "lengths": (direct(reward=[1, 2]), r"^reward has shape \(2,\): "),
    "two dimensions": (direct(state=[[0, 1]]), r"^state has shape \(1, 2\): "),
    "half a state": (direct(state=[0, 0, 0.5, 1, 1]), r"^row 2 has state 0\.5: "),
    "a word": (direct(action=["left"] * 5), r"^action is not an array of real numbers: "),
    "masked": (
        direct(reward=np.ma.array(np.ones(5), mask=np.arange(5) == 1)),
        r"^reward\[1\] is nan: ",
    ),
    "an end that leads on": (direct(ends=[0, 1, 1, 1, 0]), r"^row 1 has ends 1 but next_state 0: "),
    "half an end": (direct(ends=[0, 0.5, 1, 1, 0]), r"^row 1 has ends 0\.5 but next_state 0: "),
    "negative spread": (direct(spread=[0, 0, 0, -1, 0]), r"^spread\[3\] is -1: "),
    "huge reward": (direct(reward=[0, 0, -1e308, 0, 0]), r"^reward\[2\] is -1e\+308: rescale"),
    "sums": (direct(probability=[0.5, 0.6, 1, 1, 1]), r"state 0 and action 0 sum to 1\.1, not 1: "),
    "a gap": (lambda: Outcomes.of([*ONE, (2e9, 0, 1, -1, 0)]), r"state 1 and action 0 sum to 0, "),
    "an action of one": (
        lambda: Outcomes.of([*ONE, (1, 5, 1, -1, 0)]),
        r"state 0 and action 1 sum",
    ),
    "beyond four bytes": (lambda: Outcomes.of([(1e10, 0, 1, -1, 0)]), r"^a state or action is 2³¹"),
    "no rows": (lambda: Outcomes.of(np.zeros((0, 5))), r"^rows are missing"),
    "a vector": (lambda: Outcomes.deterministic([1], 0), r"^next_state has shape \(1,\): "),
    "no table": (lambda: Outcomes.deterministic(None, 0), r"^next_state is None: give"),  # type: ignore[arg-type]
    "half a move": (lambda: Outcomes.deterministic([[0.5]], 0), r"^row 0 has next state 0\.5: "),
    "other rewards": (
        lambda: Outcomes.deterministic([[-1]], [1, 2]),
        r"^reward has shape \(2,\) but",
    ),
    "ragged": (lambda: Outcomes.deterministic([[0, 1], [0]], 0), r"^next_state is not an array"),
    "name": (lambda: Task(5, ONE, [[1]], 1.0, start=[1]), r"^name is 5: "),  # type: ignore[arg-type]
    "layout": (
        lambda: Task("one", ONE, [[1]], 1.0, start=[1], layout=Layout.row(2)),
        r"^layout is Layout.*: give a Layout with a position for each of 1 states",
    ),
    "no position": (lambda: Layout([1, 2]), r"^position has shape \(2,\): "),  # type: ignore[arg-type]
    "kind": (lambda: Layout(np.ones((1, 2)), "gird"), r"did you mean 'grid'"),  # type: ignore[arg-type]
    "names": (lambda: Layout(np.ones((1, 2)), names={3: "a"}), r"^a state in names is 3: "),
    "end": (lambda: Layout(np.ones((1, 2)), end=(1, 2, 3)), r"^end is \(1, 2, 3\): "),  # type: ignore[arg-type]
    "no states": (lambda: Layout.circle(0), r"^states is 0: "),
    "task by number": (lambda: TaskEnvironment(3), r"^task is 3: "),  # type: ignore[arg-type]
    "parameters of a task": (
        lambda: TaskEnvironment(tasks.make("corridor"), length=3),
        r"^parameters \(length\) are for a task given by name: ",
    ),
    "task by list": (lambda: tasks.make([]), r"^there is no task \[\]: "),  # type: ignore[arg-type]
    "axes": (lambda: tasks.make("corridor").plot(axes=3), r"^axes is 3: "),  # type: ignore[arg-type]
    "nothing to score": (lambda: Scored.of(None), r"^task is None: "),  # type: ignore[arg-type]
    "nothing to sample": (lambda: Sampler(None, 0), r"^task is None: "),  # type: ignore[arg-type]
    "half the states": (lambda: Features.of(np.eye(2), 0.5), r"^states is 0\.5: "),  # type: ignore[arg-type]
    "huge covariance": (
        lambda: Features(np.eye(2), [1, 1.7e308]),
        r"^covariance\[1\] is 1\.7e\+308: ",
    ),
    "huge noise": (lambda: CartPoleDropOuts(noise=1.7e308), r"^noise is 1\.7e\+308: "),
    "negative noise": (lambda: CartPoleDropOuts(noise=-1), r"^noise is -1: "),
    "huge start": (
        lambda: MarkovRewardProcess(np.full((2, 2), 0.5), 0, 0.9, [1.7e308] * 2),
        r"^start sums to inf, not 1: ",
    ),
    "huge transition": (
        lambda: MarkovRewardProcess(np.full((2, 2), 1.7e308), 0, 0.9),
        r"^transition row 0 sums to inf, not 1: ",
    ),
    "huge rewards": (
        lambda: MarkovRewardProcess(np.full((2, 2), 0.5), [0, 1e308], 0.9),
        r"^reward\[1\] is 1e\+308: rescale them all",
    ),
    "masked transitions": (
        lambda: MarkovRewardProcess.from_mdp(
            np.ma.array(np.full((1, 2, 2), 0.5), mask=np.eye(2, dtype=bool)[None]), [0, 0], 0, 0.9
        ),
        r"^transitions\[0, 0, 0\] is nan: ",
    ),
    "all steps": (lambda: tasks.make("corridor").sampler(0).steps(10**18), r"^count is 1000000"),
}


@pytest.mark.parametrize(("build", "message"), BAD.values(), ids=BAD)
def test_what_means_nothing_is_refused(build: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()
