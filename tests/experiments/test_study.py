"""A study is built once, and keeps what it was given."""

from collections.abc import Iterable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Decreasing, InputError, Linear, Network, tasks
from preftd._src.experiments.study import FIRST_SEARCH_SEED
from preftd.experience import Visit
from preftd.experiments import Score, Search, Study
from preftd.preferences import Constant, Observability, Signal
from preftd.rules import Rule

CORRIDOR = tasks.make("corridor", length=3)
GIVEN: dict[str, Any] = {
    "name": "mine",
    "tasks": CORRIDOR,
    "rules": [TD(), PTD()],
    "preferences": Observability(),
    "step_sizes": [0.1, 0.2],
    "episodes": 5,
    "seeds": 3,
}


def study(**changes: Any) -> Study:
    return Study(**(GIVEN | changes))


def test_a_study_is_frozen() -> None:
    built = study(search=Search(seeds=2))
    for thing, field in ((built, "seeds"), (built.search, "seeds"), (built.axes, "rules")):
        with pytest.raises(FrozenInstanceError):
            setattr(thing, field, 1)


def test_a_study_does_not_change_with_the_lists_it_was_given() -> None:
    rules: dict[str, Rule] = {"a": TD()}
    sizes, seeds = [0.1], [1]
    built = study(rules=rules, step_sizes=sizes, seeds=seeds)
    rules["b"] = PTD()
    sizes.append(0.2)
    seeds.append(2)
    assert [label for label, _ in built.axes.rules] == ["a"]
    assert built.axes.step_sizes == {"a": (0.1,)}
    assert built.seeds == (1,)


def labels(built: Study, axis: str) -> list[str]:
    return [label for label, _ in getattr(built.axes, axis)]


def test_labels_say_what_differs() -> None:
    one = study(rules=PTD())
    assert [labels(one, axis) for axis in ("tasks", "rules", "preferences", "learners")] == [
        ["corridor(length=3)"],
        ["PTD"],
        [""],
        [""],
    ]
    several = study(
        preferences=[Constant(0.5), Observability(hidden=0.25)], learners=[Linear(), Network(4)]
    )
    assert labels(several, "rules") == ["TD(λ)", "PTD"]
    assert labels(several, "preferences") == [
        "Constant(beta=0.5)",
        "Observability(hidden=0.25, observable=1)",
    ]
    assert labels(several, "learners") == ["", "4 units"]


def test_labels_may_be_given() -> None:
    built = study(
        tasks={"walk": CORRIDOR, "grid": lambda seed: tasks.make("random_grid", size=4, seed=seed)},
        rules={"low": ETD(0.5), "high": ETD(1.0)},
        preferences={"mine": Constant(0.5)},
        learners={"wide": Network(8)},
    )
    assert labels(built, "tasks") == ["walk", "grid"]
    assert labels(built, "rules") == ["low", "high"]
    assert labels(built, "preferences") == ["mine"]
    assert labels(built, "learners") == ["wide"]


def test_step_sizes_may_differ_between_rules() -> None:
    built = study(step_sizes={"PTD": [0.5, Decreasing(0.5)], "TD(λ)": np.array([0.1])})
    assert list(built.axes.step_sizes.items()) == [
        ("TD(λ)", (0.1,)),
        ("PTD", (0.5, Decreasing(0.5))),
    ]
    assert study().axes.step_sizes == {"TD(λ)": (0.1, 0.2), "PTD": (0.1, 0.2)}


SEEDS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "a number": (3, (0, 1, 2)),
    "a number of numpy": (np.int64(3), (0, 1, 2)),
    "an array that is a number": (np.array(3), (0, 1, 2)),
    "a list": ([5, 1], (5, 1)),
    "a range": (range(2, 4), (2, 3)),
    "an array": (np.array([4, 2]), (4, 2)),
    "a generator": ((i * i for i in range(3)), (0, 1, 4)),
    "the largest": ([2**63 - 1], (2**63 - 1,)),
}


