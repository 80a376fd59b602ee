"""Text for people, on a terminal or elsewhere, with control characters escaped."""

import os
import re
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


def width_of(stream: TextIO | None) -> int:
    """Return the columns of a terminal, or COLUMNS; files and pipes have no limit."""
    given = os.environ.get("COLUMNS", "")
    if given.isdecimal() and int(given):
        return int(given)
    if stream is None or not stream.isatty():
        return sys.maxsize
    return os.get_terminal_size(stream.fileno()).columns


def print_line(text: str, stream: TextIO | None = None) -> None:
    """Print one or more lines at once to a stream (default: standard output).

    Lines that are wider than a terminal continue below the text that follows their name.
    """
    into = stream or sys.stdout
    width = width_of(into)
    lines = "\n".join(_wrapped(line, width) for line in printable(text).split("\n"))
    into.write(f"{lines}\n")  # at once, as another thread may have something to say
    into.flush()


def _wrapped(line: str, width: int) -> str:
    if len(line) <= width:
        return line
    name = re.match(r" *\S+( \S+)*  +", line)
    below = " " * (name.end() if name and name.end() < width / 2 else 4)
    return "\n".join(
        wrap(line, width, subsequent_indent=below, break_long_words=False, break_on_hyphens=False)
    )


def aligned(rows: Sequence[Sequence[str]], gap: str = "  ", width: int | None = None) -> list[str]:
    """Return the lines of a table, whose first row is its head.

    If it is wider than `width` (default: that of the terminal), the first column becomes lines
    above the rows that share its text.

    Examples
    --------
    >>> aligned([("task", "steps"), ("corridor", "7")])
    ['task      steps', '--------  -----', 'corridor  7']
    >>> aligned([("task", "steps"), ("corridor", "7")], width=10)
    ['  steps', '  -----', 'corridor', '  7']

    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        gap.join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip()
        for row in (rows[0], ["-" * width for width in widths], *rows[1:])
    ]
    most = width_of(sys.stdout) if width is None else width
    if max(map(len, lines)) <= most or len(widths) < 2:
        return lines
    head, line, *below = aligned([row[1:] for row in rows], gap, sys.maxsize)
    found, above = [f"{gap}{head}", f"{gap}{line}"], ""
    for row, own in zip(rows[1:], below, strict=True):
        found += [f"{gap}{own}"] if row[0] == above else [row[0], f"{gap}{own}"]
        above = row[0]
    return found


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
