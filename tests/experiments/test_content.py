"""The same content gives the same name, anywhere; other content another one."""

import io
import re
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit
from scipy.stats import norm

from preftd import ETD, Decreasing, InputError, Network
from preftd._src.experiments.content import content, digest, is_ours, text
from preftd.preferences import Constant, Function
from preftd.tasks import Outcomes


def name_of(value: Any) -> str:
    return digest(content(value))


def half(_: Any) -> float:
    return 0.5


def third(_: Any) -> float:
    return 1 / 3


ROWS = [(0, 0, 0.5, 0, 0.0), (0, 0, 0.5, 1, 0.0), (1, 0, 1.0, -1, 1.0)]
ROWS += [(0, 1, 1.0, 1, 0.0), (1, 1, 1.0, -1, 0.0)]

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


class Marked(list[int]):
    """A subclass of list, which has an attribute in addition to its items."""

    def __init__(self, mark: int) -> None:
        super().__init__([1])
        self.mark = mark


DIFFERENT: list[Any] = [
    *(None, True, False, 0, 1, 1.5, 1j, "", "1", "None", "numpy.sin", "Constant", b"1", ...),
    *([], [1], [1, 2], [2, 1], [[1], 2], [[1, 2]], {}, {1: 2}, {2: 1}, set(), {1}, Tiny([1])),
    *(
        Marked(1),
        Marked(2),
        {"a": 1, "b": 2},
        {"b": 2, "a": 1},
        {"known": "numpy.sin"},
        {"class": "Constant"},
    ),
    *(np.array(1.0), np.array([1.0]), np.array([[1.0]]), np.array([1]), np.array([1.0, 2.0])),
    *(np.array([[1.0, 2.0]]), np.array([[1.0], [2.0]]), np.zeros(2), np.zeros(2, np.float32)),
    *(sparse.eye_array(2), sparse.eye_array(3), np.eye(2), range(3), range(4), slice(3)),
    *(Constant, Constant(1.0), Holder, Holder(), Holder(a=1), Holder(b=1), Holder(a=[1])),
    *(Holder(name=1), Holder(code=1), Holder(sha256=1), Holder(mapping=[]), Holder(known="a")),
    *(Holder(constant="a"), Holder(holds={}), Holder(**{"class": 1}), Holder(parts=1)),
    *(Holder().method, Holder(a=1).method, [].append, [1].append, {}.get, str.upper, str.lower),
    *(np.sin, np.cos, expit, norm, len, max, half, third, np, np.random, re.compile("a")),
    *(np.float64, np.dtype(np.float64), np.float32, float("inf"), float("nan"), 1e300, 2**70),
    *(defaultdict(int), defaultdict(float), defaultdict(lambda: 0.5), defaultdict(lambda: 0.9)),
    *(deque([1], 3), deque([1], 4), np.ma.array([1.0, 2.0])),
    *(list[int], list[float], int | None, re.compile("b"), re.compile("a", re.IGNORECASE)),
]


def test_what_differs_has_another_name() -> None:
    names = [name_of(value) for value in DIFFERENT]
    assert [DIFFERENT[i] for i, name in enumerate(names) if names.index(name) != i] == []


def check_text(said: str) -> None:
    assert "\n" not in said
    assert not re.search(r"\b0x[0-9a-f]{6}|np\.\w+\(", said)


def test_texts_are_one_line_without_addresses() -> None:
    for value in DIFFERENT:
        check_text(text(content(value)))


TEXTS = {
    "Constant(beta=0.1)": Constant(np.float64(0.1)),
    "Decreasing(delay=1000, initial=0.5, power=1)": Decreasing(np.float64(0.5)),
    "Network(init=uniform, optimiser=sgd, units=4, view=backward)": Network(
        int(np.int64(4)), "backward"
    ),
    "[1, {a: 2}]": [1, {"a": 2}],
    "numpy.sin": np.sin,
}


@pytest.mark.parametrize("said", TEXTS)
def test_texts_are_to_be_read(said: str) -> None:
    assert text(content(TEXTS[said])) == said


def test_a_function_may_close_over_what_has_no_value_yet() -> None:
    def recursive(of: Callable[[], Any]) -> Callable[[], Any]:
        def outer() -> Any:
            return later()

        before = name_of(outer)
        later = of
        assert name_of(outer) != before
        return outer

    assert name_of(recursive(lambda: 1)) != name_of(recursive(lambda: 2))


OURS: dict[str, tuple[bool, Any]] = {
    "numbers": (True, [1.0, {"a": "numpy.sin"}, np.ones(3)]),
    "a rule of ours": (True, ETD(Constant(0.5))),
    "a learner of ours": (True, Network(4)),
    "a function of the user's": (False, Function(half)),
    "a function of another library": (False, Function(np.sin)),
    "an object of the user's": (False, Holder(a=1)),
    "a class of another library": (False, [Constant(1.0), io.StringIO]),
    "odd names": (False, Holder(known=5, code=[1])),
}


@pytest.mark.parametrize("case", OURS)
def test_it_is_known_what_is_this_librarys_own(case: str) -> None:
    expected, value = OURS[case]
    assert is_ours(content(value)) == expected


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
    "an array of objects": (
        lambda: np.array([None]),
        "an array of Python objects cannot be hashed",
    ),
    "an array with objects": (lambda: np.zeros(1, "f8,O"), "an array of Python objects cannot"),
    "a tower": (lambda: tower(5000), "a list is nested too deeply"),
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
