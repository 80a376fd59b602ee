"""Names that users type."""

import difflib
import unicodedata
from collections.abc import Collection
from typing import Any

from preftd._src.arrays import InputError, short

FEW = 12
"""Up to this many names are listed in a message."""
CONTROL = ("Cc", "Cs", "Zl", "Zp")
"""Categories of characters that end a line of a table, steer a terminal or cannot be written."""


def is_one_line(text: str) -> bool:
    """Return whether a text can stand in a table: one line, without control characters."""
    return not any(unicodedata.category(letter) in CONTROL for letter in text)


def is_text(given: Any) -> bool:
    """Return whether this is text that can be written: it has no half of a pair of surrogates."""
    return isinstance(given, str) and not any(unicodedata.category(x) == "Cs" for x in given)


def nearest(kind: str, name: Any, known: Collection[str]) -> None:
    """Refuse a name that is not known, and suggest the nearest one.

    Parameters
    ----------
    kind : str
        What the name stands for, such as "task".
    name : str
        What was typed; anything else than text is refused as well.
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
