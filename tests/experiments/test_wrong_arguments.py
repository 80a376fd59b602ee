"""Whatever is given to studies and runs is used or refused in one sentence with a remedy."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from experiments.small_studies import CORRIDOR, Told, small
from preftd import PTD, InputError, Linear, Study
from preftd._src.experiments.measures import Measure
from preftd.experiments import Chosen, Here, Processes, Score, Search, results, run


class NoWords:
    """Cannot be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")


class NoMembers:
    """Seems to have members."""

    def __iter__(self) -> Iterator[object]:
        raise RuntimeError("no members")


class NoLength:
    """Seems to have a length."""

    def __len__(self) -> int:
        raise RuntimeError("no length")

    def __getitem__(self, _: int) -> object:
        raise RuntimeError("no item")


LABELS = ("corridor(length=3)", "PTD", "", "")
ODD: list[Any] = [
    *(None, True, 0, -1, 2.5, float("nan"), float("inf"), 10**30, -(10**30), 1j, 2**63),
    *("", "x", "\x1b[2J", "mse", "a\nb", "1", "é" * 99, b"x", "a\0b"),
    *([], (), {}, set(), [None], [[1, 2], [3]], [1, 1], [-1], ["a"], [True], [0.1, "x"], [2**63]),
    *({"a": 1}, {1: 2}, {None: None}, {"PTD": 3}, {"ptd": [0.1]}, {LABELS: "x"}, {(1, 2, 3, 4): 1}),
    *(np.array(3), np.array([1, 2]), np.array([[1]]), np.array(["a"]), np.array([None]), np.nan),
    *(
        np.True_,
        np.float32(0.1),
        np.datetime64("2024"),
        np.ma.masked,
        np.ma.array([1], mask=[True]),
    ),
    *(object(), NoWords(), NoMembers(), NoLength(), len, lambda seed: seed, int, Study, PTD, ...),
    *(PTD(), Linear(), Score(), Search(seeds=3), CORRIDOR, Measure("own"), [Measure("own")]),
]
STUDY = ("name", "tasks", "rules", "step_sizes", "episodes", "seeds", "learners", "search")
SCORE = ("kind", "ceiling", "last", "maximise")
MEASURE = ("name", "label", "maximise")


def made(make: Callable[..., object], field: str, /, **others: Any) -> Callable[[Any], object]:
    """A call with one argument that is still to be given."""
    return lambda given: make(**(others | {field: given}))


CALLS: dict[str, Callable[[Any], object]] = {
    **{name: made(small, name) for name in (*STUDY, "score", "measures")},
    "with_seeds": lambda given: small().with_seeds(given),
    **{f"Score, {name}": made(Score, name) for name in SCORE},
    "Score of a custom measure": made(Score, "maximise", kind="own"),
    "Search, seeds": made(Search, "seeds"),
    "Search, episodes": made(Search, "episodes", seeds=1),
    "Chosen": Chosen,
    **{f"Measure, {name}": made(Measure, name, name="own") for name in MEASURE},
    "workers": Processes,
}
HERE = ("study", "out", "executor", "progress", "repository")


def refused(call: Callable[[Any], object], given: Any) -> bool:
    """Whether it is refused, after checking how."""
    try:
        call(given)
    except InputError as error:
        said = str(error)
        assert ": " in said
        assert said.isprintable()
        assert len(said) < 600
        return True
    return False


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_is_used_or_refused_with_a_remedy(name: str) -> None:
    count = sum(refused(CALLS[name], given) for given in ODD)
    assert count > len(ODD) // 3


@pytest.mark.parametrize("name", HERE)
def test_an_argument_of_a_run_is_used_or_refused_with_a_remedy(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    fine: dict[str, Any] = {"study": small(), "out": tmp_path}
    odd = [given for given in ODD if given is not None]
    call = made(run, name, **fine, executor=Here(), progress=Told())
    count = sum(refused(call, given) for given in odd)
    assert count > len(odd) // 3
    if name in fine:
        for given in odd:
            refused(made(results, name, **fine), given)


def test_seeds_without_end_are_refused() -> None:
    for seeds in (itertools.count(), 10**30):
        with pytest.raises(InputError, match=r"seeds (has more than|is) .*: give"):
            small(seeds=seeds)


def test_measures_that_can_be_walked_through_once_are_kept() -> None:
    study = small(measures=iter(["error", "return"]))
    assert [one.name for one in study.measured] == ["error", "return"]
    assert [one.name for one in study.measured] == ["error", "return"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: small(seeds=b"x"), "seeds is b'x': give a list"),
        (lambda: small(step_sizes=b"x"), "step_sizes is b'x': give a list"),
        (lambda: small(learners=float), "learners is <class 'float'>, which has no learn"),
        (lambda: run(small(), workers=0, executor=Here()), "workers is 0: give 1 or more"),
        (lambda: results(small(), "x" * 256), "out is 'x.*too long"),
        (lambda: Score("rmse", ceiling=10**400), "ceiling of the score is 10.*: give a positive"),
        (lambda: Measure("length", "two\nlines"), "label of the measure is .*: give a string of"),
        (lambda: list(Here().run([3])), "job is 3: give a job"),  # type: ignore[list-item]
    ],
)
def test_what_looks_like_a_number_a_list_or_a_learner_is_refused(
    call: Callable[[], object], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=message):
        call()
    assert not list(tmp_path.iterdir())
