"""The axes of a study: tasks, rules, preferences, learners and step sizes, each with a label."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias, TypeVar, final

from preftd.arrays import InputError
from preftd.experiments.content import content, text
from preftd.experiments.inputs import EXAMPLES, as_step_sizes, check_kind
from preftd.experiments.learning import Method, TaskSource, task_of
from preftd.learners.step_size import StepSize
from preftd.names import nearest
from preftd.preferences import Signal
from preftd.rules import Rule
from preftd.tasks import Task

Kind = TypeVar("Kind")
OneOrMore: TypeAlias = Kind | Sequence[Kind] | Mapping[str, Kind]
"""One, several, or several with labels of one's own."""
StepSizes: TypeAlias = Sequence[StepSize]
Labelled: TypeAlias = tuple[tuple[str, Kind], ...]
UNMENTIONED = ("preference", "learner")
"""Kinds of which one that all runs have in common needs no mention: its label is empty."""
UNSEEN = ("Cc", "Cs", "Zl", "Zp")
"""Categories of letters that end a line of a table, steer a terminal or cannot be written."""


@final
@dataclass(frozen=True)
class Axes:
    """The axes of a study, with a label for every member."""

    tasks: Labelled[TaskSource]
    rules: Labelled[Rule]
    preferences: Labelled[Signal]
    learners: Labelled[Method]
    step_sizes: Mapping[str, tuple[StepSize, ...]]
    """Of each rule, by its label."""

    @classmethod
    def of(
        cls,
        *,
        tasks: OneOrMore[TaskSource],
        rules: OneOrMore[Rule],
        preferences: OneOrMore[Signal],
        learners: OneOrMore[Method],
        step_sizes: StepSizes | Mapping[str, StepSizes],
    ) -> Self:
        """Labels where there are none, and refusals of what cannot be used."""
        named = _labelled("rules", "rule", rules, lambda rule: rule.name)
        return cls(
            _labelled("tasks", "task", tasks, _name_of_task),
            named,
            _labelled("preferences", "preference", preferences, _name_of_preference),
            _labelled("learners", "learner", learners, lambda learner: learner.label),
            _by_rule(step_sizes, [label for label, _ in named]),
        )


def _labelled(name: str, kind: str, given: Any, label_of: Callable[[Any], str]) -> Labelled[Any]:
    """An axis from one member, several, or several with labels."""
    if isinstance(given, Mapping):
        members = {f"{name}[{label!r}]": member for label, member in given.items()}
    elif isinstance(given, Sequence) and not isinstance(given, str):
        members = {f"{name}[{i}]": member for i, member in enumerate(given)}
    else:
        members = {name: given}
    if not members:
        raise InputError(f"{name} is empty: give one or more, such as {EXAMPLES[kind]}.")
    for place, member in members.items():
        check_kind(place, kind, member)
        _check_content(place, kind, member)
    if isinstance(given, Mapping):
        labels = list(given)
    elif name in members and kind in UNMENTIONED:
        labels = [""]
    else:
        labels = [label_of(member) for member in members.values()]
    _check_labels(name, labels)
    for label, member in zip(labels, members.values(), strict=True):
        # A study gives its members on, when it is changed, with the empty labels that it gave them.
        unmentioned = kind in UNMENTIONED and (len(members) == 1 or not label_of(member))
        if not label.strip() and not unmentioned:
            raise InputError(f"{name} has the label {label!r}: give one that can be read.")
    return tuple(zip(labels, members.values(), strict=True))


def _check_labels(name: str, labels: list[Any]) -> None:
    for label in labels:
        if not isinstance(label, str):
            raise InputError(f"{name} has the label {label!r}: give a string.")
        if any(unicodedata.category(letter) in UNSEEN for letter in label):
            raise InputError(
                f"{name} has the label {label!r}: give one line, without control characters."
            )
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(
            f"{name} has more than one {twice!r}: tell them apart by labels of your own, as in "
            f"{{'first': …, 'second': …}}."
        )


def _check_content(name: str, kind: str, member: Any) -> None:
    """Refuse what could not be found again."""
    if kind == "task" and not isinstance(member, Task):
        return  # of a function, the tasks that it makes count
    try:
        content(member)
    except InputError as error:
        raise InputError(f"{name} cannot be stored: {error}") from None


def made_task(label: str, source: TaskSource, seed: int) -> Task:
    """The task of a seed; a message that there is none names the field."""
    try:
        return task_of(source, seed)
    except (Exception, SystemExit) as error:  # the user's code may also want to exit
        said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        line = " ".join(said.split()).rstrip(".")
        raise InputError(f"tasks[{label!r}] cannot be used with seed {seed}: {line}.") from error


def _name_of_task(task: TaskSource) -> str:
    if isinstance(task, Task):
        return task.name
    raise InputError(
        "tasks holds a function without a label: give it one, as in {'grid': function}."
    )


def _name_of_preference(preference: Signal) -> str:
    """What it is made of, without the marks that tell versions of the user's code apart."""
    return re.sub(r"#[0-9a-f]{8}", "", text(content(preference)))


def _by_rule(given: Any, rules: Sequence[str]) -> Mapping[str, tuple[StepSize, ...]]:
    if not isinstance(given, Mapping):
        return dict.fromkeys(rules, _each_once("step_sizes", given))
    for label in given:
        nearest("rule in step_sizes", label, rules)
    missing = [label for label in rules if label not in given]
    if missing:
        raise InputError(f"step_sizes has none for {missing[0]!r}: give some for each rule.")
    return {label: _each_once(f"step_sizes[{label!r}]", given[label]) for label in rules}


def _each_once(name: str, given: Any) -> tuple[StepSize, ...]:
    sizes = as_step_sizes(name, given)
    twice = next((size for size in sizes if sizes.count(size) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has {twice} more than once: give each once.")
    return tuple(sizes)
