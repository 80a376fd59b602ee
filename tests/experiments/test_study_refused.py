"""A study is checked when it is built, and says which of its fields is wrong."""

import re
import threading
from typing import Any

import numpy as np
import pytest

from experiments.test_study import CORRIDOR, GIVEN, study
from preftd import ETD, PTD, TD, InputError, Linear, Network, tasks
from preftd.experiments import Chosen, Search
from preftd.preferences import Constant, Function
from preftd.rules import Rule
from preftd.tasks import Task


class Nameless(Rule):
    """A rule that is called nothing."""

    def gain(self, beta: Any, interest: Any, follow_on: Any) -> Any:  # noqa: ARG002  (as rules are called)
        return beta


class Blank(Nameless):
    """A rule that has a name without letters."""

    name = ""


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
    "a long name": (
        {"name": "a" * 101},
        "name is 'aaaaaaaaaaaaaaaaaaaa…', 101 bytes long: give at most 100",
    ),
    "a long name of few letters": (
        {"name": "名" * 34},
        f"name is '{'名' * 20}…', 102 bytes long: give at most 100",
    ),
    "no task": ({"tasks": []}, "tasks is empty: give one or more, such as tasks.make("),
    "no labelled task": ({"tasks": {}}, "tasks is empty"),
    "the name of a task": ({"tasks": "corridor"}, "tasks is 'corridor': give one, such as"),
    "names of tasks": ({"tasks": ["corridor"]}, "tasks[0] is 'corridor': give one, such as"),
    "a task that is none": ({"tasks": {"a": CORRIDOR, "b": 3}}, "tasks['b'] is 3: give one"),
    "a class as task": (
        {"tasks": Task},
        "tasks is <class 'preftd._src.tasks.task.Task'>: give one",
    ),
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
    "an empty label of a task": (
        {"tasks": {"": CORRIDOR}},
        "tasks has the label '': give readable text",
    ),
    "a blank label of a rule": (
        {"rules": {" ": TD()}},
        "rules has the label ' ': give readable",
    ),
    "an empty name of a rule": (
        {"rules": [TD(), Blank()]},
        "rules has the label '': give readable text",
    ),
    "an empty label beside another": (
        {"preferences": {"": Constant(1), "b": Constant(0)}},
        "preferences has the label '': give readable text",
    ),
    "an empty label of a learner": (
        {"learners": {"": Network(4), "b": Linear()}},
        "learners has the label '': give readable text",
    ),
    "two lines as label": (
        {"tasks": {"a\nb": CORRIDOR}},
        r"tasks has the label 'a\nb': give one line, without control characters",
    ),
    "a colour of the terminal as label": (
        {"rules": {"\x1b[31mred": TD()}},
        r"rules has the label '\x1b[31mred': give one line",
    ),
    "a separator of lines as label": (
        {"learners": {"a\u2028b": Linear()}},
        r"learners has the label 'a\u2028b': give one line",
    ),
    "half a letter as label": (
        {"preferences": {"\ud800": Constant(1)}},
        r"preferences has the label '\ud800': give one line",
    ),
    "a preference that is text": ({"preferences": "high"}, "preferences is 'high': give a number"),
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
    "a flag as step size": ({"step_sizes": [0.1, True]}, "step_sizes[1] is True: give a number"),
    "an array of flags": (
        {"step_sizes": np.array([True])},
        "step_sizes[0] is np.True_: give a number",
    ),
    "a flag as step size of a rule": (
        {"step_sizes": {"PTD": [True], "TD(λ)": [0.1]}},
        "step_sizes['PTD'][0] is True: give a number",
    ),
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
    "a flag as seed": ({"seeds": [3, True]}, f"seeds[1] is True: {SEED}"),
    "a negative seed": ({"seeds": [0, -3]}, "seeds has -3: give whole numbers from 0"),
    "a large seed": ({"seeds": [2**63]}, f"seeds has {2**63}: give whole numbers from 0 to"),
    "a number as search": (
        {"search": 5},
        "search is 5: give Search(seeds=25), Chosen(...) or None",
    ),
    "a task that is not in the study": (
        {"search": Chosen({("corridor", "PTD", "", ""): 0.1})},
        "search.step_sizes has the labels ('corridor', 'PTD', '', ''), but there is no task "
        "'corridor': known are 'corridor(length=3)'.",
    ),
    "a learner that is not in the study": (
        {"search": Chosen({("corridor(length=3)", "PTD", "", "net"): 0.1})},
        "search.step_sizes has the labels ('corridor(length=3)', 'PTD', '', 'net'), but there is "
        "no learner 'net': known are ''.",
    ),
    "a step size of another rule": (
        {
            "search": Chosen({("corridor(length=3)", "PTD", "", ""): 0.1}),
            "step_sizes": {"PTD": [0.2, 0.3], "TD(λ)": [0.1]},
        },
        "search.step_sizes has 0.1 for ('corridor(length=3)', 'PTD', '', ''): give one of those of "
        "its rule, 0.2, 0.3.",
    ),
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
    "a flag": ({"seeds": True}, "search.seeds is True: give a whole number"),
    "a flag as seed": ({"seeds": [True]}, "search.seeds[0] is True: give a whole number"),
    "a flag as episodes": ({"seeds": 1, "episodes": True}, "search.episodes is True: give a whole"),
    "no episodes": ({"seeds": 1, "episodes": 0}, "search.episodes is 0: give 1 or more"),
    "half an episode": ({"seeds": 1, "episodes": 0.5}, "search.episodes is 0.5: give a whole"),
}


@pytest.mark.parametrize("case", WRONG_SEARCH)
def test_a_wrong_field_of_a_search_is_refused_in_one_sentence(case: str) -> None:
    change, message = WRONG_SEARCH[case]
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        Search(**change)


PLACE = ("corridor", "PTD", "", "")
WRONG_CHOSEN: dict[str, tuple[Any, str]] = {
    "nothing": ({}, "search.step_sizes is {}: give step sizes by labels, as in"),
    "a number": (0.1, "search.step_sizes is 0.1: give step sizes by labels, as in"),
    "a rule as labels": ({"PTD": 0.1}, "search.step_sizes has the labels 'PTD': give those of"),
    "too few labels": (
        {PLACE[:3]: 0.1},
        "search.step_sizes has the labels ('corridor', 'PTD', ''): give those of a task",
    ),
    "a negative step size": (
        {PLACE: -1},
        "search.step_sizes[('corridor', 'PTD', '', '')] is -1: give a number above 0",
    ),
}


@pytest.mark.parametrize("case", WRONG_CHOSEN)
def test_wrong_step_sizes_that_are_known_are_refused_in_one_sentence(case: str) -> None:
    given, message = WRONG_CHOSEN[case]
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        Chosen(given)


def test_every_field_of_a_study_has_a_wrong_case() -> None:
    assert {field for change, _ in WRONG.values() for field in change} == {
        *GIVEN,
        "learners",
        "search",
        "score",
    }
