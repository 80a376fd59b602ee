"""Optimal control, against all policies of small tasks and shortest ways in a large one."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csgraph, csr_array

from preftd import InputError, Task, tasks
from preftd._src.arrays import as_dense
from preftd.theory import action_values, optimal


def _with_policy(task: Task, policy: tuple[int, ...]) -> Task:
    return Task(
        task.name,
        task.outcomes,
        task.features,
        task.discount,
        start=task.start,
        policy=np.array(policy),
    )


def _random(seed: int) -> Task:
    """Four states and three actions with random outcomes, which may end the episode."""
    rng, rows = np.random.default_rng(seed), []
    for state, action in itertools.product(range(4), range(3)):
        chances = rng.dirichlet(np.full(3, 0.5))
        for chance, to in zip(chances, (*rng.choice(4, 2, replace=False), -1), strict=True):
            rows.append((state, action, chance, to, rng.normal()))
    return Task(f"random {seed}", rows, np.eye(4), 0.9, start=np.full(4, 0.25))


SMALL = [
    *(_random(seed) for seed in range(5)),
    tasks.make("corridor", length=2),
    tasks.make("decision_corridors", length=2, decisions=1),
    tasks.make("cross_grid", size=2),
]


@pytest.mark.parametrize("task", SMALL, ids=[task.name for task in SMALL])
def test_no_policy_has_a_better_value_anywhere(task: Task) -> None:
    best, reached = optimal(task), np.full(task.states, -np.inf)
    for policy in itertools.product(range(task.outcomes.actions), repeat=task.states):
        try:
            values = _with_policy(task, policy).values
        except InputError:  # episodes never end: not a policy of this task
            continue
        reached = np.maximum(reached, values)
    np.testing.assert_allclose(best.values, reached, rtol=1e-12, atol=1e-12)
    assert (best.policy.max(axis=1) == 1).all()


def test_values_of_four_rooms_are_those_of_shortest_ways() -> None:
    task = tasks.make("four_rooms")
    moves, ending, _ = task.outcomes.under(task.policy)
    end = task.states
    rows, columns = (as_dense(moves) > 0).nonzero()
    rows = np.concatenate([rows, np.flatnonzero(ending)])
    columns = np.concatenate([columns, np.full((ending > 0).sum(), end)])
    graph = csr_array((np.ones(rows.size), (rows, columns)), shape=(end + 1, end + 1))
    steps = csgraph.shortest_path(graph, unweighted=True)[:end, end]
    best = optimal(task)
    np.testing.assert_allclose(best.values, 0.99 ** (steps - 1), rtol=1e-12)
    assert best.mean_episode_length == pytest.approx(task.start @ steps)


@pytest.mark.parametrize(
    ("name", "parameters", "value"),
    [
        ("corridor", {"length": 7}, 2.0),
        ("double_corridor", {"length": 7}, 3.0),
        ("decision_corridors", {"length": 7, "decisions": 5, "bait": 2}, 3.0),
    ],
)
def test_the_best_return_of_corridors(name: str, parameters: dict[str, int], value: float) -> None:
    best = optimal(tasks.make(name, **parameters))
    assert best.start @ best.values == pytest.approx(value, abs=1e-12)


def test_values_of_actions_average_to_values_of_states() -> None:
    task = _random(9)
    found = action_values(task.outcomes, task.discount, task.values)
    np.testing.assert_allclose(found.mean(axis=1), task.values, rtol=1e-12)
