"""The same content gives the same name, anywhere; other content another one."""

import inspect
import io
import re
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm

from preftd import ETD, PTD, TD, Decreasing, InputError, Linear, Network, preferences, tasks
from preftd.experiments.content import content, digest, text
from preftd.learners.pretrained import Pretrained, Training
from preftd.preferences import Constant, Displacement, Function, Observability, PerState
from preftd.rules import RULES
from preftd.tasks import TASKS, Features, Layout, Outcomes, Task


def name_of(value: Any) -> str:
    return digest(content(value))


def half(_: Any) -> float:
    return 0.5


def third(_: Any) -> float:
    return 1 / 3


ROWS = [(0, 0, 0.5, 0, 0.0), (0, 0, 0.5, 1, 0.0), (1, 0, 1.0, -1, 1.0)]
ROWS += [(0, 1, 1.0, 1, 0.0), (1, 1, 1.0, -1, 0.0)]
OTHER_ROWS = [*ROWS[:2], (1, 0, 1.0, -1, 2.0), *ROWS[3:]]

TRAINING = Training(
    tasks.make("random_walk"), Network(4, "forward"), TD(), Constant(0.0), 0.1, episodes=1
)

PARAMETERS: dict[Callable[..., Any], tuple[dict[str, Any], dict[str, list[Any]]]] = {
    TD: ({}, {}),
    PTD: ({}, {}),
    ETD: ({}, {"interest": [1.0, 0.5, [1.0, 0.5], [1.0, 0.25], Observability(), Constant(0.5)]}),
    Constant: ({"beta": 0.5}, {"beta": [0.5, 0.25]}),
    Observability: ({}, {"observable": [1.0, 0.9], "hidden": [0.0, 0.1]}),
    PerState: ({"beta": [1.0, 0.5]}, {"beta": [[1.0, 0.5], [0.5, 1.0], [1.0, 0.5, 0.5], [1.0]]}),
    Function: ({"function": half}, {"function": [half, third, lambda _: 0.5]}),
    Displacement: (
        {"thresholds": {0: 1.0, 2: 0.5}},
        {"thresholds": [{0: 1.0, 2: 0.5}, {0: 1.0, 1: 0.5}, {0: 1.0}], "between": [0.1, 0.2]},
    ),
    Linear: ({}, {"view": ["backward", "forward", "true_online"]}),
    Network: (
        {"units": 4, "view": "forward"},
        {
            "units": [4, 5],
            "view": ["forward", "backward", "held"],
            "optimiser": ["sgd", "adam"],
            "begins": ["uniform", "xavier"],
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
        },
    ),
}
"""Of everything that a study can be made of: usual arguments, and others for each."""


def test_the_table_knows_everything_that_there_is() -> None:
    known = {made.__name__ for made in PARAMETERS}
    assert known >= TASKS.keys()
    assert known >= set(preferences.__all__) - {"Preference"}
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
    assert text(content(first)) == text(content(second))


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
    rule.coefficients(discount=stream.into, beta=0.5, interest=1.0)
    assert np.isfinite(
        [task.values.sum(), task.mean_episode_length, task.scored.values.sum()]
    ).all()
    assert task.table is not None
    assert name_of(task) == before
    assert name_of([rule, preference]) == parts_before


def test_where_states_are_drawn_does_not_matter() -> None:
    usual, _ = PARAMETERS[Task]
    assert name_of(Task(**usual, layout=Layout.row(2))) == name_of(Task(**usual))


EQUAL: dict[str, list[Any]] = {
    "numbers": [1, 1.0, np.float64(1), np.int32(1), np.float32(1), np.uint8(1)],
    "parameters": [Constant(1), Constant(1.0), Constant(np.float64(1))],
    "a tenth": [0.1, np.float64(0.1)],
    "truth": [True, np.True_],
    "words": ["a", np.str_("a")],
    "rows": [[1, 2], (1, 2), (np.int64(1), 2.0), deque([1, 2])],
    "tables": [{"a": 1}, MappingProxyType({"a": 1}), OrderedDict(a=1), SimpleNamespace(a=1)],
    "sets": [{1, 2}, {2, 1}, frozenset((1, 2))],
    "arrays": [np.array([1.0, 2.0]), np.array([0.0, 1.0, 2.0])[1:], np.ones(2).cumsum()],
    "sparse": [sparse.eye_array(2), sparse.csr_array(np.eye(2)), sparse.coo_matrix(np.eye(2))],
    "step sizes": [Decreasing(1), Decreasing(1.0), Decreasing(np.float64(1), delay=1000)],
    "interest": [ETD(), ETD(1), ETD(np.array(1.0))],
    "outcomes": [Outcomes.of(ROWS), Outcomes.of(np.array(ROWS))],
}


@pytest.mark.parametrize("case", EQUAL)
def test_what_is_equal_has_the_same_name_and_text(case: str) -> None:
    assert len({name_of(value) for value in EQUAL[case]}) == 1
    assert len({text(content(value)) for value in EQUAL[case]}) == 1


class Holder:
    """An object that may hold anything."""

    def __init__(self, **parts: Any) -> None:
        vars(self).update(parts)

    def method(self) -> int:
        return 1


class Tiny(tuple[int, ...]):
    """A tuple of one's own."""

    __slots__ = ()