@pytest.mark.parametrize("case", SEEDS)
def test_seeds_are_kept_as_whole_numbers(case: str) -> None:
    wanted = SEEDS[case][1]
    # What a generator gives is given once.
    given = list(SEEDS[case][0]) if case == "a generator" else SEEDS[case][0]
    built = study(seeds=iter(given) if case == "a generator" else given)
    assert built.seeds == wanted
    assert all(type(seed) is int for seed in as_tuple(built.seeds))
    shift = FIRST_SEARCH_SEED if np.ndim(given) == 0 else 0
    searched = Search(seeds=iter(given) if case == "a generator" else given).seeds
    assert searched == tuple(shift + seed for seed in wanted)


def as_tuple(seeds: int | Iterable[int]) -> tuple[int, ...]:
    assert isinstance(seeds, tuple)
    return seeds


def test_numbers_of_numpy_become_plain() -> None:
    two: Any = np.array(2)
    built = study(episodes=np.int64(4), search=Search(seeds=1, episodes=two))
    assert isinstance(built.search, Search)
    assert (type(built.episodes), type(built.search.episodes)) == (int, int)


MORE: dict[str, tuple[Any, Any, int, tuple[int, ...], tuple[int, ...]]] = {
    "fewer": (5, None, 2, (0, 1), ()),
    "as many": (3, None, 3, (0, 1, 2), ()),
    "more": (2, None, 4, (0, 1, 2, 3), ()),
    "fewer of some": ([9, 4, 7], None, 2, (9, 4), ()),
    "more than some": ([9, 4], None, 4, (9, 4, 10, 11), ()),
    "fewer, also to search": (5, [20, 30, 10], 2, (0, 1), (20, 30)),
    "more, with a search": (2, [20, 30], 3, (0, 1, 2), (20, 30)),
    "more, around the search": (2, [2, 4], 4, (0, 1, 3, 5), (2, 4)),
    "more, around what is left of the search": (1, [1, 3, 5], 2, (0, 2), (1, 3)),
}


@pytest.mark.parametrize("case", MORE)
def test_the_number_of_seeds_can_be_changed(case: str) -> None:
    seeds, searched, count, wanted, wanted_search = MORE[case]
    search = None if searched is None else Search(seeds=searched, episodes=2)
    before = study(seeds=seeds, search=search, score=Score("rmse"))
    after = before.with_seeds(count)
    assert after.seeds == wanted
    if search is None:
        assert after.search is None
    else:
        assert after.search == Search(seeds=wanted_search, episodes=2)
    assert (after.name, after.score, after.episodes) == ("mine", Score("rmse"), 5)
    assert len(as_tuple(before.seeds)) == (seeds if isinstance(seeds, int) else len(seeds))


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True])
def test_a_wrong_number_of_seeds_is_refused(count: Any) -> None:
    with pytest.raises(InputError, match=r"^seeds is "):
        study().with_seeds(count)


def test_it_says_how_large_it_is() -> None:
    assert repr(study()) == (
        "<Study mine: 1 task × 2 rules × 1 preference × 1 learner, 3 seeds, 5 episodes>"
    )
    assert repr(study(seeds=1, episodes=1)).endswith("1 seed, 1 episode>")


class Patience(Signal):
    """Something of the user's own."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:  # noqa: ARG002  (as preferences are called)
        return 1.0, None


def test_a_preference_of_the_users_own_is_called_as_it_was_made() -> None:
    made = study(preferences=[Patience(3), Patience(4)])
    labels = [label for label, _ in made.axes.preferences]
    assert labels == ["Patience(steps=3)", "Patience(steps=4)"]


def test_the_longest_name_and_labels_of_a_study_are_taken_again() -> None:
    assert study(name="a" * 100).stem == "a" * 100
    built = study(learners=[Linear(), Network(4)])
    for again in (built.with_seeds(1), study(learners=dict(built.axes.learners)).with_seeds(1)):
        assert labels(again, "learners") == ["", "4 units"]
        assert labels(again, "preferences") == [""]
    told = "5 µ\xa0é 名, “x”"
    assert labels(study(tasks={told: CORRIDOR}), "tasks") == [told]
