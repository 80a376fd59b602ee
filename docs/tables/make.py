"""Measures again what tables of the documentation show: `python docs/tables/make.py NAME ...`.

Each file of this folder holds the tables that a command printed. Its first line names the command,
the second says when, and on what. This program runs the command, writes what it prints into the
file, and replaces the tables on all pages that show them. A new file needs its first line only.

Tables that are made from stored runs in seconds are not here: `docs/pictures/NAME.py` prints them.
"""

import platform
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime
from os import cpu_count, environ
from pathlib import Path

from preftd import __version__

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def tables_in(text: str) -> list[str]:
    """Return the Markdown tables of a text."""
    return [found.strip() for found in re.findall(r"(?:^\|.*(?:\n|$))+", text, re.MULTILINE)]


def command_of(file: Path) -> str:
    """Return the command that a file names, which prints its tables."""
    return file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("<!-- ")[:-4]


def provenance() -> str:
    """Return when tables are measured, with which version, and on what."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607  (the developer's)
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    system = f"Python {platform.python_version()} on {platform.machine()}, {cpu_count()} cores"
    return f"{datetime.now(UTC):%Y-%m-%d}, preftd {__version__} ({commit}), {system}"


def write(file: Path, printed: str, pages: list[Path]) -> None:
    """Write the tables of what a command printed, into its file and into pages that show them."""
    old, new = tables_in(file.read_text(encoding="utf-8")), tables_in(printed)
    command = command_of(file)
    if old and len(old) != len(new):
        sys.exit(f"{command} printed {len(new)} tables, {file} has {len(old)}: delete its tables.")
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for before, after in zip(old, new, strict=False):
            text = text.replace(before, after)
        page.write_text(text, encoding="utf-8")
    head = f"<!-- {command} -->\n<!-- {provenance()} -->\n"
    file.write_text("\n".join([head, *(f"{table}\n" for table in new)]), encoding="utf-8")


def make(names: list[str]) -> None:
    """Run the commands of files, and write what they print."""
    pages = [ROOT / "README.md", *(p for p in (ROOT / "docs").rglob("*.md") if p.parent != HERE)]
    for name in names:
        file = HERE / f"{name}.md"
        command = [sys.executable, *shlex.split(command_of(file))[1:]]
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True,
            env=environ | {"PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        write(file, done.stdout, pages)
        print(file)


if __name__ == "__main__":
    make(sys.argv[1:] or [path.stem for path in sorted(HERE.glob("*.md"))])
