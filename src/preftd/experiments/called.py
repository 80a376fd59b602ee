"""What rules and learners of one's own call themselves, which is a label and changes no results.

It is left out of their description if it is the class that says it, and none of their code looks at
it: an algorithm may well choose what it does by its label. What an object itself holds always
counts, as there are too many ways to look at all of it, such as writing it out.
"""

import re
from typing import Any

from preftd.experiments.code import Plain
from preftd.rules import Rule

_ANYTHING = (
    *("vars", "dir", "getattr", "__getattribute__", "__dict__", "attrgetter", "getmembers"),
    *("__import__", "import_module", "eval", "exec"),
)
"""By these, code looks at all that a class says, or at what it does not say."""
_SOURCE = r"[0-9a-f]{64}"
"""How a module is described, of which it is not known what it looks at."""


def without_label(value: Any, described: dict[str, Any]) -> Plain:
    """The description of an object, without the label of a rule or learner if it has no effect."""
    kind, label = described["class"], _label_of(value)
    if label is None or "code" not in kind or label in described["holds"]:
        return described
    left = described | {"class": _without(kind, label)}
    return described if _looks_at((label, *_ANYTHING), left) else left


def _label_of(value: Any) -> str | None:
    """What the attribute is called that says how to call the value."""
    if isinstance(value, Rule):
        return "name"
    return "label" if hasattr(value, "start") and hasattr(value, "label") else None


def _without(kind: Plain, name: str) -> Plain:
    """The description of a class and those that it is made from, without an attribute."""
    if not isinstance(kind, dict) or "code" not in kind or "from" not in kind:
        return kind
    defined = {named: part for named, part in kind["code"].items() if named != name}
    return kind | {"code": defined, "from": [_without(base, name) for base in kind["from"]]}


def _looks_at(names: tuple[str, ...], described: Any) -> bool:
    """Whether a description of code has one of some names in it, or code that is not known."""
    if isinstance(described, dict):
        parts = [part for name, part in described.items() if name != "sha256"]
        return any(_looks_at(names, part) for part in parts)
    if isinstance(described, list):
        return any(_looks_at(names, part) for part in described)
    if not isinstance(described, str):
        return False
    return bool(re.search(rf"\b({'|'.join(names)})\b|^{_SOURCE}$", described))