DIFFERENT: list[Any] = [
    *(None, True, False, 0, 1, 1.5, 1j, "", "1", "None", "numpy.sin", "Constant", b"1", ...),
    *([], [1], [1, 2], [2, 1], [[1], 2], [[1, 2]], {}, {1: 2}, {2: 1}, set(), {1}, Tiny([1])),
    *({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"known": "numpy.sin"}, {"class": "Constant"}),
    *(np.array(1.0), np.array([1.0]), np.array([[1.0]]), np.array([1]), np.array([1.0, 2.0])),
    *(np.array([[1.0, 2.0]]), np.array([[1.0], [2.0]]), np.zeros(2), np.zeros(2, np.float32)),
    *(sparse.eye_array(2), sparse.eye_array(3), np.eye(2), range(3), range(4), slice(3)),
    *(Constant, Constant(1.0), Holder, Holder(), Holder(a=1), Holder(b=1), Holder(a=[1])),
    *(Holder(name=1), Holder(code=1), Holder(sha256=1), Holder(mapping=[]), Holder(known="a")),
    *(Holder(constant="a"), Holder(holds={}), Holder(**{"class": 1}), Holder(parts=1)),
    *(Holder().method, Holder(a=1).method, [].append, [1].append, {}.get, str.upper, str.lower),
    *(np.sin, np.cos, expit, norm, len, max, half, third, np, np.random, re.compile("a")),
    *(np.float64, np.dtype(np.float64), np.float32, float("inf"), float("nan"), 1e300, 2**70),
    *(list[int], list[float], int | None, re.compile("b"), re.compile("a", re.IGNORECASE)),
]


def test_what_differs_has_another_name() -> None:
    names = [name_of(value) for value in DIFFERENT]
    assert [DIFFERENT[i] for i, name in enumerate(names) if names.index(name) != i] == []


def test_texts_are_one_line_without_addresses() -> None:
    built = [made(**usual) for made, (usual, _) in PARAMETERS.items()]
    for value in [*built, *DIFFERENT]:
        said = text(content(value))
        assert "\n" not in said
        assert not re.search(r"\b0x[0-9a-f]{6}|np\.\w+\(", said)


TEXTS = {
    "Constant(beta=0.1)": Constant(np.float64(0.1)),
    "Decreasing(delay=1000, initial=0.5, power=1)": Decreasing(np.float64(0.5)),
    "Network(begins=uniform, optimiser=sgd, units=4, view=backward)": Network(int(np.int64(4))),
    "[1, {a: 2}]": [1, {"a": 2}],
    "numpy.sin": np.sin,
}


@pytest.mark.parametrize("said", TEXTS)
def test_texts_are_to_be_read(said: str) -> None:
    assert text(content(TEXTS[said])) == said


def test_things_may_hold_themselves() -> None:
    row: list[Any] = [1]
    row.append(row)
    table: dict[str, Any] = {"row": row}
    table["self"] = table
    thing = Holder(table=table)
    vars(thing)["own"] = thing
    other = Holder(table=table, own=row)
    assert name_of(thing) == name_of(thing)
    assert len({name_of(row), name_of(table), name_of(thing), name_of(other)}) == 4


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "an open file": (lambda: io.StringIO("text"), "a _io.StringIO has no content"),
    "a generator": (lambda: (i for i in range(3)), "a generator has no content"),
    "a lock": (threading.Lock, "a _thread.lock has no content"),
    "random numbers": (np.random.default_rng, "Generator has no content"),
    "old random numbers": (np.random.RandomState, "RandomState has no content"),
    "an iterator": (lambda: iter([1]), "a list_iterator has no content"),
    "an array of objects": (lambda: np.array([None]), "an array of Python objects has no content"),
    "an array with objects": (lambda: np.zeros(1, "f8,O"), "an array of Python objects has no"),
    "a tower": (lambda: tower(5000), "a list holds things within things without end"),
}


def tower(height: int) -> list[Any]:
    """A list in a list in a list."""
    top: list[Any] = []
    for _ in range(height):
        top = [top]
    return top


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_content_is_refused_in_one_sentence(case: str) -> None:
    make, message = REFUSED[case]
    given = make()
    wholes = [given, [given], {"a": given}, Holder(a=given), Function(lambda _: given)]
    for whole in wholes if case != "a tower" else wholes[:1]:
        with pytest.raises(InputError, match=re.escape(message)) as refusal:
            content(whole)
        said = str(refusal.value)
        assert said.endswith(".")
        assert "\n" not in said
        assert "0x" not in said


plain = st.recursive(
    st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda parts: st.lists(parts) | st.lists(st.tuples(st.text(), parts)).map(dict),
    max_leaves=8,
)


@given(plain, plain)
def test_plain_data_have_the_same_name_if_and_only_if_they_are_equal(one: Any, other: Any) -> None:
    assert (name_of(one) == name_of(other)) == (in_order(one) == in_order(other))
    assert text(content(one)) is not None


def in_order(value: Any) -> Any:
    """The same, with the order of tables made part of it."""
    if isinstance(value, dict):
        return "table", [(name, in_order(part)) for name, part in value.items()]
    return [in_order(part) for part in value] if isinstance(value, list) else value
