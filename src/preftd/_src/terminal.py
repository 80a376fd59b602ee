"""Text for people, on a terminal or elsewhere, with control characters escaped."""

import os
import sys
import unicodedata
from collections.abc import Sequence
from textwrap import wrap
from typing import TextIO

KEPT = "\n\t"
"""Control characters that are printed unchanged."""


def printable(text: str) -> str:
    r"""Return the text with control characters as escapes, as Python writes them.

    Examples
    --------
    >>> print(printable("wiped:\x1b[2J"))
    wiped:\x1b[2J

    """
    if text.isprintable():
        return text
    return "".join(c if _is_harmless(c) else c.encode("unicode_escape").decode() for c in text)


def _is_harmless(character: str) -> bool:
    return (
        character.isprintable() or character in KEPT or unicodedata.category(character) == "Zs"
    )  # Zs: spaces of other widths


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print one or more lines at once to a stream (default: standard output)."""
    into = stream or sys.stdout
    into.write(f"{printable(text)}\n")  # at once, as another thread may have something to say
    into.flush()


def aligned(rows: Sequence[Sequence[str]], gap: str = "  ") -> list[str]:
    """Return the lines of a table, whose first row is its head.

    Examples
    --------
    >>> aligned([("task", "steps"), ("corridor", "7")])
    ['task      steps', '--------  -----', 'corridor  7']

    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *below = rows
    return [
        gap.join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, ["-" * width for width in widths], *below)
    ]


def hanging(name: str, text: str, indent: int) -> str:
    """Return a name and a text next to it, wrapped to 80 columns; below it if the name is long.

    Examples
    --------
    >>> print(hanging("corridor", "One decision.", 12))
    corridor    One decision.
    >>> print(hanging("corridor(length=10)", "One decision.", 4))
    corridor(length=10)
        One decision.

    """
    lines = wrap(text, 80 - indent) or [""]
    if len(name) + 2 <= indent:
        lines[0] = name.ljust(indent) + lines[0]
    else:
        lines.insert(0, name)
    return f"\n{' ' * indent}".join(lines)


def standard_error() -> TextIO:
    """Return standard error; if it is closed, a stream that discards text."""
    return sys.stderr or open(os.devnull, "w")
