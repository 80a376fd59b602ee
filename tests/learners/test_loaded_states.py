"""A state that no learner could have written is refused, and changes nothing."""

from typing import Any

import numpy as np
import pytest

from learners.all_learners import INDICES, LEARNERS, SIZE, is_finite, same, taught, update
from preftd import InputError
from preftd.experience import Indices

pytestmark = pytest.mark.filterwarnings("ignore::preftd.learners.GrowthWarning")

learners = pytest.mark.parametrize("name", sorted(LEARNERS))
kinds = pytest.mark.parametrize("few", [False, True], ids=["vectors", "indices"])


def _with_first(array: Any, value: float) -> Any:
    changed = np.array(array, dtype=np.float64)
    if changed.size:
        changed.flat[0] = value
    return changed


def _with_last(array: Any, value: float) -> Any:
    changed = np.array(array, dtype=np.float64)
    if changed.size:
        changed.flat[-1] = value
    return changed


NEVER: dict[str, Any] = {
    "NaN": lambda a: _with_first(a, np.nan),
    "infinity": lambda a: _with_last(a, np.inf),
    "another shape": lambda a: np.zeros((*a.shape, 2)),
    "text": lambda _: "text",
    "None": lambda _: None,
    "complex": lambda a: np.array(a, dtype=np.complex128) + 1j,
    "objects": lambda a: np.full(a.shape, None),
}
"""What no array may be, if it has an entry."""
PERHAPS: dict[str, Any] = {
    "minus": lambda a: -np.asarray(a, dtype=np.float64),
    "below 0": lambda a: _with_first(a, -1.0),
    "last below 0": lambda a: _with_last(a, -1.0),
    "fraction": lambda a: _with_last(a, 0.5),
    "huge": lambda a: _with_last(a, 1e15),
    "first huge": lambda a: _with_first(a, 1e15),
    "largest": lambda a: _with_first(a, 1.7e308),
    "zero": lambda a: np.zeros(a.shape),
}
"""What some arrays may be: what is accepted must be usable."""


def use(learner: Any, name: str) -> None:
    """Feed what was loaded; what is refused on the way is refused in one sentence."""
    for _ in range(3):
        try:
            if name in INDICES:
                update(learner, Indices([0, 1]), 1.0, Indices([2]))
            if "forward" not in name and name != "Adam":
                update(learner, np.ones(SIZE), 1.0, np.ones(SIZE), discount=0.0)
            learner.predict(np.eye(SIZE))
        except InputError:
            continue
        assert is_finite(learner)


@learners
@kinds
def test_each_array_is_checked(name: str, few: bool) -> None:
    if few and name not in INDICES:
        return
    learner = taught(name, few)
    state = learner.state_dict()
    for key, array in state.items():
        for why, change in NEVER.items():
            if not array.size and why in ("NaN", "infinity", "complex", "objects"):
                continue
            with pytest.raises(InputError):
                learner.load_state_dict(state | {key: change(array)})
            assert same(state, learner.state_dict()), (key, why)
        optional = key.endswith("_memory")
        if not optional:
            with pytest.raises(InputError):
                learner.load_state_dict({k: v for k, v in state.items() if k != key})
        for change in PERHAPS.values():
            try:
                learner.load_state_dict(state | {key: change(array)})
            except InputError:
                assert same(state, learner.state_dict())
            else:
                use(learner, name)
                learner.load_state_dict(state)


@learners
@pytest.mark.parametrize("wrong", [None, 3, "state", [1, 2], {1: 2}, {}, {"weights": None}])
def test_what_is_no_state_is_refused(name: str, wrong: Any) -> None:
    learner = taught(name)
    before = learner.state_dict()
    with pytest.raises(InputError):
        learner.load_state_dict(wrong)
    assert same(before, learner.state_dict())


IMPOSSIBLE: list[tuple[str, bool, str, Any]] = [
    ("linear", False, "steps", 1.5),
    ("linear", False, "steps", -1),
    ("linear", False, "follow_on", -0.1),
    ("linear", False, "discount_t", 1.1),
    ("linear", True, "era", [0, 0, 5, 3]),
    ("linear", True, "era", [0, 0, -1, 3]),
    ("linear", True, "era", [0, 0, 0.5, 3]),
    ("linear", True, "era", [0, 0, 0, 64]),
    ("linear", True, "now", [[0.0], [0.0]]),
    ("linear", True, "now", [[0.0], [-1.0]]),
    ("linear", True, "now", [[0.0], [1e9]]),
    ("held", True, "now", [[0.0], [0.0], [0.0], [0.0], [1.0]]),
    ("held", True, "held", [[0.5], [0.0], [0.0], [0.0]]),
    ("held", False, "held", [[-1.0], [0.0], [0.0], [0.0]]),
    ("held", False, "held", [[1.0], [0.0], [0.0], [0.5]]),
    ("least squares", False, "waits", 0.5),
    ("least squares", False, "seen", 2),
    ("least squares", False, "fade", -1),
    ("held network", False, "known", 0.5),
    ("Adam", False, "taken", 1.5),
    ("Adam", False, "square_out", [-1.0, 0.0]),
    ("actor-critic", False, "taken", [0.5]),
    ("actor-critic", False, "generator", np.zeros(10)),
    ("actor-critic", False, "stream0_discount_t", 0.1),
]


@pytest.mark.parametrize(("name", "few", "key", "value"), IMPOSSIBLE)
def test_impossible_numbers_are_refused(name: str, few: bool, key: str, value: Any) -> None:
    learner = taught(name, few)
    before = learner.state_dict()
    with pytest.raises(InputError, match=r"state|entry|discount"):
        learner.load_state_dict(before | {key: np.array(value)})
    assert same(before, learner.state_dict())
