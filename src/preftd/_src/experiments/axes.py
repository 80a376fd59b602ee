"""The axes of a study: tasks, rules, preferences, learners and step sizes, each with a label."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypeVar, final

from preftd._src.arrays import InputError, short
from preftd._src.experiments.content import content, text
from preftd._src.experiments.inputs import (
    EXAMPLES,
    as_learner,
    as_step_sizes,
    check_pairs,
    check_rule,
    check_task,
    listed,
    takes_step_size,
)
from preftd._src.experiments.learning import (
    FAILURES,
    TaskSource,
    acts,
    is_named,
    makes_tasks,
    task_of,
)
from preftd._src.learners.step_size import StudyStepSize, as_study_step_size
from preftd._src.names import is_one_line, nearest
from preftd.preferences import Signal, as_preference
from preftd.rules import Rule

if TYPE_CHECKING:
    from preftd._src.experiments.study import Study

Kind = TypeVar("Kind")
OneOrMore: TypeAlias = Kind | Sequence[Kind] | Mapping[str, Kind]
"""One member, several, or several with labels."""
StepSizes: TypeAlias = Sequence[StudyStepSize]
Labelled: TypeAlias = tuple[tuple[str, Kind], ...]
UNMENTIONED = ("preferences", "learners")
"""Axes whose only member has an empty label: it is the same for all runs."""


class Labels(NamedTuple):
    """The labels of an algorithm on a task."""

    task: str
    rule: str
    preference: str
    learner: str


@final
@dataclass(frozen=True)
class Axes:
    """The axes of a study, with a label for every member."""

    tasks: Labelled[TaskSource]
    rules: Labelled[Rule]
    preferences: Labelled[Signal]
    learners: Labelled[Any]
    step_sizes: Mapping[str, tuple[StudyStepSize, ...]]
    """Step sizes by the label of the rule; empty if no learner takes any."""

    @classmethod
    def of(cls, study: "Study") -> Self:
        """Fill in missing labels, and refuse unusable members."""
        methods = _members("learners", study.learners)
        methods = {name: as_learner(name, given) for name, given in methods.items()}
        signals = _members("preferences", study.preferences)
        signals = {name: as_preference(given, name) for name, given in signals.items()}
        sources, named = _members("tasks", study.tasks), _members("rules", study.rules)
        step_sizes = study.step_sizes
        acting = all(map(acts, methods.values()))
        for name, source in sources.items():
            check_task(name, source, acting)
        for name, rule in named.items():
            check_rule(name, rule)
        labels = _labelled("rules", study.rules, named, lambda rule: rule.name)
        stepping = any(map(takes_step_size, methods.values()))
        if not stepping and step_sizes is not None and listed("step_sizes", step_sizes, "[0.1]"):
            raise InputError("step_sizes are given, but no learner takes any: leave them out.")
        for signal in signals.values():
            if signal.watches_learner:
                _check_watchable(signal, methods)
        sizes = _by_rule(step_sizes, [label for label, _ in labels]) if stepping else {}
        for own, learner in product(sizes.values(), methods.values()):
            if takes_step_size(learner):
                check_pairs(learner, "step_sizes", own)
        return cls(
            _labelled("tasks", study.tasks, sources, _name_of_task),
            labels,
            _labelled("preferences", study.preferences, signals, _name_of_preference),
            _labelled("learners", study.learners, methods, lambda learner: learner.label),
            sizes,
        )

    def sizes_of(self, rule: str, learner: str) -> tuple[StudyStepSize | None, ...]:
        """The step sizes of a rule and a learner, by their labels; None if there are none."""
        return self.step_sizes[rule] if takes_step_size(dict(self.learners)[learner]) else (None,)


def _check_watchable(signal: Signal, learners: Mapping[str, Any]) -> None:
    for name, learner in learners.items():
        if not (acts(learner) or getattr(learner, "watchable", False)):
            raise InputError(
                f"{name} is {short(learner)}, which has no value at each step, but {short(signal)} "
                "watches the learner: use a learner that learns step by step, such as Linear()."
            )


def _members(name: str, given: Any) -> dict[str, Any]:
    """The members of an axis by their names in messages."""
    if isinstance(given, Mapping):
        members = {f"{name}[{short(label)}]": member for label, member in given.items()}
    elif isinstance(given, Sequence) and not isinstance(given, str):
        members = {f"{name}[{i}]": member for i, member in enumerate(given)}
    else:
        members = {name: given}
    if not members:
        raise InputError(f"{name} is empty: give one or more, such as {EXAMPLES[name[:-1]]}.")
    return members


def _labelled(
    name: str, given: Any, members: Mapping[str, Any], label_of: Callable[[Any], str]
) -> Labelled[Any]:
    """The members of an axis with their labels."""
    for field, member in members.items():
        _check_content(field, name, member)
    if isinstance(given, Mapping):
        labels = list(given)
    elif name in members and name in UNMENTIONED:
        labels = [""]
    else:
        labels = [label_of(member) for member in members.values()]
    _check_labels(name, labels)
    for label, member in zip(labels, members.values(), strict=True):
        # A study that is changed hands on its members with the empty labels that it gave them.
        unmentioned = name in UNMENTIONED and (len(members) == 1 or not label_of(member))
        if not label.strip() and not unmentioned:
            raise InputError(f"{name} has the label {short(label)}: give readable text.")
    return tuple(zip(labels, members.values(), strict=True))


def _check_labels(name: str, labels: list[Any]) -> None:
    for label in labels:
        if not isinstance(label, str):
            raise InputError(f"{name} has the label {short(label)}: give a string.")
        if not is_one_line(label):
            raise InputError(
                f"{name} has the label {short(label)}: give one line, without control characters."
            )
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise InputError(
            f"{name} has more than one {twice!r}: tell them apart by labels, as in "
            f"{{'first': …, 'second': …}}."
        )


def _check_content(name: str, axis: str, member: Any) -> None:
    """Refuse what has no content to hash."""
    if axis == "tasks" and makes_tasks(member):
        return  # the tasks that a function makes count, not the function
    try:
        content(member)
    except InputError as error:
        raise InputError(f"{name} cannot be stored: {error}") from None


def made_task(label: str, source: TaskSource, seed: int, acting: bool) -> Any:
    """The task of a seed; errors name the field.

    For learners that act, it need not be a `Task`.
    """
    try:
        if not acting:
            return task_of(source, seed)
        made = source(seed) if makes_tasks(source) else source
        if not is_named(made):
            raise InputError(
                f"the task of a seed is {short(made)}, which has no name: give it one."
            )
        return made
    except FAILURES as error:  # the user's code may also want to exit
        said = str(error) if isinstance(error, InputError) else f"{type(error).__name__}: {error}"
        line = " ".join(said.split()).rstrip(".")
        raise InputError(f"tasks[{label!r}] cannot be used with seed {seed}: {line}.") from error


def _name_of_task(task: TaskSource) -> str:
    if is_named(task):
        return str(task.name)
    raise InputError(
        "tasks holds a function without a label: give it one, as in {'grid': function}."
    )


def _name_of_preference(preference: Signal) -> str:
    """Its content, without the marks of versions of the user's code."""
    return re.sub(r"#[0-9a-f]{8}", "", text(content(preference)))


def _by_rule(given: Any, rules: Sequence[str]) -> Mapping[str, tuple[StudyStepSize, ...]]:
    if given is None:
        raise InputError("step_sizes is missing: give a list, such as [0.1, 0.01].")
    if not isinstance(given, Mapping):
        return dict.fromkeys(rules, _each_once("step_sizes", given))
    for label in given:
        nearest("rule in step_sizes", label, rules)
    missing = [label for label in rules if label not in given]
    if missing:
        raise InputError(f"step_sizes has none for {missing[0]!r}: give some for each rule.")
    return {label: _each_once(f"step_sizes[{short(label)}]", given[label]) for label in rules}


def _each_once(name: str, given: Any) -> tuple[StudyStepSize, ...]:
    sizes = as_step_sizes(name, given, as_study_step_size)
    twice = next((size for size in sizes if sizes.count(size) > 1), None)
    if twice is not None:
        raise InputError(f"{name} has {twice} more than once: give each once.")
    return tuple(sizes)
