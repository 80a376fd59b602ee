"""A study is checked when it is built, and says which of its fields is wrong."""

import re
import threading
from collections.abc import Iterable
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest

from preftd import ETD, PTD, TD, Decreasing, InputError, Linear, Network, tasks
from preftd.experience import Visit
from preftd.experiments import Score, Search, Study
from preftd.experiments.study import FIRST_SEARCH_SEED
from preftd.preferences import Constant, Function, Observability, Preference
from preftd.rules import Rule
from preftd.tasks import Task

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


class Nameless(Rule):
    """A rule that is called nothing."""

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002
        return beta


class Unlabelled:
    """A learner that is called nothing."""

    def start(self, *_: Any) -> None:
        raise NotImplementedError


def locked(_: Any, lock: Any = threading.Lock()) -> float:  # noqa: B008
    return float(lock.locked())


def failing(seed: int) -> Task:
    raise KeyError(f"no grid\nfor {seed}")


def wrong_length(_: int) -> Task:
    return tasks.make("corridor", length=0)


SEED = "give a whole number"
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no name": ({"name": ""}, "name is '': give a few words"),
    "a number as name": ({"name": 5}, "name is 5: give a few words"),
    "a path as name": ({"name": "../mine"}, "name is '../mine': give a few words"),
    "two lines as name": ({"name": "a\nb"}, r"name is 'a\nb': give a few words"),
    "no task": ({"tasks": []}, "tasks is empty: give one or more, such as tasks.make("),
    "no labelled task": ({"tasks": {}}, "tasks is empty"),
    "the name of a task": ({"tasks": "corridor"}, "tasks is 'corridor': give one, such as"),
    "names of tasks": ({"tasks": ["corridor"]}, "tasks[0] is 'corridor': give one, such as"),
    "a task that is none": ({"tasks": {"a": CORRIDOR, "b": 3}}, "tasks['b'] is 3: give one"),
    "a class as task": ({"tasks": Task}, "tasks is <class 'preftd.tasks.task.Task'>: give one"),
    "a task twice": ({"tasks": [CORRIDOR] * 2}, "tasks has more than one 'corridor(length=3)'"),
    "a function without label": ({"tasks": wrong_length}, "tasks holds a function without a label"),
    "functions without labels": ({"tasks": [wrong_length]}, "tasks holds a function without a"),
    "a function that fails": (
        {"tasks": {"grid": failing}},
        "tasks['grid'] cannot be used with seed 0: KeyError: 'no grid\\nfor 0'.",
    ),
    "a function that is refused": (
        {"tasks": {"grid": wrong_length}},
        "tasks['grid'] cannot be used with seed 0: length is 0: give a whole number",
    ),
    "a function of no tasks": (
        {"tasks": {"grid": lambda seed: seed}},
        "tasks['grid'] cannot be used with seed 0: the task of a seed is 0: give one, such as",
    ),
    "a task without episodes": (
        {"tasks": tasks.make("counterexample_1")},
        "tasks['counterexample_1'] cannot be used with seed 0: counterexample_1 has no episodes",
    ),
    "no rule": ({"rules": ()}, "rules is empty: give one or more, such as PTD()"),
    "the name of a rule": ({"rules": "ptd"}, "rules is 'ptd': give one, such as PTD()"),
    "the class of a rule": ({"rules": [PTD]}, "rules[0] is <class"),
    "a rule twice": (
        {"rules": [ETD(), ETD(0.5)]},
        "rules has more than one 'ETD': tell them apart",
    ),
    "rules in a generator": ({"rules": (r for r in [TD()])}, "rules is <generator"),
    "a rule without name": ({"rules": Nameless()}, "rules is a Nameless without a name: give its"),
    "a number as label": ({"rules": {1: TD()}}, "rules has the label 1: give a string"),
    "nothing as label": ({"rules": {None: TD()}}, "rules has the label None: give a string"),
    "a preference that is a number": ({"preferences": 0.5}, "preferences is 0.5: give one, such"),
    "no preference": ({"preferences": []}, "preferences is empty"),
    "a preference twice": (
        {"preferences": [Constant(1), Constant(1.0)]},
        "preferences has more than one 'Constant(beta=1)': tell them apart",
    ),
    "a preference without content": (
        {"preferences": {"mine": Function(locked)}},
        "preferences['mine'] cannot be stored: a _thread.lock has no content",
    ),
    "a single preference without content": (
        {"preferences": Function(locked)},
        "preferences cannot be stored: a _thread.lock has no content",
    ),
    "a rule without content": (
        {"rules": [TD(), ETD(Function(locked))]},
        "rules[1] cannot be stored: a _thread.lock has no content",
    ),
    "the class of a learner": ({"learners": Linear}, "learners is <class"),
    "no learner": ({"learners": {}}, "learners is empty: give one or more, such as Linear()"),
    "a learner twice": ({"learners": [Linear(), Linear()]}, "learners has more than one ''"),
    "a learner without label": (
        {"learners": [Unlabelled()]},
        "learners[0] is a Unlabelled without a label: give its class one",
    ),
    "one step size": ({"step_sizes": 0.1}, "step_sizes is 0.1: give a list"),
    "no step size": ({"step_sizes": []}, "step_sizes is empty: give one or more"),
    "a negative step size": ({"step_sizes": [0.1, -1]}, "step_sizes[1] is -1: give a number above"),
    "an infinite step size": ({"step_sizes": [np.inf]}, "step_sizes[0] is inf: every entry must"),
    "a step size twice": ({"step_sizes": [0.1, 0.10]}, "step_sizes has 0.1 more than once"),
    "a word as step size": ({"step_sizes": ["small"]}, "step_sizes[0] is not an array of real"),
    "a rule without step sizes": (
        {"step_sizes": {"PTD": [0.1]}},
        "step_sizes has none for 'TD(λ)': give some for each rule",
    ),
    "step sizes of an unknown rule": (
        {"step_sizes": {"PTB": [0.1], "TD(λ)": [0.1]}},
        "there is no rule in step_sizes 'PTB': did you mean 'PTD'?",
    ),
    "no step sizes of a rule": (
        {"step_sizes": {"PTD": [0.1], "TD(λ)": []}},
        "step_sizes['TD(λ)'] is empty",
    ),
    "no episodes": ({"episodes": 0}, "episodes is 0: give 1 or more"),
    "half an episode": ({"episodes": 1.5}, "episodes is 1.5: give a whole number"),
    "a flag as episodes": ({"episodes": True}, "episodes is True: give a whole number"),
    "no seeds": ({"seeds": 0}, "seeds are (): give one or more"),
    "an empty list of seeds": ({"seeds": []}, "seeds are (): give one or more"),
    "a seed twice": ({"seeds": [1, 2, 1]}, "seeds are (1, 2, 1): give one or more, each once"),
    "half a seed": ({"seeds": [1, 1.5]}, f"seeds[1] is 1.5: {SEED}"),
    "words as seeds": ({"seeds": "ab"}, f"seeds[0] is 'a': {SEED}"),
    "a flag as seeds": ({"seeds": True}, f"seeds is True: {SEED}"),
    "a negative seed": ({"seeds": [0, -3]}, "seeds has -3: give whole numbers from 0"),
    "a large seed": ({"seeds": [2**63]}, f"seeds has {2**63}: give whole numbers from 0 to"),
    "a number as search": ({"search": 5}, "search is 5: give Search(seeds=25), or None"),
    "a seed of both": (
        {"search": Search(seeds=[7, 2])},
        "seed 2 is in both seeds and search.seeds: report a step size on other seeds",
    ),
    "a negative seed of the search": (
        {"search": Search(seeds=[-1])},
        "search.seeds has -1: give whole numbers from 0",
    ),
    "a word as score": ({"score": "rmse"}, "score is 'rmse': give one, such as Score"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_field_is_refused_in_one_sentence_that_names_it(case: str) -> None:
    change, message = WRONG[case]
    with pytest.raises(InputError) as refusal:
        study(**change)
    said = str(refusal.value)
    assert said.startswith(message)
    assert said[-1] in ".?"
    assert "\n" not in said
    field = next(iter(change))
    assert field.removesuffix("s") in said.partition(":")[0]


WRONG_SEARCH: dict[str, tuple[dict[str, Any], str]] = {
    "no seeds": ({"seeds": 0}, "search.seeds is 0: give 1 or more"),
    "an empty list": ({"seeds": []}, "search.seeds are (): give one or more"),
    "a seed twice": ({"seeds": [5, 5]}, "search.seeds are (5, 5): give one or more, each once"),
    "half a seed": ({"seeds": [0.5]}, "search.seeds[0] is 0.5: give a whole number"),
    "half the seeds": ({"seeds": 2.5}, "search.seeds is 2.5: give a whole number"),
    "no episodes": ({"seeds": 1, "episodes": 0}, "search.episodes is 0: give 1 or more"),
    "half an episode": ({"seeds": 1, "episodes": 0.5}, "search.episodes is 0.5: give a whole"),
}


@pytest.mark.parametrize("case", WRONG_SEARCH)
def test_a_wrong_field_of_a_search_is_refused_in_one_sentence(case: str) -> None:
    change, message = WRONG_SEARCH[case]
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        Search(**change)


def test_every_field_of_a_study_has_a_wrong_case() -> None:
    assert {field for change, _ in WRONG.values() for field in change} == {
        *GIVEN,
        "learners",
        "search",
        "score",
    }


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
    assert labels(several, "learners") == ["", "4 units, backward"]


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
    assert built.search is not None
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
    assert (after.search.seeds if after.search else ()) == wanted_search
    assert after.search is None or after.search.episodes == 2
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


class Patience(Preference):
    """Something of the user's own."""

    def __init__(self, steps: int) -> None:
        self.steps = steps

    def at(self, visit: Visit, memory: Any) -> tuple[float, Any]:  # noqa: ARG002
        return 1.0, None


def test_a_preference_of_the_users_own_is_called_as_it_was_made() -> None:
    made = study(preferences=[Patience(3), Patience(4)])
    labels = [label for label, _ in made.axes.preferences]
    assert labels == ["Patience(steps=3)", "Patience(steps=4)"]
