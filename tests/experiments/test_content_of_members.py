"""Whatever a study is made of has a name of its own, which each of its parameters changes."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from experiments.test_content import ROWS, check_text, half, name_of, third
from preftd import ETD, PTD, TD, Decreasing, Linear, Network, preferences, tasks
from preftd._src.experiments.content import content, text
from preftd._src.learners.pretrained import Pretrained, Training
from preftd.preferences import (
    Constant,
    Displacement,
    Function,
    Learned,
    Observability,
    PerState,
    Uncertainty,
)
from preftd.rules import RULES
from preftd.tasks import TASKS, Features, Layout, Task

OTHER_ROWS = [*ROWS[:2], (1, 0, 1.0, -1, 2.0), *ROWS[3:]]

TRAINING = Training(
    tasks.make("random_walk"), Network(4, "forward"), TD(), Constant(0.0), 0.1, episodes=1
)


def agreed(x: Any) -> Any:
    """An ensemble of two predictors."""
    return [x[0], x[0]]


def apart(x: Any) -> Any:
    """Another one."""
    return [x[0], 0.0]


PARAMETERS: dict[Callable[..., Any], tuple[dict[str, Any], dict[str, list[Any]]]] = {
    TD: ({}, {}),
    PTD: ({}, {}),
    ETD: ({}, {"interest": [1.0, 0.5, [1.0, 0.5], [1.0, 0.25], Observability(), Constant(0.5)]}),
    Constant: ({"beta": 0.5}, {"beta": [0.5, 0.25]}),
    Observability: ({}, {"observable": [1.0, 0.9], "hidden": [0.0, 0.1]}),
    PerState: ({"beta": [1.0, 0.5]}, {"beta": [[1.0, 0.5], [0.5, 1.0], [1.0, 0.5, 0.5], [1.0]]}),
    Uncertainty: (
        {"ensemble": agreed, "scale": 1.0},
        {"ensemble": [agreed, apart], "scale": [1.0, 2.0]},
    ),
    Function: (
        {"function": half},
        {"function": [half, third, lambda _: 0.5], "compiled": [False, True]},
    ),
    Learned: ({}, {"linear": [False, True]}),
    Displacement: (
        {"thresholds": {0: 1.0, 2: 0.5}},
        {"thresholds": [{0: 1.0, 2: 0.5}, {0: 1.0, 1: 0.5}, {0: 1.0}], "between": [0.1, 0.2]},
    ),
    Linear: (
        {},
        {"view": ["backward", "forward", "true_online", "held"], "bounded": [False, True]},
    ),
    Network: (
        {"units": 4, "view": "forward"},
        {
            "units": [4, 5],
            "view": ["forward", "backward", "held"],
            "optimiser": ["sgd", "adam"],
            "init": ["uniform", "xavier"],
            "bounded": [False, True],
        },
    ),
    Training: (
        vars(TRAINING),
        {
            "task": [TRAINING.task, tasks.make("random_walk", states=5)],
            "network": [TRAINING.network, Network(5, "forward")],
            "rule": [TD(), PTD()],
            "preference": [Constant(0.0), Constant(1.0)],
            "step_size": [0.1, 0.2],
            "episodes": [1, 2],
        },
    ),
    Pretrained: (
        {"training": TRAINING},
        {
            "training": [TRAINING, replace(TRAINING, episodes=2)],
            "linear": [Linear(), Linear("true_online")],
        },
    ),
    Decreasing: (
        {"initial": 0.5},
        {"initial": [0.5, 0.1], "delay": [1000.0, 10.0], "power": [1.0, 0.75]},
    ),
    tasks.TASKS["random_walk"]: ({}, {"states": [19, 5]}),
    tasks.TASKS["corridor"]: ({}, {"length": [10, 5]}),
    tasks.TASKS["double_corridor"]: ({}, {"length": [10, 5]}),
    tasks.TASKS["cross_grid"]: ({}, {"size": [8, 4]}),
    tasks.TASKS["random_grid"]: ({}, {"size": [8, 4], "seed": [0, 1]}),
    tasks.TASKS["decision_corridors"]: (
        {},
        {"length": [10, 5], "decisions": [3, 2], "bait": [2, 3]},
    ),
    tasks.TASKS["four_rooms"]: ({}, {"goal": [103, 0]}),
    tasks.TASKS["counterexample_1"]: ({}, {}),
    tasks.TASKS["counterexample_2"]: ({}, {}),
    Features: (
        {"mean": [[1.0, 0.0], [0.0, 1.0]]},
        {
            "mean": [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 2.0]], sparse.eye_array(2)],
            "covariance": [None, [0.0, 1.0], [[0.0, 0.0], [1.0, 1.0]]],
        },
    ),
    Task: (
        {"name": "mine", "outcomes": ROWS, "features": [[1], [2]], "discount": 0.9, "start": [1, 0]}
        | {"observable": None, "policy": None},
        {
            "name": ["mine", "yours"],
            "outcomes": [ROWS, OTHER_ROWS, [(*row, 0.1) for row in ROWS]],
            "features": [[[1], [2]], [[1], [3]], Features([[1], [2]], covariance=[0, 1])],
            "discount": [0.9, 0.8],
            "start": [[1, 0], [0.5, 0.5]],
            "observable": [None, [True, False]],
            "policy": [None, [[0.75, 0.25], [0.75, 0.25]]],
            "behaviour": [None, [[0.75, 0.25], [0.75, 0.25]]],
        },
    ),
}
"""Of everything that a study can be made of: usual arguments, and others for each."""


def test_the_table_knows_everything_that_there_is() -> None:
    known = {made.__name__ for made in PARAMETERS}
    assert known >= TASKS.keys()
    assert known >= {name for name in preferences.__all__ if name[0].isupper()} - {"Signal"}
    assert known >= {type(make(1.0)).__name__ for make in RULES.values()}
    for made, (_, others) in PARAMETERS.items():
        drawn_only = {"layout"} if made is Task else set()
        assert others.keys() | drawn_only == set(inspect.signature(made).parameters)


@pytest.mark.parametrize("make", PARAMETERS, ids=lambda make: make.__name__)
def test_every_parameter_changes_the_name(make: Callable[..., Any]) -> None:
    usual, others = PARAMETERS[make]
    for parameter, values in others.items():
        names = [name_of(make(**(usual | {parameter: value}))) for value in values]
        assert len(set(names)) == len(values), parameter


@pytest.mark.parametrize("make", PARAMETERS, ids=lambda make: make.__name__)
def test_what_is_built_again_has_the_same_name(make: Callable[..., Any]) -> None:
    usual, _ = PARAMETERS[make]
    first, second = make(**usual), make(**usual)
    assert content(first) == content(second)
    said = text(content(first))
    assert said == text(content(second))
    check_text(said)


def test_everything_has_a_name_of_its_own() -> None:
    names = {made: name_of(made(**usual)) for made, (usual, _) in PARAMETERS.items()}
    assert len(set(names.values())) == len(PARAMETERS)


@pytest.mark.parametrize("name", [name for name in TASKS if not name.startswith("counter")])
def test_a_task_that_was_used_has_the_same_name(name: str) -> None:
    task = tasks.make(name)
    before = name_of(task)
    rule, preference = ETD(interest=Observability()), Displacement({0: 0.5})
    parts_before = name_of([rule, preference])
    stream = task.sampler(0).episodes(3)
    preference.stream(stream)
    rule.coefficients(discount_t=stream.discount_t, beta=0.5, interest=1.0)
    assert np.isfinite(
        [task.values.sum(), task.mean_episode_length, task.scored.values.sum()]
    ).all()
    assert task.table is not None
    assert name_of(task) == before
    assert name_of([rule, preference]) == parts_before


def test_where_states_are_drawn_does_not_matter() -> None:
    usual, _ = PARAMETERS[Task]
    assert name_of(Task(**usual, layout=Layout.row(2))) == name_of(Task(**usual))
