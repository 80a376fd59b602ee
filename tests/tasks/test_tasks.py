"""The tasks of the paper: their sizes, values and rewards; and custom tasks."""

from typing import Any

import numpy as np
import pytest

from preftd import InputError, Task, tasks
from preftd._src.tasks.catalogue import describe, overview, parse
from preftd._src.tasks.environment import TaskEnvironment
from preftd.tasks import Outcomes


def test_random_walk_values_rise_from_minus_0_9_to_0_9() -> None:
    task = tasks.make("random_walk")
    np.testing.assert_allclose(task.values, np.arange(-9, 10) / 10, atol=1e-12)
    assert task.start[9] == 1
    assert task.mean_episode_length == pytest.approx(100)


@pytest.mark.parametrize("length", [1, 5, 25])
def test_corridor_has_two_chains_and_length_plus_1_steps(length: int) -> None:
    task = tasks.make("corridor", length=length)
    assert task.states == 2 * length + 1
    assert (~task.observable).sum() == 2 * (length - 1)
    np.testing.assert_allclose(task.values[task.observable], [0.5, 2, -1], atol=1e-12)
    episode = task.sampler(0).episodes(50)
    assert len(episode) == 50 * (length + 1)
    # The reward is paid on leaving the goal.
    assert set(episode.reward[episode.is_last]) == {2.0, -1.0}
    assert not episode.reward[~episode.is_last].any()


@pytest.mark.parametrize("length", [1, 5, 25])
def test_double_corridor_has_three_goals_and_two_length_plus_3_steps(length: int) -> None:
    task = tasks.make("double_corridor", length=length)
    assert (~task.observable).sum() == 5 * length
    np.testing.assert_allclose(task.values[task.observable], [2, 2.5, 1.5, 3, 2, 1], atol=1e-12)
    episodes = task.sampler(0).episodes(2000)
    assert len(episodes) == 2000 * (2 * length + 3)
    for goal, mean in ((3, 3.0), (4, 2.0), (5, 1.0)):
        state = np.flatnonzero(task.observable)[goal]
        paid = episodes.reward[(episodes.state == state) & episodes.is_last]
        assert abs(paid.mean() - mean) < 5 * 0.2 / np.sqrt(paid.size)
        assert abs(paid.std() - 0.2) < 5 * 0.2 / np.sqrt(2 * paid.size)


