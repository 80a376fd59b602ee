"""Names that users type: what is suggested for one that is not known."""

from typing import Any

import pytest

from preftd import InputError
from preftd._src.names import FEW, nearest

MANY = [f"claim_{number}" for number in range(FEW)] + ["walk_td_best", "walk_td_diverges"]


@pytest.mark.parametrize(
    ("name", "known", "hint"),
    [
        ("corridr", ["corridor", "grid"], "did you mean 'corridor'?"),
        ("xyz", ["corridor", "grid"], "known are corridor, grid."),
        ("walk", MANY, "the nearest of 14 are walk_td_best, walk_td_diverges."),
        ("", MANY, "the nearest of 14 are "),
        (3, ["corridor", "grid"], "known are corridor, grid."),
    ],
)
def test_the_nearest_name_is_suggested_or_a_few_are_listed(
    name: Any, known: list[str], hint: str
) -> None:
    with pytest.raises(InputError) as refused:
        nearest("task", name, known)
    assert str(refused.value).startswith(f"there is no task {name!r}: {hint}")


def test_a_name_among_many_is_never_answered_with_all_of_them() -> None:
    with pytest.raises(InputError) as refused:
        nearest("claim", "qqq", MANY)
    assert sum(name in str(refused.value) for name in MANY) <= 3


def test_a_known_name_is_accepted() -> None:
    nearest("task", "corridor", {"corridor": 1})
