"""The view of a learner's specification: as given, or that of its rule."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Protocol, TypeVar

from preftd._src.arrays import InputError, short
from preftd._src.names import nearest
from preftd._src.rules.rule import as_rule
from preftd.rules import Rule


class HasView(Protocol):
    """A specification with a view; None leaves it to the rule."""

    @property
    def view(self) -> str | None:
        """The view, or None."""


Given = TypeVar("Given")
Viewed = TypeVar("Viewed", bound=HasView)


def check_view(view: str | None, known: Collection[str]) -> None:
    """Refuse a view that is not known; None leaves it to the rule."""
    if view is not None:
        nearest("view", view, known)


def in_view_of(rule: Rule, spec: Viewed) -> Viewed:
    """The specification, with the view of the rule if it names none."""
    view = as_rule(rule).view
    return spec if spec.view is not None else replace(spec, view=view)  # type: ignore[type-var]


def view_of(rule: Rule, view: str | None) -> str:
    """The view that is given, or that of the rule."""
    return as_rule(rule).view if view is None else view


def known_view(spec: HasView) -> str:
    """The view of a specification that learns without its rule."""
    if spec.view is None:
        raise InputError(
            f"{short(spec)} leaves its view to a rule, which is not known here: give view, such as "
            "view='held', or call for_rule(rule) first."
        )
    return spec.view


def for_rule(learner: Given, rule: Rule) -> Given:
    """The specification of a learner as it learns by a rule: with a view, if it has views."""
    own: Any = getattr(learner, "for_rule", None)
    found: Given = learner if own is None else own(rule)
    return found
