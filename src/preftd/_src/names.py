"""Names that users type."""

import difflib
import unicodedata
from collections.abc import Collection
from typing import Any

from preftd._src.arrays import InputError, short

FEW = 12
"""The most names that a message lists."""
CONTROL = ("Cc", "Cs", "Zl", "Zp")
"""Unicode categories that end a line, control a terminal or cannot be encoded."""


def is_one_line(text: str) -> bool:
    """Return whether a text fits into a table: one line, without control characters."""
    return not any(unicodedata.category(letter) in CONTROL for letter in text)


def is_text(given: Any) -> bool:
    """Return whether this is text that can be encoded, without lone surrogates."""
    return isinstance(given, str) and not any(unicodedata.category(x) == "Cs" for x in given)


def nearest(kind: str, name: Any, known: Collection[str]) -> None:
    """Refuse an unknown name, and suggest the nearest one.

    Parameters
    ----------
    kind : str
        What the name stands for, such as "task".
    name : str
        The name typed; anything but text is refused, too.
    known : collection of str

    """
    if isinstance(name, str) and name in known:
        return
    near = difflib.get_close_matches(name, known, n=1) if isinstance(name, str) else None
    if near:
        hint = f"did you mean {near[0]!r}?"
    elif len(known) <= FEW or not isinstance(name, str):
        hint = f"known are {', '.join(known)}."
    else:
        within = [one for one in known if name and name in one]
        nearer = within or difflib.get_close_matches(name, known, n=3, cutoff=0.0)
        hint = f"the nearest of {len(known)} are {', '.join(nearer[:3])}."
    raise InputError(f"there is no {kind} {short(name)}: {hint}")