@pytest.mark.parametrize("size", [8, 12, 16])
def test_cross_grid_hides_the_middle_half_of_rows_and_columns(size: int) -> None:
    task = tasks.make("cross_grid", size=size)
    row, column = np.divmod(np.arange(size * size - 1), size)
    middle = range(size // 4, 3 * size // 4)
    np.testing.assert_array_equal(~task.observable, np.isin(row, middle) | np.isin(column, middle))
    quarter = (row < size // 2) & (column < size // 2)
    np.testing.assert_array_equal(task.start > 0, quarter)
    assert task.discount == 0.99


def test_cross_grid_pays_5_on_entering_the_corner() -> None:
    task = tasks.make("cross_grid", size=8)
    outcomes = task.outcomes
    assert set(outcomes.state[outcomes.ends]) == {8 * 7 - 1, 8 * 8 - 2}
    assert set(outcomes.reward[outcomes.ends]) == {5.0}
    # By hand: in the corner's neighbour, a quarter of the time the episode ends with 5.
    up, here, left = 8 * 6 - 1, 8 * 7 - 1, 8 * 7 - 2
    v = task.values
    assert v[here] == pytest.approx(0.25 * 5 + 0.99 * 0.25 * (v[up] + v[left] + v[here]))


def test_random_grid_hides_half_of_the_cells_depending_on_the_seed() -> None:
    grids = [tasks.make("random_grid", size=8, seed=seed) for seed in range(5)]
    for grid in grids:
        assert (~grid.observable).sum() == 32
    assert len({tuple(grid.observable.tolist()) for grid in grids}) == 5
    again = tasks.make("random_grid", size=8, seed=3)
    np.testing.assert_array_equal(again.observable, grids[3].observable)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("corridor", {"length": 0}, "length is 0: give a whole number from 1 to"),
        ("corridor", {"length": 2.5}, "length is 2.5"),
        ("corridor", {"length": "5"}, "length is '5'"),
        ("random_walk", {"states": None}, "states is None"),
        ("random_grid", {"seed": 1.0}, "seed is 1.0"),
        ("random_walk", {"states": -3}, "states is -3"),
        ("cross_grid", {"size": 1}, "size is 1: give a whole number from 2 to"),
        ("random_grid", {"seed": -1}, "seed is -1"),
        ("corridor", {"length": 10**12}, "length is 1000000000000: give a whole number from"),
        ("cross_grid", {"size": True}, "size is True"),
        ("coridor", {}, "did you mean 'corridor'"),
        ("zzz", {}, "known are random_walk, corridor"),
        ("corridor", {"lenght": 3}, "did you mean 'length'"),
    ],
)
def test_wrong_parameters_get_one_sentence(
    name: str, parameters: dict[str, int], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        tasks.make(name, **parameters)


def test_a_custom_task_is_a_table_and_features() -> None:
    """A machine that wears down: run it (0) or repair it (1); its gauge works only if new."""
    rows = [
        # state, action, probability, next state, reward
        (0, 0, 0.8, 0, 1.0),
        (0, 0, 0.2, 1, 1.0),
        (0, 1, 1.0, 0, -0.5),
        (1, 0, 0.5, 1, 0.5),
        (1, 0, 0.5, -1, -3.0),
        (1, 1, 1.0, 0, -0.5),
    ]
    task = Task(
        "machine",
        Outcomes.of(rows),
        tasks.Features([[1.0, 0.0], [0.5, 0.5]], covariance=[0.0, 1.0]),
        discount=0.9,
        start=[1, 0],
        observable=[True, False],
        policy=[[1.0, 0.0], [0.5, 0.5]],
    )
    # v0 = 1 + 0.9 (0.8 v0 + 0.2 v1), v1 = 0.5 (−1.25) + 0.5 (−0.5) + 0.9 (0.25 v1 + 0.5 v0)
    v0, v1 = np.linalg.solve([[0.28, -0.18], [-0.45, 0.775]], [1.0, -0.875])
    np.testing.assert_allclose(task.values, [v0, v1])
    assert len(task.sampler(0).episodes(3)) > 3
    assert task.plot().get_title(loc="left") == "machine"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(0, 0, 0.5, 0, 0)], "state 0 and action 0 sum to 0.5"),
        ([(0, 0, 1, 1, 0)], "row 0 leads to state 1, which has no rows"),
        ([(1, 0, 1, 7, 0), (0, 0, 1, -1, 0)], "row 0 leads to state 7"),
        ([(0, 0, 1, -2, 0)], "row 0 leads to state -2"),
        ([(0, 0, 1, 0.5, 0)], "row 0 has next state 0.5"),
        ([(0, 0, -1, 0, 0), (0, 0, 2, 0, 0)], r"probability\[0\] is -1"),
        ([(0, 1, 1, 0, 0)], "state 0 and action 0 sum to 0"),
        ([(0, 0, 1, 0)], "rows have shape"),
        ([(-1, 0, 1, 0, 0)], "a state or action is negative: give rows"),
        ([(0, 0, 1, -1, 0, -1)], r"spread\[0\] is -1"),
    ],
)
def test_wrong_tables_get_one_sentence(rows: list[tuple[float, ...]], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Outcomes.of(rows)


def test_episodes_that_may_never_end_are_refused() -> None:
    rows = [(0, 0, 1, 0, 0), (1, 0, 1, -1, 1)]
    with pytest.raises(InputError, match="from state 0 episodes never end"):
        Task("stuck", Outcomes.of(rows), np.eye(2), 0.9, start=[1, 0])
    # Rows are accepted instead of a table.
    assert (
        len(Task("free", [(0, 0, 1, -1, 1)], [[1.0]], 0.9, start=[1]).sampler(0).episodes(3)) == 3
    )


def test_where_the_policy_never_goes_episodes_need_not_end() -> None:
    """From state 0, the second action leads to where nothing ends but by chance."""
    rows = [(0, 0, 1, -1, 1), (0, 1, 1, 1, 0), (1, 0, 1, 0, 0), (1, 1, 1, 1, 0)]
    policy = [[1, 0], [1, 0]]
    task = Task("safe", Outcomes.of(rows), np.eye(2), 1, start=[1, 0], policy=policy)
    assert task.mean_episode_length == 1
    np.testing.assert_allclose(task.values, 1)


@pytest.mark.parametrize("discount", [[0.9, 0.8], 1.5, -0.1, "x"])
def test_the_discount_of_a_task_is_one_number(discount: Any) -> None:
    with pytest.raises(InputError, match="discount"):
        Task("odd", [(0, 0, 1, -1, 0)], [[1.0]], discount, start=[1])


def test_a_walk_may_be_long() -> None:
    task = tasks.make("random_walk", states=20_001)
    assert task.values[10_000] == pytest.approx(0, abs=1e-9)
    assert len(task.sampler(0).steps(100)) == 100


@pytest.mark.parametrize(
    ("observable", "message"),
    [
        ([1, 0], r"observable has shape \(2,\)"),
        ([0.5], r"observable\[0\] is 0.5: give true or false"),
    ],
)
def test_states_are_observable_or_not(observable: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Task("odd", [(0, 0, 1, -1, 0)], [[1.0]], 1.0, start=[1], observable=observable)


def test_an_environment_refuses_steps_before_a_reset_and_unknown_actions() -> None:
    environment = TaskEnvironment("corridor", length=1)
    with pytest.raises(InputError, match="call reset first"):
        environment.step(np.int64(0))
    environment.reset(seed=0)
    with pytest.raises(InputError, match=r"^seed is 'x': "):
        environment.reset(seed="x")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^action is 'a b': "):
        environment.step("a b")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"action is 2: give a whole number from 0 to 1"):
        environment.step(np.int64(2))
    while not environment.step(np.int64(0))[2]:
        pass
    with pytest.raises(InputError, match="call reset first"):
        environment.step(np.int64(0))


def test_an_episodic_task_needs_a_start() -> None:
    with pytest.raises(InputError, match="start is missing"):
        Task("endless", Outcomes.of([(0, 0, 1, -1, 0)]), [[1.0]], 1.0)


def test_a_chain_without_episodes_is_asked_for_steps() -> None:
    with pytest.raises(InputError, match="ask for steps"):
        tasks.make("counterexample_1").sampler(0).episodes(1)
    with pytest.raises(InputError, match=r"is 1\.5: give a whole number"):
        tasks.make("corridor").sampler(0).episodes(1.5)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="count is 0: give a whole number from 1 to"):
        tasks.make("counterexample_1").sampler(0).steps(0)


