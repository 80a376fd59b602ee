"""Rows: a valid call of a public callable, and what else than the valid arguments is right."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fuzz.exports import exports
from fuzz.values import Kind, kinds_for

SIGNED = "negative, huge, negative entry, huge entry"
"""For numbers of any sign and size."""


def answer_and_subject(subject: Any, answer: Any) -> Any:
    """The answer, and the object afterwards."""
    return None if answer is subject else answer, subject


def always(thing: Any) -> Callable[[], Any]:
    """Make the same object each time, one that no call changes."""

    def make() -> Any:
        return thing

    make.__name__ = type(thing).__name__
    return make


def _instead(value: Any, _plain: Any) -> Any:
    return value


@dataclass(frozen=True)
class Row:
    """A valid call.

    Parameters
    ----------
    name : str
        As `exports` names the callable.
    arguments : callable
        Makes fresh valid arguments, by name.
    on : callable, optional
        Makes a fresh object, for a method.
    free : dict of str to str
        For an argument, the kinds of values that are right as well: a list of names with commas
        in between, "*" for all kinds; "state.*" stands for the entries of a state that are not
        named. For another number, the answer must have the form of the valid one, and no NaN.
    outside : dict of str to tuple
        For an argument that has a range, values just outside.
    look : callable
        What is compared, from the object and the answer.
    changes : str
        The argument that a call may change, such as an environment.

    """

    name: str
    arguments: Callable[[], dict[str, Any]]
    on: Callable[[], Any] | None = None
    free: Mapping[str, str] = field(default_factory=dict)
    outside: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    look: Callable[[Any, Any], Any] = answer_and_subject
    changes: str = ""

    def call(self, subject: Any, arguments: Mapping[str, Any]) -> Any:
        """Call, and return what is compared."""
        export = exports()[self.name]
        first = () if self.on is None else (subject,)
        return self.look(subject, export.call(*first, **arguments))

    def replacements(self) -> Iterator[tuple[str, Kind]]:
        """The arguments, each with each kind of value that replaces it."""
        for argument, plain in self.arguments().items():
            yield from ((argument, kind) for kind in kinds_for(plain))
            if argument == "state" and isinstance(plain, dict):
                for key, entry in plain.items():
                    yield from ((f"state.{key}", kind) for kind in kinds_for(entry))
            for value in self.outside.get(argument, ()):
                yield argument, Kind(f"{value}", partial(_instead, value))

    def is_free(self, argument: str, kind: Kind) -> bool:
        """Whether such a value is right as well."""
        whole, _, part = argument.partition(".")
        others = self.free.get(f"{whole}.*", "") if part else ""
        named = self.free.get(argument, others)
        return named == "*" or kind.name in [name.strip() for name in named.split(",")]

    def may_be_missing(self, argument: str) -> bool:
        """Whether None means the same as leaving the argument out."""
        parameters = inspect.signature(exports()[self.name].call).parameters
        return argument in parameters and parameters[argument].default is None
