"""What rules and learners of one's own call themselves, which is a label and changes no results.

It is left out of their description only if none of their code looks at it: an algorithm may well
choose what it does by its label.
"""

import re
from typing import Any

from preftd.experiments.code import Plain
from preftd.rules import Rule

_MAKING = (
    *("__init__", "__post_init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__"),
)
"""These set, show and compare what an object holds; what they set is described with it."""
_ANYTHING = (
    *("vars", "__dict__", "asdict", "astuple", "getattr", "repr", "hash"),
    *("__import__", "import_module", "eval", "exec"),
)
"""By these, code looks at all that an object holds, or at what it does not say."""
_SOURCE = r"[0-9a-f]{64}"
"""How a module is described, of which it is not known what it looks at."""


def without_label(value: Any, described: dict[str, Any]) -> Plain:
    """The description of an object, without the label of a rule or learner if it has no effect."""
    kind, label = described["class"], _label_of(value)
    if label is None or "code" not in kind:
        return described
    held = {name: part for name, part in described["holds"].items() if name != label}
    looking = [_without(kind, (label, *_MAKING)), held]
    if _looks_at((label, *_ANYTHING), looking):
        return described
    return {"class": _without(kind, (label,)), "holds": held}


def _label_of(value: Any) -> str | None:
    """What the attribute is called that says how to call the value."""
    if isinstance(value, Rule):
        return "name"
    return "label" if hasattr(value, "start") and hasattr(value, "label") else None


def _without(kind: Plain, names: tuple[str, ...]) -> Plain:
    """The description of a class and those that it is made from, without some attributes."""
    if not isinstance(kind, dict) or "code" not in kind or "from" not in kind:
        return kind
    defined = {name: part for name, part in kind["code"].items() if name not in names}
    if "__init__" in defined:
        defined["__init__"] = _without_default(defined["__init__"], names[0])
    return kind | {"code": defined, "from": [_without(base, names) for base in kind["from"]]}


def _without_default(function: Plain, name: str) -> Plain:
    """The description of a function, without the default of one argument."""
    if not isinstance(function, dict) or "given" not in function:
        return function
    defaults, by_name, *others = function["given"]
    _, _, (_, arguments, *_), (count, *_) = function["code"]
    placed = zip(arguments[count - len(defaults or ()) : count], defaults or (), strict=True)
    named = (by_name or {"mapping": []})["mapping"]
    kept = [[argument, part] for argument, part in (*placed, *named) if argument != name]
    return function | {"given": [kept, *others]}


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