def test_the_overview_has_a_line_for_each_task() -> None:
    lines = list(overview())
    assert [line.split("(")[0] for line in lines] == list(tasks.TASKS)
    assert "corridor(length=10)" in lines[1]
    assert "4 steps on average" in describe(tasks.make("corridor", length=3))
    assert parse(["length=3"]) == {"length": 3}
    with pytest.raises(InputError, match="a whole number"):
        parse(["length"])


@pytest.mark.parametrize("name", sorted(tasks.TASKS))
def test_every_task_can_be_drawn_with_its_preference(name: str) -> None:
    task = tasks.make(name)
    axes = task.plot(beta=np.where(task.observable, 1.0, 0.25))
    texts = [text.get_text() for text in axes.texts]
    numbers = [text.split("\n")[0].removeprefix("β = ") for text in texts]
    assert numbers.count("1") >= task.observable.sum()
    assert numbers.count("0.25") == (~task.observable).sum()
    paid = task.outcomes.reward[task.outcomes.ends]
    rewards = {f"{r:+g}".replace("-", "−") for r in paid}
    assert rewards <= {text.split(" ")[0] for text in texts}
    with pytest.raises(InputError, match=r"beta\[0\] is 2"):
        task.plot(beta=2 * np.ones(task.states))
    with pytest.raises(InputError, match="beta and lambda_ are both given"):
        task.plot(beta=0.5, lambda_=0.5)


def test_a_small_graph_shows_probabilities_features_and_lambda() -> None:
    axes = tasks.make("counterexample_1").plot(lambda_=[0.99, 0.8])
    texts = [text.get_text() for text in axes.texts]
    assert texts.count("0.5") == 4
    assert {"λ = 0.99\nx = 0.5", "λ = 0.8\nx = 1"} <= set(texts)
    assert "arrows: probabilities; x: features; discount 0.99" in texts
    rows = [(0, 0, 1, 1, 1), (0, 1, 1, 0, 0), (1, 0, 1, 0, -2), (1, 1, 1, 0, 0)]
    told = Task("two", rows, [[1.0], [-2.0]], 0.9, policy=[[0.75, 0.25], [1.0, 0.0]]).plot().texts
    assert {"0.75, +1", "0.25", "1, +0 or −2", "x = −2"} <= {text.get_text() for text in told}
